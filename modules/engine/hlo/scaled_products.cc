// SPDX-License-Identifier: Apache-2.0
#include "hlo/scaled_products.h"

#include <set>

#include "hlo/simplify.h"
#include "hlo/weight_values.h"

namespace tfaot::toolkit::engine {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;

// x * scale + shift, of which both have a number for each column; null: none.
struct ScaledInput {
  HloInstruction* x;
  HloInstruction* scale = nullptr;
  HloInstruction* shift = nullptr;
};

// Takes one operation off; false: there is none.
bool take_operation(ScaledInput& scaled, const WeightValues& values) {
  HloInstruction* const one = scaled.x;
  // Of one row the product is one of a vector.
  if (one->opcode() == HloOpcode::kReshape && one->user_count() == 1 && one->shape().rank() == 1 &&
      one->operand(0)->shape().rank() > 0 &&
      one->operand(0)->shape().dimensions().back() == one->shape().dimensions(0)) {
    scaled.x = one->mutable_operand(0);
    return true;
  }
  const bool is_scale = one->opcode() == HloOpcode::kMultiply;
  const bool is_difference = one->opcode() == HloOpcode::kSubtract;
  if (!is_scale && !is_difference && one->opcode() != HloOpcode::kAdd) return false;
  for (const int i : {0, 1}) {
    if (one->user_count() != 1 || one->IsRoot() || (is_difference && i == 1)) return false;
    HloInstruction* number = column_numbers(one->mutable_operand(1 - i), one->shape(), values);
    if (number == nullptr || values.is_known(one->operand(i))) continue;
    if (is_scale) {
      scaled.scale = joined_by(HloOpcode::kMultiply, scaled.scale, number);
    } else {
      if (is_difference) {
        number = number->parent()->AddInstruction(
            HloInstruction::CreateUnary(number->shape(), HloOpcode::kNegate, number));
      }
      if (scaled.scale != nullptr) number = binary(HloOpcode::kMultiply, number, scaled.scale);
      scaled.shift = joined_by(HloOpcode::kAdd, scaled.shift, number);
    }
    scaled.x = one->mutable_operand(i);
    return true;
  }
  return false;
}

// Not the end of a normalisation, whose kernels have scale and shift themselves.
bool is_activation(const HloInstruction& value) {
  switch (value.opcode()) {
    case HloOpcode::kClamp:
    case HloOpcode::kLogistic:
    case HloOpcode::kMaximum:
    case HloOpcode::kSelect:
    case HloOpcode::kTanh:
      return true;
    default:
      return false;
  }
}

// Whether it is a function of what a product makes.
bool follows_product(const HloInstruction& value) {
  constexpr std::size_t kMostOperations = 32;
  std::vector<const HloInstruction*> open = {&value};
  std::set<const HloInstruction*> seen;
  while (!open.empty() && seen.size() < kMostOperations) {
    const HloInstruction* const one = open.back();
    open.pop_back();
    if (!seen.insert(one).second) continue;
    if (one->opcode() == HloOpcode::kDot || one->opcode() == HloOpcode::kConvolution) return true;
    if (one->IsElementwise() || one->opcode() == HloOpcode::kReshape) {
      open.insert(open.end(), one->operands().begin(), one->operands().end());
    }
  }
  return false;
}

// A product of rows with a matrix that is known ahead.
bool is_dense_layer(const HloInstruction& dot, const WeightValues& values) {
  if (dot.opcode() != HloOpcode::kDot || values.is_known(&dot) ||
      !values.is_known(dot.operand(1)) || !has_kernels(dot.shape().element_type()) ||
      dot.operand(1)->shape().rank() != 2) {
    return false;
  }
  const auto& numbers = dot.dot_dimension_numbers();
  return numbers.lhs_batch_dimensions().empty() &&
         numbers.lhs_contracting_dimensions().size() == 1 &&
         numbers.lhs_contracting_dimensions(0) == dot.operand(0)->shape().rank() - 1;
}

Status move_scales(HloInstruction& dot, const WeightValues& values) {
  if (!is_dense_layer(dot, values)) return {};
  ScaledInput scaled{dot.mutable_operand(0)};
  while (take_operation(scaled, values)) {
  }
  if (scaled.x == dot.operand(0) || !is_activation(*scaled.x) || !follows_product(*scaled.x)) {
    return {};
  }
  if (scaled.scale == nullptr && scaled.shift == nullptr) return {};
  HloInstruction* const weight = dot.mutable_operand(1);
  const std::int64_t depth = dot.dot_dimension_numbers().rhs_contracting_dimensions(0);
  HloInstruction* made_weight = weight;
  if (scaled.scale != nullptr) {
    made_weight = binary(HloOpcode::kMultiply, weight,
                         broadcast(scaled.scale, weight->shape().dimensions(), {depth}));
  }
  HloInstruction* made = dot.parent()->AddInstruction(dot.CloneWithNewOperands(
      dot.shape(), {reshape(scaled.x, dot.operand(0)->shape().dimensions()), made_weight}));
  if (scaled.shift != nullptr) {
    xla::DotDimensionNumbers numbers;
    numbers.add_lhs_contracting_dimensions(0);
    numbers.add_rhs_contracting_dimensions(depth);
    const std::int64_t columns = weight->shape().dimensions(static_cast<int>(1 - depth));
    HloInstruction* const bias = dot.parent()->AddInstruction(
        HloInstruction::CreateDot(shape_of(dot.shape().element_type(), {columns}), scaled.shift,
                                  weight, numbers, dot.precision_config()));
    made = binary(HloOpcode::kAdd, made,
                  broadcast(bias, dot.shape().dimensions(), {dot.shape().rank() - 1}));
  }
  return checked(dot.ReplaceAllUsesWith(made));
}

}  // namespace

HloInstruction* column_numbers(HloInstruction* value, const xla::Shape& like,
                               const WeightValues& values) {
  const std::int64_t last = like.rank() - 1;
  const std::int64_t columns = like.dimensions(static_cast<int>(last));
  if (value->opcode() == HloOpcode::kBroadcast) {
    HloInstruction* const inner = value->mutable_operand(0);
    if (!values.is_known(inner)) return nullptr;
    const auto& kept = value->dimensions();
    if (kept.empty()) return broadcast(inner, {columns}, {});
    return kept.size() == 1 && kept[0] == last ? inner : nullptr;
  }
  // There is only one row, so nothing is spread. The same numbers as for more rows are found, so
  // that all sizes of a batch share what is made of them.
  if (xla::ShapeUtil::ElementsIn(like) != columns || !values.is_known(value)) return nullptr;
  while (value->opcode() == HloOpcode::kReshape) value = value->mutable_operand(0);
  return reshape(value, {columns});
}

Status move_scales_into_weights(xla::HloModule& module, std::int64_t first_weight,
                                const Choices& choices) {
  if (!choices.may_join_weights()) return {};
  const WeightValues values(module, first_weight);
  for (auto* instruction : module.entry_computation()->MakeInstructionPostOrder()) {
    TFAOT_TRY(move_scales(*instruction, values));
  }
  return remove_dead_code(module);
}

}  // namespace tfaot::toolkit::engine
