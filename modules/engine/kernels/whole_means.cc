// SPDX-License-Identifier: Apache-2.0
#include "hlo/simplify.h"
#include "kernels/means.h"
#include "xla/literal_util.h"
#include "xla/primitive_util.h"

namespace tfaot::toolkit::engine {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;

HloInstruction* as_whole_type(HloInstruction* value, xla::PrimitiveType type) {
  return value->parent()->AddInstruction(
      HloInstruction::CreateConvert(shape_of(type, value->shape().dimensions()), value));
}

xla::HloComputation* addition(xla::HloModule& module, xla::PrimitiveType type) {
  xla::HloComputation::Builder builder("add_wide");
  HloInstruction* terms[2];
  for (const int i : {0, 1}) {
    terms[i] =
        builder.AddInstruction(HloInstruction::CreateParameter(i, shape_of(type, {}), "term"));
  }
  builder.AddInstruction(
      HloInstruction::CreateBinary(shape_of(type, {}), HloOpcode::kAdd, terms[0], terms[1]));
  return module.AddEmbeddedComputation(builder.Build());
}

// TensorFlow's, of fewer bits: others that divide a sum get the sum as it overflows.
bool is_short_whole_mean(const HloInstruction& quotient) {
  return quotient.opcode() == HloOpcode::kDivide && quotient.shape().IsArray() &&
         quotient.metadata().op_type() == "Mean" &&
         xla::primitive_util::IsIntegralType(quotient.shape().element_type()) &&
         xla::primitive_util::BitWidth(quotient.shape().element_type()) < 64;
}

HloInstruction* wide_mean(HloInstruction& quotient, HloInstruction& sum) {
  const auto type = quotient.shape().element_type();
  const auto wide = xla::primitive_util::IsSignedIntegralType(type) ? xla::S64 : xla::U64;
  xla::HloComputation* const in = quotient.parent();
  HloInstruction* const made = in->AddInstruction(HloInstruction::CreateReduce(
      shape_of(wide, sum.shape().dimensions()), as_whole_type(sum.mutable_operand(0), wide),
      as_whole_type(sum.mutable_operand(1), wide), sum.dimensions(),
      addition(*in->parent(), wide)));
  HloInstruction* const count = as_whole_type(quotient.mutable_operand(1), wide);
  HloInstruction* const all = reshape(made, quotient.shape().dimensions());
  return as_whole_type(binary(HloOpcode::kDivide, all, count), type);
}

}  // namespace

Status widen_whole_means(xla::HloModule& module) {
  bool is_changed = false;
  for (xla::HloComputation* computation : module.MakeComputationPostOrder()) {
    for (HloInstruction* one : computation->MakeInstructionPostOrder()) {
      if (!is_short_whole_mean(*one)) continue;
      HloInstruction* const sum = divided_sum(one);
      if (sum == nullptr || sum->shape().element_type() != one->shape().element_type()) continue;
      TFAOT_TRY(checked(one->ReplaceAllUsesWith(wide_mean(*one, *sum))));
      is_changed = true;
    }
  }
  return is_changed ? remove_dead_code(module) : Status();
}

}  // namespace tfaot::toolkit::engine
