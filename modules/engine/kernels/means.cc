// SPDX-License-Identifier: Apache-2.0
#include "kernels/means.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "hlo/simplify.h"
#include "kernels/mean_terms.h"
#include "kernels/row_values.h"
#include "xla/literal_util.h"

namespace tfaot::toolkit::engine {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;

// Over dimensions, or of windows.
bool adds_up(const HloInstruction& reduce) {
  if ((reduce.opcode() != HloOpcode::kReduce && reduce.opcode() != HloOpcode::kReduceWindow) ||
      reduce.operand_count() != 2 || elements_of(reduce) == 0 ||
      elements_of(*reduce.operand(0)) == 0) {
    return false;
  }
  const HloInstruction* root = reduce.to_apply()->root_instruction();
  return root->opcode() == HloOpcode::kAdd && root->operand(0) != root->operand(1) &&
         root->operand(0)->opcode() == HloOpcode::kParameter &&
         root->operand(1)->opcode() == HloOpcode::kParameter && number_of(*reduce.operand(1)) == 0;
}

std::int64_t count_of(const HloInstruction& sum) {
  if (sum.opcode() == HloOpcode::kReduce) {
    return elements_of(*sum.operand(0)) / elements_of(sum);
  }
  std::int64_t count = 1;
  for (const auto& dimension : sum.window().dimensions()) count *= dimension.size();
  return count;
}

// What is left of reshapes and changes of the type.
HloInstruction* behind_forms(HloInstruction* value) {
  while (value->opcode() == HloOpcode::kReshape || value->opcode() == HloOpcode::kBitcast ||
         value->opcode() == HloOpcode::kConvert) {
    value = value->mutable_operand(0);
  }
  return value;
}

bool is_real_tensor(const HloInstruction& value) {
  return value.shape().IsArray() && has_kernels(value.shape().element_type());
}

}  // namespace

HloInstruction* divided_sum(HloInstruction* quotient) {
  const bool is_quotient = quotient->opcode() == HloOpcode::kDivide;
  if (!is_quotient && quotient->opcode() != HloOpcode::kMultiply) return nullptr;
  for (const int i : {0, 1}) {
    if (i == 1 && is_quotient) continue;
    const auto number = number_of(*quotient->operand(1 - i));
    HloInstruction* const sum = behind_forms(quotient->mutable_operand(i));
    if (!number || !adds_up(*sum) || elements_of(*sum) != elements_of(*quotient)) continue;
    const auto count = static_cast<double>(count_of(*sum));
    if (is_near(is_quotient ? *number : 1 / *number, count)) return sum;
  }
  return nullptr;
}

Mean mean_of(HloInstruction* value) {
  HloInstruction* const sum = divided_sum(behind_reshapes(value));
  if (sum == nullptr || sum->opcode() != HloOpcode::kReduce) return {};
  return {sum->mutable_operand(0), sum};
}

bool is_mean_of(const Part& mean, const Part& x) {
  const Mean made = mean_of(mean.base);
  if (made.of == nullptr) return false;
  const Part of = stripped(Part::whole(made.of));
  if (of.base != x.base) return false;
  // By dimension of made.of: the dimension of the larger tensor.
  Dimensions places(static_cast<std::size_t>(made.of->shape().rank()), -1);
  for (std::size_t d = 0; d < of.of.size(); ++d) {
    if (of.of[d] >= 0) places[static_cast<std::size_t>(of.of[d])] = x.of[d];
  }
  Dimensions kept;
  for (std::int64_t d = 0; d < std::ssize(places); ++d) {
    const auto& reduced = made.sum->dimensions();
    const std::int64_t place = places[static_cast<std::size_t>(d)];
    if (place >= 0 && std::find(reduced.begin(), reduced.end(), d) == reduced.end()) {
      kept.push_back(place);
    }
  }
  Dimensions own = mean.of;
  std::erase(own, -1);
  return own == kept;
}

namespace {

Dimensions kept_dimensions(const HloInstruction& sum) {
  Dimensions kept;
  for (std::int64_t d = 0; d < sum.operand(0)->shape().rank(); ++d) {
    const auto& reduced = sum.dimensions();
    if (std::find(reduced.begin(), reduced.end(), d) == reduced.end()) kept.push_back(d);
  }
  return kept;
}

// One of the sum's results for each of the terms of that.
HloInstruction* spread_over_terms(HloInstruction* value, const HloInstruction& sum) {
  return broadcast(reshape(value, dimensions_of(sum)), dimensions_of(*sum.operand(0)),
                   kept_dimensions(sum));
}

HloInstruction* number_like(HloInstruction& value, double number) {
  HloInstruction* const one = value.parent()->AddInstruction(HloInstruction::CreateConstant(
      xla::LiteralUtil::CreateR0(number).Convert(value.shape().element_type()).value()));
  return broadcast(one, value.shape().dimensions(), {});
}

// The sum of other terms, divided by their count, in the sizes of `like`.
HloInstruction* mean_with_terms(HloInstruction& sum, HloInstruction* terms,
                                const HloInstruction& like) {
  HloInstruction* const made = sum.parent()->AddInstruction(
      sum.CloneWithNewOperands(sum.shape(), {terms, sum.mutable_operand(1)}));
  HloInstruction* const value = reshape(made, dimensions_of(like));
  return binary(HloOpcode::kMultiply, value,
                number_like(*value, 1 / static_cast<double>(count_of(sum))));
}

// mean(x * x) - mean(x)^2 as the mean of (x - mean(x))^2; null: it is something else.
HloInstruction* by_squared_differences(HloInstruction& root) {
  if (root.opcode() != HloOpcode::kSubtract) return nullptr;
  const Mean squares = mean_of(root.mutable_operand(0));
  HloInstruction* const mean = squared(behind_reshapes(root.mutable_operand(1)));
  if (squares.of == nullptr || mean == nullptr) return nullptr;
  HloInstruction* const x = squared(squares.of);
  const Mean inner = mean_of(mean);
  if (x == nullptr || inner.of != x || inner.sum->dimensions() != squares.sum->dimensions() ||
      x->shape().element_type() != root.shape().element_type()) {
    return nullptr;
  }
  HloInstruction* const difference =
      binary(HloOpcode::kSubtract, x, spread_over_terms(behind_reshapes(mean), *inner.sum));
  return mean_with_terms(*squares.sum, binary(HloOpcode::kMultiply, difference, difference), root);
}

// Numbers less a shift of each mean, in the sizes of the sum.
struct Shifted {
  HloInstruction* shift;
  HloInstruction* numbers;  // the differences
  HloInstruction* mean;     // of them, in the sizes of x's mean
};

HloInstruction* of_predicate(HloOpcode opcode, HloInstruction* value) {
  return value->parent()->AddInstruction(
      HloInstruction::CreateUnary(shape_of(xla::PRED, dimensions_of(*value)), opcode, value));
}

HloInstruction* selected(HloInstruction* predicate, HloInstruction* yes, HloInstruction* no) {
  return yes->parent()->AddInstruction(
      HloInstruction::CreateTernary(yes->shape(), HloOpcode::kSelect, predicate, yes, no));
}

// The first number of each mean if it is near to it, so that equal numbers leave exactly 0. An
// outlier would take the digits of the others: then the rounded mean, and 0 if that is not finite.
HloInstruction* shift_of(const Mean& made) {
  Dimensions end = dimensions_of(*made.of);
  for (const std::int64_t d : made.sum->dimensions()) end[static_cast<std::size_t>(d)] = 1;
  xla::HloComputation* const in = made.of->parent();
  HloInstruction* const part = in->AddInstruction(
      HloInstruction::CreateSlice(shape_of(made.of->shape().element_type(), end), made.of,
                                  Dimensions(end.size(), 0), end, Dimensions(end.size(), 1)));
  HloInstruction* const first = reshape(part, dimensions_of(*made.sum));
  HloInstruction* const rounded =
      binary(HloOpcode::kMultiply, made.sum,
             number_like(*made.sum, 1 / static_cast<double>(count_of(*made.sum))));
  const auto absolute = [in](HloInstruction* value) {
    return in->AddInstruction(HloInstruction::CreateUnary(value->shape(), HloOpcode::kAbs, value));
  };
  constexpr double kNear = 0.5;
  HloInstruction* const near = in->AddInstruction(HloInstruction::CreateCompare(
      shape_of(xla::PRED, dimensions_of(*first)),
      absolute(binary(HloOpcode::kSubtract, first, rounded)),
      binary(HloOpcode::kMultiply, absolute(rounded), number_like(*rounded, kNear)),
      xla::ComparisonDirection::kLe));
  return selected(of_predicate(HloOpcode::kIsFinite, rounded), selected(near, first, rounded),
                  number_like(*rounded, 0));
}

Shifted shifted(const HloInstruction& mean, const Mean& made) {
  HloInstruction* const shift = shift_of(made);
  HloInstruction* const numbers =
      binary(HloOpcode::kSubtract, made.of, spread_over_terms(shift, *made.sum));
  return {shift, numbers, mean_with_terms(*made.sum, numbers, mean)};
}

// x - mean or mean - x.
struct Difference {
  Part x;
  Part mean;
  bool is_reversed;
};
std::optional<Difference> difference_of(HloInstruction& one) {
  if (one.opcode() != HloOpcode::kSubtract || !is_real_tensor(one)) return std::nullopt;
  for (const int i : {0, 1}) {
    const Part x = stripped(Part::whole(one.mutable_operand(i)));
    const Part mean = stripped(Part::whole(one.mutable_operand(1 - i)));
    if (elements_of(*x.base) == elements_of(one) && is_mean_of(mean, x) &&
        mean_of(mean.base).of->shape().element_type() == one.shape().element_type()) {
      return Difference{x, mean, i == 1};
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
    HloInstruction* const mean = found->mean.base;
    if (by_mean.count(mean) == 0) by_mean.emplace(mean, shifted(*mean, mean_of(mean)));
    const Shifted& by = by_mean.at(mean);
    const Dimensions sizes = dimensions_of(*one);
    HloInstruction* left = reshape(by.numbers, sizes);
    HloInstruction* right = spread_part(found->mean.with(by.mean), sizes);
    if (found->is_reversed) std::swap(left, right);
    TFAOT_TRY(checked(one->ReplaceAllUsesWith(binary(HloOpcode::kSubtract, left, right))));
  }
  std::set<HloInstruction*> means;
  for (const auto& [mean, by] : by_mean) {
    means.insert(by.mean);
    HloInstruction* const shift = reshape(by.shift, dimensions_of(*mean));
    TFAOT_TRY(checked(mean->ReplaceAllUsesWith(binary(HloOpcode::kAdd, shift, by.mean))));
  }
  return means;
}

// The mean of equal numbers is that number in spite of a rounded 1 / count.
bool is_exact_enough(std::int64_t count) {
  const auto exact = static_cast<double>(count);
  return std::abs(static_cast<double>(static_cast<float>(1 / exact)) * exact - 1) <= 0x1p-25;
}

HloInstruction* as_type(HloInstruction* value, xla::PrimitiveType type) {
  return value->parent()->AddInstruction(
      HloInstruction::CreateConvert(shape_of(type, value->shape().dimensions()), value));
}

// A mean of float32, divided in float64; null: it need not be.
HloInstruction* divided_exactly(HloInstruction& quotient) {
  const HloInstruction* const sum = divided_sum(&quotient);
  if (sum == nullptr || quotient.shape().element_type() != xla::F32 ||
      is_exact_enough(count_of(*sum))) {
    return nullptr;
  }
  const bool is_first = behind_forms(quotient.mutable_operand(0)) == sum;
  HloInstruction* const wide = as_type(quotient.mutable_operand(is_first ? 0 : 1), xla::F64);
  HloInstruction* const number = number_like(*wide, 1 / static_cast<double>(count_of(*sum)));
  return as_type(binary(HloOpcode::kMultiply, wide, number), xla::F32);
}

// Replaces what `make` finds another form for.
Status replace_means(xla::HloComputation& computation,
                     HloInstruction* (*make)(HloInstruction& instruction),
                     const std::set<HloInstruction*>& except = {}) {
  for (HloInstruction* one : computation.MakeInstructionPostOrder()) {
    if (!is_real_tensor(*one) || except.count(one) != 0) continue;
    HloInstruction* const made = make(*one);
    if (made != nullptr) TFAOT_TRY(checked(one->ReplaceAllUsesWith(made)));
  }
  return {};
}

}  // namespace

Status settle_means(xla::HloModule& module) {
  for (xla::HloComputation* computation : module.MakeComputationPostOrder()) {
    if (computation->IsFusionComputation()) continue;
    TFAOT_TRY(replace_means(*computation, by_squared_differences));
    TFAOT_TRY(replace_means(*computation, by_difference));
    TFAOT_ASSIGN(const auto shifted_means, shift_differences(*computation));
    TFAOT_TRY(replace_means(*computation, divided_exactly, shifted_means));
  }
  return remove_dead_code(module);
}

}  // namespace tfaot::toolkit::engine
