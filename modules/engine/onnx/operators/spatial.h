// SPDX-License-Identifier: Apache-2.0
// What convolutions, pools and images share: windows over the dimensions after batch and channels,
// and the order of dimensions. The kernels want channels last, so what has windows is computed in
// that order; settle_layouts() (hlo/layouts.h) removes the transposes between such operations.
#pragma once

#include <utility>
#include <vector>

#include "onnx/node.h"

namespace tfaot::toolkit::engine {

// By spatial dimension.
struct SpatialWindow {
  Dimensions size;
  Dimensions stride;
  Dimensions dilation;
  Dimensions low;  // padding
  Dimensions high;

  std::size_t rank() const { return size.size(); }
  // From the first to the last element that it sees.
  std::int64_t extent(std::size_t d) const { return (size[d] - 1) * dilation[d] + 1; }
};

// The sizes after batch and channels. Refuses an operand without any.
Dimensions spatial_sizes(const Node& node, int operand);

// The attributes kernel_shape, strides, dilations, pads and auto_pad. `size`: of the window, from
// the filter; empty: kernel_shape must be there. For operands of the sizes `in`.
SpatialWindow spatial_window(const Node& node, const Dimensions& in, Dimensions size = {});
// Without padding for auto_pad, which means something else for ConvTranspose.
SpatialWindow window_without_auto_pad(const Node& node, std::size_t rank, Dimensions size = {});

// [batch, channels, spatial...] to [batch, spatial..., channels], and back.
xla::XlaOp channels_last(const Node& node, xla::XlaOp op);
xla::XlaOp channels_first(const Node& node, xla::XlaOp op);

// One value per channel, for a tensor of these sizes with channels first.
xla::XlaOp per_channel(const Node& node, xla::XlaOp values, const Dimensions& sizes);

}  // namespace tfaot::toolkit::engine
