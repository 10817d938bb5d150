// SPDX-License-Identifier: Apache-2.0
// Products of matrices.
#include "onnx/operators/products.h"

#include "onnx/operators/broadcast.h"
#include "onnx/operators/families.h"
#include "xla/client/lib/constants.h"

namespace tfaot::toolkit::engine {
namespace {

using xla::XlaOp;

void lower_matmul(Node& node) {
  node.set(multiply_matrices(node, node.operand(0), node.operand(1)));
}

// alpha * A * B + beta * C
void lower_gemm(Node& node) {
  xla::DotDimensionNumbers numbers;
  numbers.add_lhs_contracting_dimensions(node.integer("transA", 0) != 0 ? 0 : 1);
  numbers.add_rhs_contracting_dimensions(node.integer("transB", 0) != 0 ? 1 : 0);
  if (node.rank(0) != 2 || node.rank(1) != 2) node.refuse("needs matrices");
  for (const std::int64_t rows : node.sizes(0)) {
    for (const std::int64_t columns : node.sizes(1)) node.check_sizes({rows, columns});
  }
  XlaOp sum = xla::DotGeneral(node.operand(0), node.operand(1), numbers);
  const auto scaled = [&node](XlaOp x, float by) {
    return by == 1 ? x : xla::Mul(x, scalar_like(node, x, by));
  };
  sum = scaled(sum, node.real("alpha", 1));
  if (node.has(2)) {
    const XlaOp added = scaled(node.operand(2), node.real("beta", 1));
    sum = xla::Add(sum, broadcast_to(node, added, node.sizes_of(sum)));
  }
  node.set(sum);
}

}  // namespace

XlaOp multiply_matrices(const Node& node, XlaOp a, XlaOp b) {
  Dimensions left = node.sizes_of(a);
  Dimensions right = node.sizes_of(b);
  if (left.empty() || right.empty()) node.refuse("multiplies scalars");
  const bool row = left.size() == 1;
  const bool column = right.size() == 1;
  if (row) left.insert(left.begin(), 1);
  if (column) right.push_back(1);
  if (row) a = xla::Reshape(a, left);
  if (column) b = xla::Reshape(b, right);
  Dimensions batch = common_sizes(
      node, {Dimensions(left.begin(), left.end() - 2), Dimensions(right.begin(), right.end() - 2)});
  Dimensions sizes = batch;
  xla::DotDimensionNumbers numbers;
  if (right.size() == 2) {
    // One matrix for all: the batch counts as rows.
    numbers.add_lhs_contracting_dimensions(std::ssize(left) - 1);
    numbers.add_rhs_contracting_dimensions(0);
  } else {
    for (const bool is_left : {true, false}) {
      Dimensions& own = is_left ? left : right;
      Dimensions wanted = batch;
      wanted.insert(wanted.end(), own.end() - 2, own.end());
      (is_left ? a : b) = broadcast_to(node, is_left ? a : b, wanted);
    }
    const std::int64_t rank = std::ssize(batch) + 2;
    for (std::int64_t i = 0; i < rank - 2; ++i) {
      numbers.add_lhs_batch_dimensions(i);
      numbers.add_rhs_batch_dimensions(i);
    }
    numbers.add_lhs_contracting_dimensions(rank - 1);
    numbers.add_rhs_contracting_dimensions(rank - 2);
  }
  if (!row) sizes.push_back(left[left.size() - 2]);
  if (!column) sizes.push_back(right.back());
  node.check_sizes(sizes);
  const XlaOp made = xla::DotGeneral(a, b, numbers);
  return xla::Reshape(made, sizes);
}

std::vector<OnnxOperator> product_operators() {
  return {
      {"Gemm", 6, lower_gemm},
      {"MatMul", 1, lower_matmul},
  };
}

}  // namespace tfaot::toolkit::engine
