// SPDX-License-Identifier: Apache-2.0
// Calls of kernels for functions of rows (tfaot/kernels/abi.h): softmax as any format writes it,
// sums of rows, and gelu between two kernels. A tensor is seen as [rows, columns]: the functions
// are found by the tensors with one number for each row.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "compiler/hlo/match.h"
#include "compiler/hlo/passes.h"
#include "compiler/hlo/tuned.h"
#include "compiler/kernels/composites.h"
#include "compiler/kernels/epilogue.h"
#include "compiler/kernels/kernel_facts.h"
#include "xla/comparison_util.h"
#include "xla/hlo/ir/hlo_casting_utils.h"
#include "xla/hlo/ir/hlo_instructions.h"
#include "xla/permutation_util.h"
#include "xla/service/topk_rewriter.h"

namespace tfaot::toolkit::engine {
namespace {

struct RowsAndColumns {
  std::int64_t rows, columns;
};

// A reduction of each row. The last dimensions are the columns.
struct RowReduction {
  HloInstruction* of;
  RowsAndColumns sizes;
};

std::optional<RowReduction> row_reduction(HloInstruction& reduce, HloOpcode opcode) {
  if (reduce.opcode() != kReduce || !reduces_by(reduce, opcode) || !is_float32(reduce) ||
      reduce.dimensions().empty()) {
    return {};
  }
  const std::int64_t rows = elements_of(reduce), columns = count_of(reduce);
  if (strides_over_terms(reduce) != merged({{rows, 1}, {columns, 0}})) return {};
  return RowReduction{reduce.mutable_operand(0), {rows, columns}};
}

// The tensor of one number for each row that `value`, a tensor of all elements, spreads over the
// columns; null: none.
HloInstruction* row_numbers(HloInstruction* value, const RowsAndColumns& sizes) {
  return spread_operand(*before_reshapes(value), {{sizes.rows, 1}, {sizes.columns, 0}});
}

// True if it reduces the rows of `of`, perhaps in another shape.
bool reduces_rows(HloInstruction* reduce, HloOpcode opcode, HloInstruction* of) {
  const auto found = row_reduction(*reduce, opcode);
  return found && before_reshapes(found->of) == before_reshapes(of);
}

// True if the quotient divides `exp` by the sum of its row, or multiplies it with 1 / sum.
bool divides_by_sum(HloInstruction& quotient, HloInstruction* exp, const RowsAndColumns& sizes) {
  HloInstruction* const other = other_operand(quotient, quotient.opcode(), exp);
  HloInstruction* sum = row_numbers(other, sizes);
  if (sum == nullptr) return false;
  sum = before_reshapes(sum);
  if (quotient.opcode() == kMultiply) {
    HloInstruction* divisor = nullptr;
    if (!xla::Match(sum, m::Divide(number_equal(1), m::Op(&divisor)))) return false;
    sum = before_reshapes(divisor);
  } else if (quotient.operand(1) == exp) {
    return false;
  }
  return reduces_rows(sum, kAdd, exp);
}

// x times a number.
struct Scaled {
  HloInstruction* x;
  double scale = 1;
};
Scaled scaled(HloInstruction* value) {
  Scaled found{value};
  double divisor = 1;
  xla::Match(value, m::MultiplyAnyOrder(m::Op(&found.x), number(&found.scale)));
  if (xla::Match(value, m::Divide(m::Op(&found.x), number(&divisor)))) found.scale = 1 / divisor;
  return found;
}

// A call in the place of a quotient that is the softmax with the exponentials `exp`; null: it is
// something else. Also of two numbers: LLVM unrolls XLA's loops of one short row and fuses the last
// product of an exponential with the sum, so that row would have other bits than in a batch.
HloInstruction* softmax_of(HloInstruction& quotient, HloInstruction* exp) {
  HloInstruction *y = nullptr, *peak = nullptr;
  const auto shifted = m::Subtract(m::Op(&y), m::Op(&peak));
  // ONNX's reader adds a limit of 0, above which no difference is.
  if (!xla::Match(exp, m::Exp(m::AnyOf<HloInstruction>(
                           shifted, m::MinimumAnyOrder(shifted, number_equal(0)))))) {
    return nullptr;
  }
  const HloInstruction* const spread = before_reshapes(peak);
  const std::int64_t rows = spread->opcode() == kBroadcast ? elements_of(*spread->operand(0)) : 0;
  if (rows == 0 || elements_of(quotient) % rows != 0) return nullptr;
  const RowsAndColumns sizes{rows, elements_of(quotient) / rows};
  peak = row_numbers(peak, sizes);
  if (sizes.columns < 2 || peak == nullptr || !reduces_rows(before_reshapes(peak), kMaximum, y) ||
      !divides_by_sum(quotient, exp, sizes)) {
    return nullptr;
  }
  const auto [x, scale] = scaled(y);
  const kernels::SoftmaxCall call{sizes.rows, sizes.columns, scale};
  return add_kernel_call({Kernel::kSoftmax, as_words(call), {x}, dimensions_of(quotient)},
                         quotient);
}

// The squares that are added: of x, or of x - y.
struct Squares {
  HloInstruction* x = nullptr;
  HloInstruction* y = nullptr;
};

Squares squares_of(HloInstruction* value) {
  HloInstruction* const root = squared(*value);
  HloInstruction *x = nullptr, *y = nullptr;
  // With other users the difference is computed anyway.
  if (root == nullptr || root->user_count() != 1 ||
      !xla::Match(root, m::Subtract(m::Op(&x), m::Op(&y))) || x->opcode() == kBroadcast ||
      y->opcode() == kBroadcast) {
    return {root};
  }
  return {x, y};
}

// True if a kernel computes it, so it is in memory anyway.
bool is_from_kernel(const HloInstruction* value) {
  value = before_reshapes(value);
  return is_kernel_call(*value) ||
         (value->opcode() == kGetTupleElement && is_kernel_call(*value->operand(0)));
}

// True if all users are kernels: XLA would compute it again in the loop of any other.
bool feeds_kernels(const HloInstruction& value) {
  return std::ranges::all_of(value.users(), [](const auto* user) {
    return is_kernel_call(*user) || user->opcode() == kTuple ||
           (user->opcode() == kReshape && feeds_kernels(*user));
  });
}

// ---- Sorts, of which a kernel finds the first elements.

using SortDirection = xla::ComparisonDirection;

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

// A kernels::TopKOrder; nothing if the comparator's form is not known, or leaves open where NaNs
// go. Comparators are recognised by their operations, never by trying values.
std::optional<std::int64_t> sort_order(const xla::HloComputation& comparator) {
  HloInstruction* const root = comparator.root_instruction();
  constexpr auto kTotal = xla::Comparison::Order::kTotal;
  for (const auto direction : {SortDirection::kLt, SortDirection::kGt}) {
    for (const std::int64_t a : {0, 1}) {
      const bool is_descending = (direction == SortDirection::kGt) != (a == 1);
      const std::int64_t order = is_descending ? kernels::kTopKDescending : kernels::kTopKAscending;
      if (xla::Match(root, compared(direction, kTotal, m::Parameter(a), m::Parameter(1 - a)))) {
        return order | kernels::kTopKTotalOrder;
      }
      if (xla::Match(root, compared(direction, kTotal, with_one_nan(a), with_one_nan(1 - a)))) {
        return order;
      }
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
  return places.opcode() == kIota &&
         xla::Cast<xla::HloIotaInstruction>(&places)->iota_dimension() == axis;
}

// The number of elements along the axis that are used at most.
std::int64_t used_count(const HloInstruction& sorted, std::int64_t axis) {
  const std::int64_t all = size_of(sorted, axis);
  if (sorted.IsRoot()) return all;
  std::int64_t count = 0;
  for (const HloInstruction* user : sorted.users()) {
    count = std::max(count, user->opcode() == kSlice ? entry(user->slice_limits(), axis) : all);
  }
  return count;
}

// Each result of the sort, null if nothing uses it.
std::optional<std::vector<HloInstruction*>> results_of(HloInstruction& sort) {
  if (sort.operand_count() == 1) return std::vector{&sort};
  std::vector<HloInstruction*> results(2);
  if (sort.IsRoot()) return {};
  for (HloInstruction* user : sort.users()) {
    if (user->opcode() != kGetTupleElement) return {};
    HloInstruction*& result = entry(results, user->tuple_index());
    if (result != nullptr) return {};
    result = user;
  }
  return results;
}

// `made` has the first elements of `sorted`.
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

struct TopK {
  std::int64_t axis, count, order;  // as in TopKCall
};
// The values and their places; `model`, with the elements as its first operand, is replaced.
std::pair<HloInstruction*, HloInstruction*> top_k(HloInstruction& model, const TopK& wanted) {
  HloInstruction* x = model.mutable_operand(0);
  const std::int64_t rank = x->shape().rank();
  Dimensions last = other_dimensions(rank, {wanted.axis});  // the axis after all others
  last.push_back(wanted.axis);
  x = transpose(x, last);
  kernels::TopKCall call{};
  call.size = size_of(*x, rank - 1);
  call.rows = elements_of(*x) / call.size;
  call.count = wanted.count;
  call.order = wanted.order;
  KernelCall made{Kernel::kTopK, as_words(call), {x}, dimensions_of(*x)};
  made.result.back() = call.count;
  made.more_results = {shape_of(xla::S32, made.result)};
  HloInstruction* const values = add_kernel_call(made, model);
  const Dimensions back = xla::InversePermutation(last);
  return {transpose(values, back), transpose(element_of(values->mutable_operand(0), 1), back)};
}

Status replace_sort(HloInstruction& sort) {
  const std::int64_t axis = sort.dimensions(0);
  if (!is_known_sort(sort, axis)) return {};
  const auto order = sort_order(*sort.to_apply());
  if (!order) return {};
  // Elements that are equal are the same if all bits count, but their places differ.
  const bool is_stable = xla::Cast<xla::HloSortInstruction>(&sort)->is_stable();
  if (!is_stable && (sort.operand_count() > 1 || (*order & kernels::kTopKTotalOrder) == 0))
    return {};
  const auto results = results_of(sort);
  if (!results) return {};

  std::int64_t count = 0;
  for (const HloInstruction* result : *results) {
    if (result != nullptr) count = std::max(count, used_count(*result, axis));
  }
  if (count == 0) return {};
  auto [values, places] = top_k(sort, {axis, count, *order});
  if ((*results)[0] != nullptr) TFAOT_TRY(replace_used(*(*results)[0], values));
  if (results->size() < 2 || (*results)[1] == nullptr) return {};
  HloInstruction& sorted_places = *(*results)[1];
  if (type_of(sorted_places) != xla::S32) places = convert(places, type_of(sorted_places));
  return replace_used(sorted_places, places);
}

// ---- Facts.

struct GeluFacts : RowFunctionFacts<kernels::GeluCall> {
  static KernelWork work(const Call& call, const HloInstruction& /*one*/) {
    return {fmt::format("{} elements", call.size)};
  }
};

struct RowSumFacts : RowFunctionFacts<kernels::RowSumCall> {
  static double cycles(const Call& /*call*/, const HloInstruction& one, const ProgramSpeed& speed) {
    return over_vectors(one, speed, kPlainCycles);
  }
};

struct TopKFacts {
  using Call = kernels::TopKCall;

  static bool keeps_rows(const Call& call, const HloInstruction& /*one*/, const BatchRows& rows) {
    return rows.divide(call.rows);
  }
  // Each element of rows in lanes is compared with the first ones, or with all others, or they are
  // sorted.
  static double cycles(const Call& call, const HloInstruction& one, const ProgramSpeed& speed) {
    const std::int64_t bytes = element_bytes(*one.operand(1));
    const auto rows = static_cast<double>(call.rows), size = static_cast<double>(call.size);
    const double lanes = speed.machine().vector_bytes / static_cast<double>(bytes);
    if (bytes == sizeof(float) && are_rows_together(call, static_cast<std::int64_t>(lanes))) {
      return call_cycles(one, speed) +
             rows * size * (kLaneCycles + static_cast<double>(call.count) * kFirstCycles) / lanes;
    }
    return call_cycles(one, speed) + rows * size *
                                         std::min(std::ceil(size / lanes) * kMeetCycles,
                                                  static_cast<double>(bytes) * kSortByteCycles);
  }
  static KernelWork work(const Call& call, const HloInstruction& /*one*/) {
    const bool is_descending = (call.order & kernels::kTopKDescending) != 0;
    return {fmt::format("{} {} of {}, in {} rows", is_descending ? "largest" : "smallest",
                        call.count, call.size, call.rows)};
  }
};

}  // namespace

constinit const KernelFacts kSoftmaxFacts = facts_of<RowFunctionFacts<kernels::SoftmaxCall>>();
constinit const KernelFacts kGeluFacts = facts_of<GeluFacts>();
constinit const KernelFacts kRowSumFacts = facts_of<RowSumFacts>();
constinit const KernelFacts kTopKFacts = facts_of<TopKFacts>();

// Along other dimensions than the last, transposes would take longer than loops.
HloInstruction* taken_softmax(HloInstruction& one, const std::vector<std::int64_t>& numbers) {
  HloInstruction* const x = one.mutable_operand(0);
  if (!is_float32(*x) || !is_for_kernels(*x) || numbers.size() != 1) return nullptr;
  const std::int64_t columns = size_of(*x, numbers.front());
  if (columns < 2 || stride_along(x->shape(), numbers.front()) != 1) return nullptr;
  const kernels::SoftmaxCall call{elements_of(*x) / columns, columns, 1};
  return add_kernel_call({Kernel::kSoftmax, as_words(call), {x}, dimensions_of(*x)}, one);
}

HloInstruction* taken_top_k(HloInstruction& one, const std::vector<std::int64_t>& numbers) {
  const HloInstruction& x = *one.operand(0);
  if (!is_for_kernels(x) || numbers.size() != 3 || numbers[1] == 0) return nullptr;
  const auto [values, places] = top_k(one, {numbers[0], numbers[1], numbers[2]});
  return tuple_of({values, places});
}

Status replace_softmax(HloInstruction& quotient, PassContext& context) {
  if (is_call_of(quotient, Kernel::kSoftmax)) {
    const auto [x, scale] = scaled(quotient.mutable_operand(1));
    auto call = call_of<kernels::SoftmaxCall>(quotient);
    if (scale == 1 || call.scale != 1) return {};
    call.scale = scale;
    return replace_by_call(quotient, {Kernel::kSoftmax, as_words(call), {x}});
  }
  if ((quotient.opcode() != kDivide && quotient.opcode() != kMultiply) || !is_float32(quotient) ||
      context.values().is_known(&quotient)) {
    return {};
  }
  for (const int i : {0, 1}) {
    HloInstruction* const made = softmax_of(quotient, quotient.mutable_operand(i));
    if (made != nullptr) return replace(quotient, made);
  }
  return {};
}

Status replace_row_sum(HloInstruction& reduce, PassContext& context) {
  const auto found = row_reduction(reduce, kAdd);
  if (!found || found->sizes.columns <= tuned().reductions_most_in_one_loop ||
      context.values().is_known(&reduce)) {
    return {};
  }
  kernels::RowSumCall call{found->sizes.rows, found->sizes.columns, kernels::kRowSumOfNumbers};
  Instructions operands = {found->of};
  if (found->of->user_count() == 1) {
    const Squares squares = squares_of(found->of);
    if (squares.y != nullptr) {
      call.form = kernels::kRowSumOfSquaredDifferences;
      operands = {squares.x, squares.y};
    } else if (squares.x != nullptr) {
      call.form = kernels::kRowSumOfSquares;
      operands = {squares.x};
    }
  }
  return replace_by_call(reduce, {Kernel::kRowSum, as_words(call), operands});
}

Status replace_gelu(HloInstruction& result, PassContext& context) {
  const auto gelu = is_float32(result) ? gelu_of(result) : std::nullopt;
  const std::int64_t size = elements_of(result);
  if (!gelu || elements_of(*gelu->x) != size || context.values().is_known(&result)) return {};
  if (!is_from_kernel(gelu->x) || !feeds_kernels(result)) {
    add_remark(context, result, "no gelu: it is not between kernels");
    return {};
  }
  const kernels::GeluCall call{size, gelu->form};
  return replace_by_call(result, {Kernel::kGelu, as_words(call), {gelu->x}});
}

Status replace_sorts(xla::HloModule& module, PassContext& context) {
  xla::TopkDecomposer decomposer;  // makes sorts of JAX's top k
  TFAOT_TRY(checked(decomposer.Run(&module, {}).status()));
  for (HloInstruction* one : instructions_of(module)) {
    const bool is_sort = one->opcode() == kSort && !context.values().is_known(one);
    if (is_sort) TFAOT_TRY(replace_sort(*one));
  }
  return {};
}

}  // namespace tfaot::toolkit::engine
