// SPDX-License-Identifier: Apache-2.0
// Layer normalisation in any arrangement: from the square root of a variance on, all that is made
// of a row is followed as a polynomial of x, the row's mean and 1 / deviation. Where that is (x -
// mean) / deviation * scale + bias, the kernel takes over.
#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

#include "kernels/kernel_call.h"
#include "kernels/means.h"
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

// The mean of each row; nothing: it is something else.
std::optional<RowReduction> row_mean(HloInstruction* value) {
  const Mean mean = mean_of(value);
  if (mean.of == nullptr) return {};
  return row_reduction(*mean.sum, HloOpcode::kAdd);
}

struct Variance {
  HloInstruction* x = nullptr;
  HloInstruction* mean = nullptr;  // without reshapes
  RowsAndColumns sizes{};
};

bool is_same(HloInstruction* a, HloInstruction* b) {
  return behind_reshapes(a) == behind_reshapes(b);
}

// JAX's libraries do not let a variance be below 0.
HloInstruction* without_least(HloInstruction* value) {
  value = behind_reshapes(value);
  if (value->opcode() != HloOpcode::kMaximum) return value;
  const int i = number_of(*value->operand(0)) ? 1 : 0;
  return number_of(*value->operand(1 - i)) == 0 ? value->mutable_operand(i) : value;
}

// The mean of (x - mean)^2.
Variance variance_of(HloInstruction* value) {
  const auto outer = row_mean(without_least(value));
  if (!outer) return {};
  HloInstruction* const from_mean = squared(outer->of);
  if (from_mean == nullptr || from_mean->opcode() != HloOpcode::kSubtract) return {};
  HloInstruction* const x = from_mean->mutable_operand(0);
  HloInstruction* const mean = row_numbers(*from_mean->mutable_operand(1), outer->sizes);
  if (mean == nullptr) return {};
  const auto inner = row_mean(mean);
  if (!inner || !is_same(inner->of, x) || inner->sizes.rows != outer->sizes.rows) return {};
  return {x, behind_reshapes(mean), outer->sizes};
}

// Less a number of each row it has the same normalised row.
HloInstruction* without_shift(HloInstruction* x, const RowsAndColumns& sizes) {
  HloInstruction* const inner = behind_reshapes(x);
  const bool is_shifted = inner->opcode() == HloOpcode::kSubtract &&
                          row_numbers(*inner->mutable_operand(1), sizes) != nullptr;
  return is_shifted ? inner->mutable_operand(0) : x;
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
  Follower(const UnderRoot& found, HloInstruction& root, const WeightValues& values)
      : sizes_(found.variance.sizes), root_(root), values_(values) {
    for (const auto* x : {found.variance.x, behind_reshapes(found.variance.x)}) {
      known_[x] = {{Powers{1, 0, 0}, {ColumnFactor{}}}};
    }
    known_[found.variance.mean] = {{Powers{0, 1, 0}, {ColumnFactor{}}}};
    known_[&root] = {{Powers{0, 0, power_of_deviation(root)}, {ColumnFactor{}}}};
  }

  // Goes through all that follows; the last instruction that is a normalised row, or null.
  HloInstruction* last() {
    HloInstruction* found = nullptr;
    bool follows = false;
    for (HloInstruction* one : root_.parent()->MakeInstructionPostOrder()) {
      follows = follows || one == &root_;
      if (known_.count(one) != 0) continue;
      const bool meets = std::any_of(one->operands().begin(), one->operands().end(),
                                     [&](const auto* of) { return known_.count(of) != 0; });
      if (!meets || !one->shape().IsArray()) continue;
      const auto polynomial = of(*one);
      if (!polynomial) continue;
      known_[one] = *polynomial;
      if (!follows || elements_of(*one) != sizes_.size() || !is_normalised(*polynomial)) continue;
      // A second one that does not come from the first stays XLA's.
      if (found == nullptr || comes_from(one, found)) found = one;
    }
    return found;
  }

  // [columns] each, added to the computation.
  HloInstruction* scale(const HloInstruction& last) {
    return tensor_of(known_.at(&last).at(Powers{1, 0, 1}));
  }
  HloInstruction* bias(const HloInstruction& last) {
    const auto& polynomial = known_.at(&last);
    const auto found = polynomial.find(kNothing);
    return tensor_of(found == polynomial.end() ? std::vector<ColumnFactor>{} : found->second);
  }

 private:
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

  std::optional<Polynomial> operand(HloInstruction& value) const {
    if (const auto found = known_.find(&value); found != known_.end()) return found->second;
    if (const auto number = number_of(value)) return constant(*number);
    if (elements_of(value) != sizes_.size()) return {};
    HloInstruction* columns = column_numbers(value, sizes_);
    // With one row, the columns are repeated by nothing.
    if (columns == nullptr && sizes_.rows == 1) columns = &value;
    if (columns == nullptr || !values_.is_known(columns)) return {};
    return Polynomial{{kNothing, {ColumnFactor{1, {behind_reshapes(columns)}}}}};
  }

  std::optional<Polynomial> of(HloInstruction& one) const {
    switch (one.opcode()) {
      case HloOpcode::kReshape:
      case HloOpcode::kBitcast:
        return known_.at(one.operand(0));
      case HloOpcode::kBroadcast: {
        const bool is_spread = elements_of(one) == elements_of(*one.operand(0)) ||
                               row_numbers(one, sizes_) == one.operand(0);
        return is_spread ? std::optional(known_.at(one.operand(0))) : std::nullopt;
      }
      case HloOpcode::kNegate:
        return sum_of({}, known_.at(one.operand(0)), -1);
      case HloOpcode::kAdd:
      case HloOpcode::kSubtract:
      case HloOpcode::kMultiply:
      case HloOpcode::kDivide:
        break;
      default:
        return {};
    }
    const auto a = operand(*one.mutable_operand(0));
    auto b = operand(*one.mutable_operand(1));
    if (!a || !b) return {};
    if (one.opcode() == HloOpcode::kAdd) return sum_of(*a, *b, 1);
    if (one.opcode() == HloOpcode::kSubtract) return sum_of(*a, *b, -1);
    if (one.opcode() == HloOpcode::kDivide) b = inverse_of(*b);
    return b ? product_of(*a, *b) : std::nullopt;
  }

  HloInstruction* tensor_of(const std::vector<ColumnFactor>& factors) const {
    HloInstruction* sum = nullptr;
    for (const ColumnFactor& factor : factors) {
      HloInstruction* product = nullptr;
      for (HloInstruction* one : factor.columns) {
        HloInstruction* const columns = reshape(one, {sizes_.columns});
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

  HloInstruction* numbers(double number) const {
    HloInstruction* const one = root_.parent()->AddInstruction(HloInstruction::CreateConstant(
        xla::LiteralUtil::CreateR0<float>(static_cast<float>(number))));
    return broadcast(one, {sizes_.columns}, {});
  }

  RowsAndColumns sizes_;
  HloInstruction& root_;
  const WeightValues& values_;
  std::map<const HloInstruction*, Polynomial> known_;
};

}  // namespace

Status replace_layer_norm(HloInstruction& deviation, const WeightValues& values) {
  if (power_of_deviation(deviation) == 0 || !has_row_kernels(deviation) ||
      values.is_known(&deviation)) {
    return {};
  }
  const UnderRoot found = under_root(deviation.mutable_operand(0));
  const RowsAndColumns& sizes = found.variance.sizes;
  if (found.variance.x == nullptr || elements_of(deviation) != sizes.rows ||
      sizes.columns < kFewestColumns) {
    return {};
  }
  Follower follower(found, deviation, values);
  HloInstruction* const last = follower.last();
  if (last == nullptr) return {};
  const kernels::LayerNormCall call{sizes.rows, sizes.columns, found.epsilon};
  return checked(last->ReplaceAllUsesWith(add_kernel_call(
      {"layer_norm",
       as_words(call),
       {without_shift(found.variance.x, sizes), follower.scale(*last), follower.bias(*last)},
       dimensions_of(*last)},
      *last)));
}

}  // namespace tfaot::toolkit::engine
