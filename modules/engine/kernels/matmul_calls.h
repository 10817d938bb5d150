// SPDX-License-Identifier: Apache-2.0
// Products (dot, in any form) of float32 and float64 become calls of the matmul kernel. A
// right-hand side that is a weight is packed ahead. Used by one thread.
#pragma once

#include "hlo/weight_values.h"

namespace tfaot::toolkit::engine {

// Replaces `dot` and what its epilogue takes in; leaves alone what the kernel is not made for.
Status replace_dot(xla::HloInstruction& dot, const WeightValues& values);

}  // namespace tfaot::toolkit::engine
