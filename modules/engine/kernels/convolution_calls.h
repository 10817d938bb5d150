// SPDX-License-Identifier: Apache-2.0
// Convolutions over one to three spatial dimensions, of float32 and float64, in any layout, become
// calls of our kernels: matmul when the window is a single point, depthwise, or the general one.
// Used by one thread.
#pragma once

#include "hlo/weight_values.h"

namespace tfaot::toolkit::engine {

// Replaces `convolution` and what its epilogue takes in; leaves alone what the kernels are not
// made for.
Status replace_convolution(xla::HloInstruction& convolution, const WeightValues& values);

}  // namespace tfaot::toolkit::engine
