// SPDX-License-Identifier: Apache-2.0
// Matrices and filters in the panels that the kernels read (tfaot/kernels/kernel_calls.h), as HLO
// on the weight: folding evaluates it. Used by one thread.
#pragma once

#include "hlo.h"

namespace tfaot::toolkit::engine {

// How packed tensors are called: the op_name of the instruction that makes them.
inline constexpr const char* kPackedName = "packed";

// [groups, depth, columns] -> [groups, panels, depth, panel columns].
xla::HloInstruction* pack(xla::HloInstruction* matrices);

}  // namespace tfaot::toolkit::engine
