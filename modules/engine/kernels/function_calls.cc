// SPDX-License-Identifier: Apache-2.0
#include "kernels/function_calls.h"

#include "hlo/simplify.h"
#include "kernels/kernel_call.h"
#include "kernels/layer_functions.h"
#include "kernels/window.h"
#include "tfaot/kernels/abi.h"
#include "xla/literal_util.h"

namespace tfaot::toolkit::engine {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;

bool takes_function(const HloInstruction& kernel) {
  if (!kernel_name(kernel).ends_with("_f32") || kernel_name(kernel).starts_with("narrow_")) {
    return false;
  }
  return kernel_kind(kernel) != KernelKind::kDepthwise ||
         !has_base_dilation(call_of<kernels::ConvolutionCall>(kernel).window);
}

Status absorb_function(HloInstruction& kernel) {
  if (!is_kernel_call(kernel) || kernel.user_count() != 1 || kernel.IsRoot()) return {};
  const auto word = word_of_epilogue(kernel);
  HloInstruction* const first = kernel.users().front();
  if (!word || !takes_function(kernel) || first->opcode() != HloOpcode::kGetTupleElement ||
      first->tuple_index() != 0) {
    return {};
  }
  std::vector<std::int64_t> words = call_words(kernel);
  if ((words.at(*word) & (kernels::kEpilogueRelu | kernels::kEpilogueFunction)) != 0) return {};
  const auto found = function_of(*last_view(first));
  if (!found || found->function == kernels::kFunctionTanh) return {};
  words.at(*word) |= kernels::kEpilogueFunction;
  const kernels::ResultFunction function{found->function, found->above, found->below};
  TFAOT_TRY(extend_kernel_call(kernel, words,
                               kernel.parent()->AddInstruction(HloInstruction::CreateConstant(
                                   xla::LiteralUtil::CreateR1<std::int64_t>(as_words(function))))));
  return checked(
      found->result->ReplaceAllUsesWith(reshape(first, found->result->shape().dimensions())));
}

}  // namespace

Status absorb_functions(xla::HloModule& module) {
  for (auto* computation : module.MakeComputationPostOrder()) {
    if (computation->IsFusionComputation()) continue;
    for (auto* instruction : computation->MakeInstructionPostOrder()) {
      TFAOT_TRY(absorb_function(*instruction));
    }
  }
  return remove_dead_code(module);
}

}  // namespace tfaot::toolkit::engine
