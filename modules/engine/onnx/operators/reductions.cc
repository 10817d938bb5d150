// SPDX-License-Identifier: Apache-2.0
// Operators that make one element of many: sums, products, norms, extremes.
#include <algorithm>

#include "onnx/operators/broadcast.h"
#include "onnx/operators/families.h"
#include "onnx/operators/places.h"
#include "xla/client/lib/arithmetic.h"
#include "xla/client/lib/constants.h"
#include "xla/client/lib/math.h"

namespace tfaot::toolkit::engine {
namespace {

using xla::XlaOp;

enum class Reduction { kSum, kProduct, kLargest, kSmallest };

// An operand since opset 18, for ReduceSum since 13; an attribute before.
template <int kOperandSince>
std::vector<std::int64_t> reduced_axes(const Node& node) {
  std::vector<std::int64_t> axes;
  if (node.opset() < kOperandSince) {
    axes = node.integers("axes").value_or(axes);
  } else if (node.has(1)) {
    axes = node.known_integers(1);
  }
  const std::int64_t rank = node.rank(0);
  if (!axes.empty()) return node.axes(std::move(axes), rank);
  return node.integer("noop_with_empty_axes", 0) != 0 ? axes : dimension_range(0, rank);
}

XlaOp reduce_axes(const Node& node, XlaOp x, const std::vector<std::int64_t>& axes, Reduction how) {
  if (axes.empty()) return x;
  xla::XlaBuilder* const builder = &node.builder();
  const auto type = node.type_of(x);
  switch (how) {
    case Reduction::kSum:
      return xla::Reduce(x, xla::Zero(builder, type),
                         xla::CreateScalarAddComputation(type, builder), axes);
    case Reduction::kProduct:
      return xla::Reduce(x, xla::One(builder, type),
                         xla::CreateScalarMultiplyComputation(type, builder), axes);
    case Reduction::kLargest:
      return xla::Reduce(x, xla::MinValue(builder, type),
                         type == xla::PRED ? xla::CreateScalarOrComputation(type, builder)
                                           : xla::CreateScalarMaxComputation(type, builder),
                         axes);
    case Reduction::kSmallest:
      break;
  }
  return xla::Reduce(x, xla::MaxValue(builder, type),
                     type == xla::PRED ? xla::CreateScalarAndComputation(type, builder)
                                       : xla::CreateScalarMinComputation(type, builder),
                     axes);
}

// What a reduction computes with: sums of short numbers lose digits, those of integers overflow
// (kWide), and roots and logarithms of integers are real.
enum class Computing { kAsIs, kReal, kWide };

XlaOp computed_with(const Node& node, XlaOp x, Computing how) {
  const auto type = node.type_of(x);
  if (type == xla::F16 || type == xla::BF16) return xla::ConvertElementType(x, xla::F32);
  if (how == Computing::kReal && !is_real(type)) return xla::ConvertElementType(x, xla::F64);
  if (how == Computing::kWide && !is_real(type)) {
    return xla::ConvertElementType(x, is_unsigned(type) ? xla::U64 : xla::S64);
  }
  return x;
}

// The result in the operand's type, with sizes of 1 if reduced dimensions are kept.
void set_reduced(Node& node, XlaOp reduced, const std::vector<std::int64_t>& axes) {
  Dimensions sizes = node.sizes(0);
  const bool kept = node.integer("keepdims", 1) != 0;
  Dimensions result;
  for (std::int64_t i = 0; i < std::ssize(sizes); ++i) {
    const bool is_reduced = std::ranges::count(axes, i) > 0;
    if (!is_reduced) result.push_back(size_at(sizes, i));
    if (is_reduced && kept) result.push_back(1);
  }
  node.set(xla::Reshape(xla::ConvertElementType(reduced, node.type(0)), result));
}

template <Reduction kHow>
void lower_reduce(Node& node) {
  const auto axes = reduced_axes<18>(node);
  const XlaOp x = node.operand(0);
  const bool exact = kHow == Reduction::kLargest || kHow == Reduction::kSmallest;
  set_reduced(node,
              reduce_axes(node, exact ? x : computed_with(node, x, Computing::kAsIs), axes, kHow),
              axes);
}

void lower_reduce_sum(Node& node) {
  const auto axes = reduced_axes<13>(node);
  const XlaOp x = computed_with(node, node.operand(0), Computing::kAsIs);
  set_reduced(node, reduce_axes(node, x, axes, Reduction::kSum), axes);
}

void lower_reduce_mean(Node& node) {
  const auto axes = reduced_axes<18>(node);
  const XlaOp sum = reduce_axes(node, computed_with(node, node.operand(0), Computing::kWide), axes,
                                Reduction::kSum);
  std::int64_t count = 1;
  for (const std::int64_t axis : axes) count *= size_at(node.sizes(0), axis);
  set_reduced(node, xla::Div(sum, xla::ScalarLike(sum, count)), axes);
}

void lower_reduce_l1(Node& node) {
  const auto axes = reduced_axes<18>(node);
  XlaOp x = computed_with(node, node.operand(0), Computing::kAsIs);
  if (!is_unsigned(node.type(0))) x = xla::Abs(x);
  set_reduced(node, reduce_axes(node, x, axes, Reduction::kSum), axes);
}

void lower_reduce_l2(Node& node) {
  const auto axes = reduced_axes<18>(node);
  const XlaOp x = computed_with(node, node.operand(0), Computing::kReal);
  set_reduced(node, xla::Sqrt(reduce_axes(node, xla::Square(x), axes, Reduction::kSum)), axes);
}

void lower_reduce_sum_square(Node& node) {
  const auto axes = reduced_axes<18>(node);
  const XlaOp x = computed_with(node, node.operand(0), Computing::kAsIs);
  set_reduced(node, reduce_axes(node, xla::Mul(x, x), axes, Reduction::kSum), axes);
}

void lower_reduce_log_sum(Node& node) {
  const auto axes = reduced_axes<18>(node);
  const XlaOp x = computed_with(node, node.operand(0), Computing::kReal);
  set_reduced(node, xla::Log(reduce_axes(node, x, axes, Reduction::kSum)), axes);
}

// The largest element is taken out first, so that no power overflows; infinities stay in.
void lower_reduce_log_sum_exp(Node& node) {
  const auto axes = reduced_axes<18>(node);
  const XlaOp x = computed_with(node, node.operand(0), Computing::kReal);
  XlaOp largest = reduce_axes(node, x, axes, Reduction::kLargest);
  largest = xla::Select(xla::IsFinite(largest), largest, xla::ZerosLike(largest));
  Dimensions others;
  for (std::int64_t i = 0; i < node.rank(0); ++i) {
    if (std::ranges::count(axes, i) == 0) others.push_back(i);
  }
  const XlaOp powers = xla::Exp(xla::Sub(x, xla::BroadcastInDim(largest, node.sizes(0), others)));
  const XlaOp sum = reduce_axes(node, powers, axes, Reduction::kSum);
  set_reduced(node, xla::Add(xla::Log(sum), largest), axes);
}

}  // namespace

std::vector<OnnxOperator> reduction_operators() {
  return {
      {"ReduceL1", 1, lower_reduce_l1, {1}},
      {"ReduceL2", 1, lower_reduce_l2, {1}},
      {"ReduceLogSum", 1, lower_reduce_log_sum, {1}},
      {"ReduceLogSumExp", 1, lower_reduce_log_sum_exp, {1}},
      {"ReduceMax", 1, lower_reduce<Reduction::kLargest>, {1}},
      {"ReduceMean", 1, lower_reduce_mean, {1}},
      {"ReduceMin", 1, lower_reduce<Reduction::kSmallest>, {1}},
      {"ReduceProd", 1, lower_reduce<Reduction::kProduct>, {1}},
      {"ReduceSum", 1, lower_reduce_sum, {1}},
      {"ReduceSumSquare", 1, lower_reduce_sum_square, {1}},
  };
}

}  // namespace tfaot::toolkit::engine
