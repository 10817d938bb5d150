// SPDX-License-Identifier: Apache-2.0
// Convolutions of HLO in the terms of our kernels (tfaot/kernels/abi.h). Used by one thread.
#pragma once

#include "compiler/hlo/build.h"
#include "tfaot/kernels/abi.h"

namespace tfaot::toolkit::engine {

// The struct without its epilogue.
kernels::ConvolutionCall convolution_call(const HloInstruction& convolution);

// A product of rows by one matrix: each row as an image of one point.
kernels::ConvolutionCall convolution_of_rows(std::int64_t rows, std::int64_t depth,
                                             std::int64_t columns);

// [batch, spatial..., channels] in terms of the input's and of the result's dimensions.
Dimensions input_order(const HloInstruction& convolution);
Dimensions output_order(const HloInstruction& convolution);

// A filter in the convolution's layout as [spatial..., in, out], with reversed windows turned
// around.
HloInstruction* plain_filter(HloInstruction* filter, const HloInstruction& convolution);

// [groups, window * in / groups, out / groups] of a plain filter.
HloInstruction* filter_matrices(HloInstruction* filter, const kernels::ConvolutionCall& call);

// Each channel, or a few of them, is convolved by itself: other kernels than those of products do.
bool is_depthwise(const kernels::ConvolutionCall& call);
bool is_of_groups(const kernels::ConvolutionCall& call);

}  // namespace tfaot::toolkit::engine
