// SPDX-License-Identifier: Apache-2.0
#include "onnx/operators/broadcast.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "xla/client/lib/arithmetic.h"
#include "xla/client/lib/constants.h"
#include "xla/primitive_util.h"

namespace tfaot::toolkit::engine {
namespace {

// Up to opset 6 an attribute says at which dimension of the first operand the second one begins.
void place_second_operand(const Node& node, std::vector<xla::XlaOp>& operands) {
  if (!node.has_attribute("axis") || operands.size() != 2) return;
  const std::int64_t rank = node.rank(0);
  Dimensions sizes = node.sizes(1);
  const std::int64_t after = rank - node.axis(node.integer("axis"), rank) - std::ssize(sizes);
  if (after < 0) node.refuse("has a second operand that ends behind the first one");
  sizes.insert(sizes.end(), static_cast<std::size_t>(after), 1);
  operands[1] = xla::Reshape(operands[1], sizes);
}

}  // namespace

Dimensions common_sizes(const Node& node, const std::vector<Dimensions>& all) {
  Dimensions common;
  for (const Dimensions& sizes : all) {
    if (sizes.size() > common.size()) {
      common.insert(common.begin(), sizes.size() - common.size(), 1);
    }
    const std::size_t first = common.size() - sizes.size();
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      std::int64_t& size = common[first + i];
      if (size == sizes[i] || sizes[i] == 1) continue;
      if (size != 1) {
        node.refuse(fmt::format("has operands of sizes [{}] that do not broadcast",
                                fmt::join(sizes, ", ")));
      }
      size = sizes[i];
    }
  }
  node.check_sizes(common);
  return common;
}

xla::XlaOp broadcast_to(const Node& node, xla::XlaOp op, const Dimensions& sizes) {
  const Dimensions from = node.sizes_of(op);
  if (from == sizes) return op;
  // Dimensions of size 1 are taken out first: XLA's broadcast does not spread them.
  Dimensions kept;
  Dimensions places;
  const std::size_t first = sizes.size() - from.size();
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (from[i] == 1 && sizes[first + i] != 1) continue;
    kept.push_back(from[i]);
    places.push_back(static_cast<std::int64_t>(first + i));
  }
  if (kept != from) op = xla::Reshape(op, kept);
  return xla::BroadcastInDim(op, sizes, places);
}

std::vector<xla::XlaOp> broadcast_operands(const Node& node) {
  std::vector<xla::XlaOp> operands = node.operands();
  place_second_operand(node, operands);
  std::vector<Dimensions> all;
  for (const xla::XlaOp operand : operands) all.push_back(node.sizes_of(operand));
  const Dimensions sizes = common_sizes(node, all);
  for (xla::XlaOp& operand : operands) operand = broadcast_to(node, operand, sizes);
  return operands;
}

xla::XlaOp scalar(const Node& node, xla::PrimitiveType type, double value) {
  // XLA makes no integer of a double.
  if (!is_real(type) && !xla::primitive_util::IsComplexType(type)) {
    return xla::ConstantR0WithType(&node.builder(), type, static_cast<std::int64_t>(value));
  }
  return xla::ConstantR0WithType(&node.builder(), type, value);
}

xla::XlaOp scalar_like(const Node& node, xla::XlaOp like, double value) {
  return scalar(node, node.type_of(like), value);
}

xla::XlaOp constant_integers(const Node& node, const std::vector<std::int64_t>& values) {
  return xla::ConstantR1<std::int64_t>(&node.builder(), values);
}

xla::XlaOp sum_over(const Node& node, xla::XlaOp op, const std::vector<std::int64_t>& axes) {
  const auto type = node.type_of(op);
  const auto wide = type == xla::F16 || type == xla::BF16 ? xla::F32 : type;
  xla::XlaBuilder* const builder = &node.builder();
  const xla::XlaOp sums = xla::Reduce(xla::ConvertElementType(op, wide), xla::Zero(builder, wide),
                                      xla::CreateScalarAddComputation(wide, builder), axes);
  return xla::ConvertElementType(sums, type);
}

bool is_real(xla::PrimitiveType type) { return xla::primitive_util::IsFloatingPointType(type); }
bool is_unsigned(xla::PrimitiveType type) {
  return xla::primitive_util::IsUnsignedIntegralType(type);
}

}  // namespace tfaot::toolkit::engine
