// SPDX-License-Identifier: Apache-2.0
// Maxima and sums over windows (pooling) of float32 and float64 become calls of our kernels, where
// the window slides over dimensions between the batch and the channels. Used by one thread.
#pragma once

#include "hlo/hlo.h"

namespace tfaot::toolkit::engine {

// Replaces `pool`; leaves alone what the kernels are not made for.
Status replace_pool(xla::HloInstruction& pool);

}  // namespace tfaot::toolkit::engine
