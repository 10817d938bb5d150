// SPDX-License-Identifier: Apache-2.0
// Gathers from tensors whose dimensions lie in another order. Pure, but for the instructions added.
#pragma once

#include "hlo/dimension_order.h"

namespace tfaot::toolkit::engine {

// The same as `gather`, whose operand is the transpose of `x` in this order: a gather from x, whose
// slices are the result's last dimensions, and then a transpose. Null if it has batch dimensions.
xla::HloInstruction* gather_of_untransposed(xla::HloInstruction& gather,
                                            const DimensionOrder& order, xla::HloInstruction* x);

}  // namespace tfaot::toolkit::engine
