// SPDX-License-Identifier: Apache-2.0
// Products and convolutions of bfloat16 (compilation.compute) as calls of tfaot_low_precision
// (tfaot/kernels/abi.h). Used by one thread.
#pragma once

#include "compiler/hlo/passes.h"
#include "compiler/kernels/kernel_call.h"

namespace tfaot::toolkit::engine {

// True if numbers are multiplied as bfloat16 by this tensor, which depends on weights and is known
// ahead. By few weights, float32 is as fast.
bool is_for_bfloat16(const HloInstruction& weight, PassContext& context);

// The call without its result's sizes and the operands of its epilogue. `filter`: float32
// [groups, depth, columns], known ahead. Not for base dilation.
KernelCall bfloat16_call(const kernels::ConvolutionCall& call, HloInstruction* input,
                         HloInstruction* filter);

}  // namespace tfaot::toolkit::engine
