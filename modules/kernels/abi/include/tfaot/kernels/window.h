// SPDX-License-Identifier: Apache-2.0
// Calls of kernels that slide a window over images: convolutions and pooling; abi.h says what calls
// are.
#pragma once

#include <cstdint>

#include "tfaot/kernels/functions.h"
#include "tfaot/kernels/panels.h"

namespace tfaot {
inline namespace v1 {
namespace kernels {

inline constexpr int kSpatial = 3;

// A window that slides over the last three spatial dimensions (leading ones of size 1 for fewer).
struct Window {
  std::int64_t in[kSpatial], out[kSpatial], size[kSpatial], stride[kSpatial];
  std::int64_t pad_low[kSpatial], pad_high[kSpatial];  // of the dilated input; may be negative
  std::int64_t base_dilation[kSpatial];    // 1: none; n: n-1 zeros between input elements
  std::int64_t window_dilation[kSpatial];  // 1: none
};

// tfaot_convolution: in[1]: input[batch, in..., in_channels]; in[2]: packed filter, for each group
// a packed [size[0]*size[1]*size[2]*in_channels/groups, out_channels/groups] matrix, one after the
// other; then, with kEpilogueBias, bias[out_channels], with kEpilogueSum the addends, and with
// kEpilogueFunction a ResultFunction (float32 alone). Result: [batch, out..., out_channels]. A
// cross-correlation, as everywhere in machine learning. With kEpilogueLive, only some images of a
// padded batch count: the last in[] points to the number of rows (s64), and only the first
// live_images times that many are computed. Scratch: convolution_scratch_bytes(). tfaot_depthwise:
// groups == in_channels == out_channels; in[2]: the filter as it is, [size..., out_channels]. Same
// result and bias, no sum, and a function only without base dilation; there is scratch, but it is
// not used. tfaot_grouped_convolution: the same for is_grouped() calls; the filter is [size...,
// in_channels / groups, out_channels].
struct ConvolutionCall {
  std::int64_t batch;
  Window window;
  std::int64_t in_channels, out_channels, groups;
  std::int64_t epilogue;
  // With kEpilogueLive alone; calls of 0.2.0 end before it.
  std::int64_t live_images;  // images for each row of the model's batch
};

// The sizes of groups of tfaot_grouped_convolution: a vector of results has several groups.
constexpr bool is_grouped(const ConvolutionCall& call) {
  const std::int64_t inputs = call.in_channels / call.groups;
  const std::int64_t outputs = call.out_channels / call.groups;
  if (inputs == 1) return outputs == 2 || outputs == 4;
  return inputs == outputs && (inputs == 2 || inputs == 4);
}

// Whether tfaot_convolution reads a copy of each image, with its padding and base dilation written
// out.
constexpr bool is_copied(const Window& window) {
  for (int d = 0; d < kSpatial; ++d) {
    if (window.pad_low[d] > 0 || window.pad_high[d] > 0 || window.base_dilation[d] != 1)
      return true;
  }
  return false;
}

// The copy of one image.
constexpr std::int64_t convolution_scratch_bytes(const ConvolutionCall& call,
                                                 std::int64_t element_bytes) {
  if (!is_copied(call.window)) return kPanelBytes;
  std::int64_t elements = call.in_channels;
  for (int d = 0; d < kSpatial; ++d) {
    const Window& w = call.window;
    elements *= (w.in[d] - 1) * w.base_dilation[d] + 1 + (w.pad_low[d] > 0 ? w.pad_low[d] : 0) +
                (w.pad_high[d] > 0 ? w.pad_high[d] : 0);
  }
  return elements * element_bytes + kPanelBytes;
}

// tfaot_max_pool (padding and NaN are left out; of nothing else it is the lowest finite number),
// tfaot_largest_pool (padding counts as -infinity; a NaN gives NaN) and tfaot_sum_pool (padding
// counts as 0): in[1]: input[batch, in..., channels], result [batch, out..., channels].
// tfaot_range_pool: [2, batch, out..., channels]: the maxima of tfaot_max_pool, then the minima in
// the same way. base_dilation is 1. No scratch: `out` is the result.
struct PoolCall {
  std::int64_t batch;
  Window window;
  std::int64_t channels;
};

// The results of one image.
constexpr std::int64_t pooled_elements(const PoolCall& call) {
  return call.window.out[0] * call.window.out[1] * call.window.out[2] * call.channels;
}

// tfaot_function_pool: tfaot_max_pool of the values of a function that falls, then rises: swish or
// gelu. float32 alone. in[1] and the result are those of tfaot_max_pool. Each window has a number
// that is not NaN. With minus infinity, whose value is NaN, it is the value of the largest number.
// Scratch: function_pool_scratch_bytes().
struct FunctionPoolCall {
  PoolCall pool;
  ResultFunction function;
};

// How many images are pooled at a time: their ranges stay in the first cache.
constexpr std::int64_t function_pool_images(const PoolCall& pool) {
  constexpr std::int64_t kResults = 2048;
  const std::int64_t images = kResults / pooled_elements(pool);
  return images < 1 ? 1 : images < pool.batch ? images : pool.batch;
}

// Their largest numbers, then their smallest ones.
constexpr std::int64_t function_pool_scratch_bytes(const PoolCall& pool) {
  constexpr std::int64_t kBytes = 2 * sizeof(float);
  return function_pool_images(pool) * pooled_elements(pool) * kBytes;
}

}  // namespace kernels
}  // namespace v1
}  // namespace tfaot
