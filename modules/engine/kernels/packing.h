// SPDX-License-Identifier: Apache-2.0
// Packs matrices and filters into the panels that the kernels read (tfaot/kernels/abi.h), as HLO on
// the weight: folding evaluates it. Used by one thread.
#pragma once

#include "hlo/hlo.h"

namespace tfaot::toolkit::engine {

// [groups, depth, columns] -> [groups, panels, depth, panel columns].
xla::HloInstruction* pack(xla::HloInstruction* matrices);

}  // namespace tfaot::toolkit::engine
