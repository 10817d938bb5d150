// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include "compiler/hlo/build.h"
#include "compiler/hlo/dimension_order.h"
#include "compiler/hlo/passes.h"
#include "compiler/hlo/weight_values.h"
#include "compiler/kernels/kernel_call.h"
#include "tfaot/kernels/abi.h"
#include "xla/comparison_util.h"
#include "xla/hlo/ir/hlo_casting_utils.h"
#include "xla/hlo/ir/hlo_instructions.h"
#include "xla/literal.h"
#include "xla/service/topk_rewriter.h"

namespace tfaot::toolkit::engine {
namespace {

using SortDirection = xla::ComparisonDirection;
using xla::HloInstruction;
using xla::HloOpcode;

// The order in which a sort puts floating-point numbers.
struct SortOrder {
  bool is_descending = false;
  // By sign and size: -NaN, ..., -0, +0, ..., +NaN. Otherwise zeros are equal, and NaNs are equal
  // and larger than all numbers.
  bool is_total = false;
};

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

// Nothing if the comparator's form is not known, or leaves open where NaNs go. Comparators are
// recognised by their operations, never by trying values.
std::optional<SortOrder> sort_order(const xla::HloComputation& comparator) {
  const HloInstruction& root = *comparator.root_instruction();
  for (const bool is_descending : {false, true}) {
    if (const auto order = total_order(root, is_descending)) return order;
    if (is_order_with_nan(root, is_descending)) return SortOrder{is_descending, false};
  }
  return {};
}

// A sort of numbers, and of their places if there are two operands.
bool is_known_sort(const HloInstruction& sort, std::int64_t axis) {
  if (sort.operand_count() > 2) return false;
  const xla::Shape& shape = sort.operand(0)->shape();
  if (!has_kernels(shape.element_type()) || xla::ShapeUtil::IsZeroElementArray(shape) ||
      entry(shape.dimensions(), axis) > std::numeric_limits<std::int32_t>::max()) {
    return false;
  }
  if (sort.operand_count() == 1) return true;
  const HloInstruction& places = *sort.operand(1);
  return places.opcode() == HloOpcode::kIota &&
         xla::Cast<xla::HloIotaInstruction>(&places)->iota_dimension() == axis;
}

// How many elements along the axis are used at most.
std::int64_t used_count(const HloInstruction& sorted, std::int64_t axis) {
  const std::int64_t all = entry(sorted.shape().dimensions(), axis);
  if (sorted.IsRoot()) return all;
  std::int64_t count = 0;
  for (const HloInstruction* user : sorted.users()) {
    count = std::max(count,
                     user->opcode() == HloOpcode::kSlice ? entry(user->slice_limits(), axis) : all);
  }
  return count;
}

// Each result of the sort, null if nothing uses it.
std::optional<std::vector<HloInstruction*>> results_of(HloInstruction& sort) {
  if (sort.operand_count() == 1) return std::vector{&sort};
  std::vector<HloInstruction*> results(2);
  if (sort.IsRoot()) return {};
  for (HloInstruction* user : sort.users()) {
    if (user->opcode() != HloOpcode::kGetTupleElement) return {};
    HloInstruction*& result = results[static_cast<std::size_t>(user->tuple_index())];
    if (result != nullptr) return {};
    result = user;
  }
  return results;
}

// `made` has the first elements of what stood there.
Status replace_used(HloInstruction& sorted, HloInstruction* made) {
  if (sorted.shape().dimensions() == made->shape().dimensions()) {
    return replace(sorted, made);
  }
  for (HloInstruction* slice : std::vector(sorted.users().begin(), sorted.users().end())) {
    const bool is_all = slice->shape().dimensions() == made->shape().dimensions();
    TFAOT_TRY(
        replace(*slice, is_all ? made : rebuild(*slice, slice->shape().dimensions(), {made})));
  }
  return {};
}

Status replace_sort(HloInstruction& sort) {
  const std::int64_t axis = sort.dimensions(0);
  if (!is_known_sort(sort, axis)) return {};
  const auto order = sort_order(*sort.to_apply());
  if (!order) return {};
  // Elements that are equal are the same if all bits count, but their places differ.
  const bool is_stable = xla::Cast<xla::HloSortInstruction>(&sort)->is_stable();
  if (!is_stable && (sort.operand_count() > 1 || !order->is_total)) return {};
  const auto results = results_of(sort);
  if (!results) return {};

  HloInstruction* x = sort.mutable_operand(0);
  const std::int64_t rank = x->shape().rank();
  kernels::TopKCall call{};
  for (const HloInstruction* result : *results) {
    if (result != nullptr) call.count = std::max(call.count, used_count(*result, axis));
  }
  if (call.count == 0) return {};
  DimensionOrder last(static_cast<std::size_t>(rank));  // the axis behind all others
  std::iota(last.begin(), last.end(), 0);
  last.erase(last.begin() + axis);
  last.push_back(axis);
  x = transpose(x, last);
  call.size = x->shape().dimensions(static_cast<int>(rank - 1));
  call.rows = xla::ShapeUtil::ElementsIn(x->shape()) / call.size;
  if (order->is_descending) call.order |= kernels::kTopKDescending;
  if (order->is_total) call.order |= kernels::kTopKTotalOrder;

  KernelCall made{Kernel::kTopK, as_words(call), {x}, dimensions_of(*x)};
  made.result.back() = call.count;
  made.more_results = {shape_of(xla::S32, made.result)};
  made.scratch_bytes = kernels::top_k_scratch_bytes(call, element_bytes(*x));
  HloInstruction* values = add_kernel_call(made, sort);
  const DimensionOrder back = inverse_order(last);
  if ((*results)[0] != nullptr) {
    TFAOT_TRY(replace_used(*(*results)[0], transpose(values, back)));
  }
  if (results->size() < 2 || (*results)[1] == nullptr) return {};
  HloInstruction& sorted_places = *(*results)[1];
  HloInstruction* places = result_of_kernel(values, 1);
  if (sorted_places.shape().element_type() != xla::S32) {
    places = convert(places, sorted_places.shape().element_type());
  }
  return replace_used(sorted_places, transpose(places, back));
}

}  // namespace

Status replace_sorts(xla::HloModule& module, PassContext& context) {
  xla::TopkDecomposer decomposer;  // makes sorts of JAX's top k
  TFAOT_TRY(checked(decomposer.Run(&module, {}).status()));
  for (auto* computation : module.MakeComputationPostOrder()) {
    for (auto* instruction : computation->MakeInstructionPostOrder()) {
      if (instruction->opcode() != HloOpcode::kSort || context.values().is_known(instruction))
        continue;
      TFAOT_TRY(replace_sort(*instruction));
    }
  }
  return {};
}

}  // namespace tfaot::toolkit::engine
