// SPDX-License-Identifier: Apache-2.0
// Calls of kernels for functions of rows (tfaot/kernels/abi.h): softmax as any format writes it,
// sums of rows, and gelu between two kernels. A tensor is seen as [rows, columns]: the functions
// are found by the tensors with one number for each row.
#include <fmt/format.h>

#include <algorithm>

#include "absl/algorithm/container.h"
#include "compiler/hlo/build.h"
#include "compiler/hlo/match.h"
#include "compiler/hlo/passes.h"
#include "compiler/hlo/tuned.h"
#include "compiler/kernels/epilogue.h"
#include "compiler/kernels/kernel_call.h"
#include "tfaot/kernels/abi.h"

namespace tfaot::toolkit::engine {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;

struct RowsAndColumns {
  std::int64_t rows, columns;
  std::int64_t size() const { return rows * columns; }
};

// A reduction of each row. The last dimensions are the columns.
struct RowReduction {
  HloInstruction* of;
  RowsAndColumns sizes;
};

std::optional<RowReduction> row_reduction(HloInstruction& reduce, HloOpcode opcode) {
  if (reduce.opcode() != HloOpcode::kReduce || !reduces_by(reduce, opcode) || !is_float32(reduce) ||
      reduce.dimensions().empty()) {
    return {};
  }
  const auto sizes = reduce.operand(0)->shape().dimensions();
  bool met = false;
  for (std::int64_t d = 0; d < std::ssize(sizes); ++d) {
    // A dimension of size 1 may be reduced anywhere.
    if (entry(sizes, d) == 1) continue;
    const bool is_reduced = absl::c_linear_search(reduce.dimensions(), d);
    if (met && !is_reduced) return {};
    met = met || is_reduced;
  }
  const std::int64_t rows = elements_of(reduce);
  return RowReduction{reduce.mutable_operand(0), {rows, elements_of(*reduce.operand(0)) / rows}};
}

// True if the dimensions that a broadcast adds all come after those of its operand.
bool adds_columns(const HloInstruction& broadcast) {
  const auto& kept = broadcast.dimensions();
  if (!std::ranges::is_sorted(kept)) return false;
  bool met = false;  // a dimension that is added
  for (std::int64_t d = 0; d < broadcast.shape().rank(); ++d) {
    if (entry(broadcast.shape().dimensions(), d) == 1) continue;
    const bool is_kept = absl::c_linear_search(kept, d);
    if (met && is_kept) return false;
    met = met || !is_kept;
  }
  return true;
}

// The tensor of one number for each row that `value`, a tensor of all elements, spreads over the
// columns; null: none.
HloInstruction* row_numbers(HloInstruction* value, const RowsAndColumns& sizes) {
  HloInstruction* const broadcast = before_reshapes(value);
  if (broadcast->opcode() != HloOpcode::kBroadcast || elements_of(*broadcast) != sizes.size()) {
    return nullptr;
  }
  HloInstruction* const operand = broadcast->mutable_operand(0);
  return elements_of(*operand) == sizes.rows && adds_columns(*broadcast) ? operand : nullptr;
}

// XLA's loops take as long or less for a few rows of very few numbers.
bool is_worth_a_softmax(const RowsAndColumns& sizes) {
  return sizes.columns >= (sizes.rows < 4 ? tuned().softmax_fewest_columns_of_few_rows
                                          : tuned().softmax_fewest_columns);
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
  if (quotient.opcode() == HloOpcode::kMultiply) {
    HloInstruction* divisor = nullptr;
    if (!xla::Match(sum, m::Divide(number_equal(1), m::Op(&divisor)))) return false;
    sum = before_reshapes(divisor);
  } else if (quotient.operand(1) == exp) {
    return false;
  }
  return reduces_rows(sum, HloOpcode::kAdd, exp);
}

// The other factor, and the number that it is multiplied with.
WithNumber scaled(HloInstruction* value) {
  if (const auto product = with_number(*value, HloOpcode::kMultiply)) return *product;
  WithNumber found{value, 1};
  double divisor = 1;
  if (xla::Match(value, m::Divide(m::Op(&found.other), number(&divisor)))) found.number /= divisor;
  return found;
}

// A call in the place of a quotient that is the softmax with the exponentials `exp`; null: it is
// something else.
HloInstruction* softmax_of(HloInstruction& quotient, HloInstruction* exp, PassContext& context) {
  HloInstruction *y = nullptr, *peak = nullptr;
  const auto shifted = m::Subtract(m::Op(&y), m::Op(&peak));
  // ONNX's reader adds a limit of 0, above which no difference is.
  if (!xla::Match(exp, m::Exp(m::AnyOf<HloInstruction>(
                           shifted, m::MinimumAnyOrder(shifted, number_equal(0)))))) {
    return nullptr;
  }
  const HloInstruction* const spread = before_reshapes(peak);
  const std::int64_t rows =
      spread->opcode() == HloOpcode::kBroadcast ? elements_of(*spread->operand(0)) : 0;
  if (rows == 0 || elements_of(quotient) % rows != 0) return nullptr;
  const RowsAndColumns sizes{rows, elements_of(quotient) / rows};
  peak = row_numbers(peak, sizes);
  if (peak == nullptr || !reduces_rows(before_reshapes(peak), HloOpcode::kMaximum, y) ||
      !divides_by_sum(quotient, exp, sizes)) {
    return nullptr;
  }
  if (!is_worth_a_softmax(sizes)) {
    add_remark(
        context, quotient,
        fmt::format("no softmax: {} rows of {} numbers are too few", sizes.rows, sizes.columns));
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
      !xla::Match(root, m::Subtract(m::Op(&x), m::Op(&y))) ||
      x->opcode() == HloOpcode::kBroadcast || y->opcode() == HloOpcode::kBroadcast) {
    return {root};
  }
  return {x, y};
}

// True if a kernel computes it, so that it is in memory anyway.
bool is_from_kernel(const HloInstruction* value) {
  value = before_reshapes(value);
  return is_kernel_call(*value) ||
         (value->opcode() == HloOpcode::kGetTupleElement && is_kernel_call(*value->operand(0)));
}

// XLA would compute it again in the loops of users that are no kernels.
bool feeds_kernels(const HloInstruction& value) {
  return std::ranges::all_of(value.users(), [](const auto* user) {
    return is_kernel_call(*user) || user->opcode() == HloOpcode::kTuple ||
           (user->opcode() == HloOpcode::kReshape && feeds_kernels(*user));
  });
}

}  // namespace

Status replace_softmax(HloInstruction& quotient, PassContext& context) {
  if ((quotient.opcode() != HloOpcode::kDivide && quotient.opcode() != HloOpcode::kMultiply) ||
      !is_float32(quotient) || context.values().is_known(&quotient)) {
    return {};
  }
  for (const int i : {0, 1}) {
    HloInstruction* const made = softmax_of(quotient, quotient.mutable_operand(i), context);
    if (made != nullptr) return replace(quotient, made);
  }
  return {};
}

Status replace_row_sum(HloInstruction& reduce, PassContext& context) {
  const auto found = row_reduction(reduce, HloOpcode::kAdd);
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
  const auto is_fused = [](auto* x) { return x->user_count() == 1 && is_fused_by_xla(*x); };
  if (std::ranges::any_of(operands, is_fused)) return {};
  return replace(
      reduce,
      add_kernel_call({Kernel::kRowSum, as_words(call), operands, dimensions_of(reduce)}, reduce));
}

Status replace_gelu(HloInstruction& result, PassContext& context) {
  const auto gelu = is_float32(result) ? gelu_of(result) : std::nullopt;
  const std::int64_t size = elements_of(result);
  if (!gelu || size < tuned().gelu_fewest_elements || elements_of(*gelu->x) != size ||
      !is_from_kernel(gelu->x) || !feeds_kernels(result) || context.values().is_known(&result)) {
    return {};
  }
  const kernels::GeluCall call{size, gelu->form};
  return replace(
      result,
      add_kernel_call({Kernel::kGelu, as_words(call), {gelu->x}, dimensions_of(result)}, result));
}

}  // namespace tfaot::toolkit::engine
