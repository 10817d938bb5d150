// SPDX-License-Identifier: Apache-2.0
// Operators that shift and scale by statistics: of the operand, or of a net's training.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "onnx/onnx_tensor.h"
#include "onnx/operators/broadcast.h"
#include "onnx/operators/families.h"
#include "onnx/operators/spatial.h"
#include "xla/client/lib/arithmetic.h"
#include "xla/client/lib/constants.h"
#include "xla/client/lib/math.h"

namespace tfaot::toolkit::engine {
namespace {

using xla::XlaOp;

Dimensions axes_from(std::int64_t first, std::size_t rank) {
  Dimensions axes(rank - static_cast<std::size_t>(first));
  std::iota(axes.begin(), axes.end(), first);
  return axes;
}

// What each element belongs to: a value for each place along the axes that are left.
class Groups {
 public:
  Groups(const Node& node, const Dimensions& sizes, Dimensions reduced)
      : node_(node), sizes_(sizes), reduced_(std::move(reduced)) {
    for (std::int64_t d = 0; d < std::ssize(sizes_); ++d) {
      if (std::ranges::count(reduced_, d) == 0) kept_.push_back(d);
    }
  }

  XlaOp sum(XlaOp x) const {
    const auto type = node_.type_of(x);
    return xla::Reduce(x, xla::Zero(&node_.builder(), type),
                       xla::CreateScalarAddComputation(type, &node_.builder()), reduced_);
  }
  XlaOp mean(XlaOp x) const {
    double count = 1;
    for (const auto d : reduced_) count *= static_cast<double>(sizes_[static_cast<std::size_t>(d)]);
    const XlaOp total = sum(x);
    return xla::Div(total, scalar_like(node_, total, count));
  }
  // To all elements of the group.
  XlaOp spread(XlaOp values) const { return xla::BroadcastInDim(values, sizes_, kept_); }
  XlaOp centered(XlaOp x) const { return xla::Sub(x, spread(mean(x))); }
  // With 1 in place of the axes.
  XlaOp with_ones(XlaOp values) const {
    Dimensions sizes = sizes_;
    for (const auto d : reduced_) sizes[static_cast<std::size_t>(d)] = 1;
    return xla::Reshape(values, sizes);
  }

 private:
  const Node& node_;
  Dimensions sizes_;
  Dimensions reduced_;
  Dimensions kept_;
};

XlaOp inverse_deviation(const Node& node, XlaOp variance, float epsilon) {
  return xla::Rsqrt(xla::Add(variance, scalar_like(node, variance, epsilon)));
}

// The type of stash_type: statistics are computed in it.
xla::PrimitiveType stash_type(const Node& node) {
  const auto onnx_type = static_cast<int>(node.integer("stash_type", 1));
  const auto type = element_type(onnx_type);
  if (!type || !is_real(*type)) {
    node.refuse(fmt::format("computes in {}, which cannot be compiled", onnx_type_name(onnx_type)));
  }
  // Never less exact than the operand.
  return node.type(0) == xla::F64 ? xla::F64 : *type;
}

XlaOp like_operand(const Node& node, XlaOp x) { return xla::ConvertElementType(x, node.type(0)); }

// x, scale, bias, mean, variance: by channel.
void lower_batch_normalization(Node& node) {
  const Dimensions sizes = node.sizes(0);
  if (node.opset() < 9 && node.integer("spatial", 1) == 0) {
    node.refuse("has spatial=0, which was removed in opset 9");
  }
  if (node.opset() < 7 && node.integer("is_test", 0) == 0) node.refuse("trains: is_test is 0");
  const float epsilon = node.real("epsilon", 1e-5F);
  // Statistics may have more bits than the operand.
  const auto type = node.type(3);
  const auto exact = [type](XlaOp op) { return xla::ConvertElementType(op, type); };
  const XlaOp x = exact(node.operand(0));
  XlaOp mean = node.operand(3);
  XlaOp variance = node.operand(4);
  if (node.integer("training_mode", 0) != 0 || (node.opset() < 14 && node.wants(1))) {
    Dimensions reduced = axes_from(0, sizes.size());
    std::erase(reduced, 1);  // the channels
    const Groups groups(node, sizes, reduced);
    const XlaOp own_mean = groups.mean(x);
    const XlaOp centered = groups.centered(x);
    const XlaOp own_variance = groups.mean(xla::Mul(centered, centered));
    const float momentum = node.real("momentum", 0.9F);
    const auto running = [&](XlaOp before, XlaOp now) {
      const XlaOp kept = xla::Mul(before, scalar_like(node, before, momentum));
      return xla::Add(kept,
                      xla::Mul(now, scalar_like(node, now, 1 - static_cast<double>(momentum))));
    };
    node.set(1, running(mean, own_mean));
    node.set(2, running(variance, own_variance));
    node.set(3, own_mean);
    node.set(4, own_variance);
    mean = own_mean;
    variance = own_variance;
  }
  const auto spread = [&](XlaOp values) { return per_channel(node, values, sizes); };
  const XlaOp scale = xla::Mul(exact(node.operand(1)), inverse_deviation(node, variance, epsilon));
  const XlaOp scaled = xla::Mul(xla::Sub(x, spread(mean)), spread(scale));
  node.set(0, like_operand(node, xla::Add(scaled, spread(exact(node.operand(2))))));
}

void lower_instance_normalization(Node& node) {
  const Dimensions sizes = node.sizes(0);
  const Groups groups(node, sizes, axes_from(2, sizes.size()));
  const XlaOp centered = groups.centered(node.operand(0));
  const XlaOp variance = groups.mean(xla::Mul(centered, centered));
  const XlaOp inverse = inverse_deviation(node, variance, node.real("epsilon", 1e-5F));
  const XlaOp scaled = xla::Mul(xla::Mul(centered, groups.spread(inverse)),
                                per_channel(node, node.operand(1), sizes));
  node.set(xla::Add(scaled, per_channel(node, node.operand(2), sizes)));
}

// Over all axes from `axis` on. Results: normalized, mean, 1 / deviation.
void lower_layer_normalization(Node& node) {
  const Dimensions sizes = node.sizes(0);
  const auto axis = node.axis(node.integer("axis", -1), std::ssize(sizes));
  const XlaOp x = xla::ConvertElementType(node.operand(0), stash_type(node));
  const Groups groups(node, sizes, axes_from(axis, sizes.size()));
  const XlaOp mean = groups.mean(x);
  const XlaOp centered = xla::Sub(x, groups.spread(mean));
  const XlaOp variance = groups.mean(xla::Mul(centered, centered));
  const XlaOp inverse = inverse_deviation(node, variance, node.real("epsilon", 1e-5F));
  XlaOp made = like_operand(node, xla::Mul(centered, groups.spread(inverse)));
  made = xla::Mul(made, broadcast_to(node, node.operand(1), sizes));
  if (node.has(2)) made = xla::Add(made, broadcast_to(node, node.operand(2), sizes));
  node.set(0, made);
  node.set(1, groups.with_ones(mean));
  node.set(2, groups.with_ones(inverse));
}

void lower_rms_normalization(Node& node) {
  const Dimensions sizes = node.sizes(0);
  const auto axis = node.axis(node.integer("axis", -1), std::ssize(sizes));
  const XlaOp x = xla::ConvertElementType(node.operand(0), stash_type(node));
  const Groups groups(node, sizes, axes_from(axis, sizes.size()));
  const XlaOp squares = groups.mean(xla::Mul(x, x));
  const XlaOp inverse = inverse_deviation(node, squares, node.real("epsilon", 1e-5F));
  const XlaOp made = like_operand(node, xla::Mul(x, groups.spread(inverse)));
  node.set(xla::Mul(made, broadcast_to(node, node.operand(1), sizes)));
}

// Scale and bias are per group in opset 18, and per channel since opset 21.
void lower_group_normalization(Node& node) {
  const Dimensions sizes = node.sizes(0);
  const std::int64_t count = node.integer("num_groups");
  if (sizes.size() < 2 || count < 1 || sizes[1] % count != 0) {
    node.refuse(fmt::format("cannot make {} groups of its channels", count));
  }
  Dimensions cut = sizes;
  cut[1] = count;
  cut.insert(cut.begin() + 2, sizes[1] / count);
  const bool is_exact = node.opset() >= 21;
  const auto type = is_exact ? stash_type(node) : node.type(0);
  const XlaOp x = xla::Reshape(xla::ConvertElementType(node.operand(0), type), cut);
  const Groups groups(node, cut, axes_from(2, cut.size()));
  const XlaOp centered = groups.centered(x);
  const XlaOp variance = groups.mean(xla::Mul(centered, centered));
  const XlaOp inverse = inverse_deviation(node, variance, node.real("epsilon", 1e-5F));
  const XlaOp made =
      like_operand(node, xla::Reshape(xla::Mul(centered, groups.spread(inverse)), sizes));
  const auto spread = [&](int operand) {
    XlaOp values = node.operand(operand);
    if (product(node.sizes_of(values)) == count && count != sizes[1]) {
      const XlaOp each = xla::BroadcastInDim(values, {count, sizes[1] / count}, {0});
      values = xla::Reshape(each, {sizes[1]});
    }
    return per_channel(node, values, sizes);
  };
  node.set(xla::Add(xla::Mul(made, spread(1)), spread(2)));
}

// By the squares of the channels around each one.
void lower_lrn(Node& node) {
  const Dimensions sizes = node.sizes(0);
  const std::int64_t size = node.integer("size");
  if (sizes.size() < 2 || size < 1) node.refuse("has no channels or a size below 1");
  const XlaOp x = node.operand(0);
  const auto type = node.type(0);
  Dimensions window(sizes.size(), 1);
  window[1] = size;
  std::vector<std::pair<std::int64_t, std::int64_t>> padding(sizes.size());
  padding[1] = {(size - 1) / 2, size / 2};
  const XlaOp sums =
      xla::ReduceWindowWithGeneralPadding(xla::Mul(x, x), xla::Zero(&node.builder(), type),
                                          xla::CreateScalarAddComputation(type, &node.builder()),
                                          window, Dimensions(sizes.size(), 1), {}, {}, padding);
  const double factor = static_cast<double>(node.real("alpha", 1e-4F)) / static_cast<double>(size);
  const XlaOp scale = xla::Add(xla::Mul(sums, scalar(node, type, factor)),
                               scalar(node, type, node.real("bias", 1)));
  node.set(xla::Div(x, xla::Pow(scale, scalar(node, type, node.real("beta", 0.75F)))));
}

// What is 0 stays 0.
void lower_lp_normalization(Node& node) {
  const Dimensions sizes = node.sizes(0);
  const auto axis = node.axis(node.integer("axis", -1), std::ssize(sizes));
  const std::int64_t p = node.integer("p", 2);
  if (p != 1 && p != 2) node.refuse("has a p other than 1 and 2");
  const XlaOp x = node.operand(0);
  const Groups groups(node, sizes, {axis});
  const XlaOp norm = p == 1 ? groups.sum(xla::Abs(x)) : xla::Sqrt(groups.sum(xla::Mul(x, x)));
  const XlaOp divisor = groups.spread(norm);
  const XlaOp zeros = xla::ZerosLike(x);
  node.set(xla::Select(xla::Eq(divisor, zeros), zeros, xla::Div(x, divisor)));
}

void lower_mean_variance_normalization(Node& node) {
  const Dimensions sizes = node.sizes(0);
  const auto axes = node.integers("axes").value_or(Dimensions{0, 2, 3});
  const Groups groups(node, sizes, node.axes(axes, std::ssize(sizes)));
  const XlaOp centered = groups.centered(node.operand(0));
  const XlaOp deviation = xla::Sqrt(groups.mean(xla::Mul(centered, centered)));
  const XlaOp divisor = xla::Add(deviation, scalar_like(node, deviation, 1e-9));
  node.set(xla::Div(centered, groups.spread(divisor)));
}

}  // namespace

std::vector<OnnxOperator> normalization_operators() {
  return {
      {"BatchNormalization", 6, lower_batch_normalization},
      {"GroupNormalization", 18, lower_group_normalization},
      {"InstanceNormalization", 6, lower_instance_normalization},
      {"LRN", 1, lower_lrn},
      {"LayerNormalization", 17, lower_layer_normalization},
      {"LpNormalization", 1, lower_lp_normalization},
      {"MeanVarianceNormalization", 9, lower_mean_variance_normalization},
      {"RMSNormalization", 23, lower_rms_normalization},
  };
}

}  // namespace tfaot::toolkit::engine
