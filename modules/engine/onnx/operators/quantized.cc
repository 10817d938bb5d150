// SPDX-License-Identifier: Apache-2.0
// Quantization, and products of quantized matrices.
#include "onnx/operators/quantized.h"

#include <fmt/format.h>

#include "onnx/onnx_tensor.h"
#include "onnx/operators/broadcast.h"
#include "onnx/operators/families.h"
#include "onnx/operators/products.h"
#include "xla/client/lib/arithmetic.h"
#include "xla/client/lib/constants.h"
#include "xla/client/lib/math.h"

namespace tfaot::toolkit::engine {
namespace {

using xla::XlaOp;

bool is_quantized_type(xla::PrimitiveType type) {
  return type == xla::U8 || type == xla::S8 || type == xla::U16 || type == xla::S16;
}

xla::PrimitiveType type_attribute(const Node& node, const char* name,
                                  xla::PrimitiveType otherwise) {
  const auto onnx_type = static_cast<int>(node.integer(name, 0));
  if (onnx_type == 0) return otherwise;
  const auto type = element_type(onnx_type);
  if (!type) {
    node.refuse(
        fmt::format("has the {} {}, which cannot be compiled", name, onnx_type_name(onnx_type)));
  }
  return *type;
}

// Scales or zero points for each element of a tensor of these sizes: they are one for all, one for
// each place of the axis, or one for each block of such places.
XlaOp spread_along_axis(const Node& node, XlaOp values, const Dimensions& sizes) {
  const Dimensions own = node.sizes_of(values);
  if (product(own) == 1) return xla::Broadcast(xla::Reshape(values, {}), sizes);
  const auto axis = node.axis(node.integer("axis", 1), std::ssize(sizes));
  const auto place = static_cast<std::size_t>(axis);
  const std::int64_t block = node.integer("block_size", 0);
  if (own.size() == 1) {
    if (own[0] != sizes[place]) node.refuse("has a scale that does not match its axis");
    return xla::BroadcastInDim(values, sizes, {axis});
  }
  if (own.size() != sizes.size() || block < 1) node.refuse("has a scale of another rank");
  Dimensions blocks = own;
  blocks.insert(blocks.begin() + axis + 1, block);
  Dimensions places;
  for (std::int64_t d = 0; d < std::ssize(blocks); ++d) {
    if (d != axis + 1) places.push_back(d);
  }
  Dimensions joined = own;
  joined[place] *= block;
  const XlaOp repeated = xla::Reshape(xla::BroadcastInDim(values, blocks, places), joined);
  const XlaOp cut = xla::SliceInDim(repeated, 0, sizes[place], 1, axis);
  if (node.sizes_of(cut) != sizes) node.refuse("has a scale that does not match its blocks");
  return cut;
}

void lower_quantize_linear(Node& node) {
  const Dimensions sizes = node.sizes(0);
  const auto type = node.has(2) ? node.type(2) : type_attribute(node, "output_dtype", xla::U8);
  if (!is_quantized_type(type)) node.refuse("quantizes to a type other than (u)int8 and (u)int16");
  const auto precision = type_attribute(node, "precision", node.type(1));
  const XlaOp scale = xla::ConvertElementType(node.operand(1), precision);
  const XlaOp scaled = xla::Div(xla::ConvertElementType(node.operand(0), precision),
                                spread_along_axis(node, scale, sizes));
  const XlaOp zero = node.has(2) ? spread_along_axis(node, node.operand(2), sizes)
                                 : xla::Zero(&node.builder(), type);
  node.set(saturated(node, scaled, zero));
}

void lower_dequantize_linear(Node& node) {
  const Dimensions sizes = node.sizes(0);
  if (!is_quantized_type(node.type(0)) && node.type(0) != xla::S32) {
    node.refuse("dequantizes a type other than (u)int8, (u)int16 and int32");
  }
  const auto type = type_attribute(node, "output_dtype", node.type(1));
  const auto exact = [](XlaOp x) { return xla::ConvertElementType(x, xla::F32); };
  XlaOp x = exact(node.operand(0));
  if (node.has(2)) x = xla::Sub(x, spread_along_axis(node, exact(node.operand(2)), sizes));
  const XlaOp scale = spread_along_axis(node, exact(node.operand(1)), sizes);
  node.set(xla::ConvertElementType(xla::Mul(x, scale), type));
}

// To uint8, with the scale and zero point that hold all elements and 0.
void lower_dynamic_quantize_linear(Node& node) {
  const XlaOp x = node.operand(0);
  const auto type = node.type(0);
  const XlaOp zero = xla::Zero(&node.builder(), type);
  const XlaOp most = scalar(node, type, 255);
  const XlaOp largest =
      xla::ReduceAll(x, zero, xla::CreateScalarMaxComputation(type, &node.builder()));
  const XlaOp least =
      xla::ReduceAll(x, zero, xla::CreateScalarMinComputation(type, &node.builder()));
  const XlaOp range = xla::Sub(largest, least);
  const XlaOp one = scalar(node, type, 1);
  const XlaOp scale = xla::Div(xla::Select(xla::Eq(range, zero), one, range), most);
  const XlaOp point = xla::ConvertElementType(
      xla::RoundToEven(xla::Clamp(zero, xla::Div(xla::Neg(least), scale), most)), xla::U8);
  node.set(0, saturated(node, xla::Div(x, scale), point));
  node.set(1, scale);
  node.set(2, point);
}

// Zero points of a matrix: one, one for each row of the left or column of the right one, or with
// the dimensions of the matrix.
XlaOp matrix_without_zero(const Node& node, int operand, int zero) {
  if (!node.has(zero) || product(node.sizes(zero)) == 1) {
    return without_zero_point(node, operand, zero);
  }
  const XlaOp values = xla::ConvertElementType(node.operand(operand), xla::S32);
  XlaOp points = xla::ConvertElementType(node.operand(zero), xla::S32);
  const bool is_left = operand == 0;
  if (node.rank(zero) == 1 && is_left) points = xla::Reshape(points, {node.sizes(zero)[0], 1});
  return xla::Sub(values, broadcast_to(node, points, node.sizes_of(values)));
}

void lower_matmul_integer(Node& node) {
  node.set(
      multiply_matrices(node, matrix_without_zero(node, 0, 2), matrix_without_zero(node, 1, 3)));
}

// a, its scale and zero point, the same of b, the result's scale and zero point.
void lower_qlinear_matmul(Node& node) {
  const XlaOp sums =
      multiply_matrices(node, matrix_without_zero(node, 0, 2), matrix_without_zero(node, 3, 5));
  const Dimensions sizes = node.sizes_of(sums);
  const auto spread = [&](XlaOp values) { return broadcast_to(node, values, sizes); };
  // A scale per row of the left matrix.
  XlaOp left = node.operand(1);
  if (node.rank(1) == 1 && node.sizes(1)[0] > 1) left = xla::Reshape(left, {node.sizes(1)[0], 1});
  const auto one_if_single = [&](XlaOp values) {
    return product(node.sizes_of(values)) == 1 ? xla::Reshape(values, {}) : values;
  };
  const XlaOp scale = xla::Mul(spread(one_if_single(left)), spread(one_if_single(node.operand(4))));
  const XlaOp ratio = xla::Div(scale, spread(one_if_single(node.operand(6))));
  const XlaOp scaled = xla::Mul(xla::ConvertElementType(sums, node.type_of(ratio)), ratio);
  node.set(saturated(node, scaled, spread(one_if_single(node.operand(7)))));
}

}  // namespace

XlaOp without_zero_point(const Node& node, int operand, int zero) {
  const XlaOp values = xla::ConvertElementType(node.operand(operand), xla::S32);
  if (!node.has(zero)) return values;
  if (product(node.sizes(zero)) != 1) node.refuse("has several zero points for one tensor");
  return xla::Sub(values, xla::Reshape(xla::ConvertElementType(node.operand(zero), xla::S32), {}));
}

XlaOp saturated(const Node& node, XlaOp values, XlaOp zero) {
  const auto type = node.type_of(zero);
  const XlaOp rounded = xla::RoundToEven(xla::ConvertElementType(values, xla::F32));
  const XlaOp moved = xla::Add(rounded, xla::ConvertElementType(zero, xla::F32));
  const auto bound = [&](XlaOp integer) { return xla::ConvertElementType(integer, xla::F32); };
  const XlaOp least = bound(xla::MinValue(&node.builder(), type));
  const XlaOp largest = bound(xla::MaxValue(&node.builder(), type));
  return xla::ConvertElementType(xla::Clamp(least, moved, largest), type);
}

std::vector<OnnxOperator> quantized_operators() {
  return {
      {"DequantizeLinear", 10, lower_dequantize_linear},
      {"DynamicQuantizeLinear", 11, lower_dynamic_quantize_linear},
      {"MatMulInteger", 10, lower_matmul_integer},
      {"QLinearMatMul", 10, lower_qlinear_matmul},
      {"QuantizeLinear", 10, lower_quantize_linear},
  };
}

}  // namespace tfaot::toolkit::engine
