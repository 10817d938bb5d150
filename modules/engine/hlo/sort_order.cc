// SPDX-License-Identifier: Apache-2.0
#include "hlo/sort_order.h"

#include <cmath>
#include <utility>

#include "xla/comparison_util.h"
#include "xla/hlo/ir/hlo_casting_utils.h"
#include "xla/hlo/ir/hlo_instructions.h"
#include "xla/literal.h"

namespace tfaot::toolkit::engine {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;
using SortDirection = xla::ComparisonDirection;

enum class SortNumbers { kTotal, kPartial };

// The numbers compared, null if it is no such comparison.
using SortPair = std::pair<const HloInstruction*, const HloInstruction*>;
SortPair pair_compared(const HloInstruction& one, SortDirection direction, SortNumbers numbers) {
  if (one.opcode() != HloOpcode::kCompare || one.comparison_direction() != direction) return {};
  const bool is_total =
      xla::Cast<xla::HloCompareInstruction>(&one)->order() == xla::Comparison::Order::kTotal;
  if (is_total != (numbers == SortNumbers::kTotal)) return {};
  return {one.operand(0), one.operand(1)};
}

std::optional<double> scalar_constant(const HloInstruction& one) {
  if (one.opcode() != HloOpcode::kConstant || one.shape().rank() != 0) return {};
  const auto number = one.literal().Convert(xla::F64);
  if (!number.ok()) return {};
  return number->GetFirstElement<double>();
}

bool is_sorted_parameter(const HloInstruction* one, std::int64_t number) {
  return one != nullptr && one->opcode() == HloOpcode::kParameter &&
         one->parameter_number() == number;
}

// x, of select(x == 0, +0, x).
const HloInstruction* with_one_zero(const HloInstruction& one) {
  if (one.opcode() != HloOpcode::kSelect) return nullptr;
  const HloInstruction* x = one.operand(2);
  const auto zero = scalar_constant(*one.operand(1));
  const SortPair pair = pair_compared(*one.operand(0), SortDirection::kEq, SortNumbers::kPartial);
  if (pair.first != x || !zero || *zero != 0 || std::signbit(*zero)) return nullptr;
  const auto other = scalar_constant(*pair.second);
  return other && *other == 0 ? x : nullptr;
}

// x, of select(x != x, +NaN, select(x == 0, +0, x)).
const HloInstruction* with_one_nan(const HloInstruction& one) {
  if (one.opcode() != HloOpcode::kSelect) return nullptr;
  const HloInstruction* x = with_one_zero(*one.operand(2));
  const auto nan = scalar_constant(*one.operand(1));
  const SortPair pair = pair_compared(*one.operand(0), SortDirection::kNe, SortNumbers::kPartial);
  const bool is_own =
      pair.first == pair.second && (pair.first == x || pair.first == one.operand(2));
  return x != nullptr && is_own && nan && std::isnan(*nan) && !std::signbit(*nan) ? x : nullptr;
}

// In the order of all bits.
std::optional<SortOrder> total_order(const HloInstruction& root, bool is_descending) {
  const SortDirection direction = is_descending ? SortDirection::kGt : SortDirection::kLt;
  auto [a, b] = pair_compared(root, direction, SortNumbers::kTotal);
  if (a == nullptr) return {};
  SortOrder order{is_descending, true};
  if (a->opcode() == HloOpcode::kSelect && b->opcode() == HloOpcode::kSelect) {
    a = with_one_nan(*a);
    b = with_one_nan(*b);
    order.is_total = false;
  }
  if (is_sorted_parameter(a, 0) && is_sorted_parameter(b, 1)) return order;
  if (is_sorted_parameter(a, 1) && is_sorted_parameter(b, 0))
    return SortOrder{!is_descending, order.is_total};
  return {};
}

// a < b, or only b is a NaN; descending: with a and b exchanged.
bool is_order_with_nan(const HloInstruction& root, bool is_descending) {
  if (root.opcode() != HloOpcode::kOr) return false;
  const std::int64_t small = is_descending ? 1 : 0;
  const auto is_less = [&](const HloInstruction& one) {
    const auto [a, b] = pair_compared(one, is_descending ? SortDirection::kGt : SortDirection::kLt,
                                      SortNumbers::kPartial);
    return is_sorted_parameter(a, 0) && is_sorted_parameter(b, 1);
  };
  const auto is_itself = [](const HloInstruction& one, SortDirection direction,
                            std::int64_t number) {
    const auto [a, b] = pair_compared(one, direction, SortNumbers::kPartial);
    return is_sorted_parameter(a, number) && a == b;
  };
  const auto is_only_nan = [&](const HloInstruction& one) {
    if (one.opcode() != HloOpcode::kAnd) return false;
    for (const int first : {0, 1}) {
      if (is_itself(*one.operand(first), SortDirection::kNe, 1 - small) &&
          is_itself(*one.operand(1 - first), SortDirection::kEq, small)) {
        return true;
      }
    }
    return false;
  };
  return (is_less(*root.operand(0)) && is_only_nan(*root.operand(1))) ||
         (is_less(*root.operand(1)) && is_only_nan(*root.operand(0)));
}

}  // namespace

std::optional<SortOrder> sort_order(const xla::HloComputation& comparator) {
  const HloInstruction& root = *comparator.root_instruction();
  for (const bool is_descending : {false, true}) {
    if (const auto order = total_order(root, is_descending)) return order;
    if (is_order_with_nan(root, is_descending)) return SortOrder{is_descending, false};
  }
  return {};
}

}  // namespace tfaot::toolkit::engine
