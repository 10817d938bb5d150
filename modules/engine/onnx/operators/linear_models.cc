// SPDX-License-Identifier: Apache-2.0
// Linear models and support vector machines of ai.onnx.ml. Their coefficients become weights.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "onnx/operators/broadcast.h"
#include "onnx/operators/families.h"
#include "onnx/operators/pair_probabilities.h"
#include "onnx/operators/scores.h"
#include "xla/client/lib/arithmetic.h"
#include "xla/client/lib/constants.h"
#include "xla/client/lib/math.h"

namespace tfaot::toolkit::engine {
namespace {

using xla::XlaOp;

XlaOp model_rows(const Node& node) { return as_real(node, feature_rows(node, node.operand(0))); }

// Floats of an attribute, which are rows of `width`. The number of rows is what there is.
std::vector<float> row_values(const Node& node, const std::string& name, std::int64_t width) {
  std::vector<float> values = node.reals(name);
  if (width < 1 || values.empty() || std::ssize(values) % width != 0) {
    node.refuse(
        fmt::format("has {} values of '{}', which are no rows of {}", values.size(), name, width));
  }
  return values;
}

XlaOp kept_matrix(Node& node, const std::string& name, const std::vector<float>& values,
                  std::int64_t width) {
  xla::Literal matrix(shape_of(xla::F32, {std::ssize(values) / width, width}));
  std::ranges::copy(values, matrix.data<float>().begin());
  return node.keep(name, matrix);
}

XlaOp model_matrix(Node& node, const std::string& name, std::int64_t width,
                   xla::PrimitiveType type) {
  return xla::ConvertElementType(kept_matrix(node, name, row_values(node, name, width), width),
                                 type);
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

// The sums of wider rows are left to a product: written out, they would take long to compile.
constexpr std::int64_t kMostWrittenFeatures = 256;

// |x - v|^2 of each row and each vector, written out feature by feature.
XlaOp written_distances(Node& node, XlaOp x, const std::vector<float>& vectors) {
  const std::int64_t width = node.sizes_of(x).back();
  const std::int64_t count = std::ssize(vectors) / width;
  xla::Literal features(shape_of(xla::F32, {width, count}));
  for (std::int64_t i = 0; i < std::ssize(vectors); ++i) {
    features.Set<float>({i % width, i / width}, vectors[static_cast<std::size_t>(i)]);
  }
  const XlaOp kept =
      xla::ConvertElementType(node.keep("support_vectors", features), node.type_of(x));
  const Dimensions sizes = {node.sizes_of(x).front(), count};
  XlaOp sum;
  for (std::int64_t i = 0; i < width; ++i) {
    const XlaOp of_rows = xla::Reshape(xla::SliceInDim(x, i, i + 1, 1, 1), {sizes[0]});
    const XlaOp of_vectors = xla::Reshape(xla::SliceInDim(kept, i, i + 1, 1, 0), {count});
    const XlaOp square = xla::Square(xla::Sub(xla::BroadcastInDim(of_rows, sizes, {0}),
                                              xla::BroadcastInDim(of_vectors, sizes, {1})));
    sum = i == 0 ? square : xla::Add(sum, square);
  }
  return sum;
}

// The same as |x|^2 + |v|^2 - 2 x v. Both are first moved by one of the vectors: the squares of
// features far from zero would leave no digits for the distance.
XlaOp distances_by_product(Node& node, XlaOp x, std::vector<float> vectors) {
  const auto type = node.type_of(x);
  const std::int64_t width = node.sizes_of(x).back();
  const std::vector<float> origin(vectors.begin(), vectors.begin() + width);
  std::vector<float> squares(vectors.size() / origin.size());
  for (std::size_t i = 0; i < vectors.size(); ++i) {
    vectors[i] -= origin[i % origin.size()];
    squares[i / origin.size()] += vectors[i] * vectors[i];
  }
  const auto kept_row = [&](const std::string& name, const std::vector<float>& values) {
    return xla::ConvertElementType(node.keep(name, xla::LiteralUtil::CreateR1<float>(values)),
                                   type);
  };
  x = xla::Sub(x, xla::BroadcastInDim(kept_row("origin", origin), node.sizes_of(x), {1}));
  const XlaOp matrix =
      xla::ConvertElementType(kept_matrix(node, "support_vectors", vectors, width), type);
  const XlaOp products = times_rows(x, matrix);
  const Dimensions sizes = node.sizes_of(products);
  const XlaOp zero = scalar_like(node, x, 0);
  const XlaOp of_rows = xla::Reduce(xla::Square(x), zero,
                                    xla::CreateScalarAddComputation(type, &node.builder()), {1});
  const XlaOp sums = xla::Add(xla::BroadcastInDim(of_rows, sizes, {0}),
                              xla::BroadcastInDim(kept_row("squares", squares), sizes, {1}));
  return xla::Max(xla::Sub(sums, xla::Mul(products, scalar_like(node, x, 2))), zero);
}

// exp(-gamma |x - v|^2) of each row and each vector
XlaOp gaussian_values(Node& node, XlaOp x, double gamma) {
  const std::int64_t width = node.sizes_of(x).back();
  const std::vector<float> vectors = row_values(node, "support_vectors", width);
  const XlaOp distances = width <= kMostWrittenFeatures ? written_distances(node, x, vectors)
                                                        : distances_by_product(node, x, vectors);
  return xla::Exp(xla::Mul(distances, scalar_like(node, x, -gamma)));
}

// The likeness of each row of x to each support vector: [rows, vectors]
XlaOp kernel_values(Node& node, XlaOp x) {
  const std::string kernel = node.text("kernel_type", "LINEAR");
  std::vector<float> parameters = node.reals("kernel_params");
  parameters.resize(3);
  if (kernel == "RBF") return gaussian_values(node, x, parameters[0]);
  const auto number = [&](double value) { return scalar_like(node, x, value); };
  const XlaOp products = times_rows(
      x, model_matrix(node, "support_vectors", node.sizes_of(x).back(), node.type_of(x)));
  if (kernel == "LINEAR") return products;
  const XlaOp scaled = xla::Add(xla::Mul(products, number(parameters[0])), number(parameters[1]));
  if (kernel == "SIGMOID") return xla::Tanh(scaled);
  if (kernel == "POLY") return xla::Pow(scaled, number(std::trunc(parameters[2])));
  node.refuse(fmt::format("has the kernel_type '{}'", kernel));
}

void lower_svm_regressor(Node& node) {
  const XlaOp x = model_rows(node);
  const auto type = node.type_of(x);
  const std::int64_t supports = node.integer("n_supports", 0);
  const std::vector<float> rho = node.reals("rho");
  if (rho.empty()) node.refuse("has no attribute 'rho'");
  XlaOp values = x;
  std::int64_t width = node.sizes_of(x).back();
  if (supports > 0) {
    values = kernel_values(node, x);
    width = node.sizes_of(values).back();
    if (width != supports) {
      node.refuse(fmt::format("has {} support vectors instead of {}", width, supports));
    }
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

// Where the vectors of each class begin, and the end of the last. Each vector is of one class.
std::vector<std::int64_t> vector_places(const Node& node, const std::vector<std::int64_t>& counts,
                                        std::int64_t vectors) {
  std::vector<std::int64_t> places = {0};
  for (const std::int64_t count : counts) {
    const std::int64_t left = vectors - places.back();
    if (count < 0 || count > left) {
      node.refuse(fmt::format("has {} vectors of one class, but {} are left", count, left));
    }
    places.push_back(places.back() + count);
  }
  if (places.back() != vectors) {
    node.refuse(fmt::format("has {} support vectors, but classes for {}", vectors, places.back()));
  }
  return places;
}

// Numbers of an attribute, one for each pair of classes.
XlaOp pair_numbers(const Node& node, const std::string& name, xla::PrimitiveType type,
                   std::int64_t pairs) {
  const std::vector<float> values = node.reals(name);
  if (std::ssize(values) != pairs) {
    node.refuse(
        fmt::format("has {} values of '{}' for {} pairs of classes", values.size(), name, pairs));
  }
  return constant_reals(node, type, {values.begin(), values.end()}, {pairs});
}

// For each pair of classes what its vectors add to its score: [pairs, vectors], F64. The attribute
// has a row less than there are classes: a class has no coefficients against itself.
XlaOp pair_coefficients(Node& node, const std::vector<std::int64_t>& places) {
  const std::vector<float> values = node.reals("coefficients");
  const std::int64_t vectors = places.back();
  const auto pairs = class_pairs(std::ssize(places) - 1);
  if (std::ssize(values) != (std::ssize(places) - 2) * vectors) {
    node.refuse(fmt::format("has {} coefficients for {} support vectors of {} classes",
                            values.size(), vectors, places.size() - 1));
  }
  xla::Literal matrix =
      xla::LiteralUtil::CreateFromDimensions(xla::F64, {std::ssize(pairs), vectors});
  const auto copy = [&](std::int64_t pair, std::int64_t row, std::int64_t of_class) {
    const std::int64_t end = places[static_cast<std::size_t>(of_class) + 1];
    for (std::int64_t i = places[static_cast<std::size_t>(of_class)]; i < end; ++i) {
      matrix.Set<double>({pair, i}, values[static_cast<std::size_t>(row * vectors + i)]);
    }
  };
  for (std::int64_t pair = 0; pair < std::ssize(pairs); ++pair) {
    const auto [first, second] = pairs[static_cast<std::size_t>(pair)];
    copy(pair, second - 1, first);
    copy(pair, first, second);
  }
  return node.keep("coefficients", matrix);
}

// Scores of all classes against each other, or without support vectors those of the classes.
void lower_svm_classifier(Node& node) {
  const XlaOp x = model_rows(node);
  const auto type = node.type_of(x);
  const ClassLabels labels = class_labels(node, "classlabels_ints");
  const auto counts = node.integers("vectors_per_class").value_or(std::vector<std::int64_t>());
  const PostTransform transform = post_transform_of(node);
  if (counts.empty()) {
    const std::vector<float> rho = node.reals("rho");
    if (rho.empty()) node.refuse("has no attribute 'rho'");
    const XlaOp matrix = model_matrix(node, "coefficients", node.sizes_of(x).back(), type);
    const XlaOp scores = xla::Add(times_rows(x, matrix), scalar(node, type, rho.front()));
    if (node.sizes_of(scores).back() != labels.count) {
      node.refuse(fmt::format("has coefficients for {} classes instead of {}",
                              node.sizes_of(scores).back(), labels.count));
    }
    set_labels(node, labels, place_of_largest(scores));
    const XlaOp made = apply_post_transform(node, scores, transform);
    return node.set(1, xla::ConvertElementType(made, xla::F32));
  }
  if (std::ssize(counts) != labels.count) {
    node.refuse(
        fmt::format("has {} vectors_per_class for {} classes", counts.size(), labels.count));
  }
  // Large coefficients of both signs cancel out (NuSVC), so they are added up as float64.
  const XlaOp values = xla::ConvertElementType(kernel_values(node, x), xla::F64);
  const auto places = vector_places(node, counts, node.sizes_of(values).back());
  const XlaOp products = times_rows(values, pair_coefficients(node, places));
  const Dimensions sizes = node.sizes_of(products);
  const auto of_pairs = [&](const std::string& name) {
    return xla::BroadcastInDim(pair_numbers(node, name, xla::F64, sizes.back()), sizes, {1});
  };
  XlaOp scores = xla::Add(products, of_pairs("rho"));
  set_labels(node, labels, place_of_largest(votes_of_pairs(node, scores, labels.count)));
  if (!node.reals("prob_a").empty()) {
    const XlaOp lines = xla::Add(xla::Mul(scores, of_pairs("prob_a")), of_pairs("prob_b"));
    const XlaOp first = xla::ConvertElementType(xla::Logistic(xla::Neg(lines)), type);
    scores = probabilities_of_pairs(node, first, labels.count);
  } else if (labels.count == 2) {
    scores = xla::ConcatInDim(&node.builder(), {xla::Neg(scores), scores}, 1);
  }
  const XlaOp made = apply_post_transform(node, scores, transform);
  node.set(1, xla::ConvertElementType(made, xla::F32));
}

}  // namespace

std::vector<OnnxOperator> linear_model_operators() {
  const std::string domain = "ai.onnx.ml";
  return {
      {"LinearClassifier", 1, lower_linear_classifier, {}, domain},
      {"LinearRegressor", 1, lower_linear_regressor, {}, domain},
      {"SVMClassifier", 1, lower_svm_classifier, {}, domain},
      {"SVMRegressor", 1, lower_svm_regressor, {}, domain},
  };
}

}  // namespace tfaot::toolkit::engine
