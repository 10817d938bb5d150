// SPDX-License-Identifier: Apache-2.0
#include "hlo/swapped_products.h"

#include "hlo/dimension_order.h"

namespace tfaot::toolkit::engine {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;

constexpr std::int64_t kFewestSwappedColumns = 16;  // fewer would leave lanes of a vector empty

// The transpose that is the left side, perhaps with dimensions joined, and its dimension that is
// summed over.
struct TransposedSide {
  HloInstruction* transpose = nullptr;
  std::int64_t depth = 0;
};

TransposedSide transposed_side(HloInstruction& dot) {
  HloInstruction* const left = dot.mutable_operand(0);
  const std::int64_t depth = dot.dot_dimension_numbers().lhs_contracting_dimensions(0);
  if (left->opcode() == HloOpcode::kTranspose) return {left, depth};
  if (left->opcode() != HloOpcode::kReshape ||
      left->operand(0)->opcode() != HloOpcode::kTranspose) {
    return {};
  }
  for (const ReshapeGroup& group : groups_of(*left)) {
    if (group.to == Dimensions{depth} && group.from.size() == 1) {
      return {left->mutable_operand(0), group.from[0]};
    }
  }
  return {};
}

bool is_plain(const HloInstruction& dot) {
  const auto& numbers = dot.dot_dimension_numbers();
  return numbers.lhs_contracting_dimensions_size() == 1 &&
         numbers.lhs_batch_dimensions_size() == 0 && dot.operand(1)->shape().rank() == 2 &&
         dot.operand(0)->shape().element_type() == dot.shape().element_type() &&
         dot.operand(1)->shape().element_type() == dot.shape().element_type();
}

}  // namespace

HloInstruction* swapped_product(HloInstruction& dot) {
  if (!is_plain(dot)) return nullptr;
  const TransposedSide side = transposed_side(dot);
  if (side.transpose == nullptr) return nullptr;
  HloInstruction* const x = side.transpose->mutable_operand(0);
  const DimensionOrder order = order_of(*side.transpose);
  const Dimensions sizes = dimensions_of(*x);
  const std::int64_t depth = entry(order, side.depth);  // of x: before it is the batch
  std::int64_t columns = 1;
  for (std::int64_t d = depth + 1; d < std::ssize(sizes); ++d) columns *= entry(sizes, d);
  if (columns < kFewestSwappedColumns) return nullptr;

  const std::int64_t weight_depth = dot.dot_dimension_numbers().rhs_contracting_dimensions(0);
  HloInstruction* weight = dot.mutable_operand(1);
  if (weight_depth == 0) weight = transpose(weight, {1, 0});
  Dimensions left_sizes(sizes.begin(), sizes.begin() + depth);
  left_sizes.insert(left_sizes.end(), weight->shape().dimensions().begin(),
                    weight->shape().dimensions().end());
  xla::DotDimensionNumbers numbers;
  for (std::int64_t d = 0; d < depth; ++d) {
    numbers.add_lhs_batch_dimensions(d);
    numbers.add_rhs_batch_dimensions(d);
  }
  numbers.add_lhs_contracting_dimensions(depth + 1);
  numbers.add_rhs_contracting_dimensions(depth);
  Dimensions result_sizes = sizes;
  entry(result_sizes, depth) = weight->shape().dimensions(0);
  HloInstruction* const swapped = dot.parent()->AddInstruction(HloInstruction::CreateDot(
      shape_of(dot.shape().element_type(), result_sizes),
      depth == 0 ? weight : broadcast(weight, left_sizes, {depth, depth + 1}), x, numbers,
      dot.precision_config()));
  DimensionOrder back;
  for (std::int64_t d = 0; d < std::ssize(order); ++d) {
    if (d != side.depth) back.push_back(entry(order, d));
  }
  back.push_back(depth);
  return reshape(transpose(swapped, back), dot.shape().dimensions());
}

}  // namespace tfaot::toolkit::engine
