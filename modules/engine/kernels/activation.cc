// SPDX-License-Identifier: Apache-2.0
#include "kernels/activation.h"

#include <algorithm>
#include <map>

#include "xla/literal.h"

namespace tfaot::toolkit::engine {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;

// The same number in all elements.
bool is_constant(const HloInstruction& value) {
  return value.opcode() == HloOpcode::kBroadcast &&
         value.operand(0)->opcode() == HloOpcode::kConstant &&
         value.operand(0)->shape().rank() == 0;
}

std::optional<double> number(const HloInstruction& value) {
  if (!is_constant(value)) return {};
  return value.operand(0)->literal().GetAsDouble({});
}

bool is_positive(const HloInstruction& value) {
  const auto given = number(value);
  return given && *given > 0;
}

// Collects the factors of a product, without positive constants.
void collect_factors(HloInstruction* value, std::vector<HloInstruction*>& factors) {
  if (value->opcode() == HloOpcode::kMultiply) {
    collect_factors(value->mutable_operand(0), factors);
    collect_factors(value->mutable_operand(1), factors);
  } else if (value->opcode() == HloOpcode::kPower && number(*value->operand(1)) == 3) {
    factors.insert(factors.end(), 3, value->mutable_operand(0));
  } else if (!is_positive(*value)) {
    factors.push_back(value);
  }
}

std::vector<HloInstruction*> factors_of(HloInstruction* value) {
  std::vector<HloInstruction*> factors;
  collect_factors(value, factors);
  return factors;
}

// A positive multiple of x.
bool is_linear(HloInstruction* value, const HloInstruction* x) {
  const auto factors = factors_of(value);
  return factors.size() == 1 && factors[0] == x;
}

// A sum of positive multiples of x and its third power.
bool is_cubic(HloInstruction* value, const HloInstruction* x) {
  const auto factors = factors_of(value);
  if (factors.size() == 1 && factors[0]->opcode() == HloOpcode::kAdd) {
    return is_cubic(factors[0]->mutable_operand(0), x) &&
           is_cubic(factors[0]->mutable_operand(1), x);
  }
  return (factors.size() == 1 || factors.size() == 3) &&
         std::all_of(factors.begin(), factors.end(), [&](const auto* one) { return one == x; });
}

// For x times a gate, f' = gate + x gate'. For gates 1 + tanh(u), including the logistic (u = x/2),
// the sign of f' is that of 1 + x u' (1 - tanh u), which for x < 0 falls with |x| if u' does not
// fall with it. For 1 + erf(kx) it is that of x + gate/gate', which rises.
bool is_gate(HloInstruction* value, const HloInstruction* x) {
  if (value->opcode() == HloOpcode::kLogistic) return is_linear(value->mutable_operand(0), x);
  if (value->opcode() != HloOpcode::kAdd) return false;
  for (const int i : {0, 1}) {
    HloInstruction* curve = value->mutable_operand(1 - i);
    if (number(*value->operand(i)) != 1) continue;
    if (curve->opcode() == HloOpcode::kErf) return is_linear(curve->mutable_operand(0), x);
    if (curve->opcode() == HloOpcode::kTanh) return is_cubic(curve->mutable_operand(0), x);
  }
  return false;
}

using Made = std::map<const HloInstruction*, HloInstruction*>;

// `value`, remade with the inputs' replacements in `made`.
HloInstruction* remake(HloInstruction* value, absl::Span<const std::int64_t> sizes, Made& made) {
  if (const auto found = made.find(value); found != made.end()) return found->second;
  HloInstruction* result = nullptr;
  if (is_constant(*value)) {
    result = broadcast(value->mutable_operand(0), sizes, {});
  } else {
    std::vector<HloInstruction*> operands;
    for (HloInstruction* operand : value->operands()) {
      operands.push_back(remake(operand, sizes, made));
    }
    const auto shape = shape_of(value->shape().element_type(), sizes);
    result = value->parent()->AddInstruction(value->CloneWithNewOperands(shape, operands));
  }
  made.emplace(value, result);
  return result;
}

}  // namespace

std::optional<Activation> find_activation(HloInstruction& output) {
  if (output.user_count() != 1 || output.IsRoot()) return {};
  if (output.opcode() == HloOpcode::kTanh || output.opcode() == HloOpcode::kLogistic) {
    return Activation{output.mutable_operand(0), &output, Course::kRises};
  }
  const auto factors = factors_of(&output);
  for (const std::size_t i : {0U, 1U}) {
    if (factors.size() == 2 && is_gate(factors[1 - i], factors[i])) {
      return Activation{factors[i], &output, Course::kFallsThenRises};
    }
  }
  return {};
}

HloInstruction* apply(const Activation& activation, HloInstruction* input) {
  Made made = {{activation.input, input}};
  return remake(activation.output, input->shape().dimensions(), made);
}

}  // namespace tfaot::toolkit::engine
