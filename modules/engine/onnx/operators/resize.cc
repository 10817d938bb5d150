// SPDX-License-Identifier: Apache-2.0
// Resizing by interpolation: one axis after the other, each result a weighted sum of a few elements
// that are known while compiling.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>

#include "onnx/operators/broadcast.h"
#include "onnx/operators/families.h"
#include "onnx/operators/scores.h"
#include "onnx/operators/spatial.h"
#include "tfaot/base/limits.h"
#include "xla/client/lib/constants.h"
#include "xla/client/lib/math.h"

namespace tfaot::toolkit::engine {
namespace {

using xla::XlaOp;

struct ResizedAxis {
  std::int64_t axis = 0;
  std::int64_t in = 0;
  std::int64_t out = 0;
  double scale = 1;
  double begin = 0;  // of the region of interest, as a part of the operand
  double end = 1;
};

struct ResizeRules {
  std::string mode;        // nearest, linear, cubic
  std::string coordinate;  // how places of the result become places of the operand
  std::string nearest;     // how they are rounded
  double cubic = -0.75;
  bool antialias = false;
  bool exclude_outside = false;
};

// The elements of the operand that make one of the result, with their weights.
using ResizeWeights = std::map<std::int64_t, double>;

template <typename Real>
Real place_in_operand(const Node& node, const ResizeRules& rules, const ResizedAxis& axis,
                      std::int64_t place) {
  const auto x = static_cast<Real>(place);
  const auto in = static_cast<Real>(axis.in);
  const auto scale = static_cast<Real>(axis.scale);
  const auto half = Real{1} / 2;
  const Real out = scale * in;  // need not be whole
  const Real half_pixel = (x + half) / scale - half;
  const std::string& mode = rules.coordinate;
  if (mode == "half_pixel") return half_pixel;
  if (mode == "asymmetric") return x / scale;
  if (mode == "align_corners") return out == 1 ? 0 : x * (in - 1) / (out - 1);
  if (mode == "pytorch_half_pixel") return axis.out == 1 ? 0 : half_pixel;
  if (mode == "half_pixel_symmetric") {
    // The standard's in / 2 (1 - axis.out / out) + half_pixel, but exact in the middle.
    return (in - 1) / 2 + (x + half - static_cast<Real>(axis.out) / 2) / scale;
  }
  if (mode == "tf_half_pixel_for_nn") return (x + half) / scale;
  if (mode == "tf_crop_and_resize") {
    const auto begin = static_cast<Real>(axis.begin);
    const Real seen = (static_cast<Real>(axis.end) - begin) * (in - 1);
    return begin * (in - 1) + (out == 1 ? seen / 2 : x * seen / (out - 1));
  }
  node.refuse(fmt::format("has the coordinate_transformation_mode '{}'", mode));
}

double nearest_place(const Node& node, const std::string& mode, double place) {
  if (mode == "round_prefer_floor") return std::ceil(place - 0.5);
  if (mode == "round_prefer_ceil") return std::floor(place + 0.5);
  if (mode == "floor") return std::floor(place);
  if (mode == "ceil") return std::ceil(place);
  node.refuse(fmt::format("has the nearest_mode '{}'", mode));
}

double resize_kernel(const ResizeRules& rules, double x) {
  x = std::abs(x);
  if (rules.mode == "linear") return std::max(0.0, 1 - x);
  const double a = rules.cubic;
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

// The elements at the place and after it, as in ONNX Runtime: also the one of weight 0 if the place
// is whole, so that a NaN is seen.
ResizeWeights linear_weights(const ResizedAxis& axis, double place) {
  const auto last = axis.in - 1;
  place = std::clamp(place, 0.0, static_cast<double>(last));
  const auto at = static_cast<std::int64_t>(place);
  const double part = place - static_cast<double>(at);
  ResizeWeights weights = {{at, 1 - part}};
  weights[std::min(at + 1, last)] += part;
  return weights;
}

ResizeWeights weights_around(const ResizeRules& rules, const ResizedAxis& axis, double place) {
  if (rules.mode == "linear" && !rules.antialias && !rules.exclude_outside) {
    return linear_weights(axis, place);
  }
  const double spread = rules.antialias ? std::min(axis.scale, 1.0) : 1.0;
  const double reach = rules.mode == "cubic" ? 2 : 1;
  const auto first = static_cast<std::int64_t>(std::floor(-reach / spread)) + 1;
  // A whole place is the right end of its interval.
  const double left = std::ceil(place) - 1;
  ResizeWeights weights;
  double sum = 0;
  for (std::int64_t i = first; i < 2 - first; ++i) {
    const std::int64_t at = static_cast<std::int64_t>(left) + i;
    const bool is_outside = at < 0 || at >= axis.in;
    if (is_outside && rules.exclude_outside) continue;
    const double weight = resize_kernel(rules, spread * (static_cast<double>(at) - place));
    weights[std::clamp<std::int64_t>(at, 0, axis.in - 1)] += weight;
    sum += weight;
  }
  const bool is_scaled = (rules.antialias || rules.exclude_outside) && sum != 0;
  for (auto& [at, weight] : weights) weight /= is_scaled ? sum : 1;
  std::erase_if(weights, [](const auto& one) { return one.second == 0; });
  return weights;
}

std::vector<ResizeWeights> all_weights(const Node& node, const ResizeRules& rules,
                                       const ResizedAxis& axis) {
  std::vector<ResizeWeights> all;
  for (std::int64_t i = 0; i < axis.out; ++i) {
    if (rules.mode != "nearest") {
      all.push_back(weights_around(rules, axis, place_in_operand<double>(node, rules, axis, i)));
      continue;
    }
    // In single precision, as in PyTorch and ONNX Runtime: 17 / 1.7 is 10 there, and below it in
    // double precision, since the scale is not 1.7.
    const auto place = place_in_operand<float>(node, rules, axis, i);
    const auto at = static_cast<std::int64_t>(nearest_place(node, rules.nearest, place));
    all.push_back({{std::clamp<std::int64_t>(at, 0, axis.in - 1), 1.0}});
  }
  return all;
}

XlaOp take_along(const Node& node, XlaOp x, std::int64_t axis,
                 const std::vector<std::int64_t>& places) {
  Dimensions sizes = node.sizes_of(x);
  xla::GatherDimensionNumbers numbers;
  for (std::int64_t d = 0; d < std::ssize(sizes); ++d) {
    if (d != axis) numbers.add_offset_dims(d);
  }
  numbers.add_collapsed_slice_dims(axis);
  numbers.add_start_index_map(axis);
  numbers.set_index_vector_dim(1);
  sizes[static_cast<std::size_t>(axis)] = 1;
  return xla::Gather(x, constant_integers(node, places), numbers, sizes);
}

// Each element several times in a row.
XlaOp repeat_along(const Node& node, XlaOp x, std::int64_t axis, std::int64_t times) {
  Dimensions sizes = node.sizes_of(x);
  Dimensions spread = sizes;
  spread.insert(spread.begin() + axis + 1, times);
  Dimensions places;
  for (std::int64_t d = 0; d < std::ssize(spread); ++d) {
    if (d != axis + 1) places.push_back(d);
  }
  sizes[static_cast<std::size_t>(axis)] *= times;
  return xla::Reshape(xla::BroadcastInDim(x, spread, places), sizes);
}

XlaOp select_along(const Node& node, XlaOp x, const ResizedAxis& axis,
                   const std::vector<std::int64_t>& places) {
  const std::int64_t times = axis.out / axis.in;
  bool is_repeat = axis.out == times * axis.in;
  for (std::int64_t i = 0; is_repeat && i < axis.out; ++i) {
    is_repeat = places[static_cast<std::size_t>(i)] == i / times;
  }
  return is_repeat ? repeat_along(node, x, axis.axis, times)
                   : take_along(node, x, axis.axis, places);
}

// A product with the matrix of the weights.
XlaOp multiply_along(const Node& node, XlaOp x, const ResizedAxis& axis,
                     const std::vector<ResizeWeights>& weights) {
  std::vector<double> matrix(static_cast<std::size_t>(axis.in * axis.out));
  for (std::int64_t i = 0; i < axis.out; ++i) {
    for (const auto& [at, weight] : weights[static_cast<std::size_t>(i)]) {
      matrix[static_cast<std::size_t>(at * axis.out + i)] = weight;
    }
  }
  const XlaOp known = constant_reals(node, node.type_of(x), matrix, {axis.in, axis.out});
  xla::DotDimensionNumbers numbers;
  numbers.add_lhs_contracting_dimensions(axis.axis);
  numbers.add_rhs_contracting_dimensions(0);
  const XlaOp made = xla::DotGeneral(x, known, numbers);  // the axis is the last one
  Dimensions order(node.sizes_of(x).size());
  for (std::int64_t d = 0; d < std::ssize(order); ++d) {
    const std::int64_t last = std::ssize(order) - 1;
    order[static_cast<std::size_t>(d)] = d < axis.axis ? d : d == axis.axis ? last : d - 1;
  }
  return xla::Transpose(made, order);
}

// Whether a kernel takes the place of a product along the axis (kernels/resize_calls.h).
bool has_resize_kernel(const Node& node, XlaOp x, const ResizedAxis& axis) {
  const Dimensions sizes = node.sizes_of(x);
  return has_kernels(node.type_of(x)) && axis.axis > 0 && axis.axis + 1 < std::ssize(sizes) &&
         sizes.back() > 1;
}

XlaOp resize_by_weights(const Node& node, XlaOp x, const ResizedAxis& axis,
                        const std::vector<ResizeWeights>& weights) {
  constexpr std::size_t kMostSummands = 4;
  std::size_t summands = 0;
  for (const ResizeWeights& one : weights) summands = std::max(summands, one.size());
  const bool has_kernel = summands > 1 && has_resize_kernel(node, x, axis);
  if (summands > kMostSummands || has_kernel) return multiply_along(node, x, axis, weights);
  std::optional<XlaOp> sum;
  for (std::size_t k = 0; k < summands; ++k) {
    std::vector<std::int64_t> places;
    std::vector<double> factors;
    for (const ResizeWeights& one : weights) {
      const auto taken =
          std::next(one.begin(), static_cast<std::ptrdiff_t>(std::min(k, one.size() - 1)));
      places.push_back(taken->first);
      factors.push_back(k < one.size() ? taken->second : 0);
    }
    XlaOp part = select_along(node, x, axis, places);
    if (!std::ranges::all_of(factors, [](double factor) { return factor == 1; })) {
      const XlaOp known = xla::ConvertElementType(xla::ConstantR1<double>(&node.builder(), factors),
                                                  node.type_of(part));
      part = xla::Mul(part, xla::BroadcastInDim(known, node.sizes_of(part), {axis.axis}));
    }
    sum = sum ? xla::Add(*sum, part) : part;
  }
  return *sum;
}

// True where an axis looks outside of the operand.
std::optional<XlaOp> extrapolated(const Node& node, const ResizeRules& rules,
                                  const std::vector<ResizedAxis>& axes, const Dimensions& sizes) {
  std::optional<XlaOp> mask;
  if (rules.coordinate != "tf_crop_and_resize") return mask;
  for (const ResizedAxis& axis : axes) {
    std::vector<std::int64_t> outside;
    for (std::int64_t i = 0; i < axis.out; ++i) {
      const double place = place_in_operand<double>(node, rules, axis, i);
      outside.push_back(place < 0 || place > static_cast<double>(axis.in - 1) ? 1 : 0);
    }
    const XlaOp own = xla::BroadcastInDim(
        xla::Ne(constant_integers(node, outside), scalar(node, xla::S64, 0)), sizes, {axis.axis});
    mask = mask ? xla::Or(*mask, own) : own;
  }
  return mask;
}

void resize_axes(Node& node, const ResizeRules& rules, std::vector<ResizedAxis> axes) {
  if (rules.mode != "nearest" && rules.mode != "linear" && rules.mode != "cubic") {
    node.refuse(fmt::format("has the mode '{}'", rules.mode));
  }
  if (rules.antialias && rules.mode == "nearest") node.refuse("cannot smooth the nearest element");
  XlaOp x = node.operand(0);
  const auto type = node.type(0);
  const bool is_image = node.rank(0) > 2 && std::ranges::all_of(axes, [](const ResizedAxis& axis) {
                          return axis.axis >= 2;
                        });
  const bool is_computed = rules.mode != "nearest" && !is_real(type);
  if (is_computed) x = xla::ConvertElementType(x, xla::F32);
  if (is_image) {
    x = channels_last(node, x);
    for (ResizedAxis& axis : axes) --axis.axis;
  }
  for (const ResizedAxis& axis : axes) {
    if (axis.in < 1 || axis.out < 1 || !(axis.scale > 0)) node.refuse("resizes to or from nothing");
    node.check_made(axis.out, kMostKnownElements);  // each has weights of its own
    x = resize_by_weights(node, x, axis, all_weights(node, rules, axis));
  }
  if (const auto mask = extrapolated(node, rules, axes, node.sizes_of(x))) {
    const XlaOp value = scalar_like(node, x, node.real("extrapolation_value", 0));
    x = xla::Select(*mask, xla::Broadcast(value, node.sizes_of(x)), x);
  }
  if (is_computed) {
    const auto bound = [&](XlaOp end) { return xla::ConvertElementType(end, xla::F32); };
    x = xla::Clamp(bound(xla::MinValue(&node.builder(), type)), xla::RoundToEven(x),
                   bound(xla::MaxValue(&node.builder(), type)));
    x = xla::ConvertElementType(x, type);
  }
  node.set(is_image ? channels_first(node, x) : x);
}

// Not negative, and of a size that resize_axes() can refuse.
std::int64_t whole_size(double size) {
  return size >= 0 ? static_cast<std::int64_t>(std::min(std::floor(size), 1e15)) : 0;
}

std::vector<ResizedAxis> axes_by_scales(const Node& node, const std::vector<std::int64_t>& axes,
                                        const std::vector<double>& scales) {
  if (scales.size() != axes.size()) node.refuse("has scales for other axes than it resizes");
  const Dimensions sizes = node.sizes(0);
  std::vector<ResizedAxis> resized;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::int64_t in = sizes[static_cast<std::size_t>(axes[i])];
    // In single precision, as the standard's own shape inference.
    const float out = static_cast<float>(scales[i]) * static_cast<float>(in);
    resized.push_back({axes[i], in, whole_size(static_cast<double>(out)), scales[i]});
  }
  return resized;
}

std::vector<ResizedAxis> axes_by_sizes(const Node& node, const std::vector<std::int64_t>& axes,
                                       const std::vector<std::int64_t>& wanted) {
  if (wanted.size() != axes.size()) node.refuse("has sizes for other axes than it resizes");
  const Dimensions sizes = node.sizes(0);
  std::vector<ResizedAxis> resized;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::int64_t in = sizes[static_cast<std::size_t>(axes[i])];
    resized.push_back(
        {axes[i], in, wanted[i], static_cast<double>(wanted[i]) / static_cast<double>(in)});
  }
  const std::string policy = node.text("keep_aspect_ratio_policy", "stretch");
  if (policy == "stretch" || resized.empty()) return resized;
  if (policy != "not_larger" && policy != "not_smaller") {
    node.refuse(fmt::format("has the keep_aspect_ratio_policy '{}'", policy));
  }
  const auto [least, most] = std::ranges::minmax_element(resized, {}, &ResizedAxis::scale);
  const double scale = policy == "not_larger" ? least->scale : most->scale;
  for (ResizedAxis& axis : resized) {
    axis.scale = scale;
    axis.out = whole_size(scale * static_cast<double>(axis.in) + 0.5);
  }
  return resized;
}

std::vector<std::int64_t> every_axis(const Node& node) {
  std::vector<std::int64_t> axes(static_cast<std::size_t>(node.rank(0)));
  for (std::size_t i = 0; i < axes.size(); ++i) axes[i] = static_cast<std::int64_t>(i);
  return axes;
}

bool is_changed(const ResizedAxis& axis) {
  return axis.in != axis.out || axis.scale != 1 || axis.begin != 0 || axis.end != 1;
}

// An optional operand may also be there without elements.
bool is_given(const Node& node, int operand) {
  return node.has(operand) && product(node.sizes(operand)) > 0;
}

// Up to opset 10 as Upsample: operands are x and scales.
void lower_upsample(Node& node) {
  std::vector<double> scales;
  if (node.has(1)) {
    scales = node.known_reals(1);
  } else {
    for (const float scale : node.reals("scales")) scales.push_back(static_cast<double>(scale));
  }
  auto axes = axes_by_scales(node, every_axis(node), scales);
  std::erase_if(axes, [](const ResizedAxis& axis) { return !is_changed(axis); });
  ResizeRules rules{node.text("mode", "nearest"), "asymmetric", "floor"};
  if (rules.mode == "bilinear") rules.mode = "linear";
  resize_axes(node, rules, std::move(axes));
}

// Operands: x, region of interest, scales, sizes.
void lower_resize(Node& node) {
  if (node.opset() < 11) return lower_upsample(node);
  ResizeRules rules;
  rules.mode = node.text("mode", "nearest");
  rules.coordinate = node.text("coordinate_transformation_mode", "half_pixel");
  rules.nearest = node.text("nearest_mode", "round_prefer_floor");
  rules.cubic = static_cast<double>(node.real("cubic_coeff_a", -0.75F));
  rules.antialias = node.integer("antialias", 0) != 0;
  rules.exclude_outside = node.integer("exclude_outside", 0) != 0;
  const auto given = node.integers("axes");
  const auto axes = given ? node.axes(*given, node.rank(0)) : every_axis(node);
  if (is_given(node, 2) == is_given(node, 3)) node.refuse("needs either scales or sizes");
  auto resized = is_given(node, 3) ? axes_by_sizes(node, axes, node.known_integers(3))
                                   : axes_by_scales(node, axes, node.known_reals(2));
  if (rules.coordinate == "tf_crop_and_resize") {
    const auto region = node.has(1) ? node.known_reals(1) : std::vector<double>();
    if (region.size() != 2 * resized.size()) node.refuse("needs a region of interest");
    for (std::size_t i = 0; i < resized.size(); ++i) {
      resized[i].begin = region[i];
      resized[i].end = region[resized.size() + i];
    }
  }
  std::erase_if(resized, [](const ResizedAxis& axis) { return !is_changed(axis); });
  resize_axes(node, rules, std::move(resized));
}

}  // namespace

std::vector<OnnxOperator> resize_operators() {
  return {
      {"Resize", 10, lower_resize, {1, 2, 3}},
      {"Upsample", 7, lower_upsample, {1}},
  };
}

}  // namespace tfaot::toolkit::engine
