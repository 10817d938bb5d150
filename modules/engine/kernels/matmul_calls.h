// SPDX-License-Identifier: Apache-2.0
// Turns products (dot, in any form) of float32 and float64 into calls of the matmul kernel. A
// right-hand side that is a weight is packed ahead. Used by one thread.
#pragma once

#include "hlo/weight_values.h"
#include "tfaot/records/model_spec.h"

namespace tfaot::toolkit::engine {

// Replaces `dot` and what its epilogue absorbs. Leaves it unchanged if the kernel does not support
// it. `weights`: how a packed right-hand side of float32 is stored.
Status replace_dot(xla::HloInstruction& dot, const WeightValues& values,
                   WeightsType weights = WeightsType::kFloat32);

}  // namespace tfaot::toolkit::engine
