// SPDX-License-Identifier: Apache-2.0
#include "compiler/hlo/build.h"
#include "compiler/hlo/passes.h"
#include "xla/primitive_util.h"

namespace tfaot::toolkit::engine {

Status split_complex_product(HloInstruction& dot, PassContext& /*context*/) {
  if (dot.opcode() != kDot || !xla::primitive_util::IsComplexType(type_of(dot))) return {};
  HloInstruction* const left = dot.mutable_operand(0);
  HloInstruction* const right = dot.mutable_operand(1);
  const auto product = [&](HloOpcode of_left, HloOpcode of_right) {
    HloInstruction* const a = unary(of_left, left);
    const xla::Shape shape = shape_of(type_of(*a), dot.shape().dimensions());
    HloInstruction* const made = add_next_to(
        a, HloInstruction::CreateDot(shape, a, unary(of_right, right), dot.dot_dimension_numbers(),
                                     dot.precision_config()));
    made->set_metadata(dot.metadata());
    return made;
  };
  HloInstruction* const real = binary(kSubtract, product(kReal, kReal), product(kImag, kImag));
  HloInstruction* const imaginary = binary(kAdd, product(kReal, kImag), product(kImag, kReal));
  return replace(
      dot, add_next_to(real, HloInstruction::CreateBinary(dot.shape(), kComplex, real, imaginary)));
}

}  // namespace tfaot::toolkit::engine
