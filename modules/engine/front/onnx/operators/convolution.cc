// SPDX-License-Identifier: Apache-2.0
// Convolutions and poolings.
#include <algorithm>

#include "front/onnx/operators.h"
#include "front/onnx/operators/building.h"
#include "xla/client/lib/arithmetic.h"
#include "xla/client/lib/constants.h"
#include "xla/hlo/ir/hlo_instructions.h"

namespace tfaot::toolkit::engine {
namespace {

// Operands [batch, spatial..., channels]; the filter stays in ONNX's order, [out, in / groups,
// spatial...]: our kernels pack it anyway.
xla::ConvolutionDimensionNumbers convolution_numbers(std::size_t spatial) {
  const auto last = static_cast<std::int64_t>(spatial) + 1;
  xla::ConvolutionDimensionNumbers numbers;
  numbers.set_input_batch_dimension(0);
  numbers.set_output_batch_dimension(0);
  numbers.set_input_feature_dimension(last);
  numbers.set_output_feature_dimension(last);
  numbers.set_kernel_output_feature_dimension(0);
  numbers.set_kernel_input_feature_dimension(1);
  for (std::int64_t d = 0; d < last - 1; ++d) {
    numbers.add_input_spatial_dimensions(d + 1);
    numbers.add_output_spatial_dimensions(d + 1);
    numbers.add_kernel_spatial_dimensions(d + 2);
  }
  return numbers;
}

// The window's padding. `others`: dimensions without any, of which `first` come before the spatial.
std::vector<std::pair<std::int64_t, std::int64_t>> paddings_of(const SpatialWindow& window,
                                                               std::size_t others = 0,
                                                               std::size_t first = 0) {
  std::vector<std::pair<std::int64_t, std::int64_t>> paddings(window.rank() + others);
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
                                 {}, window.dilation, convolution_numbers(window.rank()), groups);
}

XlaOp convolve(const Node& node, XlaOp x, XlaOp filter) {
  return convolve(node, x, filter, node.integer("group", 1));
}

// Adds the bias to a tensor with channels last: there the kernels can do it themselves.
XlaOp with_bias(const Node& node, XlaOp x, int bias) {
  if (!node.has(bias)) return x;
  const Dimensions sizes = node.sizes_of(x);
  return x + along(node.operand(bias), sizes, std::ssize(sizes) - 1);
}

void lower_conv(Node& node) {
  const XlaOp made = convolve(node, node.operand(0), node.operand(1));
  node.set(channels_first(node, with_bias(node, made, 2)));
}

// Each channel alone, over what came before: the operand follows the state, which is what the call
// before saw last. Operands: x, filter, bias, state.
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

// [in, out / groups, spatial...] to [out, in / groups, spatial...].
XlaOp transposed_filter(const Node& node, XlaOp filter, std::int64_t groups) {
  Dimensions sizes = node.sizes_of(filter);
  const Dimensions cut =
      joined({groups, sizes[0] / groups, sizes[1]}, {sizes.begin() + 2, sizes.end()});
  Dimensions order = dimension_range(0, std::ssize(cut));
  std::swap(order[1], order[2]);
  const XlaOp turned = xla::Transpose(xla::Reshape(filter, cut), order);
  std::swap(sizes[0], sizes[1]);
  sizes[0] *= groups;
  sizes[1] /= groups;
  return xla::Reshape(turned, sizes);
}

// The padding of the result, from which it is cut: from pads, output_shape or auto_pad.
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

// A convolution over the operand with stride - 1 zeros between its elements.
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
      convolution_numbers(in.size()), groups, 1, nullptr, std::nullopt,
      std::vector<bool>(in.size(), true));
  node.set(channels_first(node, with_bias(node, made, 2)));
}

// Without its zero point, which is one, or one per channel (the filter's first dimension).
XlaOp filter_without_zero(const Node& node, int filter, int zero) {
  const XlaOp values = cast(node.operand(filter), xla::S32);
  if (!node.has(zero)) return values;
  const XlaOp point = cast(node.operand(zero), xla::S32);
  const Dimensions sizes = node.sizes_of(values);
  if (product(node.sizes_of(point)) == 1) return values - xla::Reshape(point, {});
  return values - along(point, sizes, 0);
}

void lower_conv_integer(Node& node) {
  const XlaOp made =
      convolve(node, without_zero_point(node, 0, 2), filter_without_zero(node, 1, 3));
  node.set(channels_first(node, made));
}

// x, its scale and zero point, the same of the filter, the result's scale and zero point, the bias.
void lower_qlinear_conv(Node& node) {
  const XlaOp made =
      convolve(node, without_zero_point(node, 0, 2), filter_without_zero(node, 3, 5));
  const XlaOp sums = with_bias(node, made, 8);
  const Dimensions sizes = node.sizes_of(sums);
  const XlaOp scale = xla::Reshape(node.operand(1), {}) * node.operand(4);
  XlaOp ratio = scalar_if_single(node, scale / xla::Reshape(node.operand(6), {}));
  if (!node.sizes_of(ratio).empty()) ratio = along(ratio, sizes, std::ssize(sizes) - 1);
  const XlaOp scaled = cast(sums, node.type_of(ratio)) * ratio;
  const XlaOp point = xla::Reshape(node.operand(7), {});
  node.set(channels_first(node, saturated(node, scaled, point)));
}

// The windows of a pooling. With ceil_mode the last one may reach beyond the
// padding, but does not start there.
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
    if (room < 0) node.refuse("has a window that is larger than its padded operand");
    std::int64_t out = (is_ceil ? room + stride - 1 : room) / stride + 1;
    if (is_ceil && (out - 1) * stride >= pool.in[d] + window.low[d]) --out;
    pool.out.push_back(out);
    const std::int64_t needed = (out - 1) * stride + window.extent(d) - pool.in[d] - window.low[d];
    pool.window.high[d] = std::max(window.high[d], needed);
  }
  return pool;
}

// A number for each dimension of a tensor: the spatial ones get theirs.
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

// The larger value of two with their places; of equal ones the one that comes first.
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

// By element: its place among all of the tensor's. storage_order 1: spatial dimensions are counted
// from the first on.
XlaOp places_of(const Node& node, const Dimensions& sizes) {
  Dimensions steps(sizes.size(), 1);
  if (node.flag("storage_order")) {
    for (std::size_t d = 3; d < sizes.size(); ++d) steps[d] = steps[d - 1] * sizes[d - 1];
    steps[1] = steps.back() * sizes.back();
    steps[0] = steps[1] * sizes[1];
  } else {
    for (std::size_t d = sizes.size() - 1; d > 0; --d) steps[d - 1] = steps[d] * sizes[d];
  }
  XlaOp places = zeros_of(node, xla::S64, sizes);
  for (std::int64_t d = 0; d < std::ssize(sizes); ++d) {
    places = places + index_along(node, xla::S64, sizes, d) * entry(steps, d);
  }
  return places;
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
  std::vector<std::int64_t> counts;
  const std::int64_t begin = with_padding ? -pool.window.low[d] : 0;
  const std::int64_t end = with_padding ? pool.padded_end[d] : pool.in[d];
  for (std::int64_t i = 0; i < pool.out[d]; ++i) {
    std::int64_t count = 0;
    for (std::int64_t k = 0; k < pool.window.size[d]; ++k) {
      const std::int64_t at =
          i * pool.window.stride[d] - pool.window.low[d] + k * pool.window.dilation[d];
      if (at >= begin && at < end) ++count;
    }
    counts.push_back(count);
  }
  return counts;
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

// One value per channel: all dimensions after it become 1.
XlaOp reduce_channels(const Node& node, XlaOp x, XlaOp (*reduce)(XlaOp, const Dimensions&)) {
  Dimensions sizes = node.sizes(0);
  const Dimensions reduced = dimension_range(2, 2 + std::ssize(spatial_sizes(node, 0)));
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

// Puts the elements to the places that MaxPool found; the others are 0.
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
  auto padding = xla::MakeNoPaddingConfig(std::ssize(made));
  for (std::size_t d = 0; d < made.size(); ++d) {
    padding.mutable_dimensions(static_cast<int>(d))->set_edge_padding_high(wanted[d] - made[d]);
  }
  node.set(xla::Pad(xla::Reshape(flat, made), xla::Zero(&node.builder(), node.type(0)), padding));
}

}  // namespace

std::vector<OnnxOperator> convolution_operators() {
  return {
      {"AveragePool", 1, lower_average_pool},
      {"CausalConvWithState", 27, lower_causal_convolution},
      {"Conv", 1, lower_conv},
      {"ConvInteger", 10, lower_conv_integer},
      {"ConvTranspose", 1, lower_conv_transpose},
      {"GlobalAveragePool", 1, lower_global_average_pool},
      {"GlobalLpPool", 2, lower_global_lp_pool},
      {"GlobalMaxPool", 1, lower_global_max_pool},
      {"LpPool", 2, lower_lp_pool},
      {"MaxPool", 1, lower_max_pool},
      {"MaxUnpool", 9, lower_max_unpool, {.known = {2}}},
      {"QLinearConv", 10, lower_qlinear_conv},
  };
}

}  // namespace tfaot::toolkit::engine
