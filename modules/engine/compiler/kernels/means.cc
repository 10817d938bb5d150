// SPDX-License-Identifier: Apache-2.0
// Makes means exact, and differences of numbers and their mean. XLA multiplies a sum by a rounded
// 1 / count, so a mean of ones is not always 1; and of numbers far from 0 that differ little, as
// padding of -999, the error of the mean is larger than their differences. So sums are divided as
// exactly as their type allows, and a mean that is subtracted from its numbers is computed from
// their differences to a number near it. Equal numbers then have themselves as their mean, and the
// variance 0. Products with a mean that cancel each other are those of normalisations
// (norm_calls.cc).

#include <cmath>
#include <set>
#include <utility>

#include "compiler/hlo/build.h"
#include "compiler/hlo/match.h"
#include "compiler/hlo/passes.h"
#include "xla/primitive_util.h"

namespace tfaot::toolkit::engine {
namespace {

HloInstruction* divided_by_count(HloInstruction* value, const HloInstruction& sum) {
  return binary(kMultiply, value, fill_like(value, 1 / static_cast<double>(count_of(sum))));
}

// The mean of other terms, in the sizes of `like`.
HloInstruction* mean_with_terms(HloInstruction& sum, HloInstruction* terms,
                                const HloInstruction& like) {
  HloInstruction* const made =
      rebuild(sum, sum.shape().dimensions(), {terms, sum.mutable_operand(1)});
  return divided_by_count(reshape(made, dimensions_of(like)), sum);
}

// mean(x * x) - mean(x)^2 as the mean of (x - mean(x))^2; null: it is something else.
HloInstruction* by_squared_differences(HloInstruction& root) {
  if (root.opcode() != kSubtract) return nullptr;
  const Mean squares = mean_of(root.mutable_operand(0));
  HloInstruction* const mean = squared(*before_reshapes(root.operand(1)));
  if (squares.of == nullptr || mean == nullptr) return nullptr;
  HloInstruction* const x = squared(*squares.of);
  const Mean inner = mean_of(mean);
  if (x == nullptr || inner.of != x || inner.sum->dimensions() != squares.sum->dimensions() ||
      type_of(*x) != type_of(root)) {
    return nullptr;
  }
  HloInstruction* const difference =
      binary(kSubtract, x, spread_over_terms(before_reshapes(mean), *inner.sum));
  return mean_with_terms(*squares.sum, binary(kMultiply, difference, difference), root);
}

// Numbers less a shift of each mean, in the sizes of the sum.
struct Shifted {
  HloInstruction* shift;
  HloInstruction* numbers;  // the differences
  HloInstruction* mean;     // of them, in the sizes of x's mean
};

// The first number of each mean if it is near to it, so that equal numbers leave exactly 0. An
// outlier would take the digits of the others: then the rounded mean, and 0 if that is not finite.
HloInstruction* shift_of(const Mean& mean) {
  constexpr double kNear = 0.5;
  Dimensions end = dimensions_of(*mean.of);
  for (const std::int64_t d : mean.sum->dimensions()) entry(end, d) = 1;
  HloInstruction* const part = slice(mean.of, Dimensions(end.size(), 0), end);
  HloInstruction* const first = reshape(part, dimensions_of(*mean.sum));
  HloInstruction* const rounded = divided_by_count(mean.sum, *mean.sum);
  HloInstruction* const distance = unary(kAbs, binary(kSubtract, first, rounded));
  HloInstruction* const size = unary(kAbs, rounded);
  HloInstruction* const near = compare(distance, xla::ComparisonDirection::kLe,
                                       binary(kMultiply, size, fill_like(rounded, kNear)));
  HloInstruction* const is_finite = unary(kIsFinite, rounded);
  return select(is_finite, select(near, first, rounded), fill_like(rounded, 0));
}

Shifted shifted(HloInstruction& mean) {
  const Mean of = mean_of(&mean);
  HloInstruction* const shift = shift_of(of);
  HloInstruction* const numbers = binary(kSubtract, of.of, spread_over_terms(shift, *of.sum));
  return {shift, numbers, mean_with_terms(*of.sum, numbers, mean)};
}

// x - mean or mean - x, with a mean for all of its terms.
struct Difference {
  HloInstruction* mean;
  bool is_reversed;
};

std::optional<Difference> difference_of(HloInstruction& one) {
  if (one.opcode() != kSubtract || !is_for_kernels(one)) return std::nullopt;
  for (const int i : {0, 1}) {
    HloInstruction* const spread = before_reshapes(one.mutable_operand(1 - i));
    if (spread->opcode() != kBroadcast) continue;
    HloInstruction* const value = before_reshapes(spread->mutable_operand(0));
    const Mean mean = mean_of(value);
    if (mean.of != nullptr && before_reshapes(mean.of) == before_reshapes(one.operand(i)) &&
        type_of(*mean.of) == type_of(one) && strides_of(*spread) == strides_over_terms(*mean.sum)) {
      return Difference{value, i == 1};
    }
  }
  return std::nullopt;
}

// Every x - mean as a difference of shifted numbers and their mean; returns these means.
Result<std::set<HloInstruction*>> shift_differences(xla::HloComputation& computation) {
  std::map<HloInstruction*, Shifted> by_mean;
  for (HloInstruction* one : computation.MakeInstructionPostOrder()) {
    const auto found = difference_of(*one);
    if (!found) continue;
    HloInstruction* const mean = found->mean;
    if (!by_mean.contains(mean)) by_mean.emplace(mean, shifted(*mean));
    const Shifted& by = by_mean.at(mean);
    HloInstruction* left = by.numbers;
    HloInstruction* right = spread_over_terms(by.mean, *mean_of(mean).sum);
    if (found->is_reversed) std::swap(left, right);
    TFAOT_TRY(replace(*one, binary(kSubtract, left, right)));
  }
  std::set<HloInstruction*> means;
  for (const auto& [mean, by] : by_mean) {
    means.insert(by.mean);
    HloInstruction* const shift = reshape(by.shift, dimensions_of(*mean));
    TFAOT_TRY(replace(*mean, binary(kAdd, shift, by.mean)));
  }
  return means;
}

// The mean of equal numbers is that number in spite of a rounded 1 / count.
bool is_exact_enough(std::int64_t count) {
  const auto exact = static_cast<double>(count);
  return std::abs(static_cast<double>(static_cast<float>(1 / exact)) * exact - 1) <= 0x1p-25;
}

// A mean of float32, divided in float64; null: it need not be. A count that follows a free size
// (`smallest`, not 0) is another at other sizes of the model.
HloInstruction* divided_exactly(HloInstruction& quotient, std::int64_t smallest) {
  const DividedSum found = divided_sum(quotient);
  if (found.sum == nullptr || type_of(quotient) != xla::F32) return nullptr;
  const std::int64_t count = count_of(*found.sum);
  const bool is_fixed = smallest == 0 || count < smallest;
  if (is_fixed && is_exact_enough(count)) return nullptr;
  return convert(divided_by_count(convert(found.operand, xla::F64), *found.sum), xla::F32);
}

// Replaces what `rewrite` finds another form for.
template <class Rewrite>
Status replace_means(xla::HloComputation& computation, const Rewrite& rewrite,
                     const std::set<HloInstruction*>& except = {}) {
  for (HloInstruction* one : computation.MakeInstructionPostOrder()) {
    if (!is_for_kernels(*one) || except.contains(one)) continue;
    TFAOT_TRY(replace(*one, rewrite(*one)));
  }
  return {};
}

}  // namespace

Status settle_means(xla::HloModule& module, PassContext& context) {
  const auto divide = [&](HloInstruction& quotient) {
    return divided_exactly(quotient, context.choices.smallest_free_size);
  };
  for (xla::HloComputation* computation : module.MakeComputationPostOrder()) {
    TFAOT_TRY(replace_means(*computation, by_squared_differences));
    TFAOT_ASSIGN(const auto shifted_means, shift_differences(*computation));
    TFAOT_TRY(replace_means(*computation, divide, shifted_means));
  }
  return {};
}

// Only TensorFlow's means of fewer than 64 bits: other quotients keep a sum that overflows.
Status widen_whole_mean(HloInstruction& quotient, PassContext& /*context*/) {
  const xla::PrimitiveType type = type_of(quotient);
  if (quotient.opcode() != kDivide || !quotient.shape().IsArray() ||
      quotient.metadata().op_type() != "Mean" || !xla::primitive_util::IsIntegralType(type) ||
      xla::primitive_util::BitWidth(type) >= 64) {
    return {};
  }
  HloInstruction* const sum = divided_sum(quotient).sum;
  if (sum == nullptr || sum->opcode() != kReduce || type_of(*sum) != type) {
    return {};
  }
  const auto wide = xla::primitive_util::IsSignedIntegralType(type) ? xla::S64 : xla::U64;
  HloInstruction* const total =
      reduce(convert(sum->mutable_operand(0), wide), convert(sum->mutable_operand(1), wide),
             sum->dimensions(), kAdd);
  HloInstruction* const count = convert(quotient.mutable_operand(1), wide);
  HloInstruction* const all = reshape(total, quotient.shape().dimensions());
  return replace(quotient, convert(binary(kDivide, all, count), type));
}

}  // namespace tfaot::toolkit::engine
