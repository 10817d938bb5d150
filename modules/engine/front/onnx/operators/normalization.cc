// SPDX-License-Identifier: Apache-2.0
// Reductions, softmax and its like, normalisations, losses.
#include <algorithm>
#include <array>
#include <optional>

#include "front/onnx/operators.h"
#include "front/onnx/operators/building.h"
#include "xla/client/lib/arithmetic.h"
#include "xla/client/lib/constants.h"
#include "xla/client/lib/math.h"

namespace tfaot::toolkit::engine {
namespace {

// An operand since opset 18, for ReduceSum since 13; an attribute before.
Dimensions reduced_axes(const Node& node) {
  const int operand_since = node.proto().op_type() == "ReduceSum" ? 13 : 18;
  Dimensions axes;
  if (node.opset() < operand_since) {
    axes = node.integers("axes");
  } else if (node.has(1)) {
    axes = node.known_integers(1);
  }
  const std::int64_t rank = node.rank(0);
  if (!axes.empty()) return node.axes(std::move(axes), rank);
  return node.flag("noop_with_empty_axes") ? axes : dimension_range(0, rank);
}

// The type that a reduction computes with: sums of short numbers lose digits, those of integers
// overflow (kWide), and roots and logarithms of integers are real.
enum class Computing { kAsIs, kExact, kReal, kWide };

XlaOp computed_with(const Node& node, XlaOp x, Computing how) {
  const auto type = node.type_of(x);
  if (how == Computing::kAsIs) return x;
  if (type == xla::F16 || type == xla::BF16) return cast(x, xla::F32);
  if (is_real(type) || how == Computing::kExact) return x;
  if (how == Computing::kReal) return cast(x, xla::F64);
  return cast(x, is_unsigned(type) ? xla::U64 : xla::S64);
}

// The result in the operand's type, with sizes of 1 if reduced dimensions are kept.
void set_reduced(Node& node, XlaOp reduced, const Dimensions& axes) {
  const Dimensions sizes = node.sizes(0);
  const bool kept = node.flag("keepdims", true);
  Dimensions result;
  for (std::int64_t i = 0; i < std::ssize(sizes); ++i) {
    const bool is_reduced = std::ranges::count(axes, i) > 0;
    if (!is_reduced || kept) result.push_back(is_reduced ? 1 : entry(sizes, i));
  }
  node.set(xla::Reshape(cast(reduced, node.type(0)), result));
}

using Reduce = XlaOp (*)(XlaOp, const Dimensions&);
XlaOp reduce_axes(XlaOp x, const Dimensions& axes, Reduce reduce) {
  return axes.empty() ? x : reduce(x, axes);
}

XlaOp same(XlaOp x) { return x; }

// of_result(reduce(of_element(x)))
struct ReductionForm {
  const char* name;
  Computing computing;
  XlaOp (*of_element)(XlaOp);
  Reduce reduce;
  XlaOp (*of_result)(XlaOp);
};
constexpr auto kReductions = std::to_array<ReductionForm>({
    {"ReduceL1", Computing::kExact, xla::Abs, sum_of, same},
    {"ReduceL2", Computing::kReal, xla::Square, sum_of, xla::Sqrt},
    {"ReduceLogSum", Computing::kReal, same, sum_of, xla::Log},
    {"ReduceMax", Computing::kAsIs, same, largest_of, same},
    {"ReduceMin", Computing::kAsIs, same, least_of, same},
    {"ReduceProd", Computing::kExact, same, product_of, same},
    {"ReduceSum", Computing::kExact, same, sum_of, same},
    {"ReduceSumSquare", Computing::kExact, xla::Square, sum_of, same},
});

void lower_reduction(Node& node) {
  const auto& form = *std::ranges::find(kReductions, node.proto().op_type(), &ReductionForm::name);
  const auto axes = reduced_axes(node);
  XlaOp x = computed_with(node, node.operand(0), form.computing);
  const bool is_magnitude = form.of_element == xla::Abs && is_unsigned(node.type(0));
  if (!is_magnitude) x = form.of_element(x);
  set_reduced(node, form.of_result(reduce_axes(x, axes, form.reduce)), axes);
}

void lower_reduce_mean(Node& node) {
  const auto axes = reduced_axes(node);
  const XlaOp x = computed_with(node, node.operand(0), Computing::kWide);
  std::int64_t count = 1;
  for (const std::int64_t axis : axes) count *= entry(node.sizes(0), axis);
  set_reduced(node, reduce_axes(x, axes, sum_of) / count, axes);
}

// The largest element is taken out first, so that no power overflows; infinities stay in.
void lower_reduce_log_sum_exp(Node& node) {
  const auto axes = reduced_axes(node);
  const XlaOp x = computed_with(node, node.operand(0), Computing::kReal);
  XlaOp largest = reduce_axes(x, axes, largest_of);
  largest = xla::Select(xla::IsFinite(largest), largest, xla::ZerosLike(largest));
  const XlaOp powers = xla::Exp(x - spread(largest, node.sizes(0), axes));
  set_reduced(node, xla::Log(reduce_axes(powers, axes, sum_of)) + largest, axes);
}

// Softmax and its like see one axis since opset 13. Before, all axes from it on are one.
struct NormalizedAxes {
  XlaOp x;            // the operand as these operators see it
  std::int64_t axis;  // of x
  Dimensions seen;    // sizes of x
  Dimensions sizes;   // of the operand

  XlaOp spread_over(XlaOp reduced) const { return spread(reduced, seen, {axis}); }
  // At most 0, also where XLA computes x twice and rounds it in two ways: large numbers then differ
  // by more than exponentials can hold.
  XlaOp below_largest() const {
    return xla::Min(x - spread_over(largest_of(x, {axis})), like(x, 0));
  }
  XlaOp sum(XlaOp values) const { return spread_over(exact_sum_of(values, {axis})); }
};
NormalizedAxes normalized_axes(const Node& node) {
  const XlaOp x = node.operand(0);
  const Dimensions sizes = node.sizes(0);
  const auto rank = std::ssize(sizes);
  if (node.opset() >= 13) return {x, node.axis(node.integer("axis", -1), rank), sizes, sizes};
  const Dimensions two = sizes_split_at(node, node.integer("axis", 1));
  return {xla::Reshape(x, two), 1, two, sizes};
}

void lower_softmax(Node& node) {
  const NormalizedAxes over = normalized_axes(node);
  const XlaOp powers = xla::Exp(over.below_largest());
  node.set(xla::Reshape(powers / over.sum(powers), over.sizes));
}

void lower_log_softmax(Node& node) {
  const NormalizedAxes over = normalized_axes(node);
  const XlaOp shifted = over.below_largest();
  node.set(xla::Reshape(shifted - xla::Log(over.sum(xla::Exp(shifted))), over.sizes));
}

// 1 for the largest element, the first one if there are several; else 0.
void lower_hardmax(Node& node) {
  const NormalizedAxes over = normalized_axes(node);
  const XlaOp first = xla::ArgMax(over.x, xla::S32, static_cast<int>(over.axis));
  const XlaOp index = index_along(node, xla::S32, over.seen, over.axis);
  node.set(xla::Reshape(cast(index == over.spread_over(first), node.type(0)), over.sizes));
}

// Elements that are normalised together: those along the reduced axes.
struct Groups {
  Dimensions sizes;
  Dimensions reduced;

  XlaOp mean(XlaOp x) const {
    double count = 1;
    for (const auto d : reduced) count *= static_cast<double>(entry(sizes, d));
    return sum_of(x, reduced) / count;
  }
  // To all elements of the group.
  XlaOp over(XlaOp values) const { return spread(values, sizes, reduced); }
  XlaOp centered(XlaOp x) const { return x - over(mean(x)); }
  XlaOp mean_square(XlaOp x) const { return mean(x * x); }
  // With 1 in place of the axes.
  XlaOp with_ones(XlaOp values) const {
    Dimensions kept = sizes;
    for (const auto d : reduced) entry(kept, d) = 1;
    return xla::Reshape(values, kept);
  }
};

// All axes from `first` on.
Groups groups_from(const Dimensions& sizes, std::int64_t first) {
  return {sizes, dimension_range(first, std::ssize(sizes))};
}

XlaOp inverse_deviation(const Node& node, XlaOp variance) {
  return xla::Rsqrt(variance + node.real("epsilon", 1e-5F));
}

// The type of stash_type: statistics are computed in it.
xla::PrimitiveType stash_type(const Node& node) {
  const std::int64_t number = node.integer("stash_type", 1);
  const auto type = node.type_of_number(number, "computes in");
  if (!is_real(type)) node.refuse_type(number, "computes in");
  // Never less exact than the operand.
  return node.type(0) == xla::F64 ? xla::F64 : type;
}

XlaOp like_operand(const Node& node, XlaOp x) { return cast(x, node.type(0)); }

// x, scale, bias, mean, variance: by channel.
void lower_batch_normalization(Node& node) {
  const Dimensions sizes = node.sizes(0);
  if (node.opset() < 9 && !node.flag("spatial", true))
    node.refuse("has spatial=0, which was removed in opset 9");
  if (node.opset() < 7 && !node.flag("is_test")) node.refuse("trains: is_test is 0");
  // Statistics may have more bits than the operand.
  const auto exact = [type = node.type(3)](XlaOp op) { return cast(op, type); };
  const XlaOp x = exact(node.operand(0));
  XlaOp mean = node.operand(3);
  XlaOp variance = node.operand(4);
  if (node.flag("training_mode") || (node.opset() < 14 && node.wants(1))) {
    const Groups groups{sizes, dimensions_but(std::ssize(sizes), {1})};
    const XlaOp own_mean = groups.mean(x);
    const XlaOp own_variance = groups.mean_square(groups.centered(x));
    const float momentum = node.real("momentum", 0.9F);
    const auto running = [&](XlaOp before, XlaOp now) {
      return before * momentum + now * (1 - static_cast<double>(momentum));
    };
    node.set(1, running(mean, own_mean));
    node.set(2, running(variance, own_variance));
    node.set(3, own_mean);
    node.set(4, own_variance);
    mean = own_mean;
    variance = own_variance;
  }
  const auto spread = [&](XlaOp values) { return per_channel(node, values, sizes); };
  const XlaOp scale = exact(node.operand(1)) * inverse_deviation(node, variance);
  const XlaOp scaled = (x - spread(mean)) * spread(scale);
  node.set(0, like_operand(node, scaled + spread(exact(node.operand(2)))));
}

void lower_instance_normalization(Node& node) {
  const Dimensions sizes = node.sizes(0);
  const Groups groups = groups_from(sizes, 2);
  const XlaOp centered = groups.centered(node.operand(0));
  const XlaOp inverse = inverse_deviation(node, groups.mean_square(centered));
  node.set(centered * groups.over(inverse) * per_channel(node, node.operand(1), sizes) +
           per_channel(node, node.operand(2), sizes));
}

// Over all axes from `axis` on. Results: normalized, mean, 1 / deviation.
void lower_layer_normalization(Node& node) {
  const Dimensions sizes = node.sizes(0);
  const Groups groups = groups_from(sizes, node.axis(node.integer("axis", -1), std::ssize(sizes)));
  const XlaOp x = cast(node.operand(0), stash_type(node));
  const XlaOp mean = groups.mean(x);
  const XlaOp centered = x - groups.over(mean);
  const XlaOp inverse = inverse_deviation(node, groups.mean_square(centered));
  XlaOp made = like_operand(node, centered * groups.over(inverse));
  made = made * broadcast_to(node, node.operand(1), sizes);
  if (node.has(2)) made = made + broadcast_to(node, node.operand(2), sizes);
  node.set(0, made);
  node.set(1, groups.with_ones(mean));
  node.set(2, groups.with_ones(inverse));
}

void lower_rms_normalization(Node& node) {
  const Dimensions sizes = node.sizes(0);
  const Groups groups = groups_from(sizes, node.axis(node.integer("axis", -1), std::ssize(sizes)));
  const XlaOp x = cast(node.operand(0), stash_type(node));
  const XlaOp inverse = inverse_deviation(node, groups.mean_square(x));
  node.set(like_operand(node, x * groups.over(inverse)) *
           broadcast_to(node, node.operand(1), sizes));
}

// Scale and bias are per group in opset 18, and per channel since opset 21.
void lower_group_normalization(Node& node) {
  const Dimensions sizes = node.sizes(0);
  const std::int64_t count = node.integer("num_groups");
  if (sizes.size() < 2 || count < 1 || sizes[1] % count != 0)
    node.refuse("cannot make {} groups of its channels", count);
  const Dimensions cut = with_new(with_size(sizes, 1, count), 2, sizes[1] / count);
  const auto type = node.opset() >= 21 ? stash_type(node) : node.type(0);
  const Groups groups = groups_from(cut, 2);
  const XlaOp centered = groups.centered(xla::Reshape(cast(node.operand(0), type), cut));
  const XlaOp inverse = inverse_deviation(node, groups.mean_square(centered));
  const XlaOp made = like_operand(node, xla::Reshape(centered * groups.over(inverse), sizes));
  const auto spread = [&](int operand) {
    XlaOp values = node.operand(operand);
    if (product(node.sizes_of(values)) == count && count != sizes[1]) {
      values = xla::Reshape(along(values, {count, sizes[1] / count}, 0), {sizes[1]});
    }
    return per_channel(node, values, sizes);
  };
  node.set(made * spread(1) + spread(2));
}

// By the squares of the channels around each one.
void lower_lrn(Node& node) {
  const Dimensions sizes = node.sizes(0);
  const std::int64_t size = node.integer("size");
  if (sizes.size() < 2 || size < 1) node.refuse("has no channels or a size below 1");
  const XlaOp x = node.operand(0);
  const auto type = node.type(0);
  const Dimensions ones(sizes.size(), 1);
  std::vector<std::pair<std::int64_t, std::int64_t>> padding(sizes.size());
  padding[1] = {(size - 1) / 2, size / 2};
  const XlaOp sums =
      xla::ReduceWindowWithGeneralPadding(x * x, xla::Zero(&node.builder(), type),
                                          xla::CreateScalarAddComputation(type, &node.builder()),
                                          with_size(ones, 1, size), ones, {}, {}, padding);
  const double factor = static_cast<double>(node.real("alpha", 1e-4F)) / static_cast<double>(size);
  const XlaOp scale = sums * factor + node.real("bias", 1);
  node.set(x / xla::Pow(scale, like(scale, node.real("beta", 0.75F))));
}

// A vector of zeros stays.
void lower_lp_normalization(Node& node) {
  const Dimensions sizes = node.sizes(0);
  const std::int64_t p = node.integer("p", 2);
  if (p != 1 && p != 2) node.refuse("has a p other than 1 and 2");
  const Dimensions axis = {node.axis(node.integer("axis", -1), std::ssize(sizes))};
  const XlaOp x = node.operand(0);
  const XlaOp norm = p == 1 ? sum_of(xla::Abs(x), axis) : xla::Sqrt(sum_of(x * x, axis));
  const XlaOp divisor = spread(norm, sizes, axis);
  const XlaOp zeros = xla::ZerosLike(x);
  node.set(xla::Select(divisor == zeros, zeros, x / divisor));
}

void lower_mean_variance_normalization(Node& node) {
  const Dimensions sizes = node.sizes(0);
  const auto axes = node.optional_integers("axes").value_or(Dimensions{0, 2, 3});
  const Groups groups{sizes, node.axes(axes, std::ssize(sizes))};
  const XlaOp centered = groups.centered(node.operand(0));
  node.set(centered / groups.over(xla::Sqrt(groups.mean_square(centered)) + 1e-9));
}

XlaOp sum_everything(const Node& node, XlaOp x) {
  return sum_of(x, dimension_range(0, std::ssize(node.sizes_of(x))));
}

// `log_probabilities` of [batch, classes, ...], the class of each place as operand 1, weights of
// the classes as operand 2.
void set_likelihood_loss(Node& node, XlaOp log_probabilities) {
  const Dimensions sizes = node.sizes_of(log_probabilities);
  if (sizes.size() < 2 || std::ssize(sizes) != node.rank(1) + 1)
    node.refuse("needs classes with one dimension less than its operand");
  const auto type = node.type_of(log_probabilities);
  const XlaOp target = cast(node.operand(1), xla::S64);
  const XlaOp is_class = index_along(node, xla::S64, sizes, 1) == spread(target, sizes, {1});
  const auto of_class = [&](XlaOp values) {
    return sum_of(xla::Select(is_class, values, zeros_of(node, type, sizes)), {1});
  };
  XlaOp loss = -of_class(log_probabilities);
  const Dimensions places = node.sizes_of(loss);
  std::optional<XlaOp> weights;
  if (node.has(2)) weights = of_class(along(node.operand(2), sizes, 1));
  if (node.has_attribute("ignore_index")) {
    const XlaOp is_ignored = target == constant_integer(node, node.integer("ignore_index"));
    const XlaOp own = weights ? *weights : xla::Broadcast(scalar(node, type, 1), places);
    weights = xla::Select(is_ignored, zeros_of(node, type, places), own);
  }
  if (weights) loss = loss * *weights;
  const std::string reduction = node.word("reduction", {"mean", "none", "sum"});
  if (reduction == "none") return node.set(0, loss);
  const XlaOp sum = sum_everything(node, loss);
  if (reduction == "sum") return node.set(0, sum);
  node.set(0, weights ? sum / sum_everything(node, *weights) : sum / product(places));
}

void lower_likelihood_loss(Node& node) { set_likelihood_loss(node, node.operand(0)); }

void lower_cross_entropy_loss(Node& node) {
  const XlaOp x = node.operand(0);
  const Dimensions sizes = node.sizes_of(x);
  if (sizes.size() < 2) node.refuse("needs a dimension of classes");
  const XlaOp shifted = x - spread(largest_of(x, {1}), sizes, {1});
  const XlaOp sums = xla::Log(sum_of(xla::Exp(shifted), {1}));
  const XlaOp log_probabilities = shifted - spread(sums, sizes, {1});
  node.set(1, log_probabilities);
  set_likelihood_loss(node, log_probabilities);
}

}  // namespace

std::vector<OnnxOperator> normalization_operators() {
  std::vector<OnnxOperator> rows = {
      {"BatchNormalization", 6, lower_batch_normalization},
      {"GroupNormalization", 18, lower_group_normalization},
      {"Hardmax", 1, lower_hardmax},
      {"InstanceNormalization", 6, lower_instance_normalization},
      {"LRN", 1, lower_lrn},
      {"LayerNormalization", 17, lower_layer_normalization},
      {"LogSoftmax", 1, lower_log_softmax},
      {"LpNormalization", 1, lower_lp_normalization},
      {"MeanVarianceNormalization", 9, lower_mean_variance_normalization},
      {"NegativeLogLikelihoodLoss", 12, lower_likelihood_loss},
      {"RMSNormalization", 23, lower_rms_normalization},
      {"ReduceLogSumExp", 1, lower_reduce_log_sum_exp, {.known = {1}}},
      {"ReduceMean", 1, lower_reduce_mean, {.known = {1}}},
      {"Softmax", 1, lower_softmax},
      {"SoftmaxCrossEntropyLoss", 12, lower_cross_entropy_loss},
  };
  for (const ReductionForm& form : kReductions) {
    rows.push_back({form.name, 1, lower_reduction, {.known = {1}}});
  }
  return rows;
}

}  // namespace tfaot::toolkit::engine
