// SPDX-License-Identifier: Apache-2.0
#include "hlo/loop_numbers.h"

#include <algorithm>

#include "xla/literal.h"
#include "xla/primitive_util.h"

namespace tfaot::toolkit::engine {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;

bool is_whole_number(const HloInstruction& value) {
  return value.shape().IsArray() && product(value.shape().dimensions()) == 1 &&
         (xla::primitive_util::IsIntegralType(value.shape().element_type()) ||
          value.shape().element_type() == xla::PRED);
}

std::optional<std::int64_t> constant_number(const HloInstruction& value) {
  if (value.opcode() != HloOpcode::kConstant || !is_whole_number(value)) return std::nullopt;
  const auto number = value.literal().GetFirstInteger();
  if (number) return number;
  return value.literal().GetFirstElement<bool>() ? 1 : 0;
}

std::int64_t compared(const HloInstruction& compare, std::int64_t a, std::int64_t b) {
  switch (compare.comparison_direction()) {
    case xla::ComparisonDirection::kEq:
      return a == b ? 1 : 0;
    case xla::ComparisonDirection::kNe:
      return a != b ? 1 : 0;
    case xla::ComparisonDirection::kLt:
      return a < b ? 1 : 0;
    case xla::ComparisonDirection::kLe:
      return a <= b ? 1 : 0;
    case xla::ComparisonDirection::kGt:
      return a > b ? 1 : 0;
    case xla::ComparisonDirection::kGe:
      return a >= b ? 1 : 0;
  }
  return 0;
}

}  // namespace

std::optional<Progression> LoopNumbers::counter(std::int64_t element) const {
  const HloInstruction& next = *loop_.next(element);
  const auto first = constant_number(*loop_.start(element));
  if (!first || next.opcode() != HloOpcode::kAdd) return std::nullopt;
  for (const int i : {0, 1}) {
    const auto step = constant_number(*next.operand(1 - i));
    if (step && loop_.element(*next.operand(i)) == element) return Progression{*first, *step};
  }
  return std::nullopt;
}

std::optional<Progression> LoopNumbers::progression(const HloInstruction& number) const {
  const auto first = at(number, 0);
  const auto second = at(number, std::min<std::int64_t>(1, turns_ - 1));
  if (!first || !second) return std::nullopt;
  const Progression found{*first, *second - *first};
  for (std::int64_t turn = 2; turn < turns_; ++turn) {
    if (at(number, turn) != found.first + turn * found.step) return std::nullopt;
  }
  return found;
}

std::optional<std::int64_t> LoopNumbers::at(const HloInstruction& number, std::int64_t turn) const {
  if (!is_whole_number(number)) return std::nullopt;
  if (const auto known = constant_number(number)) return known;
  if (const auto element = loop_.element(number)) {
    if (loop_.is_passed_on(*element)) return constant_number(*loop_.start(*element));
    const auto counted = counter(*element);
    if (!counted) return std::nullopt;
    return counted->first + turn * counted->step;
  }
  std::vector<std::int64_t> operands;
  for (const HloInstruction* operand : number.operands()) {
    const auto value = at(*operand, turn);
    if (!value) return std::nullopt;
    operands.push_back(*value);
  }
  switch (number.opcode()) {
    case HloOpcode::kAdd:
      return operands[0] + operands[1];
    case HloOpcode::kSubtract:
      return operands[0] - operands[1];
    case HloOpcode::kMultiply:
      return operands[0] * operands[1];
    case HloOpcode::kMaximum:
      return std::max(operands[0], operands[1]);
    case HloOpcode::kMinimum:
      return std::min(operands[0], operands[1]);
    case HloOpcode::kNegate:
      return -operands[0];
    case HloOpcode::kConvert:
    case HloOpcode::kReshape:
    case HloOpcode::kBitcast:
      return operands[0];
    case HloOpcode::kCompare:
      return compared(number, operands[0], operands[1]);
    case HloOpcode::kSelect:
      return operands[0] != 0 ? operands[1] : operands[2];
    default:
      return std::nullopt;
  }
}

}  // namespace tfaot::toolkit::engine
