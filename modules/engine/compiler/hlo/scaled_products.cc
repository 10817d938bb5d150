// SPDX-License-Identifier: Apache-2.0
#include <set>

#include "compiler/hlo/build.h"
#include "compiler/hlo/match.h"
#include "compiler/hlo/passes.h"
#include "compiler/hlo/weight_values.h"

namespace tfaot::toolkit::engine {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;

// x * scale + shift, both with a number for each column; null: none.
struct ScaledInput {
  HloInstruction* x;
  HloInstruction* scale = nullptr;
  HloInstruction* shift = nullptr;
};

// Takes one operation off; false: there is none.
bool take_operation(ScaledInput& scaled, const WeightValues& values) {
  HloInstruction* const one = scaled.x;
  // With one row the product is that of a vector.
  if (one->opcode() == HloOpcode::kReshape && one->user_count() == 1 && one->shape().rank() == 1 &&
      one->operand(0)->shape().rank() > 0 &&
      one->operand(0)->shape().dimensions().back() == one->shape().dimensions(0)) {
    scaled.x = one->mutable_operand(0);
    return true;
  }
  if (only_user(*one) == nullptr || one->operand_count() != 2) return false;
  for (HloInstruction* operand : one->operands()) {
    const auto step = values.is_known(operand) ? std::nullopt : column_step(*one, operand, values);
    if (!step) continue;
    if (step->is_scale) {
      scaled.scale = accumulate(HloOpcode::kMultiply, scaled.scale, step->numbers);
    } else {
      HloInstruction* const shift = scaled.scale == nullptr
                                        ? step->numbers
                                        : binary(HloOpcode::kMultiply, step->numbers, scaled.scale);
      scaled.shift = accumulate(HloOpcode::kAdd, scaled.shift, shift);
    }
    scaled.x = operand;
    return true;
  }
  return false;
}

// Not the end of a normalisation, whose kernels have scale and shift themselves.
bool is_activation(const HloInstruction& value) {
  return xla::HloPredicateIsOp<HloOpcode::kClamp, HloOpcode::kLogistic, HloOpcode::kMaximum,
                               HloOpcode::kSelect, HloOpcode::kTanh>(&value);
}

// True for a function of what a product computes.
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

}  // namespace

Status move_scale_into_weight(HloInstruction& dot, PassContext& context) {
  const auto layer = matrix_product(dot);
  if (!context.choices.may_join_weights() || !layer || !layer->sums_last()) return {};
  const WeightValues& values = context.values();
  if (values.is_known(&dot) || !values.is_known(layer->matrix) || !has_kernels(type_of(dot)) ||
      !dot.parent()->IsEntryComputation()) {
    return {};
  }
  ScaledInput scaled{layer->left};
  while (take_operation(scaled, values)) {
  }
  if (scaled.x == layer->left || !is_activation(*scaled.x) || !follows_product(*scaled.x) ||
      (scaled.scale == nullptr && scaled.shift == nullptr)) {
    return {};
  }
  HloInstruction* weight = layer->matrix;
  if (scaled.scale != nullptr) {
    weight = binary(HloOpcode::kMultiply, weight,
                    broadcast(scaled.scale, weight->shape().dimensions(), {layer->matrix_depth}));
  }
  HloInstruction* made = rebuild(dot, dot.shape().dimensions(),
                                 {reshape(scaled.x, layer->left->shape().dimensions()), weight});
  if (scaled.shift != nullptr) {
    HloInstruction* const bias =
        contract(scaled.shift, 0, layer->matrix, layer->matrix_depth, dot.precision_config());
    made = binary(HloOpcode::kAdd, made,
                  broadcast(bias, dot.shape().dimensions(), {dot.shape().rank() - 1}));
  }
  return replace(dot, made);
}

}  // namespace tfaot::toolkit::engine
