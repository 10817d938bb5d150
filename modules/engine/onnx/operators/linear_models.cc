// SPDX-License-Identifier: Apache-2.0
// Linear models and support vector machines of ai.onnx.ml. Their coefficients become weights.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "onnx/operators/broadcast.h"
#include "onnx/operators/families.h"
#include "onnx/operators/scores.h"
#include "xla/client/lib/arithmetic.h"
#include "xla/client/lib/constants.h"
#include "xla/client/lib/math.h"

namespace tfaot::toolkit::engine {
namespace {

using xla::XlaOp;

XlaOp model_rows(const Node& node) { return as_real(node, feature_rows(node, node.operand(0))); }

// Floats of an attribute as rows of `width`. The number of rows is what there is.
XlaOp model_matrix(Node& node, const std::string& name, std::int64_t width,
                   xla::PrimitiveType type) {
  const std::vector<float> values = node.reals(name);
  if (width < 1 || values.empty() || std::ssize(values) % width != 0) {
    node.refuse(
        fmt::format("has {} values of '{}', which are no rows of {}", values.size(), name, width));
  }
  xla::Literal matrix(shape_of(xla::F32, {std::ssize(values) / width, width}));
  std::ranges::copy(values, matrix.data<float>().begin());
  return xla::ConvertElementType(node.keep(name, matrix), type);
}

// x times the transposed matrix.
XlaOp times_rows(XlaOp x, XlaOp matrix) {
  xla::DotDimensionNumbers numbers;
  numbers.add_lhs_contracting_dimensions(1);
  numbers.add_rhs_contracting_dimensions(1);
  return xla::DotGeneral(x, matrix, numbers);
}

// x C + b: [rows, scores]
XlaOp linear_scores(Node& node, XlaOp x) {
  const auto type = node.type_of(x);
  const XlaOp matrix = model_matrix(node, "coefficients", node.sizes_of(x).back(), type);
  const XlaOp scores = times_rows(x, matrix);
  const std::vector<float> intercepts = node.reals("intercepts");
  if (intercepts.empty()) return scores;
  const Dimensions sizes = node.sizes_of(scores);
  if (std::ssize(intercepts) != sizes.back()) {
    node.refuse(fmt::format("has {} intercepts for {} scores", intercepts.size(), sizes.back()));
  }
  const XlaOp row = xla::ConvertElementType(
      node.keep("intercepts", xla::LiteralUtil::CreateR1<float>(intercepts)), type);
  return xla::Add(scores, xla::BroadcastInDim(row, sizes, {1}));
}

void lower_linear_regressor(Node& node) {
  const XlaOp scores = linear_scores(node, model_rows(node));
  const std::int64_t targets = node.integer("targets", 1);
  if (node.sizes_of(scores).back() != targets) {
    node.refuse(fmt::format("has coefficients for {} targets instead of {}",
                            node.sizes_of(scores).back(), targets));
  }
  const XlaOp made = apply_post_transform(node, scores, post_transform_of(node));
  node.set(xla::ConvertElementType(made, xla::F32));
}

void lower_linear_classifier(Node& node) {
  XlaOp scores = linear_scores(node, model_rows(node));
  const ClassLabels labels = class_labels(node, "classlabels_ints");
  const std::int64_t count = node.sizes_of(scores).back();
  // One score for two classes is that of the second.
  if (count == 1 && labels.count == 2) {
    scores = xla::ConcatInDim(&node.builder(), {xla::Neg(scores), scores}, 1);
  } else if (count != labels.count) {
    node.refuse(fmt::format("has {} scores for {} classes", count, labels.count));
  }
  set_labels(node, labels, place_of_largest(scores));
  const XlaOp made = apply_post_transform(node, scores, post_transform_of(node));
  node.set(1, xla::ConvertElementType(made, xla::F32));
}

// The likeness of each row of x to each vector: [rows, vectors]
XlaOp kernel_values(const Node& node, XlaOp x, XlaOp vectors) {
  const std::string kernel = node.text("kernel_type", "LINEAR");
  std::vector<float> parameters = node.reals("kernel_params");
  parameters.resize(3);
  const auto number = [&](double value) { return scalar_like(node, x, value); };
  const XlaOp products = times_rows(x, vectors);
  if (kernel == "LINEAR") return products;
  if (kernel == "RBF") {
    const auto type = node.type_of(x);
    const auto squares = [&](XlaOp rows) {
      return xla::Reduce(xla::Square(rows), number(0),
                         xla::CreateScalarAddComputation(type, &node.builder()), {1});
    };
    const Dimensions sizes = node.sizes_of(products);
    const XlaOp sums = xla::Add(xla::BroadcastInDim(squares(x), sizes, {0}),
                                xla::BroadcastInDim(squares(vectors), sizes, {1}));
    const XlaOp distances = xla::Max(xla::Sub(sums, xla::Mul(products, number(2))), number(0));
    return xla::Exp(xla::Mul(distances, number(-parameters[0])));
  }
  const XlaOp scaled = xla::Add(xla::Mul(products, number(parameters[0])), number(parameters[1]));
  if (kernel == "SIGMOID") return xla::Tanh(scaled);
  if (kernel == "POLY") {
    return xla::Pow(scaled, number(std::trunc(parameters[2])));
  }
  node.refuse(fmt::format("has the kernel_type '{}'", kernel));
}

void lower_svm_regressor(Node& node) {
  const XlaOp x = model_rows(node);
  const auto type = node.type_of(x);
  const std::int64_t features = node.sizes_of(x).back();
  const std::int64_t supports = node.integer("n_supports", 0);
  const std::vector<float> rho = node.reals("rho");
  if (rho.empty()) node.refuse("has no attribute 'rho'");
  XlaOp values = x;
  std::int64_t width = features;
  if (supports > 0) {
    const XlaOp vectors = model_matrix(node, "support_vectors", features, type);
    if (node.sizes_of(vectors).front() != supports) {
      node.refuse(fmt::format("has {} support vectors instead of {}",
                              node.sizes_of(vectors).front(), supports));
    }
    values = kernel_values(node, x, vectors);
    width = supports;
  }
  const XlaOp coefficients = model_matrix(node, "coefficients", width, type);
  if (node.sizes_of(coefficients).front() != 1) node.refuse("has coefficients of several targets");
  XlaOp score = xla::Add(times_rows(values, coefficients), scalar(node, type, rho.front()));
  if (node.integer("one_class", 0) != 0) {
    const XlaOp one = xla::Broadcast(scalar(node, type, 1), node.sizes_of(score));
    score = xla::Select(xla::Gt(score, xla::ZerosLike(score)), one, xla::Neg(one));
  }
  const XlaOp made = apply_post_transform(node, score, post_transform_of(node));
  node.set(xla::ConvertElementType(made, xla::F32));
}

}  // namespace

std::vector<OnnxOperator> linear_model_operators() {
  const std::string domain = "ai.onnx.ml";
  return {
      {"LinearClassifier", 1, lower_linear_classifier, {}, domain},
      {"LinearRegressor", 1, lower_linear_regressor, {}, domain},
      {"SVMRegressor", 1, lower_svm_regressor, {}, domain},
  };
}

}  // namespace tfaot::toolkit::engine
