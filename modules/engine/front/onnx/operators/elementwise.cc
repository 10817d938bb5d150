// SPDX-License-Identifier: Apache-2.0
// Elementwise operators: arithmetic, comparisons, casts, activation functions. An operator with one
// operand is a formula and its row.

#include "front/onnx/operators/building.h"

namespace tfaot::toolkit::engine {
namespace {

template <XlaOp (*kOperation)(XlaOp)>
void lower_unary(Node& node) {
  node.set(kOperation(node.operand(0)));
}

// The formula reads its parameters from the node's attributes.
template <XlaOp (*kFormula)(const Node&, XlaOp)>
void lower_formula(Node& node) {
  node.set(kFormula(node, node.operand(0)));
}

// XLA rounds only floating-point numbers; others are integers already.
template <XlaOp (*kOperation)(XlaOp)>
void lower_rounding(Node& node) {
  node.set(is_real(node.type(0)) ? kOperation(node.operand(0)) : node.operand(0));
}

template <auto kOperation>
void lower_binary(Node& node) {
  const auto operands = broadcast_operands(node, 2, "two operands");
  node.set(kOperation(operands[0], operands[1]));
}

// Takes any number of operands.
template <auto kOperation>
XlaOp accumulate(const Node& node) {
  const auto operands = broadcast_operands(node);
  if (operands.empty()) node.refuse("needs an operand");
  XlaOp sum = operands.front();
  for (std::size_t i = 1; i < operands.size(); ++i) sum = kOperation(sum, operands[i]);
  return sum;
}

template <auto kOperation>
void lower_all(Node& node) {
  node.set(accumulate<kOperation>(node));
}

XlaOp minimum(XlaOp a, XlaOp b) { return xla::Min(a, b); }
XlaOp maximum(XlaOp a, XlaOp b) { return xla::Max(a, b); }
XlaOp equal(XlaOp a, XlaOp b) { return a == b; }
XlaOp less(XlaOp a, XlaOp b) { return a < b; }
XlaOp less_or_equal(XlaOp a, XlaOp b) { return a <= b; }
XlaOp greater(XlaOp a, XlaOp b) { return a > b; }
XlaOp greater_or_equal(XlaOp a, XlaOp b) { return a >= b; }

void lower_mean(Node& node) { node.set(accumulate<std::plus<>{}>(node) / node.operand_count()); }

// The result has the type of the base.
void lower_pow(Node& node) {
  auto operands = broadcast_operands(node);
  const auto base = node.type(0);
  const auto exponent = node.type(1);
  if (base == exponent) return node.set(xla::Pow(operands[0], operands[1]));
  if (is_real(base)) return node.set(xla::Pow(operands[0], cast(operands[1], base)));
  // An integer base: exact as long as a double holds the result.
  node.set(cast(xla::Pow(cast(operands[0], xla::F64), cast(operands[1], xla::F64)), base));
}

// The sign follows the divisor, or the dividend with fmod=1.
void lower_mod(Node& node) {
  const auto operands = broadcast_operands(node);
  const XlaOp remainder = operands[0] % operands[1];
  if (node.flag("fmod") || is_unsigned(node.type(0))) return node.set(remainder);
  const XlaOp other_sign = (remainder != 0) & ((remainder < 0) != (operands[1] < 0));
  node.set(xla::Select(other_sign, remainder + operands[1], remainder));
}

void lower_bit_shift(Node& node) {
  const auto operands = broadcast_operands(node);
  const std::string direction = node.text("direction", "");
  if (direction == "LEFT") return node.set(operands[0] << operands[1]);
  if (direction != "RIGHT") node.refuse("has the direction '{}'", direction);
  node.set(xla::ShiftRightLogical(operands[0], operands[1]));
}

XlaOp is_infinite(const Node& node, XlaOp x) {
  const bool positive = node.flag("detect_positive", true);
  const bool negative = node.flag("detect_negative", true);
  if (positive && negative) return xla::IsInf(x);
  if (positive) return xla::IsPosInf(x);
  return negative ? xla::IsNegInf(x) : (x != x) & xla::IsInf(x);  // false
}

void lower_where(Node& node) {
  const auto operands = broadcast_operands(node, 3, "three operands");
  node.set(xla::Select(operands[0], operands[1], operands[2]));
}

// Bounds are attributes up to opset 10, then operands.
void lower_clip(Node& node) {
  XlaOp x = node.operand(0);
  if (node.opset() < 11) {
    if (node.has_attribute("min")) x = xla::Max(x, like(x, node.real("min", 0)));
    if (node.has_attribute("max")) x = xla::Min(x, like(x, node.real("max", 0)));
    return node.set(x);
  }
  const Dimensions sizes = node.sizes_of(x);
  const auto bound = [&](int operand) {
    return broadcast_to(node, xla::Reshape(node.operand(operand), {}), sizes);
  };
  if (node.has(1)) x = xla::Max(x, bound(1));
  if (node.has(2)) x = xla::Min(x, bound(2));
  node.set(x);
}

XlaOp as_type(XlaOp x, xla::PrimitiveType type) {
  return type == xla::PRED ? x != 0 : cast(x, type);
}

XlaOp cast_to(const Node& node, XlaOp x) {
  return as_type(x, node.type_of_number(node.integer("to"), "casts to"));
}

void lower_cast_like(Node& node) { node.set(as_type(node.operand(0), node.type(1))); }

XlaOp mish(XlaOp x) { return x * xla::Tanh(softplus(x)); }

XlaOp leaky_relu_of(const Node& node, XlaOp x) { return leaky_relu(x, node.real("alpha", 0.01F)); }
XlaOp elu_of(const Node& node, XlaOp x) { return elu(x, node.real("alpha", 1)); }
XlaOp celu(const Node& node, XlaOp x) {
  const float alpha = node.real("alpha", 1);
  return or_below_zero(x, alpha * xla::Expm1(x / alpha));
}
XlaOp selu(const Node& node, XlaOp x) {
  const XlaOp below = node.real("alpha", 1.67326319217681884765625F) * xla::Expm1(x);
  return node.real("gamma", 1.05070102214813232421875F) * xla::Select(x > 0, x, below);
}
XlaOp thresholded_relu(const Node& node, XlaOp x) {
  return xla::Select(x > node.real("alpha", 1), x, xla::ZerosLike(x));
}
XlaOp hard_sigmoid_of(const Node& node, XlaOp x) {
  return hard_sigmoid(x, node.real("alpha", 0.2F), node.real("beta", 0.5F));
}
XlaOp hard_swish(XlaOp x) { return x * hard_sigmoid(x, 1.0F / 6, 0.5F); }
XlaOp swish(const Node& node, XlaOp x) { return x * xla::Logistic(x * node.real("alpha", 1)); }

XlaOp shrink(const Node& node, XlaOp x) {
  const float lambda = node.real("lambd", 0.5F);
  const float bias = node.real("bias", 0);
  const XlaOp upper = xla::Select(x > lambda, x - bias, xla::ZerosLike(x));
  return xla::Select(x < -like(x, lambda), x + bias, upper);
}

// x * (1 + erf(x / sqrt 2)) / 2, and its approximation by tanh.
XlaOp exact_gelu(XlaOp x) { return x * 0.5 * (1 + xla::Erf(x * 0.70710678118654752440)); }
XlaOp tanh_gelu(XlaOp x) {
  const XlaOp cube = x * x * (x * 0.044715);
  return x * 0.5 * (1 + xla::Tanh(0.79788456080286535588 * (x + cube)));
}
XlaOp gelu(const Node& node, XlaOp x) {
  return node.text("approximate", "none") == "tanh" ? tanh_gelu(x) : exact_gelu(x);
}

// Operators of com.microsoft, written by ONNX Runtime's optimiser for transformers.
XlaOp bias_gelu(XlaOp x, XlaOp bias) { return exact_gelu(x + bias); }
XlaOp quick_gelu(const Node& node, XlaOp x) {
  return x * xla::Logistic(x * node.real("alpha", 1.702F));
}
void lower_fast_gelu(Node& node) { node.set(tanh_gelu(accumulate<std::plus<>{}>(node))); }

void lower_prelu(Node& node) {
  XlaOp slope = node.operand(1);
  // Up to opset 6, slopes per channel have one dimension.
  if (node.opset() < 7 && product(node.sizes(1)) > 1) {
    slope = per_channel(node, slope, node.sizes(0));
  }
  const XlaOp x = node.operand(0);
  node.set(or_below_zero(x, x * broadcast_to(node, slope, node.sizes(0))));
}

}  // namespace

std::vector<OnnxOperator> elementwise_operators() {
  return {
      {"Abs", 6, lower_unary<xla::Abs>},
      {"Acos", 7, lower_unary<xla::Acos>},
      {"Acosh", 9, lower_unary<xla::Acosh>},
      {"Add", 6, lower_binary<std::plus<>{}>},
      {"And", 1, lower_binary<std::bit_and<>{}>},
      {"Asin", 7, lower_unary<xla::Asin>},
      {"Asinh", 9, lower_unary<xla::Asinh>},
      {"Atan", 7, lower_unary<xla::Atan>},
      {"Atanh", 9, lower_unary<xla::Atanh>},
      {"BiasGelu", 1, lower_binary<bias_gelu>, {}, "com.microsoft"},
      {"BitShift", 11, lower_bit_shift},
      {"BitwiseAnd", 18, lower_binary<std::bit_and<>{}>},
      {"BitwiseNot", 18, lower_unary<xla::Not>},
      {"BitwiseOr", 18, lower_binary<std::bit_or<>{}>},
      {"BitwiseXor", 18, lower_binary<std::bit_xor<>{}>},
      {"Cast", 6, lower_formula<cast_to>},
      {"CastLike", 15, lower_cast_like},
      {"Ceil", 6, lower_rounding<xla::Ceil>},
      {"Celu", 12, lower_formula<celu>},
      {"Clip", 6, lower_clip, {.settings = {1, 2}}},
      {"Cos", 7, lower_unary<xla::Cos>},
      {"Cosh", 9, lower_unary<xla::Cosh>},
      {"Div", 6, lower_binary<std::divides<>{}>},
      {"Elu", 6, lower_formula<elu_of>},
      {"Equal", 1, lower_binary<equal>},
      {"Erf", 9, lower_unary<xla::Erf>},
      {"Exp", 6, lower_unary<xla::Exp>},
      {"FastGelu", 1, lower_fast_gelu, {}, "com.microsoft"},
      {"Floor", 6, lower_rounding<xla::Floor>},
      {"Gelu", 20, lower_formula<gelu>},
      {"Gelu", 1, lower_unary<exact_gelu>, {}, "com.microsoft"},
      {"Greater", 1, lower_binary<greater>},
      {"GreaterOrEqual", 12, lower_binary<greater_or_equal>},
      {"HardSigmoid", 6, lower_formula<hard_sigmoid_of>},
      {"HardSwish", 14, lower_unary<hard_swish>},
      {"IsInf", 10, lower_formula<is_infinite>},
      {"IsNaN", 9, lower_unary<xla::IsNan>},
      {"LeakyRelu", 6, lower_formula<leaky_relu_of>},
      {"Less", 1, lower_binary<less>},
      {"LessOrEqual", 12, lower_binary<less_or_equal>},
      {"Log", 6, lower_unary<xla::Log>},
      {"Max", 6, lower_all<maximum>},
      {"Mean", 6, lower_mean},
      {"Min", 6, lower_all<minimum>},
      {"Mish", 18, lower_unary<mish>},
      {"Mod", 10, lower_mod},
      {"Mul", 6, lower_binary<std::multiplies<>{}>},
      {"Neg", 6, lower_unary<xla::Neg>},
      {"Not", 1, lower_unary<xla::Not>},
      {"Or", 1, lower_binary<std::bit_or<>{}>},
      {"PRelu", 6, lower_prelu},
      {"Pow", 1, lower_pow, {.settings = {1}}},
      {"QuickGelu", 1, lower_formula<quick_gelu>, {}, "com.microsoft"},
      {"Reciprocal", 6, lower_unary<xla::Reciprocal>},
      {"Relu", 6, lower_unary<relu>},
      {"Round", 11, lower_rounding<xla::RoundToEven>},
      {"Selu", 6, lower_formula<selu>},
      {"Shrink", 9, lower_formula<shrink>},
      {"Sigmoid", 6, lower_unary<xla::Logistic>},
      {"Sign", 9, lower_unary<xla::Sign>},
      {"Sin", 7, lower_unary<xla::Sin>},
      {"Sinh", 9, lower_unary<xla::Sinh>},
      {"Softplus", 1, lower_unary<softplus>},
      {"Softsign", 1, lower_unary<softsign>},
      {"Sqrt", 6, lower_unary<xla::Sqrt>},
      {"Sub", 6, lower_binary<std::minus<>{}>},
      {"Sum", 6, lower_all<std::plus<>{}>},
      {"Swish", 24, lower_formula<swish>},
      {"Tan", 7, lower_unary<xla::Tan>},
      {"Tanh", 6, lower_unary<xla::Tanh>},
      {"ThresholdedRelu", 10, lower_formula<thresholded_relu>},
      {"Where", 9, lower_where},
      {"Xor", 1, lower_binary<std::bit_xor<>{}>},
  };
}

}  // namespace tfaot::toolkit::engine
