// SPDX-License-Identifier: Apache-2.0
#include "compiler/hlo/simplifier_guards.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "compiler/hlo/build.h"
#include "compiler/hlo/match.h"
#include "xla/hlo/ir/hlo_casting_utils.h"
#include "xla/hlo/ir/hlo_instructions.h"
#include "xla/primitive_util.h"

namespace tfaot::toolkit::engine {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;

xla::PrimitiveType element_type_of(const HloInstruction& one) { return one.shape().element_type(); }

bool has_whole_numbers(const HloInstruction& one) {
  return one.shape().IsArray() && xla::primitive_util::IsIntegralType(element_type_of(one));
}

struct FloatForm {
  int exponent = 0;  // bits
  int fraction = 0;
};
std::optional<FloatForm> float_form(xla::PrimitiveType type) {
  switch (type) {
    case xla::F16:
      return FloatForm{5, 10};
    case xla::BF16:
      return FloatForm{8, 7};
    case xla::F32:
      return FloatForm{8, 23};
    case xla::F64:
      return FloatForm{11, 52};
    default:
      return std::nullopt;
  }
}

bool is_normal(double number, xla::PrimitiveType type) {
  const int largest = 1 << (float_form(type)->exponent - 1);
  const double size = std::abs(number);
  return size >= std::ldexp(1.0, 2 - largest) && size < std::ldexp(1.0, largest);
}

// The same value in a form that the simplifier does not know.
HloInstruction* guarded(HloInstruction* value) {
  if (const auto form = float_form(element_type_of(*value))) {
    return add_next_to(value, HloInstruction::CreateReducePrecision(
                                  value->shape(), value, form->exponent, form->fraction));
  }
  return binary(HloOpcode::kXor, value, fill_like(value, 0));
}

bool has_opcode(const HloInstruction& value, std::initializer_list<HloOpcode> opcodes) {
  return std::find(opcodes.begin(), opcodes.end(), value.opcode()) != opcodes.end();
}

bool is_power_of_two(double number) {
  int exponent = 0;
  return std::abs(std::frexp(number, &exponent)) == 0.5;
}

// The constant, with its sign, of a sum or difference of a value and a constant.
std::optional<double> offset_of(const HloInstruction& sum) {
  if (!has_opcode(sum, {HloOpcode::kAdd, HloOpcode::kSubtract})) return std::nullopt;
  if (const auto first = number_of(*sum.operand(0))) return first;
  const auto second = number_of(*sum.operand(1));
  if (second && sum.opcode() == HloOpcode::kSubtract) return -*second;
  return second;
}

// (x + 2^23) - 2^23 rounds x.
bool rounds(const HloInstruction& sum, std::int64_t inner) {
  const auto first = offset_of(*sum.operand(inner));
  const auto second = offset_of(sum);
  if (!first || !second || number_of(*sum.operand(inner))) return false;
  const bool is_negated = sum.opcode() == HloOpcode::kSubtract && inner == 1;
  return *first * *second * (is_negated ? -1 : 1) < 0;
}

// x / 2 + y / 2: the sum of x and y may overflow.
bool is_mean(const HloInstruction& sum) {
  const HloInstruction& a = *sum.operand(0);
  const HloInstruction& b = *sum.operand(1);
  if (sum.opcode() != HloOpcode::kAdd || a.opcode() != HloOpcode::kMultiply ||
      b.opcode() != HloOpcode::kMultiply) {
    return false;
  }
  return std::any_of(a.operands().begin(), a.operands().end(), [&](const auto* factor) {
    const auto number = number_of(*factor);
    return number && std::abs(*number) < 1 && b.IsUserOf(factor);
  });
}

// (x * a) * b: the product of the constants may be none of the type.
bool overflows(const HloInstruction& product, std::int64_t inner) {
  const HloInstruction& first = *product.operand(inner);
  const auto b = number_of(*product.operand(1 - inner));
  if (!b || first.opcode() != HloOpcode::kMultiply) return false;
  return std::any_of(first.operands().begin(), first.operands().end(), [&](const auto* factor) {
    const auto a = number_of(*factor);
    return a && *a != 0 && *b != 0 && !is_normal(*a * *b, element_type_of(product));
  });
}

bool is_quotient(const HloInstruction& value) {
  return value.opcode() == HloOpcode::kDivide && !number_of(*value.operand(1));
}

// True if a rule for real numbers would merge the operation with that of an operand.
bool would_merge(const HloInstruction& one, std::int64_t i) {
  const HloInstruction& operand = *one.operand(i);
  const bool is_power = has_opcode(operand, {HloOpcode::kExp, HloOpcode::kPower});
  switch (one.opcode()) {
    case HloOpcode::kAdd:
      return rounds(one, i) || (i == 0 && is_mean(one));
    case HloOpcode::kSubtract:
      return rounds(one, i);
    case HloOpcode::kDivide:
      if (i == 1) return is_power || is_quotient(operand);
      return is_quotient(operand) && is_quotient(one);
    case HloOpcode::kLog:
      return is_power;
    case HloOpcode::kMultiply:
      if (operand.opcode() == HloOpcode::kConvert) {
        return element_type_of(*operand.operand(0)) == xla::PRED && !number_of(*one.operand(1 - i));
      }
      return overflows(one, i) || (i == 0 && operand.opcode() == HloOpcode::kExp &&
                                   one.operand(1)->opcode() == HloOpcode::kExp);
    case HloOpcode::kPower:
      return i == 0 && operand.opcode() == HloOpcode::kExp;
    case HloOpcode::kRsqrt:
      return operand.opcode() == HloOpcode::kPower;
    case HloOpcode::kSqrt:
      return operand.opcode() == HloOpcode::kMultiply && operand.operand(0) == operand.operand(1);
    default:
      return false;
  }
}

// True if the last digit of the value can decide about a whole number or a truth value.
bool is_rounded(const HloInstruction& value, int steps) {
  if (steps == 0) return false;
  return std::any_of(value.users().begin(), value.users().end(), [&](const auto* user) {
    switch (user->opcode()) {
      case HloOpcode::kCeil:
      case HloOpcode::kFloor:
      case HloOpcode::kRoundNearestAfz:
      case HloOpcode::kRoundNearestEven:
        return true;
      case HloOpcode::kConvert:
        return !float_form(element_type_of(*user)) || is_rounded(*user, steps - 1);
      case HloOpcode::kCompare:
        return std::none_of(user->operands().begin(), user->operands().end(),
                            [](const auto* operand) { return number_of(*operand) == 0; });
      case HloOpcode::kAbs:
      case HloOpcode::kAdd:
      case HloOpcode::kBroadcast:
      case HloOpcode::kClamp:
      case HloOpcode::kMaximum:
      case HloOpcode::kMinimum:
      case HloOpcode::kMultiply:
      case HloOpcode::kNegate:
      case HloOpcode::kReshape:
      case HloOpcode::kSelect:
      case HloOpcode::kSubtract:
      case HloOpcode::kTranspose:
        return is_rounded(*user, steps - 1);
      default:
        return false;
    }
  });
}

// True if a product with the rounded inverse of the divisor does not do.
bool needs_quotient(const HloInstruction& one) {
  constexpr int kMostSteps = 6;
  const auto divisor = number_of(*one.operand(1));
  if (!divisor || !float_form(element_type_of(one)) || !is_normal(*divisor, xla::F64)) return false;
  if (!is_normal(1 / *divisor, element_type_of(one))) return true;
  return !is_power_of_two(*divisor) && is_rounded(one, kMostSteps);
}

bool can_hold(xla::PrimitiveType type, std::int64_t number) {
  const int bits = xla::primitive_util::BitWidth(type) -
                   (xla::primitive_util::IsSignedIntegralType(type) ? 1 : 0);
  return bits >= 63 || number < std::int64_t{1} << bits;
}

// True if a slice of a slice becomes one slice, which starts at the sum of both starts.
bool is_stacked(const HloInstruction& one) {
  if (!has_opcode(one, {HloOpcode::kDynamicSlice, HloOpcode::kDynamicUpdateSlice})) return false;
  const HloInstruction* under = one.operand(one.opcode() == HloOpcode::kDynamicSlice ? 0 : 1);
  while (has_opcode(*under, {HloOpcode::kBroadcast, HloOpcode::kCopy, HloOpcode::kReshape,
                             HloOpcode::kTranspose})) {
    under = under->operand(0);
  }
  return under->opcode() == one.opcode();
}

// The start of a slice as XLA takes it in the end; null: it is that already.
HloInstruction* start_within(HloInstruction& slice, std::int64_t i) {
  const bool is_update = slice.opcode() == HloOpcode::kDynamicUpdateSlice;
  const auto d = static_cast<int>(i - (is_update ? 2 : 1));
  HloInstruction* const start = slice.mutable_operand(i);
  if (d < 0 || start->shape().rank() != 0 || start->opcode() == HloOpcode::kClamp) return nullptr;
  const xla::Shape& part = is_update ? slice.operand(1)->shape() : slice.shape();
  const std::int64_t most = slice.operand(0)->shape().dimensions(d) - part.dimensions(d);
  const auto number = number_of(*start);
  if (number && *number >= 0 && *number <= static_cast<double>(most)) return nullptr;
  const auto type = element_type_of(*start);
  HloInstruction* const zero = scalar_next_to(start, type, 0);
  return clamp(
      zero, start,
      can_hold(type, most) ? scalar_next_to(start, type, static_cast<double>(most)) : start);
}

// The replacement of an operand; null: there is none.
HloInstruction* guarded_operand(HloInstruction& one, std::int64_t i) {
  HloInstruction* const operand = one.mutable_operand(i);
  if (is_stacked(one)) return start_within(one, i);
  if (one.opcode() == HloOpcode::kScatter) {
    // XLA compares with the last place as a number of this type.
    const bool is_narrow = has_whole_numbers(*operand) &&
                           xla::primitive_util::BitWidth(element_type_of(*operand)) < 32;
    const auto& scatter = *xla::Cast<xla::HloScatterInstruction>(&one);
    return is_narrow && operand == scatter.scatter_indices() ? convert(operand, xla::S32) : nullptr;
  }
  if (has_whole_numbers(one)) {
    const bool is_power =
        one.opcode() == HloOpcode::kDivide && i == 1 && operand->opcode() == HloOpcode::kPower;
    return is_power ? guarded(operand) : nullptr;
  }
  if (!one.shape().IsArray() || !float_form(element_type_of(one))) return nullptr;
  if (would_merge(one, i)) return guarded(operand);
  if (one.opcode() != HloOpcode::kDivide || i == 0 || !needs_quotient(one)) return nullptr;
  // The divisor, for every dividend.
  return clamp(operand, one.mutable_operand(0), operand);
}

// The replacement of an operation on whole numbers; null: there is none.
HloInstruction* guarded_operation(HloInstruction& one) {
  if (!has_whole_numbers(one)) return nullptr;
  if (one.opcode() == HloOpcode::kAbs) {
    HloInstruction* const value = one.mutable_operand(0);
    if (xla::primitive_util::IsUnsignedIntegralType(element_type_of(one))) return value;
    return binary(HloOpcode::kMaximum, value, negate(value));
  }
  if (one.opcode() != HloOpcode::kIota) return nullptr;
  const auto d = xla::Cast<xla::HloIotaInstruction>(&one)->iota_dimension();
  if (can_hold(element_type_of(one), one.shape().dimensions(static_cast<int>(d)) - 1))
    return nullptr;
  return convert(add_next_to(&one, HloInstruction::CreateIota(
                                       shape_of(xla::S64, one.shape().dimensions()), d)),
                 element_type_of(one));
}

absl::StatusOr<bool> guard(HloInstruction& one) {
  if (HloInstruction* const made = guarded_operation(one)) {
    return one.parent()->ReplaceInstruction(&one, made, /*preserve_sharding=*/false);
  }
  bool changed = false;
  for (std::int64_t i = 0; i < one.operand_count(); ++i) {
    HloInstruction* const made = guarded_operand(one, i);
    if (made == nullptr) continue;
    const auto done = one.ReplaceOperandWithDifferentShape(i, made);
    if (!done.ok()) return done;
    changed = true;
  }
  return changed;
}

}  // namespace

absl::StatusOr<bool> SimplifierGuards::Run(
    xla::HloModule* module, const absl::flat_hash_set<absl::string_view>& /*execution_threads*/) {
  bool changed = false;
  for (xla::HloComputation* computation : module->MakeNonfusionComputations()) {
    for (HloInstruction* one : computation->MakeInstructionPostOrder()) {
      auto done = guard(*one);
      if (!done.ok()) return done;
      changed = changed || *done;
    }
  }
  return changed;
}

}  // namespace tfaot::toolkit::engine
