// SPDX-License-Identifier: Apache-2.0
// Turns maxima and sums over windows (pooling) of float32 and float64 into calls of our kernels, if
// the window slides over dimensions between the batch and the channels, and maxima and sums over
// all of such dimensions. Used by one thread.
#pragma once

#include "hlo/hlo.h"

namespace tfaot::toolkit::engine {

// Replaces `pool`. Leaves it unchanged if the kernels do not support it.
Status replace_pool(xla::HloInstruction& pool);
// Replaces a reduction in the same way.
Status replace_reduction(xla::HloInstruction& reduce);

}  // namespace tfaot::toolkit::engine
