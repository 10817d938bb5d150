// SPDX-License-Identifier: Apache-2.0
// Operators of images: convolutions, poolings, resizing, sampling at computed places, regions,
// boxes.

#include "front/onnx/operators/building.h"
#include "xla/client/lib/comparators.h"
#include "xla/service/hlo_parser.h"

namespace tfaot::toolkit::engine {
namespace {

// Operands are [batch, spatial..., channels]. The filter keeps ONNX's order, [out, in / groups,
// spatial...], as our kernels pack it anyway.
xla::ConvolutionDimensionNumbers convolution_numbers(const Node& node, std::size_t spatial) {
  const std::string_view digits = std::string_view("0123456789").substr(0, spatial);
  return node.made(
      xla::ParseConvolutionDimensionNumbers(fmt::format("b{0}f_oi{0}->b{0}f", digits)));
}

// The window's padding. `others`: dimensions without padding, of which `first` precede the spatial
// ones.
Paddings paddings_of(const SpatialWindow& window, std::size_t others = 0, std::size_t first = 0) {
  Paddings paddings(window.rank() + others);
  for (std::size_t d = 0; d < window.rank(); ++d) {
    paddings[first + d] = {window.low[d], window.high[d]};
  }
  return paddings;
}

// `x` with channels first. The result has channels last.
XlaOp convolve(const Node& node, XlaOp x, XlaOp filter, std::int64_t groups) {
  const Dimensions sizes = node.sizes_of(x);
  const Dimensions filter_sizes = node.sizes_of(filter);
  if (sizes.size() < 3 || filter_sizes.size() != sizes.size())
    node.refuse("needs a filter with as many dimensions as its operand, at least three");
  if (groups < 1 || filter_sizes[1] * groups != sizes[1] || filter_sizes[0] % groups != 0) {
    node.refuse("has {} channels in {} groups, but a filter [{}, {}, ...]", sizes[1], groups,
                filter_sizes[0], filter_sizes[1]);
  }
  const SpatialWindow window = spatial_window(node, {sizes.begin() + 2, sizes.end()},
                                              {filter_sizes.begin() + 2, filter_sizes.end()});
  return xla::ConvGeneralDilated(channels_last(node, x), filter, window.stride, paddings_of(window),
                                 {}, window.dilation, convolution_numbers(node, window.rank()),
                                 groups);
}

XlaOp convolve(const Node& node, XlaOp x, XlaOp filter) {
  return convolve(node, x, filter, node.integer("group", 1));
}

// Adds the bias while channels are last, so that it can join the kernel's epilogue.
XlaOp with_bias(const Node& node, XlaOp x, int bias) {
  return node.has(bias) ? x + along_last(node, node.operand(bias), x) : x;
}

void lower_conv(Node& node) {
  const XlaOp made = convolve(node, node.operand(0), node.operand(1));
  node.set(channels_first(node, with_bias(node, made, 2)));
}

// A depthwise causal convolution. The state, the end of the previous call's operand, is prepended
// to the operand. Operands: x, filter, bias, state.
void lower_causal_convolution(Node& node) {
  const Dimensions sizes = node.sizes(0);
  const Dimensions filter = node.sizes(1);
  if (sizes.size() != 3 || filter.size() != 3) node.refuse("needs three dimensions");
  const Dimensions before = with_size(sizes, 2, filter[2] - 1);
  const XlaOp state = node.has(3) ? node.operand(3) : zeros_of(node, node.type(0), before);
  if (node.sizes_of(state) != before) node.refuse("has a state of another size than its filter");
  const XlaOp whole = xla::ConcatInDim(&node.builder(), {state, node.operand(0)}, 2);
  XlaOp made = with_bias(node, convolve(node, whole, node.operand(1), sizes[1]), 2);
  const std::string activation = node.text("activation", "none");
  if (activation == "silu" || activation == "swish") {
    const XlaOp wide = cast(made, xla::F32);
    made = cast(wide * xla::Logistic(wide), node.type(0));
  } else if (activation != "none") {
    node.refuse("has the activation '{}', which is none of silu, swish, none", activation);
  }
  node.set(0, channels_first(node, made));
  node.set(1, xla::SliceInDim(whole, sizes[2], sizes[2] + before[2], 1, 2));
}

// Converts [in, out / groups, spatial...] to [out, in / groups, spatial...].
XlaOp transposed_filter(const Node& node, XlaOp filter, std::int64_t groups) {
  Dimensions sizes = node.sizes_of(filter);
  const Dimensions cut =
      joined({{groups, sizes[0] / groups, sizes[1]}, absl::MakeConstSpan(sizes).subspan(2)});
  Dimensions order = counted(std::ssize(cut));
  std::swap(order[1], order[2]);
  const XlaOp turned = xla::Transpose(xla::Reshape(filter, cut), order);
  std::swap(sizes[0], sizes[1]);
  sizes[0] *= groups;
  sizes[1] /= groups;
  return xla::Reshape(turned, sizes);
}

// Sets the padding, which is cut off the result, from pads, output_shape or auto_pad.
void set_transposed_padding(const Node& node, const Dimensions& in, const Dimensions& more,
                            SpatialWindow& window) {
  const std::string mode = node.text("auto_pad", "NOTSET");
  const bool is_same = mode == "SAME_UPPER" || mode == "SAME_LOWER";
  auto wanted = node.integers("output_shape");
  if (wanted.size() == in.size() + 2) wanted.erase(wanted.begin(), wanted.begin() + 2);
  if (!wanted.empty() && wanted.size() != in.size())
    node.refuse("has an output_shape of another rank");
  for (std::size_t d = 0; d < in.size(); ++d) {
    if (mode == "VALID") window.low[d] = window.high[d] = 0;
    if (wanted.empty() && !is_same) continue;
    const std::int64_t out = wanted.empty() ? in[d] * window.stride[d] : wanted[d];
    const std::int64_t all = window.stride[d] * (in[d] - 1) + more[d] + window.extent(d) - out;
    const std::int64_t half = all >= 0 ? all / 2 : (all - 1) / 2;  // towards negative infinity
    window.low[d] = mode == "SAME_UPPER" ? half : all - half;
    window.high[d] = all - window.low[d];
  }
}

// A convolution over the operand dilated by the stride.
void lower_conv_transpose(Node& node) {
  const Dimensions in = spatial_sizes(node, 0);
  const Dimensions sizes = node.sizes(0);
  const Dimensions filter = node.sizes(1);
  const std::int64_t groups = node.integer("group", 1);
  if (filter.size() != sizes.size() || filter[0] != sizes[1] || groups < 1 ||
      sizes[1] % groups != 0) {
    node.refuse("has a filter that does not match its operand");
  }
  SpatialWindow window =
      window_without_auto_pad(node, in.size(), {filter.begin() + 2, filter.end()});
  auto more = node.integers("output_padding");
  if (more.empty()) more.assign(in.size(), 0);
  if (more.size() != in.size()) node.refuse("has an output_padding of another rank");
  set_transposed_padding(node, in, more, window);
  for (std::size_t d = 0; d < in.size(); ++d) {
    window.low[d] = window.extent(d) - 1 - window.low[d];
    window.high[d] = window.extent(d) - 1 - window.high[d] + more[d];
  }
  const XlaOp made = xla::ConvGeneralDilated(
      channels_last(node, node.operand(0)), transposed_filter(node, node.operand(1), groups),
      Dimensions(in.size(), 1), paddings_of(window), window.stride, window.dilation,
      convolution_numbers(node, in.size()), groups, 1, nullptr, std::nullopt,
      std::vector<bool>(in.size(), true));
  node.set(channels_first(node, with_bias(node, made, 2)));
}

void lower_conv_integer(Node& node) {
  const XlaOp made =
      convolve(node, without_zero_point(node, 0, 2), without_zero_point(node, 1, 3, 0));
  node.set(channels_first(node, made));
}

// x, its scale and zero point, the same of the filter, the result's scale and zero point, the bias.
// With known zero points, it is written as the real numbers that the whole ones stand for, which
// our passes multiply as whole numbers; else the sums are exact here.
void lower_qlinear_conv(Node& node) {
  const XlaOp scale = xla::Reshape(node.operand(1), {}) * node.operand(4);
  const XlaOp point = xla::Reshape(node.operand(7), {});
  const XlaOp step = xla::Reshape(node.operand(6), {});
  const bool is_known = std::ranges::all_of(
      std::array{2, 5, 7}, [&](int zero) { return zero_point_of(node, zero).has_value(); });
  if (is_known && node.type(1) == xla::F32) {
    XlaOp sums = convolve(node, real_numbers(node, 0, {}), real_numbers(node, 3, 0));
    if (node.has(8)) {
      const XlaOp of_columns = scalar_if_single(node, scale);
      sums = sums + along_last(node, cast(node.operand(8), xla::F32) * of_columns, sums);
    }
    node.set(channels_first(node, saturated(node, sums / step, point)));
    return;
  }
  const XlaOp made =
      convolve(node, without_zero_point(node, 0, 2), without_zero_point(node, 3, 5, 0));
  const XlaOp sums = with_bias(node, made, 8);
  XlaOp ratio = scalar_if_single(node, scale / step);
  if (!node.sizes_of(ratio).empty()) ratio = along_last(node, ratio, sums);
  const XlaOp scaled = cast(sums, node.type_of(ratio)) * ratio;
  node.set(channels_first(node, saturated(node, scaled, point)));
}

// The windows of a pooling. With ceil_mode, the last window may extend past the padding, but not
// start there.
struct PoolWindow {
  SpatialWindow window;   // its padding covers all that the last one sees
  Dimensions in;          // sizes of the operand
  Dimensions padded_end;  // the first place after the padding, counted from the operand's start
  Dimensions out;
};

PoolWindow pool_window(const Node& node) {
  PoolWindow pool;
  pool.in = spatial_sizes(node, 0);
  pool.window = spatial_window(node, pool.in);
  const bool is_ceil = node.flag("ceil_mode");
  for (std::size_t d = 0; d < pool.in.size(); ++d) {
    const auto& window = pool.window;
    const std::int64_t stride = window.stride[d];
    const std::int64_t room = pool.in[d] + window.low[d] + window.high[d] - window.extent(d);
    pool.padded_end.push_back(pool.in[d] + window.high[d]);
    if (is_ceil ? room <= -stride : room < 0)
      node.refuse("has a window that is larger than its padded operand");
    std::int64_t out = (is_ceil ? room + stride - 1 : room) / stride + 1;
    if (is_ceil && (out - 1) * stride >= pool.in[d] + window.low[d]) --out;
    pool.out.push_back(out);
    const std::int64_t needed = (out - 1) * stride + window.extent(d) - pool.in[d] - window.low[d];
    pool.window.high[d] = std::max(window.high[d], needed);
  }
  return pool;
}

// Extends numbers of the spatial dimensions to all dimensions.
Dimensions around_spatial(const Dimensions& spatial, std::size_t first, std::int64_t others) {
  Dimensions all(spatial.size() + 2, others);
  std::ranges::copy(spatial, all.begin() + static_cast<std::ptrdiff_t>(first));
  return all;
}

// `x` has channels last.
XlaOp reduce_windows(const SpatialWindow& window, XlaOp x, XlaOp start,
                     const xla::XlaComputation& computation) {
  return xla::ReduceWindowWithGeneralPadding(
      x, start, computation, around_spatial(window.size, 1, 1), around_spatial(window.stride, 1, 1),
      {}, around_spatial(window.dilation, 1, 1), paddings_of(window, 2, 1));
}

XlaOp sum_windows(const Node& node, const SpatialWindow& window, XlaOp x) {
  const auto type = node.type_of(x);
  return reduce_windows(window, x, xla::Zero(&node.builder(), type),
                        xla::CreateScalarAddComputation(type, &node.builder()));
}

// The larger of two values, and its place; the first one if they are equal.
xla::XlaComputation larger_with_place(const Node& node, xla::PrimitiveType type) {
  const auto builder = node.builder().CreateSubBuilder("larger_with_place");
  const auto parameter = [&](std::int64_t number, xla::PrimitiveType of, const char* name) {
    return xla::Parameter(builder.get(), number, shape_of(of, {}), name);
  };
  const XlaOp a = parameter(0, type, "a");
  const XlaOp place_a = parameter(1, xla::S64, "place_a");
  const XlaOp b = parameter(2, type, "b");
  const XlaOp place_b = parameter(3, xla::S64, "place_b");
  const XlaOp first = (a > b) | ((a == b) & (place_a < place_b));
  xla::Tuple(builder.get(), {xla::Select(first, a, b), xla::Select(first, place_a, place_b)});
  return builder->BuildAndNoteError();
}

// The flat index of each element. With storage_order 1, the first spatial dimension varies fastest.
XlaOp places_of(const Node& node, const Dimensions& sizes) {
  Dimensions order = counted(std::ssize(sizes));
  if (node.flag("storage_order")) std::reverse(order.begin() + 2, order.end());
  const XlaOp places = xla::Iota(&node.builder(), xla::S64, product(sizes));
  return xla::Transpose(xla::Reshape(places, picked(sizes, order)), order);
}

void lower_max_pool(Node& node) {
  const SpatialWindow window = pool_window(node).window;
  const XlaOp x = node.operand(0);
  const auto type = node.type(0);
  const XlaOp least = xla::MinValue(&node.builder(), type);
  node.set(0, channels_first(
                  node, reduce_windows(window, channels_last(node, x), least,
                                       xla::CreateScalarMaxComputation(type, &node.builder()))));
  if (!node.wants(1)) return;
  const XlaOp behind = constant_integer(node, product(node.sizes(0)));
  const XlaOp places = places_of(node, node.sizes(0));
  const XlaOp both = xla::ReduceWindowWithGeneralPadding(
      {x, places}, {least, behind}, larger_with_place(node, type),
      around_spatial(window.size, 2, 1), around_spatial(window.stride, 2, 1), {},
      around_spatial(window.dilation, 2, 1), paddings_of(window, 2, 2));
  node.set(1, xla::GetTupleElement(both, 1));
}

// Counts the elements of each window along one dimension.
std::vector<std::int64_t> counted_elements(const PoolWindow& pool, std::size_t d,
                                           bool with_padding) {
  const SpatialWindow& window = pool.window;
  const std::int64_t begin = with_padding ? -window.low[d] : 0;
  const std::int64_t end = with_padding ? pool.padded_end[d] : pool.in[d];
  return mapped(counted(pool.out[d]), [&](std::int64_t i) {
    std::int64_t count = 0;
    for (std::int64_t k = 0; k < window.size[d]; ++k) {
      const std::int64_t at = i * window.stride[d] - window.low[d] + k * window.dilation[d];
      if (at >= begin && at < end) ++count;
    }
    return count;
  });
}

// `sizes`: with channels last.
XlaOp window_counts(const Node& node, const PoolWindow& pool, const Dimensions& sizes,
                    xla::PrimitiveType type) {
  const bool with_padding = node.flag("count_include_pad");
  std::int64_t common = 1;
  std::optional<XlaOp> differing;
  for (std::size_t d = 0; d < pool.in.size(); ++d) {
    const auto counts = counted_elements(pool, d, with_padding);
    if (std::ranges::all_of(counts, [&](std::int64_t one) { return one == counts.front(); })) {
      common *= counts.empty() ? 1 : counts.front();
      continue;
    }
    const XlaOp own = cast(constant_integers(node, counts), type);
    const XlaOp spread = along(own, sizes, static_cast<std::int64_t>(d) + 1);
    differing = differing ? *differing * spread : spread;
  }
  const XlaOp count = scalar(node, type, static_cast<double>(common));
  return differing ? *differing * count : count;
}

void lower_average_pool(Node& node) {
  const PoolWindow pool = pool_window(node);
  const XlaOp sums = sum_windows(node, pool.window, channels_last(node, node.operand(0)));
  const XlaOp counts = window_counts(node, pool, node.sizes_of(sums), node.type(0));
  node.set(channels_first(node, sums / counts));
}

// |x|^p and its inverse.
XlaOp norm_power(XlaOp x, double p) {
  if (p == 1) return xla::Abs(x);
  return p == 2 ? x * x : xla::Pow(xla::Abs(x), like(x, p));
}
XlaOp norm_root(XlaOp x, double p) {
  if (p == 1) return x;
  return p == 2 ? xla::Sqrt(x) : xla::Pow(x, like(x, 1 / p));
}

double norm_exponent(const Node& node) {
  const auto p = static_cast<double>(node.integer("p", 2));
  if (p < 1) node.refuse("has a p below 1");
  return p;
}

void lower_lp_pool(Node& node) {
  const PoolWindow pool = pool_window(node);
  const double p = norm_exponent(node);
  const XlaOp x = channels_last(node, node.operand(0));
  const XlaOp sums = sum_windows(node, pool.window, norm_power(x, p));
  node.set(channels_first(node, norm_root(sums, p)));
}

// Reduces to one value per channel: all spatial dimensions become 1.
XlaOp reduce_channels(const Node& node, XlaOp x, XlaOp (*reduce)(XlaOp, const Dimensions&)) {
  Dimensions sizes = node.sizes(0);
  const Dimensions reduced = counted(std::ssize(spatial_sizes(node, 0)), 2);
  std::fill(sizes.begin() + 2, sizes.end(), 1);
  return xla::Reshape(reduce(x, reduced), sizes);
}

void lower_global_average_pool(Node& node) {
  node.set(reduce_channels(node, node.operand(0), sum_of) / product(spatial_sizes(node, 0)));
}

void lower_global_max_pool(Node& node) {
  node.set(reduce_channels(node, node.operand(0), largest_of));
}

void lower_global_lp_pool(Node& node) {
  const double p = norm_exponent(node);
  node.set(norm_root(reduce_channels(node, norm_power(node.operand(0), p), sum_of), p));
}

// Scatters the elements to the places that MaxPool found; all others are 0.
void lower_max_unpool(Node& node) {
  const Dimensions in = spatial_sizes(node, 0);
  const SpatialWindow window = spatial_window(node, in);
  const Dimensions sizes = node.sizes(0);
  Dimensions made = {sizes[0], sizes[1]};
  for (std::size_t d = 0; d < in.size(); ++d) {
    made.push_back((in[d] - 1) * window.stride[d] - window.low[d] - window.high[d] +
                   window.size[d]);
  }
  const Dimensions wanted = node.has(2) ? node.known_sizes(2) : made;
  if (wanted.size() != made.size()) node.refuse("has an output_shape of another rank");
  node.check_sizes(made);
  const std::int64_t count = product(sizes);
  const auto replace =
      xla::CreateScalarComputation("replace", node.type(0), &node.builder(),
                                   [](XlaOp /*before*/, XlaOp after) { return after; });
  const XlaOp zeros = zeros_of(node, node.type(0), {product(made)});
  const XlaOp flat = xla::Scatter(
      zeros, xla::Reshape(node.operand(1), {count, 1}), xla::Reshape(node.operand(0), {count}),
      replace, xla::HloScatterInstruction::MakeScatterDimNumbers({}, {0}, {0}, 1));
  Paddings paddings;
  for (std::size_t d = 0; d < made.size(); ++d) paddings.emplace_back(0, wanted[d] - made[d]);
  node.set(pad(xla::Reshape(flat, made), scalar(node, node.type(0), 0), paddings));
}

// Places of samples, [group, point]: the number of the image, int32; then for each spatial
// dimension the place in elements, real.
using SamplePlaces = std::vector<XlaOp>;

enum class SampleKernel { kNearest, kLinear, kCubic };

enum class SamplePadding { kZeros, kBorder, kReflection };

struct SampleRules {
  SampleKernel kernel = SampleKernel::kLinear;
  SamplePadding padding = SamplePadding::kZeros;
  bool reflects_at_centers = true;  // of the outer elements; false: at their outer edges
  bool takes_largest = false;       // of the weighted elements; false: their sum
};

// Resizing by interpolation, one axis after the other. Each result is a weighted sum of a few
// elements, known at compile time.
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

// Maps the operand's elements that contribute to one result to their weights.
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
    // Equals the standard's in / 2 (1 - axis.out / out) + half_pixel, but is exact in the middle.
    return (in - 1) / 2 + (x + half - static_cast<Real>(axis.out) / 2) / scale;
  }
  if (mode == "tf_half_pixel_for_nn") return (x + half) / scale;
  if (mode == "tf_crop_and_resize") {
    const auto begin = static_cast<Real>(axis.begin);
    const Real seen = (static_cast<Real>(axis.end) - begin) * (in - 1);
    return begin * (in - 1) + (out == 1 ? seen / 2 : x * seen / (out - 1));
  }
  node.refuse("has the coordinate_transformation_mode '{}'", mode);
}

double nearest_place(const Node& node, const std::string& mode, double place) {
  if (mode == "round_prefer_floor") return std::ceil(place - 0.5);
  if (mode == "round_prefer_ceil") return std::floor(place + 0.5);
  if (mode == "floor") return std::floor(place);
  if (mode == "ceil") return std::ceil(place);
  node.refuse("has the nearest_mode '{}'", mode);
}

// Keys' cubic convolution kernel, for distances up to 1 (near) or from 1 to 2.
template <typename T>
T cubic_kernel(T x, double a, bool is_near) {
  return is_near ? ((a + 2) * x - (a + 3)) * x * x + 1 : ((a * x - 5 * a) * x + 8 * a) * x + -4 * a;
}

double resize_kernel(const ResizeRules& rules, double x) {
  x = std::abs(x);
  if (rules.mode == "linear") return std::max(0.0, 1 - x);
  return x < 2 ? cubic_kernel(x, rules.cubic, x <= 1) : 0;
}

// The elements at the place and after it. As in ONNX Runtime, an element of weight 0 is kept, so
// that a NaN in it shows.
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
  // An integer place is the right end of its interval.
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
  return mapped(counted(axis.out), [&](std::int64_t i) -> ResizeWeights {
    if (rules.mode != "nearest")
      return weights_around(rules, axis, place_in_operand<double>(node, rules, axis, i));
    // In single precision, as in PyTorch and ONNX Runtime: 17 / 1.7 is 10 there, and below it in
    // double precision, since the scale is not 1.7.
    const auto place = place_in_operand<float>(node, rules, axis, i);
    const auto at = static_cast<std::int64_t>(nearest_place(node, rules.nearest, place));
    return {{std::clamp<std::int64_t>(at, 0, axis.in - 1), 1.0}};
  });
}

XlaOp select_along(const Node& node, XlaOp x, const ResizedAxis& axis,
                   const std::vector<std::int64_t>& places) {
  const std::int64_t times = axis.out / axis.in;
  bool is_repeat = axis.out == times * axis.in;
  for (std::int64_t i = 0; is_repeat && i < axis.out; ++i) {
    is_repeat = entry(places, i) == i / times;
  }
  return is_repeat
             ? repeat_along(node, x, axis.axis, times)
             : gather(
                   node, x, constant_integers(node, places),
                   {{axis.axis}, other_dimensions(std::ssize(node.sizes_of(x)), {axis.axis}), 1});
}

// Multiplies by the matrix of the weights.
XlaOp multiply_along(const Node& node, XlaOp x, const ResizedAxis& axis,
                     const std::vector<ResizeWeights>& weights) {
  std::vector<double> matrix(static_cast<std::size_t>(axis.in * axis.out));
  for (std::int64_t i = 0; i < axis.out; ++i) {
    for (const auto& [place, weight] : entry(weights, i))
      entry(matrix, place * axis.out + i) = weight;
  }
  const XlaOp known = constant_reals(node, node.type_of(x), matrix, {axis.in, axis.out});
  const std::int64_t rank = std::ssize(node.sizes_of(x));
  const Dimensions all = counted(rank);
  return xla::Einsum(x, all, known, {axis.axis, rank}, with_size(all, axis.axis, rank));
}

// True if a kernel replaces a product along the axis (compiler/kernels/resize_calls.cc).
bool has_resize_kernel(const Node& node, XlaOp x, const ResizedAxis& axis) {
  const Dimensions sizes = node.sizes_of(x);
  return !node.scope().state().follows_sizes && has_kernels(node.type_of(x)) && axis.axis > 0 &&
         axis.axis + 1 < std::ssize(sizes) && sizes.back() > 1;
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
      const XlaOp known =
          cast(xla::ConstantR1<double>(&node.builder(), factors), node.type_of(part));
      part = part * along(known, node.sizes_of(part), axis.axis);
    }
    sum = sum ? *sum + part : part;
  }
  return *sum;
}

// True where an axis samples outside the operand.
std::optional<XlaOp> extrapolated(const Node& node, const ResizeRules& rules,
                                  const std::vector<ResizedAxis>& axes, const Dimensions& sizes) {
  std::optional<XlaOp> mask;
  if (rules.coordinate != "tf_crop_and_resize") return mask;
  for (const ResizedAxis& axis : axes) {
    const auto outside = mapped(counted(axis.out), [&](std::int64_t i) -> std::int64_t {
      const double place = place_in_operand<double>(node, rules, axis, i);
      return place < 0 || place > static_cast<double>(axis.in - 1) ? 1 : 0;
    });
    const XlaOp own = along(constant_integers(node, outside) != 0, sizes, axis.axis);
    mask = mask ? *mask | own : own;
  }
  return mask;
}

void resize_axes(Node& node, const ResizeRules& rules, std::vector<ResizedAxis> axes) {
  if (rules.mode != "nearest" && rules.mode != "linear" && rules.mode != "cubic")
    node.refuse("has the mode '{}'", rules.mode);
  if (rules.antialias && rules.mode == "nearest") node.refuse("cannot smooth the nearest element");
  std::erase_if(axes, [](const ResizedAxis& axis) {
    return axis.in == axis.out && axis.scale == 1 && axis.begin == 0 && axis.end == 1;
  });
  XlaOp x = node.operand(0);
  const auto type = node.type(0);
  const bool is_image = node.rank(0) > 2 && std::ranges::all_of(axes, [](const ResizedAxis& axis) {
                          return axis.axis >= 2;
                        });
  const bool is_computed = rules.mode != "nearest" && !is_real(type);
  if (is_computed) x = cast(x, xla::F32);
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
    const XlaOp value = like(x, node.real("extrapolation_value", 0));
    x = xla::Select(*mask, xla::Broadcast(value, node.sizes_of(x)), x);
  }
  if (is_computed) {
    x = cast(clamped_to(node, xla::RoundToEven(x), type), type);
  }
  node.set(is_image ? channels_first(node, x) : x);
}

// A size as an integer: not negative, and small enough for resize_axes() to refuse it.
std::int64_t whole_size(double size) {
  return size >= 0 ? static_cast<std::int64_t>(std::min(std::floor(size), 1e15)) : 0;
}

std::vector<ResizedAxis> axes_by_scales(const Node& node, const std::vector<std::int64_t>& axes,
                                        const std::vector<double>& scales) {
  if (scales.size() != axes.size()) node.refuse("has scales for other axes than it resizes");
  const Dimensions sizes = node.sizes(0);
  std::vector<ResizedAxis> resized;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::int64_t in = entry(sizes, axes[i]);
    // In single precision, as in the standard's shape inference.
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
    const std::int64_t in = entry(sizes, axes[i]);
    resized.push_back(
        {axes[i], in, wanted[i], static_cast<double>(wanted[i]) / static_cast<double>(in)});
  }
  const std::string policy =
      node.word("keep_aspect_ratio_policy", {"stretch", "not_larger", "not_smaller"});
  if (policy == "stretch" || resized.empty()) return resized;
  const auto [least, most] = std::ranges::minmax_element(resized, {}, &ResizedAxis::scale);
  const double scale = policy == "not_larger" ? least->scale : most->scale;
  for (ResizedAxis& axis : resized) {
    axis.scale = scale;
    axis.out = whole_size(scale * static_cast<double>(axis.in) + 0.5);
  }
  return resized;
}

// An optional operand may also be given without elements.
bool is_given(const Node& node, int operand) {
  return node.has(operand) && product(node.sizes(operand)) > 0;
}

// Also Resize up to opset 10. Operands: x, scales.
void lower_upsample(Node& node) {
  const auto scales = node.has(1) ? node.known_reals(1) : node.reals<double>("scales");
  ResizeRules rules{node.text("mode", "nearest"), "asymmetric", "floor"};
  if (rules.mode == "bilinear") rules.mode = "linear";
  resize_axes(node, rules, axes_by_scales(node, counted(node.rank(0)), scales));
}

// Operands: x, region of interest, scales, sizes.
void lower_resize(Node& node) {
  if (node.opset() < 11) return lower_upsample(node);
  ResizeRules rules;
  rules.mode = node.text("mode", "nearest");
  rules.coordinate = node.text("coordinate_transformation_mode", "half_pixel");
  rules.nearest = node.text("nearest_mode", "round_prefer_floor");
  rules.cubic = static_cast<double>(node.real("cubic_coeff_a", -0.75F));
  rules.antialias = node.flag("antialias");
  rules.exclude_outside = node.flag("exclude_outside");
  const Dimensions axes = node.axes_attribute(node.rank(0));
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
  resize_axes(node, rules, std::move(resized));
}

// The places at which a dimension is reflected.
struct SampleRange {
  double begin = 0;
  double end = 0;
};
SampleRange sample_range(std::int64_t size, const SampleRules& rules) {
  const double margin = rules.reflects_at_centers ? 0 : 0.5;
  return {-margin, static_cast<double>(size - 1) + margin};
}

XlaOp reflected(XlaOp place, SampleRange range) {
  const double length = range.end - range.begin;
  if (length <= 0) return xla::FullLike(place, range.begin);
  const XlaOp is_below = place < range.begin;
  const XlaOp beyond = xla::Select(is_below, range.begin - place, place - range.end);
  const XlaOp times = xla::Floor(beyond / length);
  const XlaOp rest = beyond - times * length;
  const XlaOp is_even = (times % 2) == 0;
  const XlaOp from_begin = is_even == is_below;
  return xla::Select(from_begin, range.begin + rest, range.end - rest);
}

// Moves places outside the image inside, according to the padding.
XlaOp moved_inside(XlaOp place, std::int64_t size, const SampleRules& rules) {
  if (rules.padding == SamplePadding::kZeros) return place;
  const SampleRange range = sample_range(size, rules);
  const XlaOp is_outside = (place < range.begin) | (place > range.end);
  const XlaOp inside = rules.padding == SamplePadding::kBorder
                           ? xla::Clamp(like(place, 0), place, like(place, size - 1))
                           : reflected(place, range);
  return xla::Select(is_outside, inside, place);
}

// The standard does not say if border padding clamps the place or each element that a cubic kernel
// reads. PyTorch and ONNX Runtime clamp the elements, the reference implementation the place.
bool moves_elements_alone(const SampleRules& rules) {
  return rules.kernel == SampleKernel::kCubic && rules.padding == SamplePadding::kBorder;
}

// An element that is read, and its weight.
struct SampleTap {
  XlaOp place;  // whole
  XlaOp weight;
};

std::vector<SampleTap> taps_of(XlaOp place, SampleKernel kernel) {
  if (kernel == SampleKernel::kNearest) return {{place, xla::FullLike(place, 1)}};
  const XlaOp left = xla::Floor(place);
  const XlaOp part = place - left;
  const auto right_by = [&](double steps) { return left + steps; };
  if (kernel == SampleKernel::kLinear) return {{left, 1 - part}, {right_by(1), part}};
  const auto weight = [](XlaOp x, bool is_near) { return cubic_kernel(x, -0.75, is_near); };
  return {{right_by(-1), weight(part + 1, false)},
          {left, weight(part, true)},
          {right_by(1), weight(1 - part, true)},
          {right_by(2), weight(2 - part, false)}};
}

// Gathers the elements at integer places (int32): [group, point, channels].
XlaOp elements_at(const Node& node, XlaOp images, const SamplePlaces& places) {
  return gather(node, images, stack(node, places, 2), {counted(std::ssize(places)), {2}, 2});
}

// `images`: [batch, spatial..., channels]; the result is [group, point, channels].
XlaOp sample(const Node& node, XlaOp images, const SamplePlaces& places, const SampleRules& rules) {
  const Dimensions sizes = node.sizes_of(images);
  std::vector<std::vector<SampleTap>> taps;  // by spatial dimension
  std::int64_t combinations = 1;             // of one tap of each dimension
  for (std::size_t d = 1; d < places.size(); ++d) {
    XlaOp place = places[d];
    if (rules.kernel == SampleKernel::kNearest) place = xla::RoundToEven(place);
    if (!moves_elements_alone(rules)) place = moved_inside(place, sizes[d], rules);
    taps.push_back(taps_of(place, rules.kernel));
    combinations *= std::ssize(taps.back());
  }
  XlaOp made;
  for (std::int64_t i = 0; i < combinations; ++i) {
    SamplePlaces whole = {places.front()};
    XlaOp weight, is_inside;
    std::int64_t block = combinations;
    for (std::size_t d = 0; d < taps.size(); ++d) {
      block /= std::ssize(taps[d]);
      const SampleTap& tap = entry(taps[d], i / block % std::ssize(taps[d]));
      const XlaOp place = moved_inside(tap.place, sizes[d + 1], rules);
      const XlaOp least = like(place, 0);
      const XlaOp most = like(place, sizes[d + 1] - 1);
      const XlaOp own = (place >= least) & (place <= most);
      is_inside = d == 0 ? own : is_inside & own;
      weight = d == 0 ? tap.weight : weight * tap.weight;
      whole.push_back(cast(xla::Clamp(least, place, most), xla::S32));
    }
    XlaOp values = elements_at(node, images, whole);
    const auto by_point = [of = node.sizes_of(values)](XlaOp op) {
      return xla::BroadcastInDim(op, of, {0, 1});
    };
    if (rules.padding == SamplePadding::kZeros) {
      values = xla::Select(by_point(is_inside), values, xla::ZerosLike(values));
    }
    if (rules.kernel != SampleKernel::kNearest) {
      values = values * by_point(cast(weight, node.type_of(values)));
    }
    made = i == 0 ? values : rules.takes_largest ? xla::Max(made, values) : made + values;
  }
  return made;
}

SampleRules grid_rules(const Node& node) {
  constexpr std::array kKernels = {SampleKernel::kLinear, SampleKernel::kLinear,
                                   SampleKernel::kNearest, SampleKernel::kCubic,
                                   SampleKernel::kCubic};
  const auto mode =
      node.choice<std::size_t>("mode", {"linear", "bilinear", "nearest", "cubic", "bicubic"});
  return {kKernels.at(mode),
          node.choice<SamplePadding>("padding_mode", {"zeros", "border", "reflection"}),
          node.flag("align_corners")};
}

// The grid's coordinates are in [-1, 1]; the image's last dimension comes first.
void lower_grid_sample(Node& node) {
  const Dimensions in = spatial_sizes(node, 0);
  const auto rank = std::ssize(in);
  const Dimensions grid = node.sizes(1);
  if (std::ssize(grid) != rank + 2 || grid.back() != rank || grid[0] != node.sizes(0)[0])
    node.refuse("has a grid that does not match its operand");
  const SampleRules rules = grid_rules(node);
  const std::int64_t points = product(grid) / grid[0] / rank;
  const XlaOp flat = xla::Reshape(node.operand(1), {grid[0], points, rank});
  SamplePlaces places = {index_along(node, xla::S32, {grid[0], points}, 0)};
  for (std::int64_t d = 0; d < rank; ++d) {
    const std::int64_t from = rank - 1 - d;
    const XlaOp own = xla::Reshape(slice_at(flat, from, 2), {grid[0], points});
    const auto size = static_cast<double>(entry(in, d));
    const XlaOp from_zero = own + 1;
    places.push_back(rules.reflects_at_centers ? from_zero / 2 * (size - 1)
                                               : (from_zero * size - 1) / 2);
  }
  const XlaOp images = channels_last(node, node.operand(0));
  Dimensions sizes(grid.begin(), grid.end() - 1);
  sizes.push_back(node.sizes(0)[1]);
  node.set(channels_first(node, xla::Reshape(sample(node, images, places, rules), sizes)));
}

void lower_affine_grid(Node& node) {
  const Dimensions sizes = node.known_sizes(1);
  if (sizes.size() != 4 && sizes.size() != 5) node.refuse("needs the sizes of a 2-D or 3-D image");
  const bool at_ends = node.flag("align_corners");
  const auto type = node.type(0);
  const Dimensions spatial(sizes.begin() + 2, sizes.end());
  const auto rank = std::ssize(spatial);
  if (node.sizes(0) != Dimensions{sizes[0], rank, rank + 1})
    node.refuse("has a theta that does not match its size");
  // [spatial..., x, y, (z,) 1], in [-1, 1]: elements' centers, or evenly spaced with both ends.
  const Dimensions with_last = joined({spatial, {1}});
  std::vector<XlaOp> parts;
  for (std::int64_t d = rank - 1; d >= 0; --d) {
    const std::int64_t count = entry(spatial, d);
    const XlaOp place = index_along(node, type, with_last, d);
    parts.push_back(!at_ends     ? (place * 2 + 1) / count - 1
                    : count == 1 ? xla::ZerosLike(place)
                                 : place * 2 / (count - 1) - 1);
  }
  parts.push_back(xla::Broadcast(scalar(node, type, 1), with_last));
  const std::int64_t points = product(spatial);
  const XlaOp base =
      xla::Reshape(xla::ConcatInDim(&node.builder(), parts, rank), {points, rank + 1});
  const XlaOp grid = xla::Einsum(node.operand(0), base, "ndk,pk->npd");
  node.set(xla::Reshape(grid, joined({{sizes[0]}, spatial, {rank}})));
}

// Sums overlapping blocks into an image. Operands: [batch, channels * block, blocks], the image's
// sizes, the block's sizes.
void lower_col2im(Node& node) {
  const Dimensions image = node.known_sizes(1);
  const Dimensions block = node.known_sizes(2);
  const Dimensions sizes = node.sizes(0);
  if (image.size() != block.size() || sizes.size() != 3) node.refuse("has operands of wrong ranks");
  const auto rank = std::ssize(image);
  const Dimensions dilations = window_attribute(node, "dilations", image.size(), 1);
  const Dimensions strides = window_attribute(node, "strides", image.size(), 1);
  const Dimensions pads = window_attribute(node, "pads", 2 * image.size(), 0);
  const std::int64_t elements = product(block);
  Dimensions cut = {sizes[0], sizes[1] / elements, elements};
  for (std::size_t d = 0; d < image.size(); ++d) {
    const std::int64_t room = image[d] + pads[d] + pads[d + image.size()];
    cut.push_back((room - dilations[d] * (block[d] - 1) - 1) / strides[d] + 1);
  }
  if (sizes[1] % elements != 0 || product(cut) != product(sizes))
    node.refuse("has blocks that do not match the image");
  const XlaOp columns = xla::Reshape(node.operand(0), cut);
  const Dimensions one = without(cut, 2);
  std::optional<XlaOp> sum;
  for (std::int64_t k = 0; k < elements; ++k) {
    auto padding = xla::MakeNoPaddingConfig(rank + 2);
    std::int64_t rest = k;
    for (std::int64_t i = rank - 1; i >= 0; --i) {
      const auto d = static_cast<std::size_t>(i);
      const std::int64_t low = rest % block[d] * dilations[d] - pads[d];
      rest /= block[d];
      auto& own = *padding.mutable_dimensions(static_cast<int>(i + 2));
      own.set_interior_padding(strides[d] - 1);
      own.set_edge_padding_low(low);
      own.set_edge_padding_high(image[d] - low - (one[d + 2] - 1) * strides[d] - 1);
    }
    const XlaOp part = part_at(node, columns, k, 2);
    const XlaOp placed = xla::Pad(part, xla::Zero(&node.builder(), node.type(0)), padding);
    sum = sum ? *sum + placed : placed;
  }
  if (!sum) node.refuse("has blocks without elements");
  node.set(*sum);
}

// The places of a region's samples along one dimension: [regions, cells * samples].
XlaOp region_places(const Node& node, XlaOp begin, XlaOp size, std::int64_t cells,
                    std::int64_t samples) {
  const std::int64_t count = cells * samples;
  const Dimensions sizes = {node.sizes_of(begin)[0], count};
  const XlaOp part = (index_along(node, node.type_of(begin), sizes, 1) + 0.5) / count;
  return along(begin, sizes, 0) + along(size, sizes, 0) * part;
}

// Operands: images, regions as [x, y, end x, end y], the image of each region.
void lower_roi_align(Node& node) {
  const Dimensions sizes = node.sizes(0);
  const std::int64_t samples = node.integer("sampling_ratio", 0);
  if (sizes.size() != 4 || node.rank(1) != 2) node.refuse("needs images and regions");
  if (samples < 1)
    node.refuse("has sampling_ratio 0: the number of samples would depend on the regions");
  const std::int64_t regions = node.sizes(1)[0];
  const std::int64_t rows = node.integer("output_height", 1);
  const std::int64_t columns = node.integer("output_width", 1);
  const std::string otherwise = node.opset() < 16 ? "output_half_pixel" : "half_pixel";
  const bool half = node.text("coordinate_transformation_mode", otherwise) == "half_pixel";
  const XlaOp boxes = node.operand(1) * node.real("spatial_scale", 1) - (half ? 0.5 : 0);
  const auto edge = [&](std::int64_t which) { return part_at(node, boxes, which, 1); };
  const auto places = [&](std::int64_t which, std::int64_t cells) {
    XlaOp size = edge(which + 2) - edge(which);
    if (!half) size = xla::Max(size, like(size, 1));
    return region_places(node, edge(which), size, cells, samples);
  };
  const Dimensions grid = {regions, rows * samples, columns * samples};
  const Dimensions flat = {regions, grid[1] * grid[2]};
  const auto at_points = [&](XlaOp of_grid, std::int64_t axis) {
    return xla::Reshape(xla::BroadcastInDim(of_grid, grid, {0, axis}), flat);
  };
  const SamplePlaces points = {along(cast(node.operand(2), xla::S32), flat, 0),
                               at_points(places(1, rows), 1), at_points(places(0, columns), 2)};
  const auto is_near = [&](std::size_t d) {
    return (points[d] >= -1) & (points[d] <= sizes[d + 1]);
  };
  const bool is_max = node.text("mode", "avg") == "max";
  const XlaOp all = sample(node, channels_last(node, node.operand(0)), points,
                           {.padding = SamplePadding::kBorder, .takes_largest = is_max});
  const XlaOp is_shown = xla::BroadcastInDim(is_near(1) & is_near(2), node.sizes_of(all), {0, 1});
  const XlaOp shown = xla::Select(is_shown, all, xla::ZerosLike(all));
  const XlaOp cells = xla::Reshape(shown, {regions, rows, samples, columns, samples, sizes[1]});
  node.set(channels_first(
      node, is_max ? largest_of(cells, {2, 4}) : sum_of(cells, {2, 4}) / (samples * samples)));
}

// The patches that the filter sees in one group of channels: [batch, window * points, channels].
XlaOp deformed_patches(const Node& node, XlaOp images, XlaOp offsets, const SpatialWindow& window) {
  // offsets: [batch, rows of the window, columns, 2, rows of the result, columns]
  const Dimensions one = without(node.sizes_of(offsets), 3);
  const Dimensions flat = {one[0], product(one) / one[0]};
  SamplePlaces places = {index_along(node, xla::S32, flat, 0)};
  for (std::int64_t d = 0; d < 2; ++d) {
    const auto index = [&](std::int64_t dimension, std::int64_t step) {
      return index_along(node, node.type_of(offsets), one, dimension) * step;
    };
    const XlaOp place = part_at(node, offsets, d, 3) + index(1 + d, entry(window.dilation, d)) +
                        index(3 + d, entry(window.stride, d)) - entry(window.low, d);
    places.push_back(xla::Reshape(place, flat));
  }
  return sample(node, images, places, {});
}

// A convolution whose filter samples computed places. Operands: x, filter, offsets, bias, mask.
void lower_deform_conv(Node& node) {
  const Dimensions sizes = node.sizes(0);
  const Dimensions filter = node.sizes(1);
  if (sizes.size() != 4 || filter.size() != 4) node.refuse("needs images of two dimensions");
  const SpatialWindow window = spatial_window(node, spatial_sizes(node, 0), {filter[2], filter[3]});
  const std::int64_t groups = node.integer("group", 1);
  const std::int64_t parts = node.integer("offset_group", 1);
  const Dimensions offset_sizes = node.sizes(2);
  const std::int64_t taps = filter[2] * filter[3];
  if (offset_sizes.size() != 4 || parts < 1 || offset_sizes[1] != parts * taps * 2 ||
      sizes[1] % parts != 0 || groups < 1 || filter[1] * groups != sizes[1] ||
      filter[0] % groups != 0) {
    node.refuse("has offsets or a filter that do not match its operand");
  }
  const std::int64_t rows = offset_sizes[2];
  const std::int64_t columns = offset_sizes[3];
  const XlaOp images = channels_last(node, node.operand(0));
  const XlaOp offsets =
      xla::Reshape(node.operand(2), {sizes[0], parts, filter[2], filter[3], 2, rows, columns});
  std::vector<XlaOp> patches;
  for (std::int64_t part = 0; part < parts; ++part) {
    const std::int64_t channels = sizes[1] / parts;
    const XlaOp own = xla::SliceInDim(images, part * channels, (part + 1) * channels, 1, 3);
    XlaOp seen = deformed_patches(node, own, part_at(node, offsets, part, 1), window);
    if (node.has(4)) {
      const XlaOp mask = xla::SliceInDim(node.operand(4), part * taps, (part + 1) * taps, 1, 1);
      const XlaOp flat = xla::Reshape(mask, {sizes[0], taps * rows * columns});
      seen = seen * xla::BroadcastInDim(flat, node.sizes_of(seen), {0, 1});
    }
    patches.push_back(seen);
  }
  const XlaOp seen = xla::Reshape(xla::ConcatInDim(&node.builder(), patches, 2),
                                  {sizes[0], taps, rows, columns, groups, filter[1]});
  const XlaOp matrices =
      xla::Reshape(node.operand(1), {groups, filter[0] / groups, filter[1], taps});
  const XlaOp made = xla::Einsum(seen, matrices, "ntrcgi,goit->ngorc");
  const Dimensions result = {sizes[0], filter[0], rows, columns};
  XlaOp sum = xla::Reshape(made, result);
  if (node.has(3)) sum = sum + per_channel(node, node.operand(3), result);
  node.set(sum);
}

// The number of rows that the model declares for the result. Since the number of boxes depends on
// the data, NonMaxSuppression needs it.
std::int64_t declared_rows(const Node& node) {
  const onnx::GraphProto& graph = node.scope().model().proto.graph();
  const auto rows_in = [&](const auto& values) -> std::int64_t {
    for (const onnx::ValueInfoProto& value : values) {
      const auto& shape = value.type().tensor_type().shape();
      if (value.name() != node.proto().output(0) || shape.dim_size() == 0) continue;
      return shape.dim(0).dim_value();
    }
    return 0;
  };
  const std::int64_t rows = std::max(rows_in(graph.output()), rows_in(graph.value_info()));
  if (rows > 0) return rows;
  throw Refusal(
      node.error("finds as many boxes as the data has", ProblemKind::kDataDependentSize)
          .note(fmt::format("declare its number of rows: write the shape [rows, 3] for '{}' into "
                            "the graph's value_info; rows without a box are then -1",
                            node.proto().output(0))));
}

// The sides of boxes, from the lower to the upper one.
struct Sides {
  std::array<XlaOp, 2> low;
  std::array<XlaOp, 2> high;
  XlaOp area() const { return (high[0] - low[0]) * (high[1] - low[1]); }
};

// The sides of boxes [batch, boxes, 4], repeated for each class: [batch, classes, boxes].
Sides sides_of(const Node& node, const Dimensions& sizes) {
  const auto column = [&](std::int64_t i) {
    return spread(part_at(node, node.operand(0), i, 2), sizes, {1});
  };
  Sides sides;
  for (std::size_t d = 0; d < 2; ++d) {
    const auto place = static_cast<std::int64_t>(d);
    const XlaOp a = column(place);
    const XlaOp b = column(place + 2);
    if (node.flag("center_point_box")) {
      const XlaOp half = b * like(b, 0.5);
      sides.low[d] = a - half;
      sides.high[d] = a + half;
    } else {
      sides.low[d] = xla::Min(a, b);
      sides.high[d] = xla::Max(a, b);
    }
  }
  return sides;
}

// True where a box overlaps the chosen one of its class by more than the threshold.
XlaOp overlapping(const Sides& all, const Sides& chosen, XlaOp threshold) {
  const XlaOp zero = xla::ZerosLike(all.low[0]);
  const auto shared = [&](std::size_t d) {
    return xla::Max(zero,
                    xla::Min(all.high[d], chosen.high[d]) - xla::Max(all.low[d], chosen.low[d]));
  };
  const XlaOp both = shared(0) * shared(1);
  const XlaOp either = all.area() + chosen.area() - both;
  const XlaOp have_areas = (all.area() > zero) & (chosen.area() > zero);
  return have_areas & (both / either > threshold);
}

// The first `rows` of the chosen places [steps, batch, classes], sorted by batch and class.
XlaOp chosen_rows(const Node& node, XlaOp places, XlaOp chosen, std::int64_t rows) {
  xla::XlaBuilder& builder = node.builder();
  const XlaOp boxes = xla::Transpose(places, {1, 2, 0});
  const Dimensions sizes = node.sizes_of(boxes);
  const std::int64_t all = product(sizes);
  const auto flat = [&](XlaOp op) { return xla::Reshape(op, {all}); };
  const auto index = [&](std::int64_t d) {
    return flat(xla::Iota(&builder, shape_of(xla::S64, sizes), d));
  };
  const XlaOp last = flat(cast(~xla::Transpose(chosen, {1, 2, 0}), xla::S64));
  const XlaOp sorted = xla::Sort(
      {last, index(0), index(1), flat(boxes)},
      xla::CreateScalarLtComputation({xla::S64, xla::S64, xla::S64, xla::S64}, &builder), 0, true);
  const XlaOp none = xla::ConstantR0<std::int64_t>(&builder, -1);
  const XlaOp is_box = xla::GetTupleElement(sorted, 0) == 0;
  const auto column = [&](std::int64_t i) {
    const XlaOp found =
        xla::Select(is_box, xla::GetTupleElement(sorted, i), xla::Broadcast(none, {all}));
    return xla::PadInDim(found, none, 0, 0, rows - all);  // or cuts them
  };
  return stack(node, {column(1), column(2), column(3)}, 1);
}

// Operands: boxes, scores [batch, classes, boxes], the maximum of boxes of a class, the thresholds
// of overlap and score. Of boxes with equal scores, the first is chosen.
void lower_non_max_suppression(Node& node) {
  xla::XlaBuilder& builder = node.builder();
  const std::int64_t rows = declared_rows(node);
  const XlaOp scores = node.operand(1);
  const Dimensions sizes = node.sizes(1);
  if (sizes.size() != 3 || node.sizes(0) != Dimensions{sizes[0], sizes[2], 4})
    node.refuse("needs boxes of [batch, boxes, 4] and scores of [batch, classes, boxes]");
  const std::int64_t most = node.has(2) ? node.known_integers(2).at(0) : 0;
  const std::int64_t steps = std::clamp<std::int64_t>(most, 0, sizes[2]);
  if (steps == 0) {
    return node.set(xla::Broadcast(xla::ConstantR0<std::int64_t>(&builder, -1), {rows, 3}));
  }
  const auto number = [&](int operand) {
    return xla::Reshape(cast(node.operand(operand), node.type(1)), {});
  };
  const XlaOp overlap = node.has(3) ? number(3) : xla::Zero(&builder, node.type(1));
  const XlaOp open = node.has(4) ? scores > number(4)
                                 : xla::Broadcast(xla::ConstantR0<bool>(&builder, true), sizes);
  const Dimensions found = {steps, sizes[0], sizes[1]};
  const Sides sides = sides_of(node, sizes);
  const std::vector<XlaOp> fixed = {scores,        sides.low[0],  sides.low[1],
                                    sides.high[0], sides.high[1], overlap};
  const auto step = [&](const LoopStep& now) -> std::vector<XlaOp> {
    const XlaOp left = now.state[0];
    const Sides all{{now.fixed[1], now.fixed[2]}, {now.fixed[3], now.fixed[4]}};
    const XlaOp least = xla::MinValue(&now.builder, node.type(1));
    const XlaOp best =
        xla::ArgMax(xla::Select(left, now.fixed[0], xla::Broadcast(least, sizes)), xla::S64, 2);
    const XlaOp is_best =
        left & (xla::Iota(&now.builder, shape_of(xla::S64, sizes), 2) == spread(best, sizes, {2}));
    const auto of_best = [&](XlaOp side) {
      return spread(sum_of(xla::Select(is_best, side, xla::ZerosLike(side)), {2}), sizes, {2});
    };
    const Sides chosen{{of_best(all.low[0]), of_best(all.low[1])},
                       {of_best(all.high[0]), of_best(all.high[1])}};
    const XlaOp any = largest_of(is_best, {2});
    const XlaOp closed = is_best | overlapping(all, chosen, now.fixed[5]);
    return {left & ~closed, with_step(node, now.state[1], best, now.number),
            with_step(node, now.state[2], any, now.number)};
  };
  const auto last = run_loop(
      node, {.count = steps},
      {open, zeros_of(node, xla::S64, found), zeros_of(node, xla::PRED, found)}, fixed, step);
  node.set(chosen_rows(node, last[1], last[2], rows));
}

}  // namespace

std::vector<OnnxOperator> image_operators() {
  return {
      {"AffineGrid", 20, lower_affine_grid, {.known = {1}}},
      {"AveragePool", 1, lower_average_pool},
      {"CausalConvWithState", 27, lower_causal_convolution},
      {"Col2Im", 18, lower_col2im, {.known = {1, 2}}},
      {"Conv", 1, lower_conv},
      {"ConvInteger", 10, lower_conv_integer, {.settings = {2, 3}}},
      {"ConvTranspose", 1, lower_conv_transpose},
      {"DeformConv", 19, lower_deform_conv},
      {"GlobalAveragePool", 1, lower_global_average_pool},
      {"GlobalLpPool", 2, lower_global_lp_pool},
      {"GlobalMaxPool", 1, lower_global_max_pool},
      {"GridSample", 16, lower_grid_sample},
      {"LpPool", 2, lower_lp_pool},
      {"MaxPool", 1, lower_max_pool},
      {"MaxUnpool", 9, lower_max_unpool, {.known = {2}}},
      {"NonMaxSuppression", 10, lower_non_max_suppression, {.known = {2}, .settings = {3, 4}}},
      {"QLinearConv", 10, lower_qlinear_conv, {.settings = {2, 5, 7}}},
      {"Resize", 10, lower_resize, {.known = {1, 2, 3}}},
      {"RoiAlign", 10, lower_roi_align},
      {"Upsample", 7, lower_upsample, {.known = {1}}},
  };
}

}  // namespace tfaot::toolkit::engine
