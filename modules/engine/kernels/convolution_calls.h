// SPDX-License-Identifier: Apache-2.0
// Turns convolutions over one to three spatial dimensions, of float32 and float64, in any layout,
// into calls of our kernels: matmul if the window is a single point, one for each channel or for
// small groups of them, or the general one. Used by one thread.
#pragma once

#include "hlo/choices.h"
#include "hlo/weight_values.h"

namespace tfaot::toolkit::engine {

// Replaces `convolution` and what its epilogue absorbs. Leaves it unchanged if the kernels do not
// support it.
Status replace_convolution(xla::HloInstruction& convolution, const WeightValues& values,
                           const Choices& choices);

}  // namespace tfaot::toolkit::engine
