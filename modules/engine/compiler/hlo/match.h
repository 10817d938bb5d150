// SPDX-License-Identifier: Apache-2.0
// The words of our patterns over HLO, on top of XLA's own matcher (xla/service/pattern_matcher.h),
// of which `m` is the short name:
//
//   double scale = 1;
//   HloInstruction* x = nullptr;
//   if (xla::Match(&one, m::MultiplyAnyOrder(m::Op(&x), number(&scale)))) ...
//
// A pattern that does not match may have set some of what it captures. Pure.
#pragma once

#include <optional>

#include "compiler/hlo/hlo.h"
#include "compiler/hlo/view.h"
#include "compiler/hlo/weight_values.h"
#include "xla/service/pattern_matcher.h"

namespace tfaot::toolkit::engine {

namespace m = xla::match;

// The number in all elements, if there is one: also a sum, product, logarithm or negative of
// numbers, such as the limits of TensorFlow's softplus or the count of a mean in Keras.
std::optional<double> number_of(const HloInstruction& value);
// Constants that differ by no more than their rounding.
bool is_near(double a, double b);

// A number, put into `found`.
inline auto number(double* found) {
  return m::Op().WithPredicate([found](const HloInstruction* value) {
    const auto number = number_of(*value);
    if (number) *found = *number;
    return number.has_value();
  });
}
// This number.
inline auto number_equal(double wanted) {
  return m::Op().WithPredicate(
      [wanted](const HloInstruction* value) { return number_of(*value) == wanted; });
}
// This instruction.
inline auto same_as(const HloInstruction* other) {
  return m::Op().WithPredicate([other](const HloInstruction* value) { return value == other; });
}

// log(1 + x), for which XLA's matcher has no word.
template <typename Pattern>
auto log1p_of(const Pattern& x) {
  return m::Op().WithOpcode(kLog1p).WithOperand(0, x);
}

// The other operand of an operation of which one is `x`; null: none is, or it has another opcode.
HloInstruction* other_operand(const HloInstruction& value, HloOpcode opcode,
                              const HloInstruction* x);
// x, if the value is x squared, else null.
HloInstruction* squared(const HloInstruction& value);

// The operand of reshapes and bitcasts.
HloInstruction* before_reshapes(HloInstruction* value);
const HloInstruction* before_reshapes(const HloInstruction* value);
// The same, of those that nothing else uses.
HloInstruction* before_own_reshapes(HloInstruction* value);
// In place of a dimension: it is none, as every index is the same element.
constexpr std::int64_t kSpread = -1;
// Before a reshape that only adds or leaves out dimensions of size 1: the operand's dimension of
// each of the result, kSpread for an added one. Nothing for other reshapes.
std::optional<Dimensions> before_reshape(const HloInstruction& value);
// The only user of a value, unless the value is a result of its computation; else null.
HloInstruction* only_user(const HloInstruction& value);
// The first element of a call's results, if nothing else uses the call; else null.
HloInstruction* only_result(const HloInstruction& call);
// The value after the reshapes that nothing else uses.
HloInstruction* after_reshapes(HloInstruction* value);

// A reduction, over dimensions or windows, of one tensor by the opcode (kAdd, kMaximum).
bool combines_by(const HloInstruction& reduction, HloOpcode opcode);
// The same, from the number on that changes nothing.
bool reduces_by(const HloInstruction& reduction, HloOpcode opcode);

// The number of terms of each sum.
std::int64_t count_of(const HloInstruction& sum);

// The sum, over dimensions or of windows, that `quotient` divides by its count, and the operand
// that leads to it; null: it does something else.
struct DividedSum {
  HloInstruction* sum = nullptr;
  HloInstruction* operand = nullptr;
};
DividedSum divided_sum(const HloInstruction& quotient);

// The mean of `of` over the dimensions of a reduction that adds.
struct Mean {
  HloInstruction* of = nullptr;   // null: there is none
  HloInstruction* sum = nullptr;  // the reduction
};

// The mean that `value` is, perhaps in another shape.
Mean mean_of(HloInstruction* value);

// True if a transpose in this order moves elements, and not only dimensions of size 1.
bool moves_elements(const xla::Shape& shape, absl::Span<const std::int64_t> order);

// The dimensions of a convolution's filter as [spatial..., in, out].
Dimensions filter_order(const HloInstruction& convolution);

// A window along a dimension that treats every element by itself.
bool is_point(const xla::WindowDimension& window);

// True if XLA computes it in its user's loop; a kernel would need it in memory.
bool is_fused_by_xla(const HloInstruction& value);

// A tensor times a matrix, summed over one dimension of each.
struct MatrixProduct {
  HloInstruction* left;
  HloInstruction* matrix;
  std::int64_t left_depth;    // dimensions that are summed over
  std::int64_t matrix_depth;  // 0: [depth, columns], 1: [columns, depth]

  bool sums_last() const { return left_depth == left->shape().rank() - 1; }
};
std::optional<MatrixProduct> matrix_product(const HloInstruction& dot);

// Numbers that are added to, or multiplied with, a tensor of this shape, whose last dimensions are
// `columns` columns: as [columns] if all rows get the same, else null.
HloInstruction* column_values(HloInstruction* value, const xla::Shape& shape, std::int64_t columns);
// An operation that scales or shifts the columns of x, by known numbers that are the same for all
// rows.
struct ColumnStep {
  HloInstruction* numbers;  // [columns], added or multiplied with
  bool is_scale;
};
// Nothing for other operations.
std::optional<ColumnStep> column_step(const HloInstruction& operation, const HloInstruction* x,
                                      const WeightValues& values);

// The first of the last dimensions that have `columns` elements; -1: there is none.
std::int64_t first_column_dimension(const xla::Shape& shape, std::int64_t columns);

bool is_float32(const HloInstruction& value);  // a tensor
// A tensor, not empty, of a type that our kernels take.
bool is_for_kernels(const HloInstruction& value);

}  // namespace tfaot::toolkit::engine
