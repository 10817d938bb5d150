// SPDX-License-Identifier: Apache-2.0
// The domain ai.onnx.ml: what scikit-learn, XGBoost and LightGBM are converted to. Features, linear
// models, support vectors, trees.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <set>
#include <string_view>

#include "compiler/kernels/forest_calls.h"
#include "front/onnx/forest/forest.h"
#include "front/onnx/forest/forest_tables.h"
#include "front/onnx/operators.h"
#include "front/onnx/operators/building.h"
#include "front/onnx/operators/loops.h"
#include "tfaot/base/limits.h"
#include "xla/client/lib/arithmetic.h"
#include "xla/client/lib/constants.h"
#include "xla/client/lib/math.h"
#include "xla/client/lib/slicing.h"

namespace tfaot::toolkit::engine {
namespace {

// In the order of TreeEnsemble's numbers.
enum class PostTransform { kNone, kSoftmax, kLogistic, kSoftmaxZero, kProbit };

// The labels of classes. Strings are only counted: no result can hold them.
struct ClassLabels {
  std::vector<std::int64_t> numbers;
  std::int64_t count = 0;
  bool are_strings = false;
};

XlaOp score_softmax(XlaOp scores, const Dimensions& sizes) {
  const XlaOp powers = xla::Exp(scores - spread(largest_of(scores, {1}), sizes, {1}));
  return powers / spread(sum_of(powers, {1}), sizes, {1});
}

// A softmax that leaves scores of zero out. A row of nothing else becomes halves, as the standard's
// reference implementation has it.
XlaOp score_softmax_zero(XlaOp scores, const Dimensions& sizes) {
  const XlaOp largest = spread(largest_of(scores, {1}), sizes, {1});
  const XlaOp is_zero = xla::Abs(scores) <= 1e-7;
  const XlaOp powers =
      xla::Select(is_zero, scores * xla::Exp(-largest), xla::Exp(scores - largest));
  const XlaOp sum = spread(sum_of(powers, {1}), sizes, {1});
  const XlaOp halves = xla::ZerosLike(sum) + 0.5;
  return xla::Select(sum == xla::ZerosLike(sum), halves, powers / sum);
}

// The approximation of the inverse error function that ONNX Runtime and the standard's reference
// implementation share.
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

// The attribute post_transform, in words or as TreeEnsemble numbers them.
PostTransform post_transform_of(const Node& node) {
  return node.choice<PostTransform>("post_transform",
                                    {"NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"});
}
PostTransform numbered_post_transform(const Node& node) {
  const std::int64_t number = node.integer("post_transform", 0);
  if (number < 0 || number > static_cast<std::int64_t>(PostTransform::kProbit)) {
    node.refuse(fmt::format("has the post_transform {}", number));
  }
  return static_cast<PostTransform>(number);
}

// Sets a result to the transformed scores of [rows, scores of a row].
void set_scores(Node& node, int result, XlaOp scores, PostTransform transform,
                xla::PrimitiveType type = xla::F32) {
  const Dimensions sizes = node.sizes_of(scores);
  if (transform == PostTransform::kSoftmax) scores = score_softmax(scores, sizes);
  if (transform == PostTransform::kLogistic) scores = xla::Logistic(scores);
  if (transform == PostTransform::kSoftmaxZero) scores = score_softmax_zero(scores, sizes);
  if (transform == PostTransform::kProbit) scores = score_probit(scores);
  node.set(result, cast(scores, type));
}

// As [rows, features]: one dimension is a single row. Refuses more than two.
XlaOp feature_rows(const Node& node, XlaOp x) {
  const Dimensions sizes = node.sizes_of(x);
  if (sizes.size() == 1) return xla::Reshape(x, {1, sizes.front()});
  if (sizes.size() != 2) {
    node.refuse(
        fmt::format("has an input of {} dimensions; it needs rows of features", sizes.size()));
  }
  return x;
}

// F64 stays, everything else becomes F32.
XlaOp as_real(const Node& node, XlaOp x) {
  return node.type_of(x) == xla::F64 ? x : cast(x, xla::F32);
}

// `integers`: the name of the attribute for integers. Refuses nodes without labels.
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
    node.refuse(
        fmt::format("has {} labels in '{}' and 'classlabels_strings'; a classifier needs "
                    "two or more",
                    labels.count, integers));
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
  const auto counted = dimension_range(0, std::ssize(labels.numbers));
  if (labels.numbers == counted) return node.set(0, found);
  // Rows stay in order, which a lookup would not show (kernels/finished_calls.cc).
  const Dimensions sizes = {node.sizes_of(places).front(), labels.count};
  const auto in_rows = [&](const std::vector<std::int64_t>& row) {
    return along(constant_integers(node, row), sizes, 1);
  };
  const XlaOp is_it = along(found, sizes, 0) == in_rows(counted);
  const XlaOp least = xla::MinValue(&node.builder(), xla::S64);
  const XlaOp chosen = xla::Select(is_it, in_rows(labels.numbers), xla::Broadcast(least, sizes));
  node.set(0, largest_of(chosen, {1}));
}

// The first of the largest of each row: [rows], integers.
XlaOp place_of_largest(XlaOp scores) { return xla::ArgMax(scores, xla::S32, 1); }

constexpr double kLeastProbability = 1e-7;
constexpr std::int64_t kProbabilitySteps = 100;

// Classes that are compared pair by pair, as support vector machines do: (i, j) has i < j; pairs
// are in the order of i, then j.
std::vector<std::pair<std::int64_t, std::int64_t>> class_pairs(std::int64_t classes) {
  std::vector<std::pair<std::int64_t, std::int64_t>> pairs;
  for (std::int64_t i = 0; i < classes; ++i) {
    for (std::int64_t j = i + 1; j < classes; ++j) pairs.emplace_back(i, j);
  }
  return pairs;
}

// The probabilities p of a row are where p Q p is least. With r(i, j) for the probability of i
// among i and j, Q(i, j) is -r(i, j) r(j, i), and Q(i, i) the sum of all r(j, i) squared.
// [rows, classes, classes]
XlaOp quadratic_form(const Node& node, XlaOp first, std::int64_t classes) {
  const auto pairs = class_pairs(classes);
  const auto count = std::ssize(pairs);
  // Places of r(j, i) and r(i, j) in [first, second] of all pairs. The diagonal is replaced.
  Dimensions there(static_cast<std::size_t>(classes * classes), 0);
  Dimensions back = there;
  for (std::int64_t pair = 0; pair < count; ++pair) {
    const auto [i, j] = entry(pairs, pair);
    entry(there, i * classes + j) = pair + count;
    entry(there, j * classes + i) = pair;
    entry(back, i * classes + j) = pair;
    entry(back, j * classes + i) = pair + count;
  }
  const XlaOp both = xla::ConcatInDim(&node.builder(), {first, 1 - first}, 1);
  const Dimensions sizes = {node.sizes_of(first).front(), classes, classes};
  const auto placed = [&](const Dimensions& places) {
    return xla::Reshape(take_places(node, both, 1, places), sizes);
  };
  const XlaOp is_diagonal =
      index_along(node, xla::S32, sizes, 1) == index_along(node, xla::S32, sizes, 2);
  const XlaOp others =
      xla::Select(is_diagonal, zeros_of(node, node.type_of(first), sizes), placed(there));
  const XlaOp sums = sum_of(xla::Square(others), {2});
  return xla::Select(is_diagonal, spread(sums, sizes, {2}), -(others * placed(back)));
}

// One step towards the least p Q p: changes one probability after the other and divides all by
// their new sum. Rows that are there stay.
std::vector<XlaOp> improved_probabilities(const Node& node, const LoopStep& step) {
  const XlaOp form = step.fixed.front();
  const XlaOp start = step.state[1];
  const Dimensions sizes = node.sizes_of(start);
  const std::int64_t classes = sizes.back();
  const auto across = [&](XlaOp of_rows) { return along(of_rows, sizes, 0); };

  XlaOp p = start;
  XlaOp slopes = sum_of(form * spread(p, node.sizes_of(form), {1}), {2});
  XlaOp value = sum_of(p * slopes, {1});
  const auto type = node.type_of(p);
  const XlaOp error = xla::Reduce(xla::Abs(slopes - across(value)), xla::Zero(&step.builder, type),
                                  xla::CreateScalarMaxComputation(type, &step.builder), {1});
  // So are rows of NaN.
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
  const XlaOp all_there = least_of(is_there, {0});
  const XlaOp stays = along(is_there, sizes, 0);
  return {~all_there, xla::Select(stays, start, p)};
}

// [rows, classes]: how many pairs chose the class. `scores`: [rows, pairs], positive for the first
// class of the pair.
XlaOp votes_of_pairs(const Node& node, XlaOp scores, std::int64_t classes) {
  const auto type = node.type_of(scores);
  const auto pairs = class_pairs(classes);
  const XlaOp is_first = scores > xla::ZerosLike(scores);
  const XlaOp first = cast(is_first, type);
  const XlaOp second = cast(~is_first, type);
  // A vote for the first of a pair, and one for the second.
  std::vector<double> for_first(pairs.size() * static_cast<std::size_t>(classes), 0);
  std::vector<double> for_second = for_first;
  for (std::size_t pair = 0; pair < pairs.size(); ++pair) {
    const std::size_t row = pair * static_cast<std::size_t>(classes);
    for_first[row + static_cast<std::size_t>(pairs[pair].first)] = 1;
    for_second[row + static_cast<std::size_t>(pairs[pair].second)] = 1;
  }
  const Dimensions sizes = {std::ssize(pairs), classes};
  return xla::Dot(first, constant_reals(node, type, for_first, sizes)) +
         xla::Dot(second, constant_reals(node, type, for_second, sizes));
}

// [rows, classes]. `first`: [rows, pairs], the probability of the first class of the pair, if it is
// one of both. They seldom fit together; this is the second method of Wu, Lin and Weng (JMLR 5,
// 2004), with the limits of LIBSVM.
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

std::vector<double> doubles_of(const std::vector<float>& values) {
  return {values.begin(), values.end()};
}

// One value for each feature, or one for all of them, in every place of `like`.
XlaOp value_of_features(const Node& node, const char* name, const std::vector<double>& values,
                        XlaOp like) {
  const Dimensions sizes = node.sizes_of(like);
  const auto type = node.type_of(like);
  if (values.size() == 1) {
    return xla::Broadcast(scalar(node, type, values.front()), sizes);
  }
  if (sizes.empty() || sizes.size() > 2 || std::ssize(values) != sizes.back()) {
    node.refuse(
        fmt::format("has {} values of '{}', which do not fit its input", values.size(), name));
  }
  const XlaOp row = constant_reals(node, type, values, {sizes.back()});
  return along(row, sizes, std::ssize(sizes) - 1);
}

void lower_scaler(Node& node) {
  XlaOp x = as_real(node, node.operand(0));
  const auto offset = doubles_of(node.reals("offset"));
  const auto scale = doubles_of(node.reals("scale"));
  if (!offset.empty()) x = x - value_of_features(node, "offset", offset, x);
  if (!scale.empty()) x = x * value_of_features(node, "scale", scale, x);
  node.set(cast(x, xla::F32));
}

// A row of zeros stays.
void lower_normalizer(Node& node) {
  const Dimensions sizes = node.sizes(0);
  const XlaOp x = as_real(node, feature_rows(node, node.operand(0)));
  const auto type = node.type_of(x);
  const std::string norm = node.word("norm", {"MAX", "L1", "L2"});
  const XlaOp largest = xla::Reduce(xla::Abs(x), scalar(node, type, 0),
                                    xla::CreateScalarMaxComputation(type, &node.builder()), {1});
  XlaOp size = norm == "MAX"  ? largest
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
  std::vector<double> values = doubles_of(node.reals("imputed_value_floats"));
  const char* name = "imputed_value_floats";
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
  if (values.empty()) node.refuse(fmt::format("has no attribute '{}' for its input's type", name));
  node.set(xla::Select(is_replaced, value_of_features(node, name, values, x), x));
}

void lower_binarizer(Node& node) {
  const XlaOp x = node.operand(0);
  // An integer is larger than the threshold or not, also if that is no integer.
  const XlaOp compared = as_real(node, x);
  const XlaOp is_larger = compared > node.real("threshold", 0);
  node.set(cast(is_larger, node.type(0)));
}

// Elements of the last dimension. A vector is a row.
void lower_array_feature_extractor(Node& node) {
  const Dimensions sizes = node.sizes(0);
  if (sizes.empty()) node.refuse("has a number in place of features");
  const std::int64_t axis = std::ssize(sizes) - 1;
  const XlaOp places = xla::Reshape(node.operand(1), {product(node.sizes(1))});
  Dimensions result = sizes;
  result.back() = product(node.sizes(1));
  if (sizes.size() == 1) result.insert(result.begin(), 1);
  if (const auto known = node.integers_if_known(1)) {
    const bool is_inside = std::ranges::all_of(
        *known, [&](std::int64_t place) { return place >= 0 && place < sizes.back(); });
    if (!is_inside) node.refuse(fmt::format("takes features that are not among {}", sizes.back()));
    return node.set(xla::Reshape(take_places(node, node.operand(0), axis, *known), result));
  }
  node.set(xla::Reshape(xla::TorchIndexSelect(node.operand(0), places, axis), result));
}

// Rows of several inputs side by side, each cut or filled up with zeros.
void lower_feature_vectorizer(Node& node) {
  const auto widths = node.integers("inputdimensions");
  if (std::ssize(widths) != node.operand_count()) {
    node.refuse(
        fmt::format("has {} 'inputdimensions' for {} inputs", widths.size(), node.operand_count()));
  }
  std::vector<XlaOp> parts;
  for (int i = 0; i < node.operand_count(); ++i) {
    XlaOp x = cast(node.operand(i), xla::F32);
    Dimensions sizes = node.sizes_of(x);
    if (sizes.size() == 1) {
      sizes.push_back(1);
      x = xla::Reshape(x, sizes);
    }
    const std::int64_t width = entry(widths, i);
    if (sizes.size() != 2 || width < 0) node.refuse(fmt::format("cannot take input {} as rows", i));
    if (width < sizes.back()) x = xla::SliceInDim(x, 0, width, 1, 1);
    if (width > sizes.back()) {
      x = xla::PadInDim(x, scalar(node, xla::F32, 0), 1, 0, width - sizes.back());
    }
    parts.push_back(x);
  }
  node.set(xla::ConcatInDim(&node.builder(), parts, 1));
}

// [..., keys]: whether the element is the key. NaN is the key NaN.
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
  // As in the standard's reference, a number is compared as it is: 1.5 is no category.
  const XlaOp keys = cast(constant_integers(node, categories), node.type(0));
  node.set(cast(matches_of(node, node.operand(0), keys), xla::F32));
}

// Keys or values of a LabelEncoder. Attributes of floats and integers are those of old models.
std::optional<xla::Literal> encoder_numbers(const Node& node, const std::string& what) {
  if (!node.texts(what + "_strings").empty()) {
    node.refuse(fmt::format("has {} that are strings, which compiled models cannot have", what));
  }
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
  const std::int64_t count = keys->shape().dimensions(0);
  // The place of the key, and after all of them that of the default. Of equal keys, the last
  // counts.
  const XlaOp number = index_along(node, xla::S32, node.sizes_of(matches), node.rank(0));
  const XlaOp none = scalar(node, xla::S32, -1);
  const XlaOp places = xla::Select(matches, number, xla::Broadcast(none, node.sizes_of(matches)));
  const XlaOp found =
      xla::Reduce(places, none, xla::CreateScalarMaxComputation(xla::S32, builder), {node.rank(0)});
  const XlaOp last = scalar(node, xla::S32, static_cast<double>(count));
  const XlaOp place = xla::Select(found < 0, xla::Broadcast(last, node.sizes(0)), found);
  const XlaOp table = xla::ConcatInDim(
      builder,
      {xla::ConstantLiteral(builder, *values), xla::Reshape(encoder_default(node, type), {1})}, 0);
  node.set(gather(node, table, place, {{0}, {}, node.rank(0)}));
}

// Linear models and support vector machines, whose coefficients become weights: rows of features.
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
  return cast(kept_matrix(node, name, row_values(node, name, width), width), type);
}

// x C + b: [rows, scores]
XlaOp linear_scores(Node& node, XlaOp x) {
  const auto type = node.type_of(x);
  const XlaOp matrix = model_matrix(node, "coefficients", node.sizes_of(x).back(), type);
  const XlaOp scores = times_transposed(x, matrix);
  const std::vector<float> intercepts = node.reals("intercepts");
  if (intercepts.empty()) return scores;
  const Dimensions sizes = node.sizes_of(scores);
  if (std::ssize(intercepts) != sizes.back()) {
    node.refuse(fmt::format("has {} intercepts for {} scores", intercepts.size(), sizes.back()));
  }
  const XlaOp row =
      cast(node.keep("intercepts", xla::LiteralUtil::CreateR1<float>(intercepts)), type);
  return scores + along(row, sizes, 1);
}

void lower_linear_regressor(Node& node) {
  const XlaOp scores = linear_scores(node, model_rows(node));
  const std::int64_t targets = node.integer("targets", 1);
  if (node.sizes_of(scores).back() != targets) {
    node.refuse(fmt::format("has coefficients for {} targets instead of {}",
                            node.sizes_of(scores).back(), targets));
  }
  set_scores(node, 0, scores, post_transform_of(node));
}

void lower_linear_classifier(Node& node) {
  XlaOp scores = linear_scores(node, model_rows(node));
  const ClassLabels labels = class_labels(node, "classlabels_ints");
  const std::int64_t count = node.sizes_of(scores).back();
  // One score for two classes is that of the second.
  if (count == 1 && labels.count == 2) {
    scores = xla::ConcatInDim(&node.builder(), {-scores, scores}, 1);
  } else if (count != labels.count) {
    node.refuse(fmt::format("has {} scores for {} classes", count, labels.count));
  }
  set_labels(node, labels, place_of_largest(scores));
  set_scores(node, 1, scores, post_transform_of(node));
}

// The sums of wider rows are left to a product: written out, they would take long to compile.
constexpr std::int64_t kMostWrittenFeatures = 256;

// |x - v|^2 of each row and each vector, written out feature by feature.
XlaOp written_distances(Node& node, XlaOp x, const std::vector<float>& vectors) {
  const std::int64_t width = node.sizes_of(x).back();
  const std::int64_t count = std::ssize(vectors) / width;
  xla::Literal features(shape_of(xla::F32, {width, count}));
  for (std::int64_t i = 0; i < std::ssize(vectors); ++i) {
    features.Set<float>({i % width, i / width}, entry(vectors, i));
  }
  const XlaOp kept = cast(node.keep("support_vectors", features), node.type_of(x));
  const Dimensions sizes = {node.sizes_of(x).front(), count};
  XlaOp sum;
  for (std::int64_t i = 0; i < width; ++i) {
    const XlaOp square = xla::Square(along(part_at(node, x, i, 1), sizes, 0) -
                                     along(part_at(node, kept, i, 0), sizes, 1));
    sum = i == 0 ? square : sum + square;
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
    return cast(node.keep(name, xla::LiteralUtil::CreateR1<float>(values)), type);
  };
  x = x - along(kept_row("origin", origin), node.sizes_of(x), 1);
  const XlaOp matrix = cast(kept_matrix(node, "support_vectors", vectors, width), type);
  const XlaOp products = times_transposed(x, matrix);
  const Dimensions sizes = node.sizes_of(products);
  const XlaOp sums =
      along(sum_of(xla::Square(x), {1}), sizes, 0) + along(kept_row("squares", squares), sizes, 1);
  return xla::Max(sums - products * 2, like(x, 0));
}

// exp(-gamma |x - v|^2) of each row and each vector
XlaOp gaussian_values(Node& node, XlaOp x, double gamma) {
  const std::int64_t width = node.sizes_of(x).back();
  const std::vector<float> vectors = row_values(node, "support_vectors", width);
  const XlaOp distances = width <= kMostWrittenFeatures ? written_distances(node, x, vectors)
                                                        : distances_by_product(node, x, vectors);
  return xla::Exp(distances * -gamma);
}

// The likeness of each row of x to each support vector: [rows, vectors]
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
  XlaOp score = times_transposed(values, coefficients) + rho.front();
  if (node.flag("one_class")) {
    const XlaOp one = xla::Broadcast(scalar(node, type, 1), node.sizes_of(score));
    score = xla::Select(score > xla::ZerosLike(score), one, -one);
  }
  set_scores(node, 0, score, post_transform_of(node));
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

// Scores of all classes against each other, or without support vectors those of the classes.
void lower_svm_classifier(Node& node) {
  const XlaOp x = model_rows(node);
  const auto type = node.type_of(x);
  const ClassLabels labels = class_labels(node, "classlabels_ints");
  const auto counts = node.integers("vectors_per_class");
  const PostTransform transform = post_transform_of(node);
  if (counts.empty()) {
    const std::vector<float> rho = node.reals("rho");
    if (rho.empty()) node.refuse("has no attribute 'rho'");
    const XlaOp matrix = model_matrix(node, "coefficients", node.sizes_of(x).back(), type);
    const XlaOp scores = times_transposed(x, matrix) + rho.front();
    if (node.sizes_of(scores).back() != labels.count) {
      node.refuse(fmt::format("has coefficients for {} classes instead of {}",
                              node.sizes_of(scores).back(), labels.count));
    }
    set_labels(node, labels, place_of_largest(scores));
    return set_scores(node, 1, scores, transform);
  }
  if (std::ssize(counts) != labels.count) {
    node.refuse(
        fmt::format("has {} vectors_per_class for {} classes", counts.size(), labels.count));
  }
  // Large coefficients of both signs cancel out (NuSVC), so they are added up as float64.
  const XlaOp values = cast(kernel_values(node, x), xla::F64);
  const auto places = vector_places(node, counts, node.sizes_of(values).back());
  const XlaOp products = times_transposed(values, pair_coefficients(node, places));
  const Dimensions sizes = node.sizes_of(products);
  const auto of_pairs = [&](const std::string& name) {
    return along(pair_numbers(node, name, xla::F64, sizes.back()), sizes, 1);
  };
  XlaOp scores = products + of_pairs("rho");
  set_labels(node, labels, place_of_largest(votes_of_pairs(node, scores, labels.count)));
  if (!node.reals("prob_a").empty()) {
    const XlaOp lines = scores * of_pairs("prob_a") + of_pairs("prob_b");
    const XlaOp first = cast(xla::Logistic(-lines), type);
    scores = probabilities_of_pairs(node, first, labels.count);
  } else if (labels.count == 2) {
    scores = xla::ConcatInDim(&node.builder(), {-scores, scores}, 1);
  }
  set_scores(node, 1, scores, transform);
}

// The computation of one forest. All operations are of its own builder.
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
  using ForestBlock = kernels::ForestBlock;

  XlaOp number(xla::XlaBuilder& builder, std::int64_t value) const {
    return xla::ConstantR0WithType(&builder, keys_, value);
  }

  // [rows, slots]
  XlaOp keys_of(XlaOp x) {
    const bool is_double = tables_.type == xla::F64;
    const std::int64_t largest = is_double ? std::numeric_limits<std::int64_t>::max()
                                           : std::numeric_limits<std::int32_t>::max();
    const XlaOp high = number(*builder_, largest);
    const XlaOp low = number(*builder_, -largest - 1);
    const XlaOp bits = xla::BitcastConvertType(x, keys_);
    const XlaOp keys = xla::Select(bits < xla::ZerosLike(bits), bits ^ high, bits);
    const XlaOp is_missing = x != x;
    const auto with = [&](XlaOp missing) {
      return xla::Select(is_missing, xla::Broadcast(missing, {rows_, tables_.features}), keys);
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
    const XlaOp next = xla::ShiftRightLogical(word, number(builder, bits));
    // Row and slot of each.
    const Dimensions one = {rows_, trees_, 1};
    const XlaOp row = xla::Iota(&builder, shape_of(keys_, one), 0);
    const XlaOp places_of_keys = xla::ConcatInDim(&builder, {row, xla::Reshape(slot, one)}, 2);
    const XlaOp key = gather(node_, keys, places_of_keys, {{0, 1}, {}, 2});
    const XlaOp is_larger = key > node_part(pairs, 0);
    return next + cast(is_larger, keys_);
  }

  XlaOp walk(XlaOp keys, XlaOp nodes) {
    const XlaOp roots = xla::Iota(builder_.get(), shape_of(keys_, {rows_, trees_}), 1);
    if (tables_.depth == 0) return roots;
    const XlaOp start = xla::Tuple(builder_.get(), {number(*builder_, 0), roots, keys, nodes});
    const xla::Shape shape = node_.shape_of_op(start);

    const auto condition = computation_builder(node_, "condition");
    const XlaOp step = xla::GetTupleElement(xla::Parameter(condition.get(), 0, shape, "state"), 0);
    const auto is_going = built_computation(node_, *condition, step < tables_.depth);

    const auto body = computation_builder(node_, "step");
    const XlaOp state = xla::Parameter(body.get(), 0, shape, "state");
    const XlaOp same_keys = xla::GetTupleElement(state, 2);
    const XlaOp same_nodes = xla::GetTupleElement(state, 3);
    const XlaOp next = next_places(*body, same_keys, same_nodes, xla::GetTupleElement(state, 1));
    const XlaOp count = xla::GetTupleElement(state, 0) + 1;
    const auto one_step = built_computation(
        node_, *body, xla::Tuple(body.get(), {count, next, same_keys, same_nodes}));
    return xla::GetTupleElement(xla::While(is_going, one_step, start), 1);
  }

  XlaOp reduced(XlaOp values) const {
    xla::XlaBuilder* const builder = builder_.get();
    const auto type = tables_.type;
    // Without votes it is zero, as in ONNX Runtime.
    const auto or_zero = [](XlaOp found, XlaOp start) {
      return xla::Select(found == start, xla::ZerosLike(found), found);
    };
    if (aggregate_ == Aggregate::kMin) {
      const XlaOp start = xla::MaxFiniteValue(builder, type);
      return or_zero(
          xla::Reduce(values, start, xla::CreateScalarMinComputation(type, builder), {1}), start);
    }
    if (aggregate_ == Aggregate::kMax) {
      const XlaOp start = xla::MinFiniteValue(builder, type);
      return or_zero(
          xla::Reduce(values, start, xla::CreateScalarMaxComputation(type, builder), {1}), start);
    }
    return sum_of(values, {1});
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

// Aggregates that the kernel computes.
bool is_sum(Aggregate aggregate) {
  return aggregate == Aggregate::kSum || aggregate == Aggregate::kAverage;
}

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
  std::optional<xla::XlaScopedFrontendAttributesAssignment> marked;
  if (is_sum(forest.aggregate)) {
    kernels::ForestCall call{};
    call.rows = sizes.front();
    call.features = tables.features;
    call.slots = tables.slots;
    call.targets = tables.targets;
    call.vectors = tables.has_vectors() ? 1 : 0;
    call.tops = tables.tops;
    marked.emplace(builder, forest_attributes(call, tables.blocks));
  }
  const XlaOp sums = xla::Call(builder, computation, operands);
  marked.reset();
  if (forest.aggregate != Aggregate::kAverage) return sums;
  return sums / static_cast<double>(forest.roots.size());
}

// The scores with a number added to each target.
XlaOp with_base_values(const Node& node, XlaOp scores, const std::vector<double>& base) {
  if (base.empty()) return scores;
  const Dimensions sizes = node.sizes_of(scores);
  if (std::ssize(base) != sizes.back()) {
    node.refuse(fmt::format("has {} base_values for {} scores", base.size(), sizes.back()));
  }
  const XlaOp row = constant_reals(node, node.type_of(scores), base, {sizes.back()});
  return scores + along(row, sizes, 1);
}

void lower_tree_ensemble(Node& node) {
  const XlaOp x = model_rows(node);
  const auto transform = numbered_post_transform(node);
  const Forest forest = read_tree_ensemble(node, node.sizes_of(x).back());
  set_scores(node, 0, walk_forest(node, x, forest), transform, node.type(0));
}

void lower_tree_regressor(Node& node) {
  const XlaOp x = model_rows(node);
  const Forest forest = read_forest(node, {.prefix = "target", .targets = forest_targets(node)},
                                    node.sizes_of(x).back());
  const auto base = forest_numbers(node, "base_values").values;
  const XlaOp sums = with_base_values(node, walk_forest(node, x, forest), base);
  set_scores(node, 0, sums, post_transform_of(node));
}

// The classes that leaves vote for, and whether no vote is negative.
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

// Two classes, and all votes are for one of them: the score of the other follows. The standard does
// not say how. Votes for the first class mean the second, as converters write them. Without a
// transform this does as ONNX Runtime does: scores that cannot be negative are probabilities,
// others have a sign. With one, the transform is applied to both signs, as in the reference
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
  const XlaOp x = model_rows(node);
  const ClassLabels labels = class_labels(node, "classlabels_int64s");
  const Forest forest =
      read_forest(node, {.prefix = "class", .targets = labels.count}, node.sizes_of(x).back());
  const auto transform = post_transform_of(node);
  std::vector<double> base = forest_numbers(node, "base_values").values;
  // A single one is for the first of two classes, as in ONNX Runtime.
  if (base.size() == 1 && labels.count == 2) base.push_back(0);
  const XlaOp scores = with_base_values(node, walk_forest(node, x, forest), base);
  const ClassVotes votes = class_votes(forest);
  if (labels.count == 2 && votes.classes.size() == 1) {
    return set_binary_classes(node, scores, votes, labels, transform);
  }
  set_labels(node, labels, place_of_largest(scores));
  set_scores(node, 1, scores, transform);
}

}  // namespace

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
