// SPDX-License-Identifier: Apache-2.0
// Convolutions: plain, transposed, of integers, and with places that are computed.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "onnx/operators/broadcast.h"
#include "onnx/operators/families.h"
#include "onnx/operators/quantized.h"
#include "onnx/operators/spatial.h"
#include "xla/client/lib/constants.h"

namespace tfaot::toolkit::engine {
namespace {

using xla::XlaOp;

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

std::vector<std::pair<std::int64_t, std::int64_t>> paddings_of(const SpatialWindow& window) {
  std::vector<std::pair<std::int64_t, std::int64_t>> paddings;
  for (std::size_t d = 0; d < window.rank(); ++d) {
    paddings.emplace_back(window.low[d], window.high[d]);
  }
  return paddings;
}

// `x` with channels first. The result has channels last.
XlaOp convolve(const Node& node, XlaOp x, XlaOp filter, std::int64_t groups) {
  const Dimensions sizes = node.sizes_of(x);
  const Dimensions filter_sizes = node.sizes_of(filter);
  if (sizes.size() < 3 || filter_sizes.size() != sizes.size()) {
    node.refuse("needs a filter with as many dimensions as its operand, at least three");
  }
  if (groups < 1 || filter_sizes[1] * groups != sizes[1] || filter_sizes[0] % groups != 0) {
    node.refuse(fmt::format("has {} channels in {} groups, but a filter [{}, {}, ...]", sizes[1],
                            groups, filter_sizes[0], filter_sizes[1]));
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
  return xla::Add(x, xla::BroadcastInDim(node.operand(bias), sizes, {std::ssize(sizes) - 1}));
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
  Dimensions before = sizes;
  before[2] = filter[2] - 1;
  const XlaOp zero = xla::Zero(&node.builder(), node.type(0));
  const XlaOp state = node.has(3) ? node.operand(3) : xla::Broadcast(zero, before);
  if (node.sizes_of(state) != before) node.refuse("has a state of another size than its filter");
  const XlaOp whole = xla::ConcatInDim(&node.builder(), {state, node.operand(0)}, 2);
  XlaOp made = with_bias(node, convolve(node, whole, node.operand(1), sizes[1]), 2);
  const std::string activation = node.text("activation", "none");
  if (activation == "silu" || activation == "swish") {
    const XlaOp wide = xla::ConvertElementType(made, xla::F32);
    made = xla::ConvertElementType(xla::Mul(wide, xla::Logistic(wide)), node.type(0));
  } else if (activation != "none") {
    node.refuse(
        fmt::format("has the activation '{}', which is none of silu, swish, none", activation));
  }
  node.set(0, channels_first(node, made));
  node.set(1, xla::SliceInDim(whole, sizes[2], sizes[2] + before[2], 1, 2));
}

// [in, out / groups, spatial...] to [out, in / groups, spatial...].
XlaOp transposed_filter(const Node& node, XlaOp filter, std::int64_t groups) {
  Dimensions sizes = node.sizes_of(filter);
  Dimensions cut = {groups, sizes[0] / groups, sizes[1]};
  cut.insert(cut.end(), sizes.begin() + 2, sizes.end());
  Dimensions order(cut.size());
  std::iota(order.begin(), order.end(), 0);
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
  auto wanted = node.integers("output_shape").value_or(Dimensions());
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
  auto more = node.integers("output_padding").value_or(Dimensions());
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
  const XlaOp values = xla::ConvertElementType(node.operand(filter), xla::S32);
  if (!node.has(zero)) return values;
  const XlaOp point = xla::ConvertElementType(node.operand(zero), xla::S32);
  const Dimensions sizes = node.sizes_of(values);
  if (product(node.sizes_of(point)) == 1) return xla::Sub(values, xla::Reshape(point, {}));
  return xla::Sub(values, xla::BroadcastInDim(point, sizes, {0}));
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
  const XlaOp scale = xla::Mul(xla::Reshape(node.operand(1), {}), node.operand(4));
  XlaOp ratio = xla::Div(scale, xla::Reshape(node.operand(6), {}));
  if (product(node.sizes_of(ratio)) == 1) {
    ratio = xla::Reshape(ratio, {});
  } else {
    ratio = xla::BroadcastInDim(ratio, sizes, {std::ssize(sizes) - 1});
  }
  const XlaOp scaled = xla::Mul(xla::ConvertElementType(sums, node.type_of(ratio)), ratio);
  const XlaOp point = xla::Reshape(node.operand(7), {});
  node.set(channels_first(node, saturated(node, scaled, point)));
}

}  // namespace

std::vector<OnnxOperator> convolution_operators() {
  return {
      {"CausalConvWithState", 27, lower_causal_convolution},
      {"Conv", 1, lower_conv},
      {"ConvInteger", 10, lower_conv_integer},
      {"ConvTranspose", 1, lower_conv_transpose},
      {"QLinearConv", 10, lower_qlinear_conv},
  };
}

}  // namespace tfaot::toolkit::engine
