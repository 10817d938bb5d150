// SPDX-License-Identifier: Apache-2.0
#include "onnx/operators/scores.h"

#include <fmt/format.h>

#include <array>
#include <numbers>
#include <numeric>
#include <string_view>
#include <utility>

#include "onnx/operators/broadcast.h"
#include "onnx/operators/places.h"
#include "xla/client/lib/arithmetic.h"
#include "xla/client/lib/constants.h"
#include "xla/client/lib/math.h"

namespace tfaot::toolkit::engine {
namespace {

using xla::XlaOp;

// In the order of TreeEnsemble's numbers.
constexpr auto kPostTransforms = std::to_array<std::pair<std::string_view, PostTransform>>({
    {"NONE", PostTransform::kNone},
    {"SOFTMAX", PostTransform::kSoftmax},
    {"LOGISTIC", PostTransform::kLogistic},
    {"SOFTMAX_ZERO", PostTransform::kSoftmaxZero},
    {"PROBIT", PostTransform::kProbit},
});

// Of each row, in every place of the row.
XlaOp score_sum(const Node& node, XlaOp scores) {
  const auto type = node.type_of(scores);
  const XlaOp sums = xla::Reduce(scores, scalar(node, type, 0),
                                 xla::CreateScalarAddComputation(type, &node.builder()), {1});
  return xla::BroadcastInDim(sums, node.sizes_of(scores), {0});
}
XlaOp score_maximum(const Node& node, XlaOp scores) {
  const auto type = node.type_of(scores);
  const XlaOp largest = xla::Reduce(scores, xla::MinValue(&node.builder(), type),
                                    xla::CreateScalarMaxComputation(type, &node.builder()), {1});
  return xla::BroadcastInDim(largest, node.sizes_of(scores), {0});
}

XlaOp score_softmax(const Node& node, XlaOp scores) {
  const XlaOp powers = xla::Exp(xla::Sub(scores, score_maximum(node, scores)));
  return xla::Div(powers, score_sum(node, powers));
}

// A softmax that leaves scores of zero out. A row of nothing else becomes halves, as the standard's
// reference implementation has it.
XlaOp score_softmax_zero(const Node& node, XlaOp scores) {
  const XlaOp largest = score_maximum(node, scores);
  const XlaOp is_zero = xla::Le(xla::Abs(scores), scalar_like(node, scores, 1e-7));
  const XlaOp powers = xla::Select(is_zero, xla::Mul(scores, xla::Exp(xla::Neg(largest))),
                                   xla::Exp(xla::Sub(scores, largest)));
  const XlaOp sum = score_sum(node, powers);
  const XlaOp halves = xla::Add(xla::ZerosLike(sum), scalar_like(node, sum, 0.5));
  return xla::Select(xla::Eq(sum, xla::ZerosLike(sum)), halves, xla::Div(powers, sum));
}

// The approximation of the inverse error function that ONNX Runtime and the standard's reference
// implementation share.
XlaOp score_probit(const Node& node, XlaOp scores) {
  const auto number = [&](double value) { return scalar_like(node, scores, value); };
  constexpr double kShape = 0.147;
  const XlaOp x = xla::Sub(xla::Mul(scores, number(2)), number(1));
  const XlaOp rest = xla::Mul(xla::Sub(number(1), x), xla::Add(number(1), x));
  const XlaOp log = xla::Log(rest);
  const XlaOp half = xla::Add(number(2 / (std::numbers::pi * kShape)), xla::Mul(log, number(0.5)));
  const XlaOp root = xla::Sqrt(xla::Sub(xla::Mul(half, half), xla::Mul(log, number(1 / kShape))));
  const XlaOp size = xla::Mul(xla::Sqrt(xla::Sub(root, half)), number(std::numbers::sqrt2));
  const XlaOp signed_size = xla::Select(xla::Lt(x, number(0)), xla::Neg(size), size);
  return xla::Select(xla::Eq(rest, number(0)), xla::ZerosLike(scores), signed_size);
}

}  // namespace

PostTransform post_transform_of(const Node& node) {
  const std::string name = node.text("post_transform", "NONE");
  for (const auto& [known, transform] : kPostTransforms) {
    if (known == name) return transform;
  }
  node.refuse(fmt::format("has the post_transform '{}'", name));
}

PostTransform numbered_post_transform(const Node& node, std::int64_t number) {
  if (number < 0 || number >= std::ssize(kPostTransforms)) {
    node.refuse(fmt::format("has the post_transform {}", number));
  }
  return kPostTransforms[static_cast<std::size_t>(number)].second;
}

XlaOp apply_post_transform(const Node& node, XlaOp scores, PostTransform transform) {
  switch (transform) {
    case PostTransform::kSoftmax:
      return score_softmax(node, scores);
    case PostTransform::kLogistic:
      return xla::Logistic(scores);
    case PostTransform::kSoftmaxZero:
      return score_softmax_zero(node, scores);
    case PostTransform::kProbit:
      return score_probit(node, scores);
    case PostTransform::kNone:
      break;
  }
  return scores;
}

XlaOp feature_rows(const Node& node, XlaOp x) {
  const Dimensions sizes = node.sizes_of(x);
  if (sizes.size() == 1) return xla::Reshape(x, {1, sizes.front()});
  if (sizes.size() != 2) {
    node.refuse(
        fmt::format("has an input of {} dimensions; it needs rows of features", sizes.size()));
  }
  return x;
}

XlaOp as_real(const Node& node, XlaOp x) {
  return node.type_of(x) == xla::F64 ? x : xla::ConvertElementType(x, xla::F32);
}

ClassLabels class_labels(const Node& node, const std::string& integers) {
  ClassLabels labels;
  labels.numbers = node.integers(integers).value_or(std::vector<std::int64_t>());
  labels.count = std::ssize(labels.numbers);
  const auto strings = node.texts("classlabels_strings");
  if (labels.count > 0 && !strings.empty()) node.refuse("has labels of two kinds");
  if (!strings.empty()) {
    labels.are_strings = true;
    labels.count = std::ssize(strings);
  }
  if (labels.count < 2) {
    node.refuse(
        fmt::format("has {} labels in '{}' and 'classlabels_strings'; a classifier needs "
                    "two or more",
                    labels.count, integers));
  }
  return labels;
}

void set_labels(Node& node, const ClassLabels& labels, XlaOp places) {
  if (labels.are_strings) {
    return node.leave_out(0,
                          "has labels that are strings, which compiled models cannot have: train "
                          "with integer labels, or remove this output from the model");
  }
  const XlaOp found = xla::ConvertElementType(places, xla::S64);
  std::vector<std::int64_t> counted(labels.numbers.size());
  std::iota(counted.begin(), counted.end(), std::int64_t{0});
  if (labels.numbers == counted) return node.set(0, found);
  // Rows stay in order, which a lookup would not show (kernels/live_rows.h).
  const Dimensions sizes = {node.sizes_of(places).front(), labels.count};
  const auto in_rows = [&](const std::vector<std::int64_t>& row) {
    return xla::BroadcastInDim(constant_integers(node, row), sizes, {1});
  };
  const XlaOp is_it = xla::Eq(xla::BroadcastInDim(found, sizes, {0}), in_rows(counted));
  const XlaOp least = xla::MinValue(&node.builder(), xla::S64);
  const XlaOp chosen = xla::Select(is_it, in_rows(labels.numbers), xla::Broadcast(least, sizes));
  node.set(0, xla::Reduce(chosen, least, xla::CreateScalarMaxComputation(xla::S64, &node.builder()),
                          {1}));
}

XlaOp place_of_largest(XlaOp scores) { return xla::ArgMax(scores, xla::S32, 1); }

XlaOp score_column(XlaOp scores, std::int64_t place) {
  return xla::SliceInDim(scores, place, place + 1, 1, 1);
}

XlaOp constant_reals(const Node& node, xla::PrimitiveType type, const std::vector<double>& values,
                     const Dimensions& sizes) {
  xla::Literal literal(shape_of(xla::F64, sizes));
  if (std::ssize(values) != product(sizes)) {
    node.refuse(fmt::format("has {} numbers where {} are needed", values.size(), product(sizes)));
  }
  std::ranges::copy(values, literal.data<double>().begin());
  return xla::ConstantLiteral(&node.builder(), *literal.Convert(type));
}

}  // namespace tfaot::toolkit::engine
