// SPDX-License-Identifier: Apache-2.0
#include "compiler/kernels/narrow_weights.h"

#include "compiler/hlo/build.h"
#include "compiler/hlo/tuned.h"
#include "compiler/kernels/packing.h"

namespace tfaot::toolkit::engine {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;

constexpr float kMostOfInt8 = 127;
constexpr float kMostOfFloat16 = 65504;

kernels::NarrowType narrow_type(WeightsType type) {
  switch (type) {
    case WeightsType::kBfloat16:
      return kernels::kBfloat16;
    case WeightsType::kFloat16:
      return kernels::kFloat16;
    case WeightsType::kFloat32:
    case WeightsType::kInt8:
      break;
  }
  return kernels::kInt8;
}

HloInstruction* between(HloInstruction* x, float most) {
  return binary(HloOpcode::kMaximum, binary(HloOpcode::kMinimum, x, fill_like(x, most)),
                fill_like(x, -most));
}

// For each column the number that makes its largest element 127; 1 for a column of zeros.
HloInstruction* scale_of_columns(HloInstruction* matrix) {
  HloInstruction* const zero = scalar_next_to(matrix, xla::F32, 0);
  HloInstruction* const largest =
      reduce(unary(HloOpcode::kAbs, matrix), zero, {0, 1}, HloOpcode::kMaximum);
  HloInstruction* const scale =
      binary(HloOpcode::kDivide, largest, fill_like(largest, kMostOfInt8));
  HloInstruction* const is_zero =
      compare(scale, xla::ComparisonDirection::kEq, fill_like(scale, 0));
  return select(is_zero, fill_like(scale, 1), scale);
}

// [1, panels, depth, columns] -> [panels, groups, columns, group], converted.
HloInstruction* grouped(HloInstruction* packed, xla::PrimitiveType type, std::int64_t group) {
  const Dimensions sizes = dimensions_of(*packed);
  const std::int64_t groups = (sizes[2] + group - 1) / group;
  HloInstruction* padded = pad_end(packed, 2, groups * group);
  HloInstruction* cut = reshape(padded, {sizes[1], groups, group, sizes[3]});
  HloInstruction* made = convert(transpose(cut, {0, 1, 3, 2}), type);
  made->set_metadata(packed->metadata());
  return made;
}

}  // namespace

bool stays_narrow(const HloInstruction& matrix, WeightsType type) {
  return type != WeightsType::kFloat32 && matrix.shape().element_type() == xla::F32 &&
         xla::ShapeUtil::ElementsIn(matrix.shape()) >= tuned().narrow_fewest_elements;
}

KernelCall narrow_product(const kernels::MatMulCall& call, HloInstruction* lhs,
                          HloInstruction* matrix, WeightsType type) {
  const kernels::NarrowMatMulCall narrow{call, narrow_type(type)};
  KernelCall made{
      Kernel::kNarrowMatMul, as_words(narrow), {lhs}, {}, kernels::narrow_scratch_bytes(narrow)};
  const std::int64_t group = kernels::narrow_group(narrow.rhs_type);
  switch (narrow.rhs_type) {
    case kernels::kBfloat16:
      made.operands.push_back(grouped(pack(matrix), xla::BF16, group));
      break;
    case kernels::kFloat16:
      made.operands.push_back(grouped(pack(between(matrix, kMostOfFloat16)), xla::F16, group));
      break;
    default: {
      HloInstruction* scale = scale_of_columns(matrix);
      HloInstruction* whole =
          between(unary(HloOpcode::kRoundNearestEven,
                        binary(HloOpcode::kDivide, matrix,
                               broadcast(scale, matrix->shape().dimensions(), {2}))),
                  kMostOfInt8);
      made.operands.push_back(grouped(pack(whole), xla::S8, group));
      made.operands.push_back(scale);
    }
  }
  return made;
}

}  // namespace tfaot::toolkit::engine
