// SPDX-License-Identifier: Apache-2.0
#include "compiler/kernels/bfloat16_calls.h"

#include "compiler/hlo/match.h"
#include "compiler/hlo/tuned.h"
#include "compiler/kernels/packing.h"

namespace tfaot::toolkit::engine {

bool is_for_bfloat16(const HloInstruction& weight, PassContext& context) {
  return context.choices.wants_bfloat16() && is_float32(weight) &&
         elements_of(weight) >= tuned().bfloat16_fewest_elements &&
         context.values().is_weight(&weight);
}

KernelCall bfloat16_call(const kernels::ConvolutionCall& call, HloInstruction* input,
                         HloInstruction* filter) {
  kernels::LowPrecisionCall made{};
  made.convolution = call;
  made.input_type = made.result_type = kernels::kElementFloat32;
  return {Kernel::kLowPrecision,
          as_words(made),
          {input, pack_words(filter, xla::BF16, kernels::low_precision_numbers(made))}};
}

}  // namespace tfaot::toolkit::engine
