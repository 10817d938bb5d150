// SPDX-License-Identifier: Apache-2.0
// Operators that treat each element alone: arithmetic, comparisons, logic, casts.
#include <fmt/format.h>

#include "onnx/onnx_tensor.h"
#include "onnx/operators/broadcast.h"
#include "onnx/operators/families.h"
#include "xla/client/lib/constants.h"
#include "xla/client/lib/math.h"
#include "xla/primitive_util.h"

namespace tfaot::toolkit::engine {
namespace {

using xla::XlaOp;

template <XlaOp (*kOperation)(XlaOp)>
void lower_unary(Node& node) {
  node.set(kOperation(node.operand(0)));
}

template <XlaOp (*kOperation)(XlaOp, XlaOp)>
void lower_binary(Node& node) {
  const auto operands = broadcast_operands(node);
  if (operands.size() != 2) node.refuse("needs two operands");
  node.set(kOperation(operands[0], operands[1]));
}

// Of any number of operands.
template <XlaOp (*kOperation)(XlaOp, XlaOp)>
XlaOp accumulate(const Node& node) {
  const auto operands = broadcast_operands(node);
  if (operands.empty()) node.refuse("needs an operand");
  XlaOp sum = operands.front();
  for (std::size_t i = 1; i < operands.size(); ++i) sum = kOperation(sum, operands[i]);
  return sum;
}

template <XlaOp (*kOperation)(XlaOp, XlaOp)>
void lower_all(Node& node) {
  node.set(accumulate<kOperation>(node));
}

XlaOp add(XlaOp a, XlaOp b) { return xla::Add(a, b); }
XlaOp subtract(XlaOp a, XlaOp b) { return xla::Sub(a, b); }
XlaOp multiply(XlaOp a, XlaOp b) { return xla::Mul(a, b); }
XlaOp divide(XlaOp a, XlaOp b) { return xla::Div(a, b); }
XlaOp minimum(XlaOp a, XlaOp b) { return xla::Min(a, b); }
XlaOp maximum(XlaOp a, XlaOp b) { return xla::Max(a, b); }
XlaOp both(XlaOp a, XlaOp b) { return xla::And(a, b); }
XlaOp either(XlaOp a, XlaOp b) { return xla::Or(a, b); }
XlaOp exactly_one(XlaOp a, XlaOp b) { return xla::Xor(a, b); }
XlaOp equal(XlaOp a, XlaOp b) { return xla::Eq(a, b); }
XlaOp less(XlaOp a, XlaOp b) { return xla::Lt(a, b); }
XlaOp less_or_equal(XlaOp a, XlaOp b) { return xla::Le(a, b); }
XlaOp greater(XlaOp a, XlaOp b) { return xla::Gt(a, b); }
XlaOp greater_or_equal(XlaOp a, XlaOp b) { return xla::Ge(a, b); }

void lower_mean(Node& node) {
  const XlaOp sum = accumulate<add>(node);
  node.set(xla::Div(sum, scalar_like(node, sum, node.operand_count())));
}

// The result has the type of the base.
void lower_pow(Node& node) {
  auto operands = broadcast_operands(node);
  const auto base = node.type(0);
  const auto exponent = node.type(1);
  if (base == exponent) return node.set(xla::Pow(operands[0], operands[1]));
  if (is_real(base)) {
    return node.set(xla::Pow(operands[0], xla::ConvertElementType(operands[1], base)));
  }
  // An integer base: exact in double, as far as a double holds the result.
  const XlaOp power = xla::Pow(xla::ConvertElementType(operands[0], xla::F64),
                               xla::ConvertElementType(operands[1], xla::F64));
  node.set(xla::ConvertElementType(power, base));
}

// The sign follows the divisor for integers, and the dividend with fmod=1.
void lower_mod(Node& node) {
  const auto operands = broadcast_operands(node);
  const XlaOp remainder = xla::Rem(operands[0], operands[1]);
  const auto type = node.type(0);
  if (node.integer("fmod", 0) != 0 || is_unsigned(type)) return node.set(remainder);
  const XlaOp zero = scalar(node, type, 0);
  const XlaOp other_sign = xla::And(xla::Ne(remainder, zero),
                                    xla::Ne(xla::Lt(remainder, zero), xla::Lt(operands[1], zero)));
  node.set(xla::Select(other_sign, xla::Add(remainder, operands[1]), remainder));
}

void lower_bit_shift(Node& node) {
  const auto operands = broadcast_operands(node);
  const std::string direction = node.text("direction", "");
  if (direction == "LEFT") return node.set(xla::ShiftLeft(operands[0], operands[1]));
  if (direction != "RIGHT") node.refuse(fmt::format("has the direction '{}'", direction));
  node.set(xla::ShiftRightLogical(operands[0], operands[1]));
}

// XLA's ceil and the like know only real numbers; others are whole already.
template <XlaOp (*kOperation)(XlaOp)>
void lower_rounding(Node& node) {
  node.set(is_real(node.type(0)) ? kOperation(node.operand(0)) : node.operand(0));
}

XlaOp negate(XlaOp x) { return xla::Neg(x); }
XlaOp reciprocal(XlaOp x) { return xla::Div(xla::ScalarLike(x, 1), x); }

void lower_is_inf(Node& node) {
  const XlaOp x = node.operand(0);
  const bool positive = node.integer("detect_positive", 1) != 0;
  const bool negative = node.integer("detect_negative", 1) != 0;
  const XlaOp none = xla::Ne(x, x);  // false for infinities
  if (positive && negative) return node.set(xla::IsInf(x));
  if (positive) return node.set(xla::IsPosInf(x));
  node.set(negative ? xla::IsNegInf(x) : xla::And(none, xla::IsInf(x)));
}

void lower_where(Node& node) {
  const auto operands = broadcast_operands(node);
  if (operands.size() != 3) node.refuse("needs three operands");
  node.set(xla::Select(operands[0], operands[1], operands[2]));
}

// Bounds are attributes up to opset 10, then operands.
void lower_clip(Node& node) {
  XlaOp x = node.operand(0);
  if (node.opset() < 11) {
    if (node.has_attribute("min")) x = xla::Max(x, scalar_like(node, x, node.real("min", 0)));
    if (node.has_attribute("max")) x = xla::Min(x, scalar_like(node, x, node.real("max", 0)));
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

void cast_to(Node& node, xla::PrimitiveType type) {
  const XlaOp x = node.operand(0);
  if (type == xla::PRED) return node.set(xla::Ne(x, xla::ZerosLike(x)));
  node.set(xla::ConvertElementType(x, type));
}

void lower_cast(Node& node) {
  const auto onnx_type = static_cast<int>(node.integer("to"));
  const auto type = element_type(onnx_type);
  if (!type)
    node.refuse(fmt::format("casts to {}, which cannot be compiled", onnx_type_name(onnx_type)));
  cast_to(node, *type);
}

void lower_cast_like(Node& node) { cast_to(node, node.type(1)); }

}  // namespace

std::vector<OnnxOperator> elementwise_operators() {
  return {
      {"Abs", 6, lower_unary<xla::Abs>},
      {"Acos", 7, lower_unary<xla::Acos>},
      {"Acosh", 9, lower_unary<xla::Acosh>},
      {"Add", 6, lower_binary<add>},
      {"And", 1, lower_binary<both>},
      {"Asin", 7, lower_unary<xla::Asin>},
      {"Asinh", 9, lower_unary<xla::Asinh>},
      {"Atan", 7, lower_unary<xla::Atan>},
      {"Atanh", 9, lower_unary<xla::Atanh>},
      {"BitShift", 11, lower_bit_shift},
      {"BitwiseAnd", 18, lower_binary<both>},
      {"BitwiseNot", 18, lower_unary<xla::Not>},
      {"BitwiseOr", 18, lower_binary<either>},
      {"BitwiseXor", 18, lower_binary<exactly_one>},
      {"Cast", 6, lower_cast},
      {"CastLike", 15, lower_cast_like},
      {"Ceil", 6, lower_rounding<xla::Ceil>},
      {"Clip", 6, lower_clip, {}, {}, {1, 2}},
      {"Cos", 7, lower_unary<xla::Cos>},
      {"Cosh", 9, lower_unary<xla::Cosh>},
      {"Div", 6, lower_binary<divide>},
      {"Equal", 1, lower_binary<equal>},
      {"Erf", 9, lower_unary<xla::Erf>},
      {"Exp", 6, lower_unary<xla::Exp>},
      {"Floor", 6, lower_rounding<xla::Floor>},
      {"Greater", 1, lower_binary<greater>},
      {"GreaterOrEqual", 12, lower_binary<greater_or_equal>},
      {"IsInf", 10, lower_is_inf},
      {"IsNaN", 9, lower_unary<xla::IsNan>},
      {"Less", 1, lower_binary<less>},
      {"LessOrEqual", 12, lower_binary<less_or_equal>},
      {"Log", 6, lower_unary<xla::Log>},
      {"Max", 6, lower_all<maximum>},
      {"Mean", 6, lower_mean},
      {"Min", 6, lower_all<minimum>},
      {"Mod", 10, lower_mod},
      {"Mul", 6, lower_binary<multiply>},
      {"Neg", 6, lower_unary<negate>},
      {"Not", 1, lower_unary<xla::Not>},
      {"Or", 1, lower_binary<either>},
      {"Pow", 1, lower_pow, {}, {}, {1}},
      {"Reciprocal", 6, lower_unary<reciprocal>},
      {"Round", 11, lower_rounding<xla::RoundToEven>},
      {"Sign", 9, lower_unary<xla::Sign>},
      {"Sin", 7, lower_unary<xla::Sin>},
      {"Sinh", 9, lower_unary<xla::Sinh>},
      {"Sqrt", 6, lower_unary<xla::Sqrt>},
      {"Sub", 6, lower_binary<subtract>},
      {"Sum", 6, lower_all<add>},
      {"Tan", 7, lower_unary<xla::Tan>},
      {"Tanh", 6, lower_unary<xla::Tanh>},
      {"Where", 9, lower_where},
      {"Xor", 1, lower_binary<exactly_one>},
  };
}

}  // namespace tfaot::toolkit::engine
