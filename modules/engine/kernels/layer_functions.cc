// SPDX-License-Identifier: Apache-2.0
#include "kernels/layer_functions.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "kernels/gelu_calls.h"
#include "kernels/kernel_call.h"
#include "kernels/row_values.h"

namespace tfaot::toolkit::engine {
namespace {

using kernels::Function;
using xla::HloInstruction;
using xla::HloOpcode;

// Operations of the largest function, and then some.
constexpr std::size_t kMostOperations = 16;

using Match = std::optional<LayerFunction>;

// The operand of a multiplication or an addition that goes with a number.
struct WithNumber {
  const HloInstruction* other;
  double number;
};
std::optional<WithNumber> with_number(const HloInstruction& value, HloOpcode opcode) {
  if (value.opcode() != opcode) return {};
  for (const int i : {0, 1}) {
    if (const auto number = number_of(*value.operand(i))) {
      return WithNumber{value.operand(1 - i), *number};
    }
  }
  return {};
}

// The other operand of an operation of which one is `x`; null: none is.
const HloInstruction* beside(const HloInstruction& value, HloOpcode opcode,
                             const HloInstruction* x) {
  if (value.opcode() != opcode) return nullptr;
  for (const int i : {0, 1}) {
    if (value.operand(i) == x) return value.operand(1 - i);
  }
  return nullptr;
}

bool is_of(const HloInstruction* value, HloOpcode opcode, const HloInstruction* x) {
  return value->opcode() == opcode && value->operand(0) == x;
}

// A number times x, or times exp(x) - 1.
struct Slope {
  bool is_expm1 = false;
  double factor = 1;
};
std::optional<Slope> slope_of(const HloInstruction* value, const HloInstruction* x) {
  if (value == x) return Slope{};
  if (is_of(value, HloOpcode::kExpm1, x)) return Slope{true, 1};
  if (const auto difference = with_number(*value, HloOpcode::kSubtract)) {
    const bool is_expm1 = difference->number == 1 && value->operand(0) == difference->other &&
                          is_of(difference->other, HloOpcode::kExp, x);
    if (is_expm1) return Slope{true, 1};
  }
  if (const auto scaled = with_number(*value, HloOpcode::kMultiply)) {
    auto slope = slope_of(scaled->other, x);
    if (slope) slope->factor *= scaled->number;
    return slope;
  }
  return {};
}

// select(x > 0, above, below), in any of its forms.
Match piecewise(const HloInstruction& value, const HloInstruction* x) {
  if (value.opcode() != HloOpcode::kSelect) return {};
  const HloInstruction* const compare = value.operand(0);
  if (compare->opcode() != HloOpcode::kCompare) return {};
  const bool is_first = compare->operand(0) == x;
  if (!is_first && compare->operand(1) != x) return {};
  if (number_of(*compare->operand(is_first ? 1 : 0)) != 0) return {};
  const auto direction = compare->comparison_direction();
  const bool is_greater =
      direction == xla::ComparisonDirection::kGt || direction == xla::ComparisonDirection::kGe;
  const bool is_less =
      direction == xla::ComparisonDirection::kLt || direction == xla::ComparisonDirection::kLe;
  if (!is_greater && !is_less) return {};
  const int above_at = is_greater == is_first ? 1 : 2;
  const auto above = slope_of(value.operand(above_at), x);
  const auto below = slope_of(value.operand(3 - above_at), x);
  if (!above || !below || above->is_expm1) return {};
  // As a factor of 0 would lose a NaN or an infinity in one of both ways.
  if (above->factor == 0 || below->factor == 0) return {};
  return LayerFunction{below->is_expm1 ? kernels::kFunctionElu : kernels::kFunctionLeaky,
                       above->factor, below->factor};
}

// max(x, factor * x)
Match leaky(const HloInstruction& value, const HloInstruction* x) {
  const HloInstruction* const other = beside(value, HloOpcode::kMaximum, x);
  const auto scaled = other == nullptr ? std::nullopt : with_number(*other, HloOpcode::kMultiply);
  if (!scaled || scaled->other != x || scaled->number <= 0 || scaled->number >= 1) return {};
  return LayerFunction{kernels::kFunctionLeaky, 1, scaled->number};
}

// log(1 + exp(x)), of any size of x.
bool is_log1p_of_exp(const HloInstruction* value, const HloInstruction* x) {
  return value->opcode() == HloOpcode::kLog1p && is_of(value->operand(0), HloOpcode::kExp, x);
}

// Whether it is select(x > number, x, other) or select(x < number, exp(x), other); then `other`.
const HloInstruction* beyond(const HloInstruction& value, const HloInstruction* x,
                             xla::ComparisonDirection direction) {
  if (value.opcode() != HloOpcode::kSelect) return nullptr;
  const HloInstruction* const compare = value.operand(0);
  if (compare->opcode() != HloOpcode::kCompare || compare->comparison_direction() != direction ||
      compare->operand(0) != x) {
    return nullptr;
  }
  const auto limit = number_of(*compare->operand(1));
  const bool is_above = direction == xla::ComparisonDirection::kGt;
  // From there on the result is what stands for it, to all bits.
  if (!limit || (is_above ? *limit < 13 : *limit > -13)) return nullptr;
  const bool fits = is_above ? value.operand(1) == x : is_of(value.operand(1), HloOpcode::kExp, x);
  return fits ? value.operand(2) : nullptr;
}

// As TensorFlow writes it: with x or exp(x) in place of it where that is the same.
bool is_softplus_in_parts(const HloInstruction& value, const HloInstruction* x) {
  const HloInstruction* const middle = beyond(value, x, xla::ComparisonDirection::kGt);
  if (middle == nullptr) return false;
  const HloInstruction* const log = beyond(*middle, x, xla::ComparisonDirection::kLt);
  return log != nullptr && is_log1p_of_exp(log, x);
}

// max(x, 0) + log(1 + exp(-|x|))
bool is_softplus_in_one(const HloInstruction& value, const HloInstruction* x) {
  if (value.opcode() != HloOpcode::kAdd) return false;
  for (const int i : {0, 1}) {
    const HloInstruction* const size = value.operand(1 - i);
    const auto most = with_number(*value.operand(i), HloOpcode::kMaximum);
    if (!most || most->other != x || most->number != 0 || size->opcode() != HloOpcode::kLog1p ||
        size->operand(0)->opcode() != HloOpcode::kExp) {
      continue;
    }
    const HloInstruction* const negative = size->operand(0)->operand(0);
    if (negative->opcode() == HloOpcode::kNegate &&
        is_of(negative->operand(0), HloOpcode::kAbs, x)) {
      return true;
    }
  }
  return false;
}

// x times slope, plus offset.
struct Line {
  double slope, offset;
};
std::optional<Line> line_of(const HloInstruction* value, const HloInstruction* x) {
  if (value == x) return Line{1, 0};
  if (const auto sum = with_number(*value, HloOpcode::kAdd)) {
    auto line = line_of(sum->other, x);
    if (line) line->offset += sum->number;
    return line;
  }
  if (const auto scaled = with_number(*value, HloOpcode::kMultiply)) {
    auto line = line_of(scaled->other, x);
    if (line) line = Line{line->slope * scaled->number, line->offset * scaled->number};
    return line;
  }
  return {};
}

// A value that is at least 0 and at most `most`.
struct Limited {
  const HloInstruction* value;
  double most;
};
std::optional<Limited> limited(const HloInstruction& value) {
  if (value.opcode() == HloOpcode::kClamp) {
    const auto most = number_of(*value.operand(2));
    if (!most || number_of(*value.operand(0)) != 0) return {};
    return Limited{value.operand(1), *most};
  }
  for (const bool most_last : {true, false}) {
    const auto outer = with_number(value, most_last ? HloOpcode::kMinimum : HloOpcode::kMaximum);
    if (!outer) continue;
    const auto inner =
        with_number(*outer->other, most_last ? HloOpcode::kMaximum : HloOpcode::kMinimum);
    if (!inner || (most_last ? inner : outer)->number != 0) return {};
    return Limited{inner->other, (most_last ? outer : inner)->number};
  }
  return {};
}

// Numbers times a gate, clamp(0, slope * x + offset, most), and perhaps times x.
struct HardGate {
  double number = 1;
  int count = 0;  // of x
  const HloInstruction* gate = nullptr;
};
bool take_hard_factors(const HloInstruction* value, const HloInstruction* x, HardGate& product) {
  if (value == x) return ++product.count == 1;
  if (const auto number = number_of(*value)) {
    product.number *= *number;
    return true;
  }
  if (value->opcode() == HloOpcode::kMultiply) {
    return take_hard_factors(value->operand(0), x, product) &&
           take_hard_factors(value->operand(1), x, product);
  }
  if (value->opcode() == HloOpcode::kDivide && number_of(*value->operand(1))) {
    product.number /= *number_of(*value->operand(1));
    return take_hard_factors(value->operand(0), x, product);
  }
  if (product.gate != nullptr) return false;
  product.gate = value;
  return true;
}

// A gate from 0 to 1, or x times such a gate.
Match hard_gate(const HloInstruction& value, const HloInstruction* x) {
  HardGate product;
  if (!take_hard_factors(&value, x, product) || product.gate == nullptr) return {};
  const auto gate = limited(*product.gate);
  const auto line = gate ? line_of(gate->value, x) : std::nullopt;
  if (!line || product.number <= 0 || !is_near(gate->most * product.number, 1)) return {};
  return LayerFunction{
      product.count == 0 ? kernels::kFunctionHardSigmoid : kernels::kFunctionHardSwish,
      line->slope * product.number, line->offset * product.number};
}

Match named(Function function) { return LayerFunction{function}; }

Match match(const HloInstruction& value, const HloInstruction* x) {
  if (is_of(&value, HloOpcode::kTanh, x)) return named(kernels::kFunctionTanh);
  if (is_of(&value, HloOpcode::kLogistic, x)) return named(kernels::kFunctionSigmoid);
  if (is_kernel_call(value)) {
    if (kernel_name(value) == "gelu_f32" && value.operand(1) == x) {
      const auto form = call_of<kernels::GeluCall>(value).form;
      return named(function_of_form(static_cast<kernels::GeluForm>(form)));
    }
    return {};
  }
  const HloInstruction* const factor = beside(value, HloOpcode::kMultiply, x);
  if (factor != nullptr && is_of(factor, HloOpcode::kLogistic, x)) {
    return named(kernels::kFunctionSwish);
  }
  if (is_softplus_in_parts(value, x) || is_softplus_in_one(value, x)) {
    return named(kernels::kFunctionSoftplus);
  }
  if (const auto found = leaky(value, x)) return found;
  if (const auto found = hard_gate(value, x)) return found;
  if (const auto found = piecewise(value, x)) return found;
  if (const auto scaled = with_number(value, HloOpcode::kMultiply)) {
    auto found = piecewise(*scaled->other, x);
    if (!found || scaled->number == 0) return {};
    found->above *= scaled->number;
    found->below *= scaled->number;
    return found;
  }
  return {};
}

bool is_element_wise(const HloInstruction& value) {
  return value.IsElementwise() || (is_kernel_call(value) && kernel_name(value) == "gelu_f32");
}

// Everything that is made of x element by element, in order, up to some operations.
std::vector<HloInstruction*> made_of(HloInstruction& x) {
  std::vector<HloInstruction*> made = {&x};
  for (std::size_t i = 0; i < made.size() && made.size() < kMostOperations; ++i) {
    for (HloInstruction* user : made[i]->users()) {
      if (is_element_wise(*user) && std::find(made.begin(), made.end(), user) == made.end()) {
        made.push_back(user);
      }
    }
  }
  return made;
}

// Adds what is between x and `value`, without constants, which calls of kernels may share.
void collect(const HloInstruction* value, const HloInstruction* x,
             std::set<const HloInstruction*>& between) {
  if (value == x || value->IsConstant() || number_of(*value)) return;
  if (!between.insert(value).second) return;
  for (const HloInstruction* operand : value->operands()) collect(operand, x, between);
}

// Nothing outside of it uses x or a part of it.
bool is_closed(const HloInstruction& value, const HloInstruction& x) {
  std::set<const HloInstruction*> between;
  collect(&value, &x, between);
  const auto is_inside = [&](const HloInstruction* one) {
    return std::all_of(one->users().begin(), one->users().end(),
                       [&](const auto* user) { return between.count(user) > 0; });
  };
  return !x.IsRoot() && is_inside(&x) &&
         std::all_of(between.begin(), between.end(), [&](const auto* one) {
           return one == &value || (!one->IsRoot() && is_inside(one));
         });
}

}  // namespace

std::optional<LayerFunction> function_of(HloInstruction& x) {
  const auto made = made_of(x);
  for (auto one = made.rbegin(); one != made.rend() && *one != &x; ++one) {
    auto found = match(**one, &x);
    if (!found || !is_closed(**one, x)) continue;
    found->result = *one;
    return found;
  }
  return {};
}

HloInstruction* sole_user(const HloInstruction& value) {
  return value.user_count() == 1 && !value.IsRoot() ? value.users().front() : nullptr;
}

HloInstruction* last_view(HloInstruction* value) {
  while (true) {
    HloInstruction* const user = sole_user(*value);
    const bool is_view = user != nullptr && (user->opcode() == HloOpcode::kReshape ||
                                             user->opcode() == HloOpcode::kBitcast);
    if (!is_view) return value;
    value = user;
  }
}

}  // namespace tfaot::toolkit::engine
