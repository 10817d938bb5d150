// SPDX-License-Identifier: Apache-2.0
// XLA lets LLVM change the order of a reduction's sums and products: LLVM adds in as many lanes as
// the processor's vectors have. So bits depended on the CPU level. It also fuses the last product
// of a term with the sum, where unrolled loops bring both together: so they depended on the batch.
// A choice between a number and NaN, which never changes the number, stops both.
#include <limits>

#include "compiler/hlo/build.h"
#include "compiler/hlo/match.h"
#include "compiler/hlo/passes.h"

namespace tfaot::toolkit::engine {
namespace {

bool has_an_order(const HloInstruction& one) {
  return (combines_by(one, kAdd) || combines_by(one, kMultiply)) && one.shape().IsArray() &&
         xla::primitive_util::IsFloatingPointType(type_of(one)) && count_of(one) > 1;
}

// The same number, which LLVM does not know.
HloInstruction* chosen(HloInstruction* number) {
  HloInstruction* const nan =
      scalar_next_to(number, type_of(*number), std::numeric_limits<double>::quiet_NaN());
  return select(compare(number, xla::ComparisonDirection::kNe, number), nan, number);
}

// The reducer of `one`, with its term and its result chosen.
xla::HloComputation* ordered(const HloInstruction& one) {
  xla::HloComputation* const made =
      one.GetModule()->AddEmbeddedComputation(one.to_apply()->Clone("in_order"));
  HloInstruction* const term = made->parameter_instruction(1);
  HloInstruction* const result = made->root_instruction();
  const std::int64_t index = result->operand_index(term);
  static_cast<void>(result->ReplaceOperandWith(index, chosen(term)));
  made->set_root_instruction(chosen(result));
  return made;
}

}  // namespace

Status order_sums(xla::HloModule& module, PassContext& /*context*/) {
  for (xla::HloComputation* computation : module.MakeNonfusionComputations()) {
    for (HloInstruction* one : computation->MakeInstructionPostOrder()) {
      if (has_an_order(*one)) one->set_to_apply(ordered(*one));
    }
  }
  return {};
}

}  // namespace tfaot::toolkit::engine
