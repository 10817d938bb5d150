// SPDX-License-Identifier: Apache-2.0
// Calls of kernels for layer, group and instance normalisation in any arrangement. From the square
// root of a variance on, all that is computed from it is followed as a polynomial of x, the mean
// and 1 / deviation. Where that is (x - mean) / deviation * scale + bias, the kernel takes over, or
// it is computed in this order: products of x and of the mean would cancel each other's digits.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bitset>

#include "compiler/hlo/match.h"
#include "compiler/hlo/passes.h"
#include "compiler/hlo/tuned.h"
#include "compiler/kernels/kernel_facts.h"
#include "tfaot/kernels/abi.h"

namespace tfaot::toolkit::engine {
namespace {

// The elements that a normalisation treats together. Each of its tensors is seen as [images,
// points, groups, channels] or as some of these axes, in this order; a mean is that of the points
// and channels of each image and group. A layer norm has one point and one group.
class NormAxes {
 public:
  enum Axis { kImages, kPoints, kGroups, kChannels };
  using Kept = std::bitset<4>;  // the axes that a tensor has

  explicit NormAxes(const std::array<std::int64_t, 4>& sizes) : sizes_(sizes) {}

  std::int64_t size(Axis axis) const { return sizes_[axis]; }
  std::int64_t elements(Kept kept) const {
    std::int64_t elements = 1;
    for (std::size_t i = 0; i < sizes_.size(); ++i) elements *= kept[i] ? sizes_[i] : 1;
    return elements;
  }
  std::int64_t count() const { return size(kPoints) * size(kChannels); }

  // Without axes of size 1.
  Kept all() const { return without_single({0b1111}); }
  Kept statistics() const { return without_single({0b0101}); }
  Kept columns() const { return without_single({0b1100}); }
  Kept groups() const { return without_single({0b0100}); }

  // The axes of a broadcast of a tensor with the axes `from`; nothing: it spreads in another way.
  std::optional<Kept> spread(const HloInstruction& broadcast, Kept from) const {
    if (broadcast.opcode() != kBroadcast) return {};
    const Strides strides = strides_of(broadcast);
    for (unsigned long bits = 0; bits <= all().to_ulong(); ++bits) {
      const Kept to(bits);
      if (without_single(to) != to || (from & to) != from ||
          elements(to) != elements_of(broadcast)) {
        continue;
      }
      Strides wanted;
      std::int64_t step = 1;
      for (std::size_t i = sizes_.size(); i-- > 0;) {
        if (to[i]) wanted.push_back({sizes_[i], from[i] ? step : 0});
        if (from[i]) step *= sizes_[i];
      }
      std::ranges::reverse(wanted);
      if (merged(wanted) == strides) return to;
    }
    return {};
  }

  bool operator==(const NormAxes& other) const = default;

 private:
  Kept without_single(Kept kept) const {
    for (std::size_t i = 0; i < sizes_.size(); ++i) kept[i] = kept[i] && sizes_[i] > 1;
    return kept;
  }

  std::array<std::int64_t, 4> sizes_;
};

struct NormMean {
  HloInstruction* of;
  HloInstruction* sum;
  NormAxes axes;
};

std::optional<NormMean> norm_mean(HloInstruction* value) {
  const Mean mean = mean_of(value);
  if (mean.of == nullptr || !is_for_kernels(*mean.sum)) return {};
  std::array<std::int64_t, 4> sizes = {1, 1, 1, 1};
  std::size_t at = NormAxes::kImages;
  for (const Stride& stride : strides_over_terms(*mean.sum)) {
    // Points and channels are reduced.
    if ((at % 2 != 0) != (stride.step == 0)) ++at;
    if (at >= sizes.size()) return {};
    sizes[at] = stride.size;
  }
  // Dimensions reduced at the end are channels.
  if (at == NormAxes::kPoints) std::swap(sizes[NormAxes::kPoints], sizes[NormAxes::kChannels]);
  return NormMean{mean.of, mean.sum, NormAxes(sizes)};
}

// The number times the tensors of one number for each column.
struct ColumnFactor {
  double number = 1;
  Instructions columns = {};  // sorted
};

// Powers of x, the mean, and 1 / deviation.
struct Powers {
  int x = 0, mean = 0, inverse_deviation = 0;
  auto operator<=>(const Powers& other) const = default;  // NOLINT(modernize-use-nullptr)
};
constexpr Powers kUnscaled;
constexpr Powers kNormalised{1, 0, 1};
constexpr int kHighestPower = 2;

// A sum of products; with more than one factor for the same powers, all are added.
using Polynomial = std::map<Powers, std::vector<ColumnFactor>>;

void add_term(Polynomial& to, const Powers& powers, const ColumnFactor& factor) {
  auto& factors = to[powers];
  const auto same = std::ranges::find(factors, factor.columns, &ColumnFactor::columns);
  if (same == factors.end()) {
    factors.push_back(factor);
    return;
  }
  same->number += factor.number;
  if (same->number == 0) factors.erase(same);
  if (factors.empty()) to.erase(powers);
}

Polynomial polynomial_sum(Polynomial a, const Polynomial& b, double sign) {
  for (const auto& [powers, factors] : b) {
    for (const ColumnFactor& factor : factors) {
      add_term(a, powers, {sign * factor.number, factor.columns});
    }
  }
  return a;
}

std::optional<Polynomial> polynomial_product(const Polynomial& a, const Polynomial& b) {
  Polynomial result;
  for (const auto& [p, left] : a) {
    for (const auto& [q, right] : b) {
      const Powers powers{p.x + q.x, p.mean + q.mean, p.inverse_deviation + q.inverse_deviation};
      if (powers.x > kHighestPower || powers.mean > kHighestPower) return {};
      for (const ColumnFactor& one : left) {
        for (const ColumnFactor& other : right) {
          ColumnFactor factor{one.number * other.number, one.columns};
          factor.columns.insert(factor.columns.end(), other.columns.begin(), other.columns.end());
          std::ranges::sort(factor.columns);
          add_term(result, powers, factor);
        }
      }
    }
  }
  return result;
}

// 1 / a, of a number or a power of the deviation.
std::optional<Polynomial> polynomial_inverse(const Polynomial& a) {
  if (a.size() != 1) return {};
  const auto& [powers, factors] = *a.begin();
  if (factors.size() != 1 || !factors.front().columns.empty() || powers.x != 0 ||
      powers.mean != 0) {
    return {};
  }
  return Polynomial{
      {{0, 0, -powers.inverse_deviation}, {ColumnFactor{1 / factors.front().number}}}};
}

struct Variance {
  HloInstruction* x = nullptr;     // null: there is none
  HloInstruction* mean = nullptr;  // without reshapes
  HloInstruction* sum = nullptr;   // of the mean
  std::optional<NormAxes> axes = {};
};

// JAX's libraries do not let a variance be below 0.
HloInstruction* without_least(HloInstruction* value) {
  value = before_reshapes(value);
  HloInstruction* other = nullptr;
  const bool has_least = xla::Match(value, m::MaximumAnyOrder(m::Op(&other), number_equal(0)));
  return has_least ? before_reshapes(other) : value;
}

// The variance of x, if `mean` is its mean in these axes.
Variance variance_from(HloInstruction* x, HloInstruction* mean, const NormAxes& axes) {
  const auto found = norm_mean(mean);
  if (!found || before_reshapes(found->of) != before_reshapes(x) || found->axes != axes) return {};
  return {x, before_reshapes(mean), found->sum, axes};
}

// The mean of (x - mean)^2, or that of x^2 less the mean's square, as JAX's libraries write it.
Variance variance_of(HloInstruction* value) {
  value = without_least(value);
  const bool is_difference = value->opcode() == kSubtract;
  const auto outer = norm_mean(is_difference ? value->mutable_operand(0) : value);
  HloInstruction* const root = outer ? squared(*before_reshapes(outer->of)) : nullptr;
  if (root == nullptr) return {};
  HloInstruction *x = root, *mean = nullptr;
  if (is_difference) {
    mean = squared(*before_reshapes(value->mutable_operand(1)));
  } else if (xla::Match(root, m::Subtract(m::Op(&x), m::Op(&mean)))) {
    mean = spread_operand(*before_reshapes(mean), strides_over_terms(*outer->sum));
  }
  return mean == nullptr ? Variance{} : variance_from(x, mean, outer->axes);
}

// The value under a root, and the number that is added to it.
struct UnderRoot {
  HloInstruction* value;
  double epsilon = 0;
};

UnderRoot under_root(const HloInstruction& root) {
  UnderRoot found{before_reshapes(root.operands()[0])};
  xla::Match(found.value, m::AddAnyOrder(m::Op(&found.value), number(&found.epsilon)));
  return found;
}

// 1 for 1 / deviation, -1 for a deviation, 0 for others.
int power_of_deviation(const HloInstruction& root) {
  if (root.opcode() == kRsqrt) return 1;
  if (root.opcode() == kSqrt) return -1;
  if (root.opcode() != kPower) return 0;
  const auto exponent = number_of(*root.operand(1));
  return exponent == -0.5 ? 1 : exponent == 0.5 ? -1 : 0;
}

class Follower {
 public:
  // REQUIRES: a variance was found.
  Follower(const Variance& found, HloInstruction& root, const WeightValues& values)
      : axes_(*found.axes), root_(root), values_(values) {
    const auto add = [this](const HloInstruction* value, Powers powers, NormAxes::Kept kept) {
      known_[value] = {{{powers, {ColumnFactor{}}}}, kept};
    };
    for (const auto* x : {found.x, before_reshapes(found.x)}) {
      add(x, {1, 0, 0}, axes_.all());
    }
    add(found.mean, {0, 1, 0}, axes_.statistics());
    add(&root, {0, 0, power_of_deviation(root)}, axes_.statistics());
  }

  // Goes through all that follows; the last instruction that is normalised, or null.
  HloInstruction* last() {
    HloInstruction* found = nullptr;
    bool follows = false;
    for (HloInstruction* one : root_.parent()->MakeInstructionPostOrder()) {
      follows = follows || one == &root_;
      if (known_.contains(one) || !one->shape().IsArray() ||
          std::ranges::none_of(one->operands(),
                               [&](const auto* operand) { return known_.contains(operand); })) {
        continue;
      }
      const auto value = follow(*one);
      if (!value) continue;
      known_[one] = *value;
      if (!follows || value->kept != axes_.all() || !is_normalised(value->polynomial)) continue;
      // A second one stays XLA's if it is not computed from the first, or if others need the first,
      // too: GELU's erf does, whose factor of 0.5 would else be taken for a scale.
      if (found == nullptr || only_user(*found) == one ||
          only_user(*after_reshapes(found)) == one) {
        found = one;
      }
    }
    return found;
  }

  // [columns] each, added to the computation.
  HloInstruction* scale(const HloInstruction& last) { return tensor_of(last, kNormalised); }
  HloInstruction* bias(const HloInstruction& last) { return tensor_of(last, kUnscaled); }

 private:
  struct Followed {
    Polynomial polynomial;
    NormAxes::Kept kept;
  };

  static bool is_normalised(const Polynomial& value) {
    const auto x = value.find(kNormalised);
    const auto mean = value.find(Powers{0, 1, 1});
    if (x == value.end() || mean == value.end() || x->second.size() != 1 ||
        mean->second.size() != 1 || value.size() != 2 + value.count(kUnscaled)) {
      return false;
    }
    const ColumnFactor& a = x->second.front();
    const ColumnFactor& b = mean->second.front();
    return a.columns == b.columns && a.number == -b.number;
  }

  // An operand of an operation whose other operand has the axes `kept`.
  std::optional<Polynomial> operand(HloInstruction* value, NormAxes::Kept kept) const {
    if (const auto found = known_.find(value); found != known_.end()) {
      return found->second.kept == kept ? std::optional(found->second.polynomial) : std::nullopt;
    }
    if (const auto number = number_of(*value)) {
      return Polynomial{{kUnscaled, {ColumnFactor{*number}}}};
    }
    HloInstruction* columns = before_reshapes(value);
    if (axes_.spread(*columns, axes_.columns()) == kept ||
        axes_.spread(*columns, axes_.groups()) == kept) {
      columns = columns->mutable_operand(0);
    } else if (kept != axes_.columns() && kept != axes_.groups()) {
      return {};
    }
    if (!values_.is_known(columns)) return {};
    return Polynomial{{kUnscaled, {ColumnFactor{1, {before_reshapes(columns)}}}}};
  }

  std::optional<Followed> follow(HloInstruction& one) const {
    const auto first = known_.find(one.operand(0));
    switch (one.opcode()) {
      case kReshape:
      case kBitcast:
        return first->second;
      case kBroadcast: {
        const auto kept = axes_.spread(one, first->second.kept);
        return kept ? std::optional(Followed{first->second.polynomial, *kept}) : std::nullopt;
      }
      case kNegate:
        return Followed{polynomial_sum({}, first->second.polynomial, -1), first->second.kept};
      case kAdd:
      case kSubtract:
      case kMultiply:
      case kDivide:
        break;
      default:
        return {};
    }
    const auto kept = (first != known_.end() ? first : known_.find(one.operand(1)))->second.kept;
    const auto a = operand(one.mutable_operand(0), kept);
    auto b = operand(one.mutable_operand(1), kept);
    if (!a || !b) return {};
    if (one.opcode() == kAdd) return Followed{polynomial_sum(*a, *b, 1), kept};
    if (one.opcode() == kSubtract) return Followed{polynomial_sum(*a, *b, -1), kept};
    if (one.opcode() == kDivide) b = polynomial_inverse(*b);
    const auto product = b ? polynomial_product(*a, *b) : std::nullopt;
    return product ? std::optional(Followed{*product, kept}) : std::nullopt;
  }

  // The factors of these powers in what `value` is.
  HloInstruction* tensor_of(const HloInstruction& value, const Powers& powers) {
    HloInstruction* sum = nullptr;
    const Polynomial& polynomial = known_.at(&value).polynomial;
    if (const auto found = polynomial.find(powers); found != polynomial.end()) {
      for (const ColumnFactor& factor : found->second) {
        HloInstruction* product = nullptr;
        for (HloInstruction* one : factor.columns) {
          product = accumulate(kMultiply, product, in_columns(one));
        }
        if (product == nullptr || factor.number != 1) {
          product = accumulate(kMultiply, product, numbers(factor.number));
        }
        sum = accumulate(kAdd, sum, product);
      }
    }
    return sum == nullptr ? numbers(0) : sum;
  }

  // Numbers of groups stand for each of their channels.
  HloInstruction* in_columns(HloInstruction* one) const {
    const std::int64_t groups = axes_.size(NormAxes::kGroups);
    if (elements_of(*one) == groups) {
      one = broadcast(reshape(one, {groups}), {groups, axes_.size(NormAxes::kChannels)}, {0});
    }
    return reshape(one, {column_count()});
  }

  HloInstruction* numbers(double number) const {
    return broadcast(scalar_next_to(&root_, type_of(root_), number), {column_count()}, {});
  }

  std::int64_t column_count() const { return axes_.elements(axes_.columns()); }

  NormAxes axes_;
  HloInstruction& root_;
  const WeightValues& values_;
  std::map<const HloInstruction*, Followed> known_;
};

// A layer norm is one of rows.
bool is_of_rows(const NormAxes& axes) { return axes.size(NormAxes::kPoints) == 1; }

// XLA's loops go as fast over a few numbers of a group. They do over a few numbers of a row, too,
// but LLVM unrolls them for a row alone and fuses products and sums of different loops, so that it
// would have other bits than in a batch.
bool is_worth_a_norm(const NormAxes& axes) {
  if (is_of_rows(axes)) return axes.count() > 1;
  return axes.count() >= tuned().norm_fewest_of_a_group &&
         axes.size(NormAxes::kChannels) <= kernels::kMostGroupChannels;
}

// Without operands.
KernelCall call_of_norm(const NormAxes& axes, double epsilon) {
  if (is_of_rows(axes)) {
    const kernels::LayerNormCall call{axes.size(NormAxes::kImages), axes.count(), epsilon};
    return {Kernel::kLayerNorm, as_words(call), {}};
  }
  const kernels::GroupNormCall call{axes.size(NormAxes::kImages), axes.size(NormAxes::kPoints),
                                    axes.size(NormAxes::kGroups), axes.size(NormAxes::kChannels),
                                    epsilon};
  return {Kernel::kGroupNorm, as_words(call), {}};
}

// (x - mean) / deviation * scale + bias, by XLA.
HloInstruction* written_out(const Variance& of, HloInstruction& deviation, HloInstruction* scale,
                            HloInstruction* bias) {
  HloInstruction* const x = of.sum->mutable_operand(0);
  HloInstruction* const inverse =
      power_of_deviation(deviation) == 1 ? &deviation : unary(kRsqrt, deviation.mutable_operand(0));
  const auto in_columns = [&](HloInstruction* numbers) {
    const std::int64_t first = first_column_dimension(x->shape(), elements_of(*numbers));
    const Dimensions columns = counted(x->shape().rank() - first, first);
    return broadcast(reshape(numbers, picked(x->shape().dimensions(), columns)),
                     x->shape().dimensions(), columns);
  };
  HloInstruction* const difference = binary(kSubtract, x, spread_over_terms(of.mean, *of.sum));
  HloInstruction* const normalised =
      binary(kMultiply, difference, spread_over_terms(inverse, *of.sum));
  return binary(kAdd, binary(kMultiply, normalised, in_columns(scale)), in_columns(bias));
}

// ---- Facts.

template <typename Struct>
struct NormFacts : RowFunctionFacts<Struct> {
  // Mean, variance, result.
  static double cycles(const Struct& /*call*/, const HloInstruction& one,
                       const ProgramSpeed& speed) {
    return NormFacts::over_vectors(one, speed, 3 * kPlainCycles);
  }
};

struct GroupNormFacts : NormFacts<kernels::GroupNormCall> {
  static KernelWork work(const Call& call, const HloInstruction& /*one*/) {
    return {fmt::format("{} times {} points, {} groups of {} channels", call.batch, call.points,
                        call.groups, call.channels)};
  }
};

}  // namespace

constinit const KernelFacts kLayerNormFacts = facts_of<NormFacts<kernels::LayerNormCall>>();
constinit const KernelFacts kGroupNormFacts = facts_of<GroupNormFacts>();

Status replace_normalisation(HloInstruction& deviation, PassContext& context) {
  if (power_of_deviation(deviation) == 0 || !is_for_kernels(deviation)) return {};
  const WeightValues& values = context.values();
  if (values.is_known(&deviation)) return {};
  const auto [value, epsilon] = under_root(deviation);
  const Variance found = variance_of(value);
  if (found.x == nullptr) {
    if (norm_mean(value)) {  // as in a normalisation by the root of the mean square
      add_remark(context, deviation,
                 "no layer_norm: the mean under the root is not that of (x - mean)^2 over the "
                 "dimensions of x's mean");
    }
    return {};
  }
  const NormAxes& axes = *found.axes;
  if (elements_of(deviation) != axes.elements(axes.statistics())) return {};
  KernelCall call = call_of_norm(axes, epsilon);
  const bool is_worth = is_worth_a_norm(axes);
  const bool is_call = is_worth && is_float32(deviation);
  if (!is_worth) {
    add_remark(context, deviation,
               fmt::format("no {}: {} numbers for each mean are too few, or too many channels",
                           name_of_kernel(call.kernel), axes.count()));
  }
  Follower follower(found, deviation, values);
  HloInstruction* const last = follower.last();
  if (last == nullptr) {
    if (!is_call) return {};
    add_remark(context, deviation,
               fmt::format("no {}: nothing that follows is (x - mean) / deviation, scaled and "
                           "shifted by known numbers",
                           name_of_kernel(call.kernel)));
    return {};
  }
  HloInstruction* const scale = follower.scale(*last);
  HloInstruction* const bias = follower.bias(*last);
  if (!is_call) return replace(*last, written_out(found, deviation, scale, bias));
  call.operands = {found.x, scale, bias};
  return replace_by_call(*last, std::move(call));
}

}  // namespace tfaot::toolkit::engine
