// SPDX-License-Identifier: Apache-2.0
#include "front/onnx/operators/machine_learning.h"

#include <cstring>
#include <numbers>

#include "compiler/kernels/composites.h"
#include "compiler/kernels/kernel_call.h"
#include "front/lowering/post_order.h"
#include "front/onnx/operators/building.h"
#include "xla/client/lib/slicing.h"

namespace tfaot::toolkit::engine {
namespace {

using kernels::ForestBlock;
using kernels::ForestBottom;
using kernels::ForestTop;

// Numbered as in TreeEnsemble.
enum class PostTransform { kNone, kSoftmax, kLogistic, kSoftmaxZero, kProbit };

// The labels of classes. Strings are only counted, as no result can hold them.
struct ClassLabels {
  std::vector<std::int64_t> numbers;
  std::int64_t count = 0;
  bool are_strings = false;
};

// A softmax without scores of zero. A row of zeros becomes halves, as in the standard's reference
// implementation.
XlaOp score_softmax_zero(const Node& node, XlaOp scores) {
  const Dimensions sizes = node.sizes_of(scores);
  const XlaOp largest = spread(largest_of(scores, {1}), sizes, {1});
  const XlaOp is_zero = xla::Abs(scores) <= 1e-7;
  const XlaOp powers =
      xla::Select(is_zero, scores * xla::Exp(-largest), xla::Exp(scores - largest));
  const XlaOp sum = spread(sum_of(powers, {1}), sizes, {1});
  return xla::Select(sum == 0, xla::FullLike(sum, 0.5), powers / sum);
}

// Uses the approximation of the inverse error function that ONNX Runtime and the standard's
// reference implementation use.
XlaOp score_probit(XlaOp scores) {
  constexpr double kShape = 0.147;
  const XlaOp x = scores * 2 - 1;
  const XlaOp rest = (1 - x) * (1 + x);
  const XlaOp log = xla::Log(rest);
  const XlaOp half = (2 / (std::numbers::pi * kShape)) + log * 0.5;
  const XlaOp root = xla::Sqrt(half * half - log * (1 / kShape));
  const XlaOp size = xla::Sqrt(root - half) * std::numbers::sqrt2;
  const XlaOp signed_size = xla::Select(x < 0, -size, size);
  return xla::Select(rest == 0, xla::ZerosLike(scores), signed_size);
}

PostTransform post_transform_of(const Node& node) {
  return node.choice<PostTransform>("post_transform",
                                    {"NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"});
}
// TreeEnsemble has numbers of enumerators in attributes.
template <typename Enum>
Enum numbered(const Node& node, const char* name, Enum otherwise, Enum last) {
  const std::int64_t number = node.integer(name, static_cast<std::int64_t>(otherwise));
  if (number < 0 || number > static_cast<std::int64_t>(last))
    node.refuse("has the {} {}", name, number);
  return static_cast<Enum>(number);
}

// Sets a result to the transformed scores of [rows, scores of a row].
void set_scores(Node& node, int result, XlaOp scores, PostTransform transform,
                xla::PrimitiveType type = xla::F32) {
  if (transform == PostTransform::kSoftmax) scores = softmax(node, scores, 1);
  if (transform == PostTransform::kLogistic) scores = xla::Logistic(scores);
  if (transform == PostTransform::kSoftmaxZero) scores = score_softmax_zero(node, scores);
  if (transform == PostTransform::kProbit) scores = score_probit(scores);
  node.set(result, cast(scores, type));
}

// Keeps F64 and converts all other types to F32.
XlaOp as_real(const Node& node, XlaOp x) {
  return node.type_of(x) == xla::F64 ? x : cast(x, xla::F32);
}

// The operand as [rows, features], F32 or F64; a vector is a single row. Refuses more than two
// dimensions.
XlaOp feature_rows(const Node& node) {
  const XlaOp x = as_real(node, node.operand(0));
  const Dimensions sizes = node.sizes_of(x);
  if (sizes.size() == 1) return xla::Reshape(x, {1, sizes.front()});
  if (sizes.size() != 2)
    node.refuse("has an input of {} dimensions; it needs rows of features", sizes.size());
  return x;
}

// `integers`: the name of the attribute with integer labels. Refuses nodes without labels.
ClassLabels class_labels(const Node& node, const std::string& integers) {
  ClassLabels labels;
  labels.numbers = node.integers(integers);
  labels.count = std::ssize(labels.numbers);
  const auto strings = node.texts("classlabels_strings");
  if (labels.count > 0 && !strings.empty()) node.refuse("has labels of two kinds");
  if (!strings.empty()) {
    labels.are_strings = true;
    labels.count = std::ssize(strings);
  }
  if (labels.count < 2) {
    node.refuse("has {} labels in '{}' and 'classlabels_strings'; a classifier needs two or more",
                labels.count, integers);
  }
  return labels;
}

// Result 0: the label of each row. `places`: [rows], integers.
void set_labels(Node& node, const ClassLabels& labels, XlaOp places) {
  if (labels.are_strings) {
    return node.leave_out(0,
                          "has labels that are strings, which compiled models cannot have: train "
                          "with integer labels, or remove this output from the model");
  }
  const XlaOp found = cast(places, xla::S64);
  const Dimensions classes = counted(labels.count);
  if (labels.numbers == classes) return node.set(0, found);
  // No lookup, so that kernels see that rows stay in order (compiler/kernels/finished_calls.cc).
  const Dimensions sizes = {node.sizes_of(places).front(), labels.count};
  const auto in_rows = [&](const std::vector<std::int64_t>& row) {
    return along(constant_integers(node, row), sizes, 1);
  };
  const XlaOp is_it = along(found, sizes, 0) == in_rows(classes);
  const XlaOp least = xla::MinValue(&node.builder(), xla::S64);
  const XlaOp chosen = xla::Select(is_it, in_rows(labels.numbers), xla::Broadcast(least, sizes));
  node.set(0, largest_of(chosen, {1}));
}

// The place of the first largest score of each row: [rows], integers.
XlaOp place_of_largest(XlaOp scores) { return xla::ArgMax(scores, xla::S32, 1); }

constexpr double kLeastProbability = 1e-7;
constexpr std::int64_t kProbabilitySteps = 100;

// The pairs (i, j) of classes with i < j, sorted, as support vector machines compare them.
std::vector<std::pair<std::int64_t, std::int64_t>> class_pairs(std::int64_t classes) {
  std::vector<std::pair<std::int64_t, std::int64_t>> pairs;
  for (std::int64_t i = 0; i < classes; ++i) {
    for (std::int64_t j = i + 1; j < classes; ++j) pairs.emplace_back(i, j);
  }
  return pairs;
}

// The matrix Q for each row, [rows, classes, classes]. The probabilities p minimise p Q p. If r(i,
// j) is the probability of i among i and j, Q(i, j) is -r(i, j) r(j, i), and Q(i, i) is the sum of
// all r(j, i) squared.
XlaOp quadratic_form(const Node& node, XlaOp first, std::int64_t classes) {
  const auto pairs = class_pairs(classes);
  const auto count = std::ssize(pairs);
  // The place of r(i, j) in [first, second] of all pairs. The diagonal is replaced.
  Dimensions places(static_cast<std::size_t>(classes * classes), 0);
  for (std::int64_t pair = 0; pair < count; ++pair) {
    const auto [i, j] = entry(pairs, pair);
    entry(places, i * classes + j) = pair;
    entry(places, j * classes + i) = pair + count;
  }
  const XlaOp both = xla::ConcatInDim(&node.builder(), {first, 1 - first}, 1);
  const Dimensions sizes = {node.sizes_of(first).front(), classes, classes};
  const XlaOp own = xla::Reshape(take_places(node, both, 1, places), sizes);
  const XlaOp is_diagonal =
      index_along(node, xla::S32, sizes, 1) == index_along(node, xla::S32, sizes, 2);
  const XlaOp others = xla::Select(is_diagonal, zeros_of(node, node.type_of(first), sizes),
                                   xla::Transpose(own, {0, 2, 1}));
  const XlaOp sums = sum_of(xla::Square(others), {2});
  return xla::Select(is_diagonal, spread(sums, sizes, {2}), -(others * own));
}

// One step towards the minimum of p Q p: updates one probability after the other, and divides all
// by their new sum. Rows that have converged are kept.
std::vector<XlaOp> improved_probabilities(const Node& node, const LoopStep& step) {
  const XlaOp form = step.fixed.front();
  const XlaOp start = step.state[1];
  const Dimensions sizes = node.sizes_of(start);
  const std::int64_t classes = sizes.back();
  const auto across = [&](XlaOp of_rows) { return along(of_rows, sizes, 0); };

  XlaOp p = start;
  XlaOp slopes = sum_of(form * spread(p, node.sizes_of(form), {1}), {2});
  XlaOp value = sum_of(p * slopes, {1});
  const XlaOp error = largest_of(xla::Abs(slopes - across(value)), {1});
  // Rows of NaN count as converged.
  const XlaOp is_there = ~(error >= 0.005 / static_cast<double>(classes));
  const XlaOp places = xla::Iota(&step.builder, shape_of(xla::S32, sizes), 1);
  for (std::int64_t i = 0; i < classes; ++i) {
    const XlaOp row = part_at(node, form, i, 1);
    const XlaOp own = part_at(node, row, i, 1);
    const XlaOp slope = part_at(node, slopes, i, 1);
    const XlaOp change = (value - slope) / own;
    const XlaOp sum = change + 1;
    const XlaOp rise = change * (change * own + slope * 2);
    const XlaOp is_it = places == i;
    p = xla::Select(is_it, p + across(change), p) / across(sum);
    value = (value + rise) / xla::Square(sum);
    slopes = (slopes + across(change) * row) / across(sum);
  }
  return {~least_of(is_there, {0}), xla::Select(along(is_there, sizes, 0), start, p)};
}

// The number of pairs that choose each class: [rows, classes]. `scores`: [rows, pairs], positive
// for the first class of the pair.
XlaOp votes_of_pairs(const Node& node, XlaOp scores, std::int64_t classes) {
  const auto type = node.type_of(scores);
  const auto pairs = class_pairs(classes);
  const XlaOp is_first = scores > xla::ZerosLike(scores);
  const auto votes = [&](XlaOp chosen, auto one_of) {
    std::vector<double> matrix(pairs.size() * static_cast<std::size_t>(classes), 0);
    for (std::int64_t pair = 0; pair < std::ssize(pairs); ++pair) {
      entry(matrix, pair * classes + entry(pairs, pair).*one_of) = 1;
    }
    return xla::Dot(cast(chosen, type),
                    constant_reals(node, type, matrix, {std::ssize(pairs), classes}));
  };
  using Pair = std::pair<std::int64_t, std::int64_t>;
  return votes(is_first, &Pair::first) + votes(~is_first, &Pair::second);
}

// The probabilities of the classes, [rows, classes], by the second method of Wu, Lin and Weng (JMLR
// 5, 2004), with the limits of LIBSVM. `first`: [rows, pairs], the probability of the first class,
// given one of the pair.
XlaOp probabilities_of_pairs(const Node& node, XlaOp first, std::int64_t classes) {
  first = xla::Clamp(like(first, kLeastProbability), first, like(first, 1 - kLeastProbability));
  const Dimensions sizes = {node.sizes_of(first).front(), classes};
  const XlaOp equal =
      xla::Broadcast(scalar(node, node.type_of(first), 1 / static_cast<double>(classes)), sizes);
  const LoopLength length = {.count = std::max(kProbabilitySteps, classes), .by_state = true};
  const std::vector<XlaOp> state = {xla::ConstantR0<bool>(&node.builder(), true), equal};
  return run_loop(node, length, state, {quadratic_form(node, first, classes)},
                  [&](const LoopStep& step) { return improved_probabilities(node, step); })
      .back();
}

// Broadcasts a number for each column to all rows of a tensor like `like`.
XlaOp in_columns(const Node& node, const std::vector<double>& values, XlaOp like) {
  const Dimensions row = {node.sizes_of(like).back()};
  return along_last(node, constant_reals(node, node.type_of(like), values, row), like);
}

// Broadcasts one value for each feature, or one for all, to the sizes of `like`.
XlaOp value_of_features(const Node& node, const char* name, const std::vector<double>& values,
                        XlaOp like) {
  const Dimensions sizes = node.sizes_of(like);
  if (values.size() == 1)
    return xla::Broadcast(scalar(node, node.type_of(like), values.front()), sizes);
  if (sizes.empty() || sizes.size() > 2 || std::ssize(values) != sizes.back())
    node.refuse("has {} values of '{}', which do not fit its input", values.size(), name);
  return in_columns(node, values, like);
}

void lower_scaler(Node& node) {
  XlaOp x = as_real(node, node.operand(0));
  const auto offset = node.reals<double>("offset");
  const auto scale = node.reals<double>("scale");
  if (!offset.empty()) x = x - value_of_features(node, "offset", offset, x);
  if (!scale.empty()) x = x * value_of_features(node, "scale", scale, x);
  node.set(cast(x, xla::F32));
}

// Rows of zeros are kept.
void lower_normalizer(Node& node) {
  const Dimensions sizes = node.sizes(0);
  const XlaOp x = feature_rows(node);
  const std::string norm = node.word("norm", {"MAX", "L1", "L2"});
  XlaOp size = norm == "MAX"  ? largest_of(xla::Abs(x), {1})
               : norm == "L1" ? sum_of(xla::Abs(x), {1})
                              : xla::Sqrt(sum_of(xla::Square(x), {1}));
  size = xla::Max(size, like(size, 1e-30));
  const XlaOp scaled = x / along(size, node.sizes_of(x), 0);
  node.set(cast(xla::Reshape(scaled, sizes), xla::F32));
}

// Replaces a value, often NaN.
void lower_imputer(Node& node) {
  const XlaOp x = node.operand(0);
  const auto type = node.type(0);
  const char* name = "imputed_value_floats";
  std::vector<double> values = node.reals<double>(name);
  XlaOp is_replaced;
  if (is_real(type)) {
    const float replaced = node.real("replaced_value_float", 0);
    is_replaced = std::isnan(replaced) ? x != x : x == replaced;
  } else {
    name = "imputed_value_int64s";
    const auto integers = node.integers(name);
    values = {integers.begin(), integers.end()};
    const auto replaced = node.integer("replaced_value_int64", 0);
    is_replaced = x == xla::ConstantR0WithType(&node.builder(), type, replaced);
  }
  if (values.empty()) node.refuse("has no attribute '{}' for its input's type", name);
  node.set(xla::Select(is_replaced, value_of_features(node, name, values, x), x));
}

void lower_binarizer(Node& node) {
  // Compared as real numbers: the threshold of integers need not be an integer.
  const XlaOp x = as_real(node, node.operand(0));
  node.set(cast(x > node.real("threshold", 0), node.type(0)));
}

// Elements of the last dimension. A vector is a row.
void lower_array_feature_extractor(Node& node) {
  const Dimensions sizes = node.sizes(0);
  if (sizes.empty()) node.refuse("has a number in place of features");
  const std::int64_t axis = std::ssize(sizes) - 1;
  const std::int64_t count = product(node.sizes(1));
  Dimensions result = with_size(sizes, axis, count);
  if (axis == 0) result.insert(result.begin(), 1);
  const auto known = node.integers_if_known(1);
  if (known && !std::ranges::all_of(*known, [&](auto i) { return i >= 0 && i < sizes.back(); }))
    node.refuse("takes features that are not among {}", sizes.back());
  const XlaOp x = node.operand(0);
  const XlaOp taken = known
                          ? take_places(node, x, axis, *known)
                          : xla::TorchIndexSelect(x, xla::Reshape(node.operand(1), {count}), axis);
  node.set(xla::Reshape(taken, result));
}

// Concatenates the rows of several inputs, each cut or padded with zeros to its width.
void lower_feature_vectorizer(Node& node) {
  const auto widths = node.integers("inputdimensions");
  if (std::ssize(widths) != node.operand_count())
    node.refuse("has {} 'inputdimensions' for {} inputs", widths.size(), node.operand_count());
  std::vector<XlaOp> parts;
  for (int i = 0; i < node.operand_count(); ++i) {
    XlaOp x = cast(node.operand(i), xla::F32);
    Dimensions sizes = node.sizes_of(x);
    if (sizes.size() == 1) {
      sizes.push_back(1);
      x = xla::Reshape(x, sizes);
    }
    const std::int64_t width = entry(widths, i);
    if (sizes.size() != 2 || width < 0) node.refuse("cannot take input {} as rows", i);
    parts.push_back(xla::PadInDim(x, scalar(node, xla::F32, 0), 1, 0, width - sizes.back()));
  }
  node.set(xla::ConcatInDim(&node.builder(), parts, 1));
}

// True where an element equals a key: [..., keys]. NaN equals NaN.
XlaOp matches_of(const Node& node, XlaOp x, XlaOp keys) {
  Dimensions sizes = node.sizes_of(x);
  const auto last = std::ssize(sizes);
  sizes.push_back(node.sizes_of(keys).front());
  const XlaOp elements = spread(x, sizes, {last});
  const XlaOp wanted = along(keys, sizes, last);
  const XlaOp same = elements == wanted;
  if (!is_real(node.type_of(x))) return same;
  return same | ((elements != elements) & (wanted != wanted));
}

void lower_one_hot_encoder(Node& node) {
  if (!node.texts("cats_strings").empty()) node.refuse("has categories that are strings");
  const auto categories = node.integers("cats_int64s");
  if (categories.empty()) node.refuse("has no categories");
  if (!node.flag("zeros", true)) {
    node.refuse(
        "stops at unknown categories (zeros=0), which compiled code cannot: export it with "
        "zeros=1");
  }
  // As in the standard's reference, a number is compared as it is: 1.5 is not a category.
  const XlaOp keys = cast(constant_integers(node, categories), node.type(0));
  node.set(cast(matches_of(node, node.operand(0), keys), xla::F32));
}

// Keys or values of a LabelEncoder. Old models have them in attributes of floats or integers.
std::optional<xla::Literal> encoder_numbers(const Node& node, const std::string& what) {
  if (!node.texts(what + "_strings").empty())
    node.refuse("has {} that are strings, which compiled models cannot have", what);
  if (auto tensor = node.tensor(what + "_tensor")) return tensor;
  if (const auto integers = node.optional_integers(what + "_int64s")) {
    return xla::LiteralUtil::CreateR1<std::int64_t>(*integers);
  }
  const std::vector<float> floats = node.reals(what + "_floats");
  if (floats.empty()) return std::nullopt;
  return xla::LiteralUtil::CreateR1<float>(floats);
}

XlaOp encoder_default(const Node& node, xla::PrimitiveType type) {
  if (const auto tensor = node.tensor("default_tensor")) {
    return xla::Reshape(xla::ConstantLiteral(&node.builder(), *tensor), {});
  }
  if (!is_real(type)) {
    return xla::ConstantR0WithType(&node.builder(), type, node.integer("default_int64", -1));
  }
  return scalar(node, type, node.real("default_float", -0.0F));
}

void lower_label_encoder(Node& node) {
  const auto keys = encoder_numbers(node, "keys");
  const auto values = encoder_numbers(node, "values");
  if (!keys || !values || keys->shape().rank() != 1 ||
      keys->shape().dimensions() != values->shape().dimensions()) {
    node.refuse("needs as many values as keys, as numbers");
  }
  if (keys->shape().element_type() != node.type(0)) node.refuse("has keys of another type");
  const auto type = values->shape().element_type();
  xla::XlaBuilder* const builder = &node.builder();
  const XlaOp x = node.operand(0);
  const XlaOp matches = matches_of(node, x, xla::ConstantLiteral(builder, *keys));
  // The place of the key, or that of the default, which follows the keys. Of equal keys, the last
  // is used.
  const XlaOp number = index_along(node, xla::S32, node.sizes_of(matches), node.rank(0));
  const XlaOp found =
      largest_of(xla::Select(matches, number, xla::FullLike(number, -1)), {node.rank(0)});
  const XlaOp last = xla::FullLike(found, keys->shape().dimensions(0));
  const XlaOp place = xla::Select(found < 0, last, found);
  const XlaOp table = xla::ConcatInDim(
      builder,
      {xla::ConstantLiteral(builder, *values), xla::Reshape(encoder_default(node, type), {1})}, 0);
  node.set(gather(node, table, place, {{0}, {}, node.rank(0)}));
}

// Floats of an attribute of a linear model or a support vector machine as a weight: any number of
// rows of `width`.
XlaOp model_matrix(Node& node, const std::string& name, std::int64_t width,
                   xla::PrimitiveType type) {
  const std::vector<float> values = node.reals(name);
  if (width < 1 || values.empty() || std::ssize(values) % width != 0)
    node.refuse("has {} values of '{}', which do not make rows of {}", values.size(), name, width);
  const xla::Literal all = xla::LiteralUtil::CreateR1<float>(values);
  return cast(node.keep(name, *all.Reshape({std::ssize(values) / width, width})), type);
}

// x C + b: [rows, scores]
XlaOp linear_scores(Node& node, XlaOp x) {
  const auto type = node.type_of(x);
  const XlaOp matrix = model_matrix(node, "coefficients", node.sizes_of(x).back(), type);
  const XlaOp scores = times_transposed(x, matrix);
  const std::vector<float> intercepts = node.reals("intercepts");
  if (intercepts.empty()) return scores;
  const Dimensions sizes = node.sizes_of(scores);
  if (std::ssize(intercepts) != sizes.back())
    node.refuse("has {} intercepts for {} scores", intercepts.size(), sizes.back());
  const XlaOp kept = node.keep("intercepts", xla::LiteralUtil::CreateR1<float>(intercepts));
  return scores + along(cast(kept, type), sizes, 1);
}

void lower_linear_regressor(Node& node) {
  const XlaOp scores = linear_scores(node, feature_rows(node));
  const std::int64_t targets = node.integer("targets", 1);
  if (node.sizes_of(scores).back() != targets) {
    node.refuse("has coefficients for {} targets instead of {}", node.sizes_of(scores).back(),
                targets);
  }
  set_scores(node, 0, scores, post_transform_of(node));
}

void lower_linear_classifier(Node& node) {
  XlaOp scores = linear_scores(node, feature_rows(node));
  const ClassLabels labels = class_labels(node, "classlabels_ints");
  const std::int64_t count = node.sizes_of(scores).back();
  // A single score of two classes is that of the second.
  if (count == 1 && labels.count == 2) {
    scores = xla::ConcatInDim(&node.builder(), {-scores, scores}, 1);
  } else if (count != labels.count) {
    node.refuse("has {} scores for {} classes", count, labels.count);
  }
  set_labels(node, labels, place_of_largest(scores));
  set_scores(node, 1, scores, post_transform_of(node));
}

// exp(-gamma |x - v|^2) of each row and each vector. The distance is |x|^2 + |v|^2 - 2 x v, in
// float64, after one of the vectors is subtracted from both: otherwise features far from zero would
// cancel out its digits.
XlaOp gaussian_values(Node& node, XlaOp x, double gamma) {
  const auto type = node.type_of(x);
  const std::int64_t width = node.sizes_of(x).back();
  const XlaOp vectors = model_matrix(node, "support_vectors", width, xla::F64);
  const XlaOp origin = part_at(node, vectors, 0, 0);
  const auto moved = [&](XlaOp rows) { return rows - along(origin, node.sizes_of(rows), 1); };
  const XlaOp left = moved(cast(x, xla::F64));
  const XlaOp right = moved(vectors);
  const XlaOp products = times_transposed(left, right);
  const Dimensions sizes = node.sizes_of(products);
  const XlaOp squares = along(sum_of(xla::Square(left), {1}), sizes, 0) +
                        along(sum_of(xla::Square(right), {1}), sizes, 1);
  const XlaOp distances = xla::Max(squares - products * 2, like(products, 0));
  return xla::Exp(cast(distances, type) * -gamma);
}

// The kernel function of each row of x and each support vector: [rows, vectors]
XlaOp kernel_values(Node& node, XlaOp x) {
  const std::string kernel = node.text("kernel_type", "LINEAR");
  std::vector<float> parameters = node.reals("kernel_params");
  parameters.resize(3);
  if (kernel == "RBF") return gaussian_values(node, x, parameters[0]);
  const XlaOp products = times_transposed(
      x, model_matrix(node, "support_vectors", node.sizes_of(x).back(), node.type_of(x)));
  if (kernel == "LINEAR") return products;
  const XlaOp scaled = products * parameters[0] + parameters[1];
  if (kernel == "SIGMOID") return xla::Tanh(scaled);
  if (kernel == "POLY") return xla::Pow(scaled, like(x, std::trunc(parameters[2])));
  node.refuse("has the kernel_type '{}'", kernel);
}

// The constant of the only score, or the first one of several.
float rho_of(const Node& node) {
  const std::vector<float> rho = node.reals("rho");
  if (rho.empty()) node.refuse("has no attribute 'rho'");
  return rho.front();
}

void lower_svm_regressor(Node& node) {
  const XlaOp x = feature_rows(node);
  const auto type = node.type_of(x);
  const std::int64_t supports = node.integer("n_supports", 0);
  const float rho = rho_of(node);
  XlaOp values = x;
  std::int64_t width = node.sizes_of(x).back();
  if (supports > 0) {
    values = kernel_values(node, x);
    width = node.sizes_of(values).back();
    if (width != supports) node.refuse("has {} support vectors instead of {}", width, supports);
  }
  const XlaOp coefficients = model_matrix(node, "coefficients", width, type);
  if (node.sizes_of(coefficients).front() != 1) node.refuse("has coefficients of several targets");
  XlaOp score = times_transposed(values, coefficients) + rho;
  if (node.flag("one_class")) {
    score = xla::Select(score > 0, xla::FullLike(score, 1), xla::FullLike(score, -1));
  }
  set_scores(node, 0, score, post_transform_of(node));
}

// The first vector of each class, and the end of the last. Each vector belongs to one class.
std::vector<std::int64_t> vector_places(const Node& node, const std::vector<std::int64_t>& counts,
                                        std::int64_t vectors) {
  std::vector<std::int64_t> places = {0};
  for (const std::int64_t count : counts) {
    const std::int64_t left = vectors - places.back();
    if (count < 0 || count > left)
      node.refuse("has {} vectors of one class, but {} are left", count, left);
    places.push_back(places.back() + count);
  }
  if (places.back() != vectors)
    node.refuse("has {} support vectors, but classes for {}", vectors, places.back());
  return places;
}

// The numbers of an attribute, one for each pair of classes, broadcast to all rows of scores.
XlaOp pair_numbers(const Node& node, const std::string& name, XlaOp scores) {
  const std::vector<double> values = node.reals<double>(name);
  const std::int64_t pairs = node.sizes_of(scores).back();
  if (std::ssize(values) != pairs)
    node.refuse("has {} values of '{}' for {} pairs of classes", values.size(), name, pairs);
  return in_columns(node, values, scores);
}

// The coefficients of the vectors in the score of each pair of classes: [pairs, vectors], F64. The
// attribute has one row fewer than classes, as a class has no coefficients against itself.
XlaOp pair_coefficients(Node& node, const std::vector<std::int64_t>& places) {
  const std::vector<float> values = node.reals("coefficients");
  const std::int64_t vectors = places.back();
  const auto pairs = class_pairs(std::ssize(places) - 1);
  if (std::ssize(values) != (std::ssize(places) - 2) * vectors) {
    node.refuse("has {} coefficients for {} support vectors of {} classes", values.size(), vectors,
                places.size() - 1);
  }
  xla::Literal matrix =
      xla::LiteralUtil::CreateFromDimensions(xla::F64, {std::ssize(pairs), vectors});
  const auto copy = [&](std::int64_t pair, std::int64_t row, std::int64_t of_class) {
    const std::int64_t end = places[static_cast<std::size_t>(of_class) + 1];
    for (std::int64_t i = entry(places, of_class); i < end; ++i) {
      matrix.Set<double>({pair, i}, entry(values, row * vectors + i));
    }
  };
  for (std::int64_t pair = 0; pair < std::ssize(pairs); ++pair) {
    const auto [first, second] = entry(pairs, pair);
    copy(pair, second - 1, first);
    copy(pair, first, second);
  }
  return node.keep("coefficients", matrix);
}

// Compares all pairs of classes, or, without support vectors, scores each class.
void lower_svm_classifier(Node& node) {
  const XlaOp x = feature_rows(node);
  const auto type = node.type_of(x);
  const ClassLabels labels = class_labels(node, "classlabels_ints");
  const auto counts = node.integers("vectors_per_class");
  const PostTransform transform = post_transform_of(node);
  if (counts.empty()) {
    const float rho = rho_of(node);
    const XlaOp matrix = model_matrix(node, "coefficients", node.sizes_of(x).back(), type);
    const XlaOp scores = times_transposed(x, matrix) + rho;
    if (node.sizes_of(scores).back() != labels.count) {
      node.refuse("has coefficients for {} classes instead of {}", node.sizes_of(scores).back(),
                  labels.count);
    }
    set_labels(node, labels, place_of_largest(scores));
    return set_scores(node, 1, scores, transform);
  }
  if (std::ssize(counts) != labels.count)
    node.refuse("has {} vectors_per_class for {} classes", counts.size(), labels.count);
  // Large coefficients of both signs cancel out (NuSVC), so the sums are float64.
  const XlaOp values = cast(kernel_values(node, x), xla::F64);
  const auto places = vector_places(node, counts, node.sizes_of(values).back());
  const XlaOp products = times_transposed(values, pair_coefficients(node, places));
  XlaOp scores = products + pair_numbers(node, "rho", products);
  set_labels(node, labels, place_of_largest(votes_of_pairs(node, scores, labels.count)));
  if (!node.reals("prob_a").empty()) {
    const XlaOp lines =
        scores * pair_numbers(node, "prob_a", scores) + pair_numbers(node, "prob_b", scores);
    const XlaOp first = cast(xla::Logistic(-lines), type);
    scores = probabilities_of_pairs(node, first, labels.count);
  } else if (labels.count == 2) {
    scores = xla::ConcatInDim(&node.builder(), {-scores, scores}, 1);
  }
  set_scores(node, 1, scores, transform);
}

// By BranchMode.
constexpr auto kBranchModes =
    std::to_array<std::string_view>({"BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT",
                                     "BRANCH_EQ", "BRANCH_NEQ", "BRANCH_MEMBER"});

template <typename T>
T forest_item(const std::vector<T>& values, std::size_t i) {
  return i < values.size() ? values[i] : T{};
}

std::string forest_place(const ForestNode& node) {
  return node.tree < 0 ? fmt::format("node {}", node.number)
                       : fmt::format("node {} of tree {}", node.number, node.tree);
}

// An attribute with one value for each node.
std::vector<std::int64_t> integers_of_nodes(const Node& node, const std::string& name,
                                            std::size_t count) {
  auto values = node.integers(name);
  if (values.size() != count)
    node.refuse("has {} values of '{}' for {} nodes", values.size(), name, count);
  return values;
}

// The numbers of an attribute. `has_doubles` becomes true if they are stored as float64.
std::vector<double> numbers_of_tensor(const Node& node, const std::string& name,
                                      bool& has_doubles) {
  const auto tensor = node.tensor(name);
  if (!tensor) node.refuse("has no attribute '{}'", name);
  const auto values = tensor->Convert(xla::F64);
  if (!values.ok()) node.refuse("needs numbers as '{}'", name);
  has_doubles = has_doubles || tensor->shape().element_type() == xla::F64;
  const auto data = values->data<double>();
  return {data.begin(), data.end()};
}

std::vector<double> tensor_values(const Node& node, const std::string& name, std::size_t count,
                                  bool& has_doubles) {
  auto values = numbers_of_tensor(node, name, has_doubles);
  if (values.size() != count)
    node.refuse("has {} values of '{}' instead of {}", values.size(), name, count);
  return values;
}

// The nodes of one tree in post-order, or a cycle of branches.
PostOrder<std::int64_t> tree_order(const Forest& forest, std::int64_t root) {
  return post_order<std::int64_t>({root}, [&](std::int64_t at) -> Dimensions {
    const ForestNode& one = entry(forest.nodes, at);
    if (one.is_leaf) return {};
    return {one.if_true, one.if_false};
  });
}

// Checks the branches, following them from the roots.
void check_forest(const Node& node, const Forest& forest, std::int64_t features) {
  std::vector<bool> seen(forest.nodes.size(), false);
  for (const std::int64_t root : forest.roots) {
    const auto order = tree_order(forest, root);
    if (!order.cycle.empty()) {
      node.refuse("leads back to {}", forest_place(entry(forest.nodes, order.cycle.front())));
    }
    for (const std::int64_t at : order.order) {
      const ForestNode& one = entry(forest.nodes, at);
      if (entry(seen, at) && !one.is_leaf) node.refuse("has {} in two trees", forest_place(one));
      entry(seen, at) = true;
    }
  }
  for (std::size_t i = 0; i < forest.nodes.size(); ++i) {
    const ForestNode& one = forest.nodes[i];
    if (one.is_leaf) continue;
    if (!seen[i]) node.refuse("reaches {} from no root", forest_place(one));
    if (one.feature < 0 || one.feature >= features) {
      node.refuse("compares feature {} in {}, but its input has {}", one.feature, forest_place(one),
                  features);
    }
  }
}

// The values of an attribute, or of its float64 variant "..._as_tensor".
std::vector<double> forest_numbers(const Node& node, const std::string& name, bool& has_doubles) {
  const std::string other = name + "_as_tensor";
  if (!node.has_attribute(other)) return node.reals<double>(name);
  if (node.has_attribute(name)) node.refuse("has both '{}' and '{}'", name, other);
  return numbers_of_tensor(node, other, has_doubles);
}

Aggregate aggregate_of(const Node& node) {
  constexpr std::array kByWord = {Aggregate::kSum, Aggregate::kAverage, Aggregate::kMin,
                                  Aggregate::kMax};
  return kByWord.at(
      node.choice<std::size_t>("aggregate_function", {"SUM", "AVERAGE", "MIN", "MAX"}));
}

// The nodes of TreeEnsembleRegressor and TreeEnsembleClassifier, identified by the number of the
// tree and their own.
class NumberedForest {
 public:
  NumberedForest(const Node& node, Forest& forest) : node_(node), forest_(forest) {}

  void read_nodes() {
    const auto modes = node_.texts("nodes_modes");
    const std::size_t count = modes.size();
    const auto trees = integers_of_nodes(node_, "nodes_treeids", count);
    const auto numbers = integers_of_nodes(node_, "nodes_nodeids", count);
    const auto features = integers_of_nodes(node_, "nodes_featureids", count);
    const auto if_true = integers_of_nodes(node_, "nodes_truenodeids", count);
    const auto if_false = integers_of_nodes(node_, "nodes_falsenodeids", count);
    const auto missing = node_.integers("nodes_missing_value_tracks_true");
    const auto thresholds = forest_numbers(node_, "nodes_values", forest_.has_doubles);
    if (thresholds.size() != count)
      node_.refuse("has {} values of 'nodes_values' for {} nodes", thresholds.size(), count);
    for (std::size_t i = 0; i < count; ++i) {
      ForestNode one;
      one.tree = trees[i];
      one.number = numbers[i];
      one.is_leaf = modes[i] == "LEAF";
      if (!one.is_leaf) one.mode = mode_of(modes[i], one);
      one.feature = features[i];
      one.threshold = thresholds[i];
      one.missing_is_true = forest_item(missing, i) == 1;
      if (!places_.try_emplace({trees[i], numbers[i]}, i).second)
        node_.refuse("has {} twice", forest_place(one));
      forest_.nodes.push_back(std::move(one));
    }
    std::vector<bool> has_parent(count, false);
    for (std::size_t i = 0; i < count; ++i) {
      ForestNode& one = forest_.nodes[i];
      if (one.is_leaf) continue;
      one.if_true = find(one, if_true[i]);
      one.if_false = find(one, if_false[i]);
      entry(has_parent, one.if_true) = true;
      entry(has_parent, one.if_false) = true;
    }
    find_roots(has_parent);
  }

  // `prefix`: of the names, "class": class_ids, class_nodeids ...
  void read_votes(const std::string& prefix) {
    const auto targets = node_.integers(prefix + "_ids");
    const std::size_t count = targets.size();
    const auto trees = integers_of_nodes(node_, prefix + "_treeids", count);
    const auto numbers = integers_of_nodes(node_, prefix + "_nodeids", count);
    const auto weights = forest_numbers(node_, prefix + "_weights", forest_.has_doubles);
    if (weights.size() != count)
      node_.refuse("has {} values of '{}_weights' for {} votes", weights.size(), prefix, count);
    for (std::size_t i = 0; i < count; ++i) {
      const auto found = places_.find({trees[i], numbers[i]});
      if (found == places_.end())
        node_.refuse("has a vote of node {} of tree {}, which is not there", numbers[i], trees[i]);
      ForestNode& leaf = forest_.nodes[found->second];
      if (targets[i] < 0 || targets[i] >= forest_.targets) {
        node_.refuse("has a vote for number {} of {} in {}", targets[i], forest_.targets,
                     forest_place(leaf));
      }
      // Old converters also gave votes to branches, at which no row ends.
      if (leaf.is_leaf) leaf.votes.push_back({targets[i], weights[i]});
    }
  }

 private:
  BranchMode mode_of(const std::string& mode, const ForestNode& one) const {
    const auto found =
        static_cast<BranchMode>(std::ranges::find(kBranchModes, mode) - kBranchModes.begin());
    if (found < BranchMode::kMember) return found;  // only TreeEnsemble has sets
    node_.refuse("has the mode '{}' in {}", mode, forest_place(one));
  }

  std::int64_t find(const ForestNode& from, std::int64_t number) const {
    const auto found = places_.find({from.tree, number});
    if (found == places_.end())
      node_.refuse("leads from {} to node {}, which is not there", forest_place(from), number);
    return static_cast<std::int64_t>(found->second);
  }

  // The root of a tree is its only node without a parent.
  void find_roots(const std::vector<bool>& has_parent) {
    absl::flat_hash_map<std::int64_t, std::int64_t> roots;
    for (std::size_t i = 0; i < has_parent.size(); ++i) {
      if (has_parent[i]) continue;
      const ForestNode& one = forest_.nodes[i];
      const auto [place, is_new] = roots.try_emplace(one.tree, static_cast<std::int64_t>(i));
      if (!is_new) {
        node_.refuse("has two roots in one tree: {} and {}",
                     forest_place(entry(forest_.nodes, place->second)), forest_place(one));
      }
      forest_.roots.push_back(static_cast<std::int64_t>(i));
    }
  }

  const Node& node_;
  Forest& forest_;
  absl::flat_hash_map<std::pair<std::int64_t, std::int64_t>, std::size_t> places_;
};

// The members of each set; NaN terminates a set.
std::vector<std::vector<double>> read_sets(const Node& node, Forest& forest) {
  std::vector<std::vector<double>> sets;
  if (!node.has_attribute("membership_values")) return sets;
  const auto size = static_cast<std::size_t>(
      xla::ShapeUtil::ElementsIn(node.tensor("membership_values")->shape()));
  std::vector<double> open;
  for (const double value : tensor_values(node, "membership_values", size, forest.has_doubles)) {
    if (!std::isnan(value)) {
      open.push_back(value);
      continue;
    }
    sets.push_back(std::move(open));
    open.clear();
  }
  if (!open.empty()) sets.push_back(std::move(open));
  return sets;
}

std::int64_t forest_targets(const Node& node) {
  const std::int64_t targets = node.integer("n_targets");
  if (targets < 1 || targets > kMostTargets) node.refuse("has {} targets", targets);
  return targets;
}

// Of TreeEnsembleRegressor or TreeEnsembleClassifier, whose votes have names with this prefix.
Forest read_forest(const Node& node, const std::string& prefix, std::int64_t targets,
                   XlaOp features) {
  Forest forest;
  forest.targets = targets;
  forest.aggregate = aggregate_of(node);
  NumberedForest numbered(node, forest);
  numbered.read_nodes();
  numbered.read_votes(prefix);
  check_forest(node, forest, node.sizes_of(features).back());
  return forest;
}

Forest read_tree_ensemble(const Node& node, std::int64_t features) {
  Forest forest;
  forest.targets = forest_targets(node);
  forest.aggregate = numbered(node, "aggregate_function", Aggregate::kSum, Aggregate::kMax);
  const auto feature_of = node.integers("nodes_featureids");
  const std::size_t count = feature_of.size();
  const auto if_true = integers_of_nodes(node, "nodes_truenodeids", count);
  const auto if_false = integers_of_nodes(node, "nodes_falsenodeids", count);
  const auto true_is_leaf = integers_of_nodes(node, "nodes_trueleafs", count);
  const auto false_is_leaf = integers_of_nodes(node, "nodes_falseleafs", count);
  const auto missing = node.integers("nodes_missing_value_tracks_true");
  bool modes_are_doubles = false;
  const auto modes = tensor_values(node, "nodes_modes", count, modes_are_doubles);
  const auto splits = tensor_values(node, "nodes_splits", count, forest.has_doubles);
  const auto targets = node.integers("leaf_targetids");
  const auto weights = tensor_values(node, "leaf_weights", targets.size(), forest.has_doubles);
  auto sets = read_sets(node, forest);

  std::size_t sets_used = 0;
  const auto place_of = [&](std::size_t from, std::int64_t to, bool is_leaf) {
    const auto limit = static_cast<std::int64_t>(is_leaf ? targets.size() : count);
    if (to < 0 || to >= limit) {
      node.refuse("leads from node {} to {} {}, which is not there", from,
                  is_leaf ? "leaf" : "node", to);
    }
    return is_leaf ? to + static_cast<std::int64_t>(count) : to;
  };
  for (std::size_t i = 0; i < count; ++i) {
    ForestNode one;
    one.number = static_cast<std::int64_t>(i);
    if (!(modes[i] >= 0 && modes[i] < static_cast<double>(kBranchModes.size())))
      node.refuse("has the mode {} in node {}", modes[i], i);
    one.mode = static_cast<BranchMode>(modes[i]);
    if (one.mode == BranchMode::kMember) {
      if (sets_used == sets.size()) node.refuse("has no set of members for node {}", i);
      one.members = std::move(sets[sets_used++]);
    }
    one.feature = feature_of[i];
    one.threshold = splits[i];
    one.missing_is_true = forest_item(missing, i) == 1;
    one.if_true = place_of(i, if_true[i], true_is_leaf[i] != 0);
    one.if_false = place_of(i, if_false[i], false_is_leaf[i] != 0);
    forest.nodes.push_back(std::move(one));
  }
  for (std::size_t i = 0; i < targets.size(); ++i) {
    if (targets[i] < 0 || targets[i] >= forest.targets)
      node.refuse("has a vote for number {} of {} in leaf {}", targets[i], forest.targets, i);
    ForestNode leaf;
    leaf.is_leaf = true;
    leaf.votes = {{targets[i], weights[i]}};
    forest.nodes.push_back(std::move(leaf));
  }
  for (const std::int64_t root : node.integers("tree_roots")) {
    if (root < 0 || root >= static_cast<std::int64_t>(count))
      node.refuse("has the root {}, which is not there", root);
    forest.roots.push_back(root);
  }
  check_forest(node, forest, features);
  return forest;
}

constexpr std::int64_t kNodeBytes = 2 * sizeof(std::int32_t);

// A node as read by a walk. A leaf leads to itself, by slot 0.
struct Step {
  std::int32_t key;
  std::int64_t slot;
  std::uint32_t left, right;
};

Step step_at(absl::Span<const std::int32_t> nodes, std::uint32_t place) {
  constexpr auto kBits = kernels::forest_slot_bits(sizeof(float));
  const auto word = static_cast<std::uint32_t>(nodes[2 * std::size_t{place} + 1]);
  const std::int64_t slot = word & ((1U << kBits) - 1);
  const std::uint32_t next = word >> kBits;
  return {nodes[2 * std::size_t{place}], slot, next, slot == 0 ? next : next + 1};
}

// Fills a tree's lane of its block's top. `nodes`: as in ForestTables.
void fill_lane(ForestTop& top, std::size_t lane, std::uint32_t root, std::int64_t features,
               absl::Span<const std::int32_t> nodes) {
  std::array<std::uint32_t, ForestTop::kNodes + ForestTop::kEnds> places{root};
  for (std::size_t i = 0; i < ForestTop::kNodes; ++i) {
    const Step step = step_at(nodes, places.at(i));
    places.at(2 * i + 1) = step.left;
    places.at(2 * i + 2) = step.right;
    top.keys[i][lane] = step.slot == 0 ? std::numeric_limits<std::int32_t>::max() : step.key;
    if (step.slot == 0) continue;
    const bool smallest = step.slot > features;
    const auto feature = static_cast<std::uint8_t>(step.slot - 1 - (smallest ? features : 0));
    top.slots[i][lane] =
        smallest ? static_cast<std::uint8_t>(feature | ForestTop::kSmallest) : feature;
  }
  for (std::size_t i = 0; i < ForestTop::kEnds; ++i) {
    top.ends[i][lane] = places.at(ForestTop::kNodes + i);
  }
}

ForestBottom bottom_of(std::uint32_t place, absl::Span<const std::int32_t> nodes) {
  ForestBottom bottom{};
  const Step first = step_at(nodes, place);
  const std::array<Step, ForestBottom::kNodes> steps = {first, step_at(nodes, first.left),
                                                        step_at(nodes, first.right)};
  for (std::size_t i = 0; i < steps.size(); ++i) {
    bottom.keys[i] = steps.at(i).key;
    bottom.slots[i] = static_cast<std::uint8_t>(steps.at(i).slot);
    if (i == 0) continue;
    bottom.leaves[2 * (i - 1)] = nodes[2 * std::size_t{steps.at(i).left}];
    bottom.leaves[2 * (i - 1) + 1] = nodes[2 * std::size_t{steps.at(i).right}];
  }
  return bottom;
}

// The words of the tops, then of the bottoms, as the table stores them.
std::vector<std::int32_t> tops_and_bottoms(const ForestTables& tables) {
  const auto nodes = tables.nodes.data<std::int32_t>();
  std::vector<ForestTop> tops(tables.blocks.size());
  std::vector<ForestBottom> bottoms;
  constexpr auto kTopNodes = static_cast<std::int64_t>(sizeof(ForestTop)) / kNodeBytes;
  constexpr auto kBottomNodes = static_cast<std::int64_t>(sizeof(ForestBottom)) / kNodeBytes;
  const std::int64_t first_bottom = tables.tops + std::ssize(tops) * kTopNodes;
  for (std::size_t i = 0; i < tops.size(); ++i) {
    const ForestBlock& block = tables.blocks[i];
    if (has_bottoms(block)) tops[i].bottoms = first_bottom + std::ssize(bottoms) * kBottomNodes;
    for (std::int64_t tree = 0; tree < block.trees; ++tree) {
      const auto lane = static_cast<std::size_t>(tree);
      fill_lane(tops[i], lane, static_cast<std::uint32_t>(block.first + tree), tables.features,
                nodes);
      for (std::size_t end = 0; end < ForestTop::kEnds && has_bottoms(block); ++end) {
        bottoms.push_back(bottom_of(tops[i].ends[end][lane], nodes));
      }
    }
  }
  std::vector<std::int32_t> words(
      (tops.size() * sizeof(ForestTop) + bottoms.size() * sizeof(ForestBottom)) /
      sizeof(std::int32_t));
  std::memcpy(words.data(), tops.data(), tops.size() * sizeof(ForestTop));
  if (bottoms.empty()) return words;
  std::memcpy(words.data() + tops.size() * sizeof(ForestTop) / sizeof(std::int32_t), bottoms.data(),
              bottoms.size() * sizeof(ForestBottom));
  return words;
}

// Appends the ForestTops of the blocks to the nodes, if a kernel can use them. They do not affect
// the walk in HLO.
void add_forest_tops(ForestTables& tables) {
  static_assert(sizeof(ForestTop) % kNodeBytes == 0 && sizeof(ForestBottom) % kNodeBytes == 0);
  if (tables.type != xla::F32 || tables.features > kernels::kForestTopFeatures) return;
  constexpr std::int64_t kLineNodes = 64 / kNodeBytes;
  const std::int64_t count = tables.nodes.shape().dimensions(0);
  tables.tops = (count + kLineNodes - 1) / kLineNodes * kLineNodes;
  const std::vector<std::int32_t> more = tops_and_bottoms(tables);
  xla::Literal all(shape_of(xla::S32, {tables.tops + std::ssize(more) / 2, 2}));
  const auto words = all.data<std::int32_t>();
  const auto end = std::ranges::copy(tables.nodes.data<std::int32_t>(), words.begin()).out;
  std::fill(end, words.begin() + 2 * tables.tops, 0);  // the same bytes each time
  std::ranges::copy(more, words.begin() + 2 * tables.tops);
  tables.nodes = std::move(all);
}

// Has the same order as the numbers, except that -0 comes right before 0. Not for NaN.
template <typename Key, typename Element>
Key key_of(Element value) {
  const Key bits = std::bit_cast<Key>(value);
  return bits < 0 ? static_cast<Key>(bits ^ std::numeric_limits<Key>::max()) : bits;
}

// A part of the forest, which here has only one kind of branch. Parts precede those that lead to
// them.
struct ForestPart {
  enum Kind { kLeaf, kBranch, kForward } kind = kLeaf;
  std::int64_t key = 0;     // a branch's threshold, or what a leaf holds
  std::int64_t slot = 0;    // whose key a branch compares
  std::int64_t first = -1;  // where it leads if that key is not larger; the only way of a kForward
  std::int64_t second = -1;
  std::int64_t height = 0;  // steps to a leaf, at most
};

// The ends of a branch, and the end that a missing value takes.
struct BranchEnds {
  std::int64_t if_true = -1;
  std::int64_t if_false = -1;
  bool missing_is_true = false;
  BranchEnds swapped() const { return {if_false, if_true, !missing_is_true}; }
};

template <typename Key, typename Element>
class PartsOfForest {
 public:
  // `has_missing`: each feature has two keys; those in which NaN is the smallest follow those in
  // which it is the largest.
  PartsOfForest(const Forest& forest, std::int64_t features, bool has_missing)
      : forest_(forest), features_(features), has_missing_(has_missing) {}

  const std::vector<ForestPart>& parts() const { return parts_; }

  std::int64_t leaf(std::int64_t holds) { return add({.kind = ForestPart::kLeaf, .key = holds}); }

  // `order`: the nodes of one tree in post-order. `leaves`: the part of each leaf.
  std::int64_t tree(const Dimensions& order, const std::map<std::int64_t, std::int64_t>& leaves) {
    std::map<std::int64_t, std::int64_t> uses;
    for (const std::int64_t at : order) {
      const ForestNode& one = entry(forest_.nodes, at);
      if (one.is_leaf) continue;
      ++uses[one.if_true];
      ++uses[one.if_false];
    }
    std::map<std::int64_t, std::int64_t> made;
    const auto end_at = [&](std::int64_t at) {
      return uses.at(at) > 1 ? forward(made.at(at)) : made.at(at);
    };
    for (const std::int64_t at : order) {
      const ForestNode& one = entry(forest_.nodes, at);
      made[at] =
          one.is_leaf
              ? leaves.at(at)
              : branch(one, {end_at(one.if_true), end_at(one.if_false), one.missing_is_true});
    }
    return made.at(order.back());
  }

 private:
  std::int64_t add(ForestPart part) {
    parts_.push_back(part);
    return std::ssize(parts_) - 1;
  }
  std::int64_t height(std::int64_t part) const { return entry(parts_, part).height; }
  // Stands for a part to which several branches lead, as a part has only one place.
  std::int64_t forward(std::int64_t part) {
    if (entry(parts_, part).kind == ForestPart::kLeaf) return part;
    return add({.kind = ForestPart::kForward, .first = part, .height = height(part) + 1});
  }

  // Compares keys: x <= limit.
  std::int64_t compare(std::int64_t feature, Key limit, const BranchEnds& ends) {
    const bool smallest = ends.missing_is_true && has_missing_;
    return add({.kind = ForestPart::kBranch,
                .key = limit,
                .slot = 1 + feature + (smallest ? features_ : 0),
                .first = ends.if_true,
                .second = ends.if_false,
                .height = std::max(height(ends.if_true), height(ends.if_false)) + 1});
  }
  std::int64_t less_or_equal(std::int64_t feature, Element limit, const BranchEnds& ends) {
    return compare(feature, key_of<Key>(limit == 0 ? Element{0} : limit), ends);
  }
  std::int64_t less(std::int64_t feature, Element limit, const BranchEnds& ends) {
    const Key key = key_of<Key>(limit == 0 ? -Element{0} : limit);
    return compare(feature, static_cast<Key>(key - 1), ends);
  }
  std::int64_t equal(std::int64_t feature, Element value, const BranchEnds& ends) {
    const std::int64_t lower =
        less(feature, value, {forward(ends.if_false), forward(ends.if_true), false});
    return less_or_equal(feature, value, {lower, forward(ends.if_false), ends.missing_is_true});
  }
  // Only NaN takes the true end.
  std::int64_t never(std::int64_t feature, const BranchEnds& ends) {
    return compare(feature, std::numeric_limits<Key>::min(), ends);
  }

  // Binary search among the sorted members.
  std::int64_t member(std::int64_t feature, const std::vector<Element>& members,
                      const BranchEnds& ends) {
    if (members.empty()) return never(feature, ends);
    if (members.size() == 1) return equal(feature, members.front(), ends);
    const auto middle = members.begin() + std::ssize(members) / 2;
    const std::int64_t low = member(feature, {members.begin(), middle}, ends);
    const std::int64_t high = member(feature, {middle, members.end()}, ends);
    return less_or_equal(feature, *(middle - 1), {low, high, false});
  }

  std::int64_t branch(const ForestNode& one, const BranchEnds& ends) {
    const auto threshold = static_cast<Element>(one.threshold);
    switch (std::isnan(threshold) ? BranchMode::kMember : one.mode) {
      case BranchMode::kLessOrEqual:
        return less_or_equal(one.feature, threshold, ends);
      case BranchMode::kLess:
        return less(one.feature, threshold, ends);
      case BranchMode::kGreater:
        return less_or_equal(one.feature, threshold, ends.swapped());
      case BranchMode::kGreaterOrEqual:
        return less(one.feature, threshold, ends.swapped());
      case BranchMode::kEqual:
        return equal(one.feature, threshold, ends);
      case BranchMode::kNotEqual:
        return equal(one.feature, threshold, ends.swapped());
      case BranchMode::kMember:
        break;
    }
    // All numbers differ from NaN.
    std::vector<Element> members(one.members.begin(), one.members.end());
    std::ranges::sort(members);
    members.erase(std::unique(members.begin(), members.end()), members.end());
    return member(one.feature, members, one.mode == BranchMode::kNotEqual ? ends.swapped() : ends);
  }

  const Forest& forest_;
  std::int64_t features_;
  bool has_missing_;
  std::vector<ForestPart> parts_;
};

// Parts by place: the roots, then the nodes of one tree after the other, with both ends of a branch
// adjacent. `next`: the place of the first end; a leaf's own place.
struct PlacedParts {
  Dimensions parts;
  Dimensions next;
};
PlacedParts placed_parts(const std::vector<ForestPart>& parts, const Dimensions& roots) {
  PlacedParts placed;
  Dimensions place_of(parts.size(), -1);
  const auto place = [&](std::int64_t part) {
    const std::int64_t at = std::ssize(placed.parts);
    placed.parts.push_back(part);
    placed.next.push_back(at);
    return entry(place_of, part) = at;
  };
  for (const std::int64_t root : roots) place(root);
  for (std::int64_t root = 0; root < std::ssize(roots); ++root) {
    Dimensions open = {root};
    for (std::size_t i = 0; i < open.size(); ++i) {
      const std::int64_t from = open[i];
      const ForestPart& one = entry(parts, entry(placed.parts, from));
      if (one.kind == ForestPart::kLeaf) continue;
      std::int64_t first = entry(place_of, one.first);
      if (one.kind == ForestPart::kBranch || first < 0) open.push_back(first = place(one.first));
      if (one.kind == ForestPart::kBranch) open.push_back(place(one.second));
      entry(placed.next, from) = first;
    }
  }
  return placed;
}

// The neutral element of an aggregate.
double neutral_weight(Aggregate aggregate, xla::PrimitiveType type) {
  const double largest =
      type == xla::F64 ? std::numeric_limits<double>::max() : std::numeric_limits<float>::max();
  if (aggregate == Aggregate::kMin) return largest;
  return aggregate == Aggregate::kMax ? -largest : 0;
}

double add_vote(Aggregate aggregate, double before, double weight) {
  if (aggregate == Aggregate::kMin) return std::min(before, weight);
  return aggregate == Aggregate::kMax ? std::max(before, weight) : before + weight;
}

// The nodes of each tree in post-order. `targets`: the target of each tree; nothing if a tree votes
// for several.
struct ForestOrders {
  std::vector<Dimensions> nodes;
  std::optional<Dimensions> targets = Dimensions();
};
ForestOrders orders_of(const Forest& forest) {
  ForestOrders orders;
  for (const std::int64_t root : forest.roots) {
    orders.nodes.push_back(tree_order(forest, root).order);
    std::set<std::int64_t> targets;
    for (const std::int64_t at : orders.nodes.back()) {
      for (const LeafVote& vote : entry(forest.nodes, at).votes) targets.insert(vote.target);
    }
    if (targets.size() > 1) orders.targets.reset();
    if (orders.targets) orders.targets->push_back(targets.empty() ? 0 : *targets.begin());
  }
  return orders;
}

struct PlacedTree {
  std::int64_t target = 0;  // 0 if trees vote for several
  std::int64_t height = 0;
  std::int64_t root = 0;  // a part
};

// Groups trees of equal target and similar depth into blocks.
void add_blocks(const std::vector<PlacedTree>& trees, ForestTables& tables) {
  for (std::int64_t i = 0; i < std::ssize(trees); ++i) {
    const PlacedTree& tree = entry(trees, i);
    auto& blocks = tables.blocks;
    const bool goes_on = !blocks.empty() && blocks.back().target == tree.target &&
                         blocks.back().trees < kernels::kForestBlockTrees;
    if (!goes_on) blocks.push_back({i, 0, 0, tree.target});
    ++blocks.back().trees;
    blocks.back().depth = std::max(blocks.back().depth, tree.height);
    tables.depth = std::max(tables.depth, tree.height);
  }
}

template <typename Key, typename Element>
ForestTables tables_of(const Forest& forest, xla::PrimitiveType type, std::int64_t features) {
  ForestTables tables;
  tables.type = type;
  tables.features = features;
  tables.targets = forest.targets;
  const bool has_smallest = std::ranges::any_of(forest.nodes, [](const ForestNode& one) {
    // Reversing a comparison also reverses the end for missing values.
    const bool may_turn = one.mode != BranchMode::kLessOrEqual && one.mode != BranchMode::kLess;
    return !one.is_leaf && (one.missing_is_true || may_turn);
  });
  tables.slots = 1 + features * (has_smallest ? 2 : 1);
  PartsOfForest<Key, Element> parts(forest, features, has_smallest);

  const auto [orders, targets] = orders_of(forest);
  const double neutral = neutral_weight(forest.aggregate, type);
  std::vector<Element> vectors;
  std::vector<PlacedTree> trees;
  for (std::size_t i = 0; i < orders.size(); ++i) {
    const std::int64_t target = targets ? (*targets)[i] : 0;
    std::map<std::int64_t, std::int64_t> part_of;
    for (const std::int64_t at : orders[i]) {
      const ForestNode& leaf = entry(forest.nodes, at);
      if (!leaf.is_leaf) continue;
      // Sums for one target, or for all.
      std::vector<double> sums(targets ? 1 : static_cast<std::size_t>(forest.targets), neutral);
      for (const LeafVote& vote : leaf.votes) {
        double& sum = entry(sums, vote.target - target);
        sum = add_vote(forest.aggregate, sum, vote.weight);
      }
      if (targets) {
        part_of[at] = parts.leaf(std::bit_cast<Key>(static_cast<Element>(sums.front())));
      } else {
        part_of[at] = parts.leaf(std::ssize(vectors) / forest.targets);
        for (const double sum : sums) vectors.push_back(static_cast<Element>(sum));
      }
    }
    const std::int64_t root = parts.tree(orders[i], part_of);
    trees.push_back({target, entry(parts.parts(), root).height, root});
  }
  std::ranges::stable_sort(
      trees, {}, [](const PlacedTree& tree) { return std::pair(tree.target, tree.height); });
  add_blocks(trees, tables);

  const PlacedParts placed = placed_parts(parts.parts(), mapped(trees, &PlacedTree::root));
  constexpr auto kBits = kernels::forest_slot_bits(sizeof(Element));
  const std::int64_t count = std::ssize(placed.parts);
  tables.nodes = xla::Literal(shape_of(type == xla::F64 ? xla::S64 : xla::S32, {count, 2}));
  const auto words = tables.nodes.data<Key>();
  for (std::int64_t i = 0; i < count; ++i) {
    const ForestPart& part = entry(parts.parts(), entry(placed.parts, i));
    const auto next = static_cast<std::uint64_t>(entry(placed.next, i)) << kBits;
    entry(words, 2 * i) = static_cast<Key>(part.key);
    entry(words, 2 * i + 1) = static_cast<Key>(next | static_cast<std::uint64_t>(part.slot));
  }
  if (!targets) {
    tables.leaves =
        xla::Literal(shape_of(type, {std::ssize(vectors) / forest.targets, forest.targets}));
    std::ranges::copy(vectors, tables.leaves.data<Element>().begin());
  }
  return tables;
}

// True if all slots and places fit into the words of nodes.
bool fits_float_tables(const ForestTables& tables) {
  const std::int64_t bits = kernels::forest_slot_bits(sizeof(float));
  return tables.slots <= std::int64_t{1} << bits &&
         tables.nodes.shape().dimensions(0) <= std::int64_t{1} << (32 - bits);
}

// The number of elements of ForestTables::leaves.
std::int64_t leaf_elements(const Forest& forest) {
  const auto [orders, targets] = orders_of(forest);
  std::int64_t count = 0;
  for (const Dimensions& order : orders) {
    count += std::ranges::count_if(
        order, [&](std::int64_t at) { return entry(forest.nodes, at).is_leaf; });
  }
  return targets ? 0 : count * forest.targets;
}

// True for aggregates that the kernel computes.
bool is_sum(Aggregate aggregate) {
  return aggregate == Aggregate::kSum || aggregate == Aggregate::kAverage;
}

// Builds the computation of one forest, with a builder of its own.
class ForestWalk {
 public:
  ForestWalk(const Node& node, const ForestTables& tables, Aggregate aggregate, std::int64_t rows)
      : node_(node),
        tables_(tables),
        aggregate_(aggregate),
        rows_(rows),
        keys_(tables.type == xla::F64 ? xla::S64 : xla::S32),
        builder_(computation_builder(node, "forest")) {
    for (const ForestBlock& block : tables.blocks) trees_ += block.trees;
  }

  xla::XlaComputation build() {
    const XlaOp x =
        xla::Parameter(builder_.get(), 0, shape_of(tables_.type, {rows_, tables_.features}), "x");
    const XlaOp nodes = xla::Parameter(builder_.get(), 1, tables_.nodes.shape(), "nodes");
    const XlaOp places = walk(keys_of(x), nodes);
    const XlaOp found = node_part(pairs_at(nodes, places), 0);
    const XlaOp sums = tables_.has_vectors() ? sums_of_vectors(found) : sums_of_trees(found);
    return built_computation(node_, *builder_, sums);
  }

 private:
  // [rows, slots]
  XlaOp keys_of(XlaOp x) {
    const XlaOp high = xla::MaxValue(builder_.get(), keys_);
    const XlaOp low = xla::MinValue(builder_.get(), keys_);
    const XlaOp bits = xla::BitcastConvertType(x, keys_);
    const XlaOp keys = xla::Select(bits < 0, bits ^ high, bits);
    const auto with = [&](XlaOp missing) {
      return xla::Select(x != x, xla::Broadcast(missing, {rows_, tables_.features}), keys);
    };
    std::vector<XlaOp> all = {xla::Broadcast(low, {rows_, 1}), with(high)};
    if (tables_.slots > 1 + tables_.features) all.push_back(with(low));
    return xla::ConcatInDim(builder_.get(), all, 1);
  }

  // [rows, trees, 2]
  XlaOp pairs_at(XlaOp nodes, XlaOp places) const {
    return gather(node_, nodes, places, {{0}, {2}, 2});
  }
  XlaOp node_part(XlaOp pairs, std::int64_t which) const { return part_at(node_, pairs, which, 2); }

  XlaOp next_places(xla::XlaBuilder& builder, XlaOp keys, XlaOp nodes, XlaOp places) const {
    const std::int64_t bits = kernels::forest_slot_bits(tables_.type == xla::F64 ? 8 : 4);
    const XlaOp pairs = pairs_at(nodes, places);
    const XlaOp word = node_part(pairs, 1);
    const XlaOp slot = word & like(word, (std::int64_t{1} << bits) - 1);
    const XlaOp next = xla::ShiftRightLogical(word, like(word, bits));
    // Row and slot of each.
    const Dimensions one = {rows_, trees_, 1};
    const XlaOp row = xla::Iota(&builder, shape_of(keys_, one), 0);
    const XlaOp places_of_keys = xla::ConcatInDim(&builder, {row, xla::Reshape(slot, one)}, 2);
    const XlaOp key = gather(node_, keys, places_of_keys, {{0, 1}, {}, 2});
    return next + cast(key > node_part(pairs, 0), keys_);
  }

  XlaOp walk(XlaOp keys, XlaOp nodes) {
    const XlaOp roots = xla::Iota(builder_.get(), shape_of(keys_, {rows_, trees_}), 1);
    if (tables_.depth == 0) return roots;
    const auto step = [&](const LoopStep& now) -> std::vector<XlaOp> {
      return {next_places(now.builder, now.fixed[0], now.fixed[1], now.state[0])};
    };
    return run_loop(node_, {.count = tables_.depth, .is_while = true}, {roots}, {keys, nodes}, step)
        .front();
  }

  XlaOp reduced(XlaOp values) const {
    if (is_sum(aggregate_)) return sum_of(values, {1});
    const bool is_least = aggregate_ == Aggregate::kMin;
    const XlaOp found = is_least ? least_of(values, {1}) : largest_of(values, {1});
    // Zero without votes, as in ONNX Runtime.
    const XlaOp none = is_least ? xla::MaxFiniteValue(builder_.get(), tables_.type)
                                : xla::MinFiniteValue(builder_.get(), tables_.type);
    return xla::Select(found == none, xla::ZerosLike(found), found);
  }

  XlaOp sums_of_trees(XlaOp found) {
    const XlaOp weights = xla::BitcastConvertType(found, tables_.type);
    std::vector<XlaOp> sums;
    std::int64_t made = 0;  // targets
    const auto fill_up_to = [&](std::int64_t target) {
      if (target == made) return;
      sums.push_back(
          xla::Broadcast(xla::Zero(builder_.get(), tables_.type), {rows_, target - made}));
      made = target;
    };
    std::int64_t first = 0;
    for (auto block = tables_.blocks.begin(); block != tables_.blocks.end();) {
      const std::int64_t target = block->target;
      std::int64_t end = first;
      for (; block != tables_.blocks.end() && block->target == target; ++block) end += block->trees;
      fill_up_to(target);  // no tree votes for those between
      const XlaOp of_target = reduced(xla::SliceInDim(weights, first, end, 1, 1));
      sums.push_back(xla::Reshape(of_target, {rows_, 1}));
      made = target + 1;
      first = end;
    }
    fill_up_to(tables_.targets);
    return xla::ConcatInDim(builder_.get(), sums, 1);
  }

  XlaOp sums_of_vectors(XlaOp found) {
    const XlaOp leaves = xla::Parameter(builder_.get(), 2, tables_.leaves.shape(), "leaves");
    return reduced(gather(node_, leaves, found, {{0}, {2}, 2}));
  }

  const Node& node_;
  const ForestTables& tables_;
  Aggregate aggregate_;
  std::int64_t rows_;
  xla::PrimitiveType keys_;
  std::int64_t trees_ = 0;
  std::unique_ptr<xla::XlaBuilder> builder_;
};

// Aggregates the trees, without base values: [rows, targets], F32 or F64. `x`: [rows,
// features], F32 or F64. The tables become weights named after the node.
XlaOp walk_forest(Node& node, XlaOp x, const Forest& forest) {
  const Dimensions sizes = node.sizes_of(x);
  xla::XlaBuilder* const builder = &node.builder();
  node.check_made(leaf_elements(forest), kMostMadeElements);
  const ForestTables tables = forest_tables(forest, node.type_of(x), sizes.back());
  if (forest.roots.empty()) {
    return xla::Broadcast(xla::Zero(builder, tables.type), {sizes.front(), forest.targets});
  }
  std::vector<XlaOp> operands = {cast(x, tables.type), node.keep("trees", tables.nodes)};
  if (tables.has_vectors()) operands.push_back(node.keep("leaves", tables.leaves));
  const auto computation = ForestWalk(node, tables, forest.aggregate, sizes.front()).build();
  if (!is_sum(forest.aggregate)) return xla::Call(builder, computation, operands);
  kernels::ForestCall call{};
  call.rows = sizes.front();
  call.features = tables.features;
  call.slots = tables.slots;
  call.targets = tables.targets;
  call.vectors = tables.has_vectors() ? 1 : 0;
  call.tops = tables.tops;
  call.blocks = std::ssize(tables.blocks);
  std::vector<std::int64_t> words = as_words(call);
  for (const ForestBlock& block : tables.blocks) {
    std::ranges::copy(as_words(block), std::back_inserter(words));
  }
  const XlaOp sums = composite("forest", words, computation, operands);
  if (forest.aggregate != Aggregate::kAverage) return sums;
  return sums / static_cast<double>(forest.roots.size());
}

// Adds the base value of each target to the scores.
XlaOp with_base_values(const Node& node, XlaOp scores, const std::vector<double>& base) {
  if (base.empty()) return scores;
  const std::int64_t count = node.sizes_of(scores).back();
  if (std::ssize(base) != count)
    node.refuse("has {} base_values for {} scores", base.size(), count);
  return scores + in_columns(node, base, scores);
}

void lower_tree_ensemble(Node& node) {
  const XlaOp x = feature_rows(node);
  const auto transform =
      numbered(node, "post_transform", PostTransform::kNone, PostTransform::kProbit);
  const Forest forest = read_tree_ensemble(node, node.sizes_of(x).back());
  set_scores(node, 0, walk_forest(node, x, forest), transform, node.type(0));
}

void lower_tree_regressor(Node& node) {
  const XlaOp x = feature_rows(node);
  Forest forest = read_forest(node, "target", forest_targets(node), x);
  const XlaOp sums = walk_forest(node, x, forest);
  const auto base = forest_numbers(node, "base_values", forest.has_doubles);
  set_scores(node, 0, with_base_values(node, sums, base), post_transform_of(node));
}

// The classes for which leaves vote; `are_positive`: no vote is negative.
struct ClassVotes {
  std::set<std::int64_t> classes;
  bool are_positive = true;
};
ClassVotes class_votes(const Forest& forest) {
  ClassVotes votes;
  for (const ForestNode& one : forest.nodes) {
    for (const LeafVote& vote : one.votes) {
      votes.classes.insert(vote.target);
      votes.are_positive = votes.are_positive && vote.weight >= 0;
    }
  }
  return votes;
}

// Handles two classes of which only one gets votes: the other's score is derived, which the
// standard leaves open. Votes for the first class mean the second, as converters write them.
// Without a transform, this follows ONNX Runtime: scores that cannot be negative are probabilities,
// others are signed. With one, the score and its negative are transformed, as in the reference
// implementation.
void set_binary_classes(Node& node, XlaOp scores, const ClassVotes& votes,
                        const ClassLabels& labels, PostTransform transform) {
  const bool is_first = votes.classes.count(0) > 0;
  const XlaOp positive = slice_at(scores, is_first ? 0 : 1, 1);
  const bool is_probability = votes.are_positive && transform != PostTransform::kLogistic;
  const XlaOp limit = like(positive, is_probability ? 0.5 : 0);
  const XlaOp is_second = xla::Reshape(positive > limit, {node.sizes_of(scores).front()});
  set_labels(node, labels, cast(is_second, xla::S32));
  if (is_first) {
    const bool adds_up = transform == PostTransform::kProbit ||
                         (transform == PostTransform::kNone && votes.are_positive);
    const XlaOp negative = adds_up ? 1 - positive : -positive;
    scores = xla::ConcatInDim(&node.builder(), {negative, positive}, 1);
  }
  set_scores(node, 1, scores, transform);
}

void lower_tree_classifier(Node& node) {
  const XlaOp x = feature_rows(node);
  const ClassLabels labels = class_labels(node, "classlabels_int64s");
  Forest forest = read_forest(node, "class", labels.count, x);
  const auto transform = post_transform_of(node);
  const XlaOp sums = walk_forest(node, x, forest);
  std::vector<double> base = forest_numbers(node, "base_values", forest.has_doubles);
  // A single value is that of the first of two classes, as in ONNX Runtime.
  if (base.size() == 1 && labels.count == 2) base.push_back(0);
  const XlaOp scores = with_base_values(node, sums, base);
  const ClassVotes votes = class_votes(forest);
  if (labels.count == 2 && votes.classes.size() == 1) {
    return set_binary_classes(node, scores, votes, labels, transform);
  }
  set_labels(node, labels, place_of_largest(scores));
  set_scores(node, 1, scores, transform);
}

}  // namespace

ForestTables forest_tables(const Forest& forest, xla::PrimitiveType type, std::int64_t features) {
  if (type != xla::F64 && !forest.has_doubles) {
    ForestTables tables = tables_of<std::int32_t, float>(forest, xla::F32, features);
    if (fits_float_tables(tables)) {
      add_forest_tops(tables);
      return tables;
    }
  }
  return tables_of<std::int64_t, double>(forest, xla::F64, features);
}

std::vector<OnnxOperator> machine_learning_operators() {
  return in_domain(
      "ai.onnx.ml",
      {
          {"ArrayFeatureExtractor", 1, lower_array_feature_extractor, {.better_known = {1}}},
          {"Binarizer", 1, lower_binarizer},
          {"FeatureVectorizer", 1, lower_feature_vectorizer},
          {"Imputer", 1, lower_imputer},
          {"LabelEncoder", 2, lower_label_encoder},
          {"LinearClassifier", 1, lower_linear_classifier},
          {"LinearRegressor", 1, lower_linear_regressor},
          {"Normalizer", 1, lower_normalizer},
          {"OneHotEncoder", 1, lower_one_hot_encoder},
          {"SVMClassifier", 1, lower_svm_classifier},
          {"SVMRegressor", 1, lower_svm_regressor},
          {"Scaler", 1, lower_scaler},
          {"TreeEnsemble", 5, lower_tree_ensemble},
          {"TreeEnsembleClassifier", 1, lower_tree_classifier},
          {"TreeEnsembleRegressor", 1, lower_tree_regressor},
      });
}

}  // namespace tfaot::toolkit::engine
