// SPDX-License-Identifier: Apache-2.0
// Packs matrices and filters into the panels that the kernels read (tfaot/kernels/abi.h), as HLO on
// the weight: folding evaluates it. Used by one thread.
#pragma once

#include "hlo/hlo.h"

namespace tfaot::toolkit::engine {

// [groups, depth, columns] -> [groups, panels, depth, panel columns].
xla::HloInstruction* pack(xla::HloInstruction* matrices);

// A packed matrix of a few columns -> its first `width` columns alone, in whole lines of a panel:
// [lines, panel columns].
xla::HloInstruction* pack_narrow(xla::HloInstruction* packed, std::int64_t width);

// Several packed tensors as one, each after the one before.
xla::HloInstruction* pack_together(const std::vector<xla::HloInstruction*>& packed);

}  // namespace tfaot::toolkit::engine
