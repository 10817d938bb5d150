// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

#include "compiler/hlo/build.h"
#include "compiler/hlo/match.h"
#include "compiler/hlo/passes.h"
#include "compiler/hlo/weight_values.h"
#include "compiler/kernels/kernel_call.h"
#include "tfaot/kernels/abi.h"
#include "xla/comparison_util.h"
#include "xla/hlo/ir/hlo_casting_utils.h"
#include "xla/hlo/ir/hlo_instructions.h"
#include "xla/literal.h"
#include "xla/permutation_util.h"
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

auto scalar_constant(bool (*is)(double)) {
  return m::Op().WithPredicate([is](const HloInstruction* one) {
    return one->IsConstant() && one->shape().rank() == 0 && is(*number_of(*one));
  });
}

template <typename A, typename B>
auto compared(SortDirection direction, xla::Comparison::Order order, const A& a, const B& b) {
  return m::Compare(a, b).WithComparisonDirection(direction).WithPredicate(
      [order](const HloInstruction* one) {
        return xla::Cast<xla::HloCompareInstruction>(one)->order() == order;
      });
}

template <typename A, typename B>
auto compared(SortDirection direction, const A& a, const B& b) {
  return compared(direction, xla::Comparison::Order::kPartial, a, b);
}

// select(x == 0, +0, x) of a parameter.
auto with_one_zero(std::int64_t x) {
  const auto zero = scalar_constant([](double number) { return number == 0; });
  const auto positive = scalar_constant([](double n) { return n == 0 && !std::signbit(n); });
  return m::Select(compared(SortDirection::kEq, m::Parameter(x), zero), positive, m::Parameter(x));
}

// select(x != x, +NaN, select(x == 0, +0, x)) of a parameter.
auto with_one_nan(std::int64_t x) {
  const auto own = m::AnyOf<HloInstruction>(m::Parameter(x), with_one_zero(x));
  const auto nan = scalar_constant([](double n) { return std::isnan(n) && !std::signbit(n); });
  return m::Select(compared(SortDirection::kNe, own, own), nan, with_one_zero(x));
}

// Nothing if the comparator's form is not known, or leaves open where NaNs go. Comparators are
// recognised by their operations, never by trying values.
std::optional<SortOrder> sort_order(const xla::HloComputation& comparator) {
  HloInstruction* const root = comparator.root_instruction();
  constexpr auto kTotal = xla::Comparison::Order::kTotal;
  for (const auto direction : {SortDirection::kLt, SortDirection::kGt}) {
    const bool is_greater = direction == SortDirection::kGt;
    for (const std::int64_t a : {0, 1}) {
      const bool is_descending = is_greater != (a == 1);
      if (xla::Match(root, compared(direction, kTotal, m::Parameter(a), m::Parameter(1 - a)))) {
        return SortOrder{is_descending, true};
      }
      if (xla::Match(root, compared(direction, kTotal, with_one_nan(a), with_one_nan(1 - a)))) {
        return SortOrder{is_descending, false};
      }
    }
    // a < b, or only b is a NaN; descending: with a and b exchanged.
    const auto small = m::Parameter(is_greater ? 1 : 0);
    const auto large = m::Parameter(is_greater ? 0 : 1);
    if (xla::Match(root,
                   m::OrAnyOrder(compared(direction, m::Parameter(0), m::Parameter(1)),
                                 m::AndAnyOrder(compared(SortDirection::kNe, large, large),
                                                compared(SortDirection::kEq, small, small))))) {
      return SortOrder{is_greater, false};
    }
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

// The number of elements along the axis that are used at most.
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
    HloInstruction*& result = entry(results, user->tuple_index());
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
  Dimensions last(static_cast<std::size_t>(rank));  // the axis behind all others
  std::iota(last.begin(), last.end(), 0);
  last.erase(last.begin() + axis);
  last.push_back(axis);
  x = transpose(x, last);
  call.size = entry(x->shape().dimensions(), rank - 1);
  call.rows = elements_of(*x) / call.size;
  if (order->is_descending) call.order |= kernels::kTopKDescending;
  if (order->is_total) call.order |= kernels::kTopKTotalOrder;

  KernelCall made{Kernel::kTopK, as_words(call), {x}, dimensions_of(*x)};
  made.result.back() = call.count;
  made.more_results = {shape_of(xla::S32, made.result)};
  made.scratch_bytes = kernels::top_k_scratch_bytes(call, element_bytes(*x));
  HloInstruction* values = add_kernel_call(made, sort);
  const Dimensions back = xla::InversePermutation(last);
  if ((*results)[0] != nullptr) {
    TFAOT_TRY(replace_used(*(*results)[0], transpose(values, back)));
  }
  if (results->size() < 2 || (*results)[1] == nullptr) return {};
  HloInstruction& sorted_places = *(*results)[1];
  HloInstruction* places = element_of(values->mutable_operand(0), 1);
  if (type_of(sorted_places) != xla::S32) {
    places = convert(places, type_of(sorted_places));
  }
  return replace_used(sorted_places, transpose(places, back));
}

}  // namespace

Status replace_sorts(xla::HloModule& module, PassContext& context) {
  xla::TopkDecomposer decomposer;  // makes sorts of JAX's top k
  TFAOT_TRY(checked(decomposer.Run(&module, {}).status()));
  for (HloInstruction* one : instructions_of(module)) {
    const bool is_sort = one->opcode() == HloOpcode::kSort && !context.values().is_known(one);
    if (is_sort) TFAOT_TRY(replace_sort(*one));
  }
  return {};
}

}  // namespace tfaot::toolkit::engine
