// SPDX-License-Identifier: Apache-2.0
// Operators of QONNX, which hls4ml, Brevitas and QKeras write: floats rounded to those that
// integers of a few bits stand for.
#include <fmt/format.h>

#include "onnx/operators/broadcast.h"
#include "onnx/operators/families.h"
#include "xla/client/lib/constants.h"
#include "xla/client/lib/math.h"

namespace tfaot::toolkit::engine {
namespace {

using xla::XlaOp;

constexpr const char* kQonnx = "qonnx.custom_op.general";

XlaOp towards_zero(XlaOp x) { return xla::Mul(xla::Sign(x), xla::Floor(xla::Abs(x))); }

XlaOp rounded(const Node& node, XlaOp x) {
  const std::string mode = node.text("rounding_mode", "ROUND");
  const XlaOp half = xla::ScalarLike(x, 0.5);
  if (mode == "ROUND" || mode == "HALF_EVEN") return xla::RoundToEven(x);
  if (mode == "FLOOR") return xla::Floor(x);
  if (mode == "CEIL") return xla::Ceil(x);
  if (mode == "ROUND_TO_ZERO" || mode == "DOWN") return towards_zero(x);
  if (mode == "UP") return xla::Mul(xla::Sign(x), xla::Ceil(xla::Abs(x)));
  const XlaOp size = xla::Abs(x);
  if (mode == "HALF_UP") return xla::Mul(xla::Sign(x), xla::Floor(xla::Add(size, half)));
  if (mode == "HALF_DOWN") return xla::Mul(xla::Sign(x), xla::Ceil(xla::Sub(size, half)));
  node.refuse(fmt::format("has the rounding_mode '{}', which is not known", mode));
}

// 1 or -1: one bit with a sign has no zero.
XlaOp signs_of(XlaOp x) {
  const XlaOp one = xla::ScalarLike(x, 1);
  return xla::Select(xla::Ge(x, xla::ZerosLike(x)), one, xla::Neg(one));
}

// x, scale, zero point, number of bits: all broadcast.
void lower_quant(Node& node) {
  const auto operands = broadcast_operands(node);
  if (operands.size() != 4) node.refuse("needs x, a scale, a zero point and a number of bits");
  const XlaOp x = operands[0];
  const bool has_sign = node.integer("signed", 1) != 0;
  const XlaOp narrow = xla::ScalarLike(x, node.integer("narrow", 0) != 0 ? 1 : 0);
  const XlaOp one = xla::ScalarLike(x, 1);
  const XlaOp numbers =
      xla::Pow(xla::ScalarLike(x, 2), has_sign ? xla::Sub(operands[3], one) : operands[3]);
  const XlaOp least = has_sign ? xla::Sub(narrow, numbers) : xla::ZerosLike(x);
  XlaOp largest = xla::Sub(numbers, one);
  if (!has_sign) largest = xla::Sub(largest, narrow);
  const XlaOp place = xla::Add(xla::Div(x, operands[1]), operands[2]);
  XlaOp whole = rounded(node, xla::Clamp(least, place, largest));
  if (has_sign) whole = xla::Select(xla::Eq(operands[3], one), signs_of(place), whole);
  node.set(xla::Mul(xla::Sub(whole, operands[2]), operands[1]));
}

void lower_bipolar_quant(Node& node) {
  const auto operands = broadcast_operands(node);
  if (operands.size() != 2) node.refuse("needs x and a scale");
  node.set(xla::Mul(signs_of(operands[0]), operands[1]));
}

}  // namespace

std::vector<OnnxOperator> qonnx_operators() {
  return {
      {"BipolarQuant", 1, lower_bipolar_quant, {}, kQonnx},
      {"Quant", 1, lower_quant, {}, kQonnx, {1, 2, 3}},
  };
}

}  // namespace tfaot::toolkit::engine
