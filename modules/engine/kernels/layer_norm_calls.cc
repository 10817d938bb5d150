// SPDX-License-Identifier: Apache-2.0
// Layer, group and instance normalisation in any arrangement: from the square root of a variance
// on, all that is made of it is followed as a polynomial of x, the mean and 1 / deviation. Where
// that is (x - mean) / deviation * scale + bias, the kernel takes over.
#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

#include "kernels/kernel_call.h"
#include "kernels/means.h"
#include "kernels/norm_axes.h"
#include "kernels/row_calls.h"
#include "kernels/row_values.h"
#include "tfaot/kernels/rows.h"
#include "xla/literal_util.h"

namespace tfaot::toolkit::engine {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;

// The number times the tensors of one number for each column.
struct ColumnFactor {
  double number = 1;
  std::vector<HloInstruction*> columns = {};  // sorted
};

// Powers of x, the mean, and 1 / deviation.
using Powers = std::tuple<int, int, int>;
constexpr Powers kNothing{0, 0, 0};
constexpr int kHighestPower = 2;

// A sum of products; with more than one factor for the same powers, all are added.
using Polynomial = std::map<Powers, std::vector<ColumnFactor>>;

Polynomial constant(double number) { return {{kNothing, {ColumnFactor{number}}}}; }

void add_term(Polynomial& to, const Powers& powers, const ColumnFactor& factor) {
  auto& factors = to[powers];
  for (auto one = factors.begin(); one != factors.end(); ++one) {
    if (one->columns != factor.columns) continue;
    one->number += factor.number;
    if (one->number == 0) factors.erase(one);
    if (factors.empty()) to.erase(powers);
    return;
  }
  factors.push_back(factor);
}

Polynomial sum_of(Polynomial a, const Polynomial& b, double sign) {
  for (const auto& [powers, factors] : b) {
    for (const ColumnFactor& factor : factors) {
      add_term(a, powers, {sign * factor.number, factor.columns});
    }
  }
  return a;
}

std::optional<Polynomial> product_of(const Polynomial& a, const Polynomial& b) {
  Polynomial result;
  for (const auto& [p, left] : a) {
    for (const auto& [q, right] : b) {
      const Powers powers{std::get<0>(p) + std::get<0>(q), std::get<1>(p) + std::get<1>(q),
                          std::get<2>(p) + std::get<2>(q)};
      if (std::get<0>(powers) > kHighestPower || std::get<1>(powers) > kHighestPower) return {};
      for (const ColumnFactor& one : left) {
        for (const ColumnFactor& other : right) {
          ColumnFactor factor{one.number * other.number, one.columns};
          factor.columns.insert(factor.columns.end(), other.columns.begin(), other.columns.end());
          std::sort(factor.columns.begin(), factor.columns.end());
          add_term(result, powers, factor);
        }
      }
    }
  }
  return result;
}

// What divides by a number or by the deviation.
std::optional<Polynomial> inverse_of(const Polynomial& a) {
  if (a.size() != 1) return {};
  const auto& [powers, factors] = *a.begin();
  if (factors.size() != 1 || !factors.front().columns.empty() || std::get<0>(powers) != 0 ||
      std::get<1>(powers) != 0) {
    return {};
  }
  return Polynomial{
      {Powers{0, 0, -std::get<2>(powers)}, {ColumnFactor{1 / factors.front().number}}}};
}

// The mean over points and channels; nothing: it is something else.
std::optional<NormSum> norm_mean(HloInstruction* value) {
  HloInstruction* const sum = divided_sum(behind_reshapes(value));
  return sum == nullptr ? std::nullopt : norm_sum(*sum);
}

struct Variance {
  HloInstruction* x = nullptr;
  HloInstruction* mean = nullptr;  // without reshapes
  std::optional<NormAxes> axes = {};
};

bool is_same(HloInstruction* a, HloInstruction* b) {
  return behind_reshapes(a) == behind_reshapes(b);
}

// JAX's libraries do not let a variance be below 0.
HloInstruction* without_least(HloInstruction* value) {
  value = behind_reshapes(value);
  if (value->opcode() != HloOpcode::kMaximum) return value;
  const int i = number_of(*value->operand(0)) ? 1 : 0;
  return number_of(*value->operand(1 - i)) == 0 ? behind_reshapes(value->mutable_operand(i))
                                                : value;
}

// The tensor of means that `value` spreads over all elements; null: none.
HloInstruction* spread_means(HloInstruction* value, const NormAxes& axes) {
  HloInstruction* const broadcast = behind_reshapes(value);
  return axes.spread(*broadcast, axes.statistics()) == axes.all() ? broadcast->mutable_operand(0)
                                                                  : nullptr;
}

// Of x, if `mean` is its mean in these axes.
Variance variance_from(HloInstruction* x, HloInstruction* mean, const NormAxes& axes) {
  const auto found = norm_mean(mean);
  if (!found || !is_same(found->of, x) || found->axes != axes) return {};
  return {x, behind_reshapes(mean), axes};
}

// The mean of (x - mean)^2, or that of x^2 less the mean's square, as JAX's libraries write it.
Variance variance_of(HloInstruction* value) {
  value = without_least(value);
  const bool is_difference = value->opcode() == HloOpcode::kSubtract;
  const auto outer = norm_mean(is_difference ? value->mutable_operand(0) : value);
  if (!outer) return {};
  HloInstruction* const root = squared(behind_reshapes(outer->of));
  if (root == nullptr) return {};
  if (is_difference) {
    HloInstruction* const mean = squared(behind_reshapes(value->mutable_operand(1)));
    return mean == nullptr ? Variance{} : variance_from(root, mean, outer->axes);
  }
  if (root->opcode() != HloOpcode::kSubtract) return {};
  HloInstruction* const mean = spread_means(root->mutable_operand(1), outer->axes);
  return mean == nullptr ? Variance{} : variance_from(root->mutable_operand(0), mean, outer->axes);
}

// The number that is added to the variance under a root, and the variance.
struct UnderRoot {
  Variance variance;
  double epsilon = 0;
};

UnderRoot under_root(HloInstruction* value) {
  value = behind_reshapes(value);
  if (value->opcode() == HloOpcode::kAdd) {
    for (const int i : {0, 1}) {
      const auto epsilon = number_of(*value->operand(1 - i));
      if (epsilon) return {variance_of(value->mutable_operand(i)), *epsilon};
    }
  }
  return {variance_of(value), 0};
}

// 1 for what is 1 / deviation, -1 for a deviation, 0 for others.
int power_of_deviation(const HloInstruction& root) {
  if (root.opcode() == HloOpcode::kRsqrt) return 1;
  if (root.opcode() == HloOpcode::kSqrt) return -1;
  if (root.opcode() != HloOpcode::kPower) return 0;
  const auto exponent = number_of(*root.operand(1));
  return exponent == -0.5 ? 1 : exponent == 0.5 ? -1 : 0;
}

class Follower {
 public:
  // REQUIRES: a variance was found.
  Follower(const UnderRoot& found, HloInstruction& root, const WeightValues& values)
      : axes_(*found.variance.axes), root_(root), values_(values) {
    for (const auto* x : {found.variance.x, behind_reshapes(found.variance.x)}) {
      known_[x] = {{{Powers{1, 0, 0}, {ColumnFactor{}}}}, axes_.all()};
    }
    known_[found.variance.mean] = {{{Powers{0, 1, 0}, {ColumnFactor{}}}}, axes_.statistics()};
    known_[&root] = {{{Powers{0, 0, power_of_deviation(root)}, {ColumnFactor{}}}},
                     axes_.statistics()};
  }

  // Goes through all that follows; the last instruction that is normalised, or null.
  HloInstruction* last() {
    HloInstruction* found = nullptr;
    bool follows = false;
    for (HloInstruction* one : root_.parent()->MakeInstructionPostOrder()) {
      follows = follows || one == &root_;
      if (known_.count(one) != 0) continue;
      const bool meets = std::any_of(one->operands().begin(), one->operands().end(),
                                     [&](const auto* of) { return known_.count(of) != 0; });
      if (!meets || !one->shape().IsArray()) continue;
      const auto value = of(*one);
      if (!value) continue;
      known_[one] = *value;
      if (!follows || value->kept != axes_.all() || !is_normalised(value->polynomial)) continue;
      // A second one that does not come from the first stays XLA's.
      if (found == nullptr || comes_from(one, found)) found = one;
    }
    return found;
  }

  // [columns] each, added to the computation.
  HloInstruction* scale(const HloInstruction& last) {
    return tensor_of(known_.at(&last).polynomial.at(Powers{1, 0, 1}));
  }
  HloInstruction* bias(const HloInstruction& last) {
    const auto& polynomial = known_.at(&last).polynomial;
    const auto found = polynomial.find(kNothing);
    return tensor_of(found == polynomial.end() ? std::vector<ColumnFactor>{} : found->second);
  }

 private:
  struct Followed {
    Polynomial polynomial;
    NormAxes::Kept kept;
  };

  static bool is_normalised(const Polynomial& value) {
    const auto x = value.find(Powers{1, 0, 1});
    const auto mean = value.find(Powers{0, 1, 1});
    if (x == value.end() || mean == value.end() || x->second.size() != 1 ||
        mean->second.size() != 1 || value.size() != 2 + value.count(kNothing)) {
      return false;
    }
    const ColumnFactor& a = x->second.front();
    const ColumnFactor& b = mean->second.front();
    return a.columns == b.columns && a.number == -b.number;
  }

  static bool comes_from(const HloInstruction* one, const HloInstruction* other) {
    return std::any_of(one->operands().begin(), one->operands().end(), [&](const auto* operand) {
      return operand == other ||
             (operand->opcode() == HloOpcode::kReshape && operand->operand(0) == other);
    });
  }

  // Of an operation whose other operand has the axes `kept`.
  std::optional<Polynomial> operand(HloInstruction& value, NormAxes::Kept kept) const {
    if (const auto found = known_.find(&value); found != known_.end()) {
      return found->second.kept == kept ? std::optional(found->second.polynomial) : std::nullopt;
    }
    if (const auto number = number_of(value)) return constant(*number);
    HloInstruction* columns = behind_reshapes(&value);
    if (axes_.spread(*columns, axes_.columns()) == kept ||
        axes_.spread(*columns, axes_.groups()) == kept) {
      columns = columns->mutable_operand(0);
    } else if (kept != axes_.columns() && kept != axes_.groups()) {
      return {};
    }
    if (!values_.is_known(columns)) return {};
    return Polynomial{{kNothing, {ColumnFactor{1, {behind_reshapes(columns)}}}}};
  }

  std::optional<Followed> of(HloInstruction& one) const {
    const auto first = known_.find(one.operand(0));
    switch (one.opcode()) {
      case HloOpcode::kReshape:
      case HloOpcode::kBitcast:
        return first->second;
      case HloOpcode::kBroadcast: {
        const auto kept = axes_.spread(one, first->second.kept);
        return kept ? std::optional(Followed{first->second.polynomial, *kept}) : std::nullopt;
      }
      case HloOpcode::kNegate:
        return Followed{sum_of({}, first->second.polynomial, -1), first->second.kept};
      case HloOpcode::kAdd:
      case HloOpcode::kSubtract:
      case HloOpcode::kMultiply:
      case HloOpcode::kDivide:
        break;
      default:
        return {};
    }
    const auto kept = (first != known_.end() ? first : known_.find(one.operand(1)))->second.kept;
    const auto a = operand(*one.mutable_operand(0), kept);
    auto b = operand(*one.mutable_operand(1), kept);
    if (!a || !b) return {};
    if (one.opcode() == HloOpcode::kAdd) return Followed{sum_of(*a, *b, 1), kept};
    if (one.opcode() == HloOpcode::kSubtract) return Followed{sum_of(*a, *b, -1), kept};
    if (one.opcode() == HloOpcode::kDivide) b = inverse_of(*b);
    const auto product = b ? product_of(*a, *b) : std::nullopt;
    return product ? std::optional(Followed{*product, kept}) : std::nullopt;
  }

  HloInstruction* tensor_of(const std::vector<ColumnFactor>& factors) const {
    HloInstruction* sum = nullptr;
    for (const ColumnFactor& factor : factors) {
      HloInstruction* product = nullptr;
      for (HloInstruction* one : factor.columns) {
        HloInstruction* const columns = in_columns(one);
        product = product == nullptr ? columns : binary(HloOpcode::kMultiply, product, columns);
      }
      if (product == nullptr || factor.number != 1) {
        HloInstruction* const number = numbers(factor.number);
        product = product == nullptr ? number : binary(HloOpcode::kMultiply, product, number);
      }
      sum = sum == nullptr ? product : binary(HloOpcode::kAdd, sum, product);
    }
    return sum == nullptr ? numbers(0) : sum;
  }

  // Also numbers of groups, for each of their channels.
  HloInstruction* in_columns(HloInstruction* one) const {
    const std::int64_t groups = axes_.size(NormAxes::kGroups);
    if (elements_of(*one) == groups) {
      one = broadcast(reshape(one, {groups}), {groups, axes_.size(NormAxes::kChannels)}, {0});
    }
    return reshape(one, {column_count()});
  }

  HloInstruction* numbers(double number) const {
    HloInstruction* const one = root_.parent()->AddInstruction(HloInstruction::CreateConstant(
        xla::LiteralUtil::CreateR0<float>(static_cast<float>(number))));
    return broadcast(one, {column_count()}, {});
  }

  std::int64_t column_count() const { return axes_.elements(axes_.columns()); }

  NormAxes axes_;
  HloInstruction& root_;
  const WeightValues& values_;
  std::map<const HloInstruction*, Followed> known_;
};

// A layer norm is one of rows.
bool is_of_rows(const NormAxes& axes) { return axes.size(NormAxes::kPoints) == 1; }

// XLA's loops go as fast over a few numbers.
bool has_kernel(const NormAxes& axes) {
  if (is_of_rows(axes)) {
    return axes.count() >= kFewestColumns || axes.elements(axes.all()) >= 48;
  }
  return axes.count() >= 64 && axes.size(NormAxes::kChannels) <= kernels::kMostGroupChannels;
}

// Without operands.
KernelCall call_of_norm(const NormAxes& axes, double epsilon) {
  if (is_of_rows(axes)) {
    const kernels::LayerNormCall call{axes.size(NormAxes::kImages), axes.count(), epsilon};
    return {"layer_norm", as_words(call), {}, {}};
  }
  const kernels::GroupNormCall call{axes.size(NormAxes::kImages), axes.size(NormAxes::kPoints),
                                    axes.size(NormAxes::kGroups), axes.size(NormAxes::kChannels),
                                    epsilon};
  return {"group_norm", as_words(call), {}, {}};
}

}  // namespace

Status replace_layer_norm(HloInstruction& deviation, const WeightValues& values) {
  if (power_of_deviation(deviation) == 0 || !has_row_kernels(deviation) ||
      values.is_known(&deviation)) {
    return {};
  }
  const UnderRoot found = under_root(deviation.mutable_operand(0));
  if (found.variance.x == nullptr) return {};
  const NormAxes& axes = *found.variance.axes;
  if (elements_of(deviation) != axes.elements(axes.statistics()) || !has_kernel(axes)) return {};
  Follower follower(found, deviation, values);
  HloInstruction* const last = follower.last();
  if (last == nullptr) return {};
  KernelCall call = call_of_norm(axes, found.epsilon);
  call.operands = {found.variance.x, follower.scale(*last), follower.bias(*last)};
  call.result = dimensions_of(*last);
  return checked(last->ReplaceAllUsesWith(add_kernel_call(call, *last)));
}

}  // namespace tfaot::toolkit::engine
