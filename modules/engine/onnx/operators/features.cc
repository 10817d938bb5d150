// SPDX-License-Identifier: Apache-2.0
// Operators of ai.onnx.ml that prepare features.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "onnx/operators/broadcast.h"
#include "onnx/operators/families.h"
#include "onnx/operators/places.h"
#include "onnx/operators/scores.h"
#include "xla/client/lib/arithmetic.h"
#include "xla/client/lib/constants.h"
#include "xla/client/lib/math.h"
#include "xla/client/lib/slicing.h"

namespace tfaot::toolkit::engine {
namespace {

using xla::XlaOp;

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
  return xla::BroadcastInDim(row, sizes, {std::ssize(sizes) - 1});
}

void lower_scaler(Node& node) {
  XlaOp x = as_real(node, node.operand(0));
  const auto offset = doubles_of(node.reals("offset"));
  const auto scale = doubles_of(node.reals("scale"));
  if (!offset.empty()) x = xla::Sub(x, value_of_features(node, "offset", offset, x));
  if (!scale.empty()) x = xla::Mul(x, value_of_features(node, "scale", scale, x));
  node.set(xla::ConvertElementType(x, xla::F32));
}

// A row of zeros stays.
void lower_normalizer(Node& node) {
  const Dimensions sizes = node.sizes(0);
  const XlaOp x = as_real(node, feature_rows(node, node.operand(0)));
  const auto type = node.type_of(x);
  const std::string norm = node.text("norm", "MAX");
  const XlaOp zero = scalar(node, type, 0);
  const auto add = [&] { return xla::CreateScalarAddComputation(type, &node.builder()); };
  XlaOp size;
  if (norm == "MAX") {
    size =
        xla::Reduce(xla::Abs(x), zero, xla::CreateScalarMaxComputation(type, &node.builder()), {1});
  } else if (norm == "L1") {
    size = xla::Reduce(xla::Abs(x), zero, add(), {1});
  } else if (norm == "L2") {
    size = xla::Sqrt(xla::Reduce(xla::Square(x), zero, add(), {1}));
  } else {
    node.refuse(fmt::format("has the norm '{}'", norm));
  }
  size = xla::Max(size, scalar(node, type, 1e-30));
  const XlaOp scaled = xla::Div(x, xla::BroadcastInDim(size, node.sizes_of(x), {0}));
  node.set(xla::ConvertElementType(xla::Reshape(scaled, sizes), xla::F32));
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
    is_replaced = std::isnan(replaced) ? xla::Ne(x, x) : xla::Eq(x, scalar(node, type, replaced));
  } else {
    name = "imputed_value_int64s";
    const auto integers = node.integers(name).value_or(std::vector<std::int64_t>());
    values = {integers.begin(), integers.end()};
    const auto replaced = node.integer("replaced_value_int64", 0);
    is_replaced = xla::Eq(x, xla::ConstantR0WithType(&node.builder(), type, replaced));
  }
  if (values.empty()) node.refuse(fmt::format("has no attribute '{}' for its input's type", name));
  node.set(xla::Select(is_replaced, value_of_features(node, name, values, x), x));
}

void lower_binarizer(Node& node) {
  const XlaOp x = node.operand(0);
  // An integer is larger than the threshold or not, also if that is no integer.
  const XlaOp compared = as_real(node, x);
  const XlaOp is_larger = xla::Gt(compared, scalar_like(node, compared, node.real("threshold", 0)));
  node.set(xla::ConvertElementType(is_larger, node.type(0)));
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
  const auto widths = node.integers("inputdimensions").value_or(std::vector<std::int64_t>());
  if (std::ssize(widths) != node.operand_count()) {
    node.refuse(
        fmt::format("has {} 'inputdimensions' for {} inputs", widths.size(), node.operand_count()));
  }
  std::vector<XlaOp> parts;
  for (int i = 0; i < node.operand_count(); ++i) {
    XlaOp x = xla::ConvertElementType(node.operand(i), xla::F32);
    Dimensions sizes = node.sizes_of(x);
    if (sizes.size() == 1) {
      sizes.push_back(1);
      x = xla::Reshape(x, sizes);
    }
    const std::int64_t width = widths[static_cast<std::size_t>(i)];
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
  Dimensions places(sizes.size());
  for (std::int64_t i = 0; i < last; ++i) size_at(places, i) = i;
  sizes.push_back(node.sizes_of(keys).front());
  const XlaOp elements = xla::BroadcastInDim(x, sizes, places);
  const XlaOp wanted = xla::BroadcastInDim(keys, sizes, {last});
  const XlaOp same = xla::Eq(elements, wanted);
  if (!is_real(node.type_of(x))) return same;
  return xla::Or(same, xla::And(xla::Ne(elements, elements), xla::Ne(wanted, wanted)));
}

void lower_one_hot_encoder(Node& node) {
  if (!node.texts("cats_strings").empty()) node.refuse("has categories that are strings");
  const auto categories = node.integers("cats_int64s").value_or(std::vector<std::int64_t>());
  if (categories.empty()) node.refuse("has no categories");
  if (node.integer("zeros", 1) == 0) {
    node.refuse(
        "stops at unknown categories (zeros=0), which compiled code cannot: export it with "
        "zeros=1");
  }
  // As in the standard's reference, a number is compared as it is: 1.5 is no category.
  const XlaOp keys = xla::ConvertElementType(constant_integers(node, categories), node.type(0));
  node.set(xla::ConvertElementType(matches_of(node, node.operand(0), keys), xla::F32));
}

// Keys or values of a LabelEncoder. Attributes of floats and integers are those of old models.
std::optional<xla::Literal> encoder_numbers(const Node& node, const std::string& what) {
  if (!node.texts(what + "_strings").empty()) {
    node.refuse(fmt::format("has {} that are strings, which compiled models cannot have", what));
  }
  if (auto tensor = node.tensor(what + "_tensor")) return tensor;
  if (const auto integers = node.integers(what + "_int64s")) {
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
  const XlaOp none_found = xla::Lt(found, scalar(node, xla::S32, 0));
  const XlaOp place = xla::Select(
      none_found, xla::Broadcast(scalar(node, xla::S32, static_cast<double>(count)), node.sizes(0)),
      found);
  const XlaOp table = xla::ConcatInDim(
      builder,
      {xla::ConstantLiteral(builder, *values), xla::Reshape(encoder_default(node, type), {1})}, 0);
  xla::GatherDimensionNumbers numbers;
  numbers.add_collapsed_slice_dims(0);
  numbers.add_start_index_map(0);
  numbers.set_index_vector_dim(node.rank(0));
  node.set(xla::Gather(table, place, numbers, {1}));
}

}  // namespace

std::vector<OnnxOperator> feature_operators() {
  const std::string domain = "ai.onnx.ml";
  return {
      {"ArrayFeatureExtractor", 1, lower_array_feature_extractor, {}, domain, {}, {1}},
      {"Binarizer", 1, lower_binarizer, {}, domain},
      {"FeatureVectorizer", 1, lower_feature_vectorizer, {}, domain},
      {"Imputer", 1, lower_imputer, {}, domain},
      {"LabelEncoder", 2, lower_label_encoder, {}, domain},
      {"Normalizer", 1, lower_normalizer, {}, domain},
      {"OneHotEncoder", 1, lower_one_hot_encoder, {}, domain},
      {"Scaler", 1, lower_scaler, {}, domain},
  };
}

}  // namespace tfaot::toolkit::engine
