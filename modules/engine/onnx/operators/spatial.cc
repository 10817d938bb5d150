// SPDX-License-Identifier: Apache-2.0
#include "onnx/operators/spatial.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "tfaot/base/limits.h"

namespace tfaot::toolkit::engine {
namespace {

// An attribute with a number for each spatial dimension.
Dimensions window_attribute(const Node& node, const char* name, std::size_t count,
                            std::int64_t otherwise) {
  auto given = node.integers(name).value_or(Dimensions());
  if (given.empty()) return Dimensions(count, otherwise);
  if (given.size() != count) {
    node.refuse(fmt::format("has {} numbers as '{}' instead of {}", given.size(), name, count));
  }
  return given;
}

// As many results as a stride of that size visits, with the window's middle over the operand.
void pad_to_same(SpatialWindow& window, const Dimensions& in, bool more_at_end) {
  for (std::size_t d = 0; d < window.rank(); ++d) {
    const std::int64_t out = (in[d] + window.stride[d] - 1) / window.stride[d];
    const std::int64_t all =
        std::max<std::int64_t>(0, (out - 1) * window.stride[d] + window.extent(d) - in[d]);
    window.low[d] = more_at_end ? all / 2 : all - all / 2;
    window.high[d] = all - window.low[d];
  }
}

}  // namespace

Dimensions spatial_sizes(const Node& node, int operand) {
  const Dimensions sizes = node.sizes(operand);
  if (sizes.size() < 3) {
    node.refuse(
        fmt::format("needs an operand with batch, channels and more dimensions, but it has "
                    "{} dimensions",
                    sizes.size()));
  }
  return {sizes.begin() + 2, sizes.end()};
}

SpatialWindow window_without_auto_pad(const Node& node, std::size_t rank, Dimensions size) {
  SpatialWindow window;
  if (size.empty() && !node.has_attribute("kernel_shape")) node.refuse("has no kernel_shape");
  window.size = std::move(size);
  const Dimensions given = window_attribute(node, "kernel_shape", rank, 0);
  if (window.size.empty()) window.size = given;
  if (node.has_attribute("kernel_shape") && given != window.size) {
    node.refuse("has a kernel_shape that is not the size of its filter");
  }
  window.stride = window_attribute(node, "strides", rank, 1);
  window.dilation = window_attribute(node, "dilations", rank, 1);
  const Dimensions pads = window_attribute(node, "pads", 2 * rank, 0);
  const auto middle = pads.begin() + static_cast<std::ptrdiff_t>(rank);
  window.low.assign(pads.begin(), middle);
  window.high.assign(middle, pads.end());
  const auto is_positive = [](std::int64_t x) { return x > 0; };
  if (!std::ranges::all_of(window.size, is_positive) ||
      !std::ranges::all_of(window.stride, is_positive) ||
      !std::ranges::all_of(window.dilation, is_positive)) {
    node.refuse("has a window, a stride or a dilation below 1");
  }
  // XLA adds and multiplies them without a check.
  for (std::size_t d = 0; d < window.rank(); ++d) {
    const auto is_large = [](std::int64_t x) { return x > kMostPlaces || x < -kMostPlaces; };
    if (is_large(window.size[d]) || is_large(window.stride[d]) || is_large(window.dilation[d]) ||
        is_large(window.extent(d)) || is_large(window.low[d]) || is_large(window.high[d])) {
      node.refuse("has a window, a stride, a dilation or a padding larger than any image");
    }
  }
  return window;
}

SpatialWindow spatial_window(const Node& node, const Dimensions& in, Dimensions size) {
  SpatialWindow window = window_without_auto_pad(node, in.size(), std::move(size));
  const std::string mode = node.text("auto_pad", "NOTSET");
  if (mode == "SAME_UPPER" || mode == "SAME_LOWER") {
    pad_to_same(window, in, mode == "SAME_UPPER");
  } else if (mode == "VALID") {
    window.low.assign(in.size(), 0);
    window.high.assign(in.size(), 0);
  } else if (mode != "NOTSET" && !mode.empty()) {
    node.refuse(fmt::format("has the auto_pad '{}'", mode));
  }
  return window;
}

xla::XlaOp channels_last(const Node& node, xla::XlaOp op) {
  Dimensions order(node.sizes_of(op).size());
  std::iota(order.begin(), order.end(), 0);
  std::rotate(order.begin() + 1, order.begin() + 2, order.end());
  return xla::Transpose(op, order);
}

xla::XlaOp channels_first(const Node& node, xla::XlaOp op) {
  Dimensions order(node.sizes_of(op).size());
  std::iota(order.begin(), order.end(), 0);
  std::rotate(order.begin() + 1, order.end() - 1, order.end());
  return xla::Transpose(op, order);
}

xla::XlaOp per_channel(const Node& node, xla::XlaOp values, const Dimensions& sizes) {
  const std::int64_t channels = sizes.size() > 1 ? sizes[1] : 1;
  if (product(node.sizes_of(values)) != channels) {
    node.refuse(fmt::format("needs a value for each of {} channels", channels));
  }
  if (sizes.size() < 2) return xla::BroadcastInDim(xla::Reshape(values, {}), sizes, {});
  return xla::BroadcastInDim(xla::Reshape(values, {channels}), sizes, {1});
}

}  // namespace tfaot::toolkit::engine
