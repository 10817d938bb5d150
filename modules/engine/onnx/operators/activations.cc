// SPDX-License-Identifier: Apache-2.0
// Activation functions, also those over an axis: softmax and its relatives.
#include "onnx/operators/broadcast.h"
#include "onnx/operators/families.h"
#include "onnx/operators/spatial.h"
#include "xla/client/lib/arithmetic.h"
#include "xla/client/lib/constants.h"
#include "xla/client/lib/math.h"

namespace tfaot::toolkit::engine {
namespace {

using xla::XlaOp;

void lower_relu(Node& node) {
  const XlaOp x = node.operand(0);
  node.set(xla::Max(x, scalar_like(node, x, 0)));
}

// x where it is at least 0, else `below`.
void set_below_zero(Node& node, XlaOp below) {
  const XlaOp x = node.operand(0);
  node.set(xla::Select(xla::Lt(x, scalar_like(node, x, 0)), below, x));
}

void lower_leaky_relu(Node& node) {
  const XlaOp x = node.operand(0);
  set_below_zero(node, xla::Mul(x, scalar_like(node, x, node.real("alpha", 0.01F))));
}

void lower_prelu(Node& node) {
  XlaOp slope = node.operand(1);
  // Up to opset 6 a slope for each channel has one dimension.
  if (node.opset() < 7 && product(node.sizes(1)) > 1) {
    slope = per_channel(node, slope, node.sizes(0));
  }
  slope = broadcast_to(node, slope, node.sizes(0));
  set_below_zero(node, xla::Mul(node.operand(0), slope));
}

XlaOp scaled_expm1(const Node& node, XlaOp x, float alpha) {
  return xla::Mul(scalar_like(node, x, alpha), xla::Expm1(x));
}

void lower_elu(Node& node) {
  set_below_zero(node, scaled_expm1(node, node.operand(0), node.real("alpha", 1)));
}

void lower_celu(Node& node) {
  const XlaOp x = node.operand(0);
  const float alpha = node.real("alpha", 1);
  set_below_zero(node, scaled_expm1(node, xla::Div(x, scalar_like(node, x, alpha)), alpha));
}

void lower_selu(Node& node) {
  const XlaOp x = node.operand(0);
  const float alpha = node.real("alpha", 1.67326319217681884765625F);
  const float gamma = node.real("gamma", 1.05070102214813232421875F);
  const XlaOp below = scaled_expm1(node, x, alpha);
  const XlaOp both = xla::Select(xla::Gt(x, scalar_like(node, x, 0)), x, below);
  node.set(xla::Mul(scalar_like(node, x, gamma), both));
}

void lower_sigmoid(Node& node) { node.set(xla::Logistic(node.operand(0))); }

XlaOp hard_sigmoid(const Node& node, XlaOp x, float alpha, float beta) {
  const XlaOp line = xla::Add(xla::Mul(x, scalar_like(node, x, alpha)), scalar_like(node, x, beta));
  return xla::Clamp(scalar_like(node, x, 0), line, scalar_like(node, x, 1));
}

void lower_hard_sigmoid(Node& node) {
  node.set(hard_sigmoid(node, node.operand(0), node.real("alpha", 0.2F), node.real("beta", 0.5F)));
}

void lower_hard_swish(Node& node) {
  const XlaOp x = node.operand(0);
  node.set(xla::Mul(x, hard_sigmoid(node, x, 1.0F / 6, 0.5F)));
}

void lower_swish(Node& node) {
  const XlaOp x = node.operand(0);
  node.set(xla::Mul(x, xla::Logistic(xla::Mul(x, scalar_like(node, x, node.real("alpha", 1))))));
}

XlaOp softplus(const Node& node, XlaOp x) {
  const XlaOp zero = scalar_like(node, x, 0);
  return xla::Add(xla::Max(x, zero), xla::Log1p(xla::Exp(xla::Neg(xla::Abs(x)))));
}

void lower_softplus(Node& node) { node.set(softplus(node, node.operand(0))); }

void lower_mish(Node& node) {
  const XlaOp x = node.operand(0);
  node.set(xla::Mul(x, xla::Tanh(softplus(node, x))));
}

void lower_softsign(Node& node) {
  const XlaOp x = node.operand(0);
  node.set(xla::Div(x, xla::Add(scalar_like(node, x, 1), xla::Abs(x))));
}

void lower_thresholded_relu(Node& node) {
  const XlaOp x = node.operand(0);
  const XlaOp above = xla::Gt(x, scalar_like(node, x, node.real("alpha", 1)));
  node.set(xla::Select(above, x, xla::ZerosLike(x)));
}

void lower_shrink(Node& node) {
  const XlaOp x = node.operand(0);
  const XlaOp lambda = scalar_like(node, x, node.real("lambd", 0.5F));
  const XlaOp bias = scalar_like(node, x, node.real("bias", 0));
  const XlaOp upper = xla::Select(xla::Gt(x, lambda), xla::Sub(x, bias), xla::ZerosLike(x));
  node.set(xla::Select(xla::Lt(x, xla::Neg(lambda)), xla::Add(x, bias), upper));
}

// x * (1 + erf(x / sqrt 2)) / 2, or its approximation by tanh.
void lower_gelu(Node& node) {
  const XlaOp x = node.operand(0);
  const auto number = [&](double value) { return scalar_like(node, x, value); };
  const XlaOp half = xla::Mul(x, number(0.5));
  if (node.text("approximate", "none") == "tanh") {
    const XlaOp cube = xla::Mul(xla::Mul(x, x), xla::Mul(x, number(0.044715)));
    const XlaOp inner = xla::Mul(number(0.79788456080286535588), xla::Add(x, cube));
    return node.set(xla::Mul(half, xla::Add(number(1), xla::Tanh(inner))));
  }
  const XlaOp inner = xla::Mul(x, number(0.70710678118654752440));
  node.set(xla::Mul(half, xla::Add(number(1), xla::Erf(inner))));
}

// Softmax-like operators see one axis since opset 13. Before, all axes from it on are one.
struct NormalizedAxes {
  XlaOp x;            // the operand as these operators see it
  std::int64_t axis;  // of x
  Dimensions sizes;   // of the operand
};
NormalizedAxes normalized_axes(const Node& node) {
  const XlaOp x = node.operand(0);
  Dimensions sizes = node.sizes_of(x);
  const auto rank = std::ssize(sizes);
  if (node.opset() >= 13) return {x, node.axis(node.integer("axis", -1), rank), sizes};
  std::int64_t axis = node.integer("axis", 1);
  if (axis < 0) axis += rank;
  if (axis < 0 || axis > rank) node.refuse("has an axis that its operand lacks");
  const absl::Span<const std::int64_t> all(sizes);
  const auto split = static_cast<std::size_t>(axis);
  const Dimensions two = {product(all.subspan(0, split)), product(all.subspan(split))};
  return {xla::Reshape(x, two), 1, sizes};
}

// What was reduced along the axis, for each of its elements.
XlaOp spread(XlaOp reduced, const Dimensions& sizes, std::int64_t axis) {
  Dimensions others;
  for (std::int64_t i = 0; i < std::ssize(sizes); ++i) {
    if (i != axis) others.push_back(i);
  }
  return xla::BroadcastInDim(reduced, sizes, others);
}

XlaOp largest(const Node& node, XlaOp x, std::int64_t axis) {
  const auto type = node.type_of(x);
  const XlaOp most = xla::Reduce(x, xla::MinValue(&node.builder(), type),
                                 xla::CreateScalarMaxComputation(type, &node.builder()), {axis});
  return spread(most, node.sizes_of(x), axis);
}

XlaOp sum(const Node& node, XlaOp x, std::int64_t axis) {
  return spread(sum_over(node, x, {axis}), node.sizes_of(x), axis);
}

// At most 0, also where XLA computes x twice and rounds it in two ways: large numbers then differ
// by more than exponentials can hold.
XlaOp below_largest(const Node& node, XlaOp x, std::int64_t axis) {
  return xla::Min(xla::Sub(x, largest(node, x, axis)), scalar_like(node, x, 0));
}

void lower_softmax(Node& node) {
  const auto [x, axis, sizes] = normalized_axes(node);
  const XlaOp powers = xla::Exp(below_largest(node, x, axis));
  node.set(xla::Reshape(xla::Div(powers, sum(node, powers, axis)), sizes));
}

void lower_log_softmax(Node& node) {
  const auto [x, axis, sizes] = normalized_axes(node);
  const XlaOp shifted = below_largest(node, x, axis);
  const XlaOp total = sum(node, xla::Exp(shifted), axis);
  node.set(xla::Reshape(xla::Sub(shifted, xla::Log(total)), sizes));
}

// 1 for the largest element, the first one if there are several; else 0.
void lower_hardmax(Node& node) {
  const auto [x, axis, sizes] = normalized_axes(node);
  const Dimensions seen = node.sizes_of(x);
  const XlaOp first = xla::ArgMax(x, xla::S32, static_cast<int>(axis));
  Dimensions others;
  for (std::int64_t i = 0; i < std::ssize(seen); ++i) {
    if (i != axis) others.push_back(i);
  }
  const XlaOp place = xla::BroadcastInDim(first, seen, others);
  const XlaOp index = xla::Iota(&node.builder(), shape_of(xla::S32, seen), axis);
  const XlaOp hard = xla::ConvertElementType(xla::Eq(index, place), node.type_of(x));
  node.set(xla::Reshape(hard, sizes));
}

}  // namespace

std::vector<OnnxOperator> activation_operators() {
  return {
      {"Celu", 12, lower_celu},
      {"Elu", 6, lower_elu},
      {"Gelu", 20, lower_gelu},
      {"HardSigmoid", 6, lower_hard_sigmoid},
      {"HardSwish", 14, lower_hard_swish},
      {"Hardmax", 1, lower_hardmax},
      {"LeakyRelu", 6, lower_leaky_relu},
      {"LogSoftmax", 1, lower_log_softmax},
      {"Mish", 18, lower_mish},
      {"PRelu", 6, lower_prelu},
      {"Relu", 6, lower_relu},
      {"Selu", 6, lower_selu},
      {"Shrink", 9, lower_shrink},
      {"Sigmoid", 6, lower_sigmoid},
      {"Softmax", 1, lower_softmax},
      {"Softplus", 1, lower_softplus},
      {"Softsign", 1, lower_softsign},
      {"Swish", 24, lower_swish},
      {"ThresholdedRelu", 10, lower_thresholded_relu},
  };
}

}  // namespace tfaot::toolkit::engine
