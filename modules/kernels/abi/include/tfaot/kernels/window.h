// SPDX-License-Identifier: Apache-2.0
// Calls of kernels that slide a window over images: convolutions, pooling and resizing; abi.h says
// what calls are.
#pragma once

#include <cstdint>

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

// True if tfaot_convolution reads a copy of each image, with its padding and base dilation written
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

// Images that are pooled at a time: their ranges stay in the first cache.
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

// A window over a dilated input, along one dimension: results that are `step` apart have the same
// taps, which read the input without its dilation. So each of the phases is an ordinary window.
struct Phase {
  std::int64_t first, step, out;           // `out` results: first, first + step, ...
  std::int64_t first_tap, tap_step, size;  // taps first_tap, ...; size 0: they only read zeros
  std::int64_t stride, dilation, pad_low;  // of the ordinary window
};

constexpr std::int64_t greatest_divisor(std::int64_t a, std::int64_t b) {
  return b == 0 ? a : greatest_divisor(b, a % b);
}

// At least one; each has at least one result.
constexpr std::int64_t phase_count(const Window& w, int d) {
  if (w.base_dilation[d] == 1) return 1;
  const std::int64_t count = w.base_dilation[d] / greatest_divisor(w.base_dilation[d], w.stride[d]);
  return count < w.out[d] ? count : w.out[d];
}

constexpr Phase phase_of(const Window& w, int d, std::int64_t number) {
  const std::int64_t base = w.base_dilation[d];
  if (base == 1) {  // without the divisions, which take as long as a small image
    return {0, 1, w.out[d], 0, 1, w.size[d], w.stride[d], w.window_dilation[d], w.pad_low[d]};
  }
  const std::int64_t step = base / greatest_divisor(base, w.stride[d]);
  const std::int64_t tap_step = base / greatest_divisor(base, w.window_dilation[d]);
  Phase phase{number, step, (w.out[d] - number + step - 1) / step, 0, tap_step, 0, 0, 0, 0};
  phase.stride = w.stride[d] * step / base;
  phase.dilation = w.window_dilation[d] * tap_step / base;
  for (std::int64_t tap = 0; tap < tap_step && tap < w.size[d]; ++tap) {
    const std::int64_t before = w.pad_low[d] - number * w.stride[d] - tap * w.window_dilation[d];
    if (before % base != 0) continue;
    phase.first_tap = tap;
    phase.size = (w.size[d] - tap + tap_step - 1) / tap_step;
    phase.pad_low = before / base;
    break;
  }
  return phase;
}

// The padding that all phases together need before and after the input.
struct Padding {
  std::int64_t low, high;
};
constexpr Padding phase_padding(const Window& w, int d) {
  Padding padding{0, 0};
  for (std::int64_t i = 0; i < phase_count(w, d); ++i) {
    const Phase p = phase_of(w, d, i);
    if (p.size == 0) continue;
    const std::int64_t end =
        (p.out - 1) * p.stride + (p.size - 1) * p.dilation + 1 - p.pad_low - w.in[d];
    if (p.pad_low > padding.low) padding.low = p.pad_low;
    if (end > padding.high) padding.high = end;
  }
  return padding;
}

// tfaot_transposed_convolution: the same as tfaot_convolution for a window of any base dilation,
// with the taps of each phase packed for themselves: for each phase of the first dimension, each of
// the second and each of the third, what in[2] is for a window of the phase's size.
// Scratch: transposed_scratch_bytes().

// One input image with the padding of all phases.
constexpr std::int64_t transposed_scratch_bytes(const ConvolutionCall& call,
                                                std::int64_t element_bytes) {
  std::int64_t elements = call.in_channels;
  for (int d = 0; d < kSpatial; ++d) {
    const Padding padding = phase_padding(call.window, d);
    elements *= padding.low + call.window.in[d] + padding.high;
  }
  return elements * element_bytes + kPanelBytes;
}

// tfaot_winograd_convolution, float32 alone: the same as tfaot_convolution, by Winograd's minimal
// filtering F(2, 3) or F(4, 3) (Lavin and Gray, https://arxiv.org/abs/1509.09308) along each of the
// last two spatial dimensions in which the window has size 3. A tile of inputs is transformed to as
// many numbers, each is multiplied with a [in_channels, out_channels] matrix of its own, and the
// sums are transformed to a tile of results. For two results a dimension: 16 products in place of
// 36, or 4 in place of 6; for four: 36 in place of 144, or 6 in place of 12. in[2]: the matrices of
// winograd_factor(), each packed, one after the other. For windows of is_for_winograd(), one group.
// Scratch: winograd_scratch_bytes().
struct WinogradCall {
  ConvolutionCall convolution;
  std::int64_t results;  // of a tile, along one dimension: 2 or 4
};

inline constexpr std::int64_t kWinogradSize = 3;  // of a window

// F(4, 3) evaluates polynomials at 0, infinity, and plus and minus these two. With 1 and 2, as
// usual, its errors are two to five times as large.
inline constexpr double kWinogradPoints[] = {0.70710678118654752440, 1.41421356237309504880};

// The factor of a tap of the window in the matrix of a tile's number, along one dimension.
constexpr double winograd_factor(std::int64_t results, std::int64_t number, std::int64_t tap) {
  constexpr double kTwo[4][kWinogradSize] = {
      {1, 0, 0}, {0.5, 0.5, 0.5}, {0.5, -0.5, 0.5}, {0, 0, 1}};
  constexpr double a = kWinogradPoints[0], b = kWinogradPoints[1];
  constexpr double kFour[6][kWinogradSize] = {{1, 0, 0},
                                              {-2.0 / 3, -2.0 / 3 * a, -1.0 / 3},
                                              {-2.0 / 3, 2.0 / 3 * a, -1.0 / 3},
                                              {1.0 / 6, 1.0 / 6 * b, 1.0 / 3},
                                              {1.0 / 6, -1.0 / 6 * b, 1.0 / 3},
                                              {0, 0, 1}};
  return results == 2 ? kTwo[number][tap] : kFour[number][tap];
}

constexpr bool is_for_winograd(const Window& window) {
  bool some = false;
  for (int d = 0; d < kSpatial; ++d) {
    const bool is_one = window.size[d] == 1 && window.pad_low[d] == 0 && window.pad_high[d] == 0;
    const bool is_three = d > 0 && window.size[d] == kWinogradSize;
    if (window.stride[d] != 1 || window.base_dilation[d] != 1 || window.window_dilation[d] != 1 ||
        !(is_one || is_three)) {
      return false;
    }
    some = some || is_three;
  }
  return some;
}

// Inputs, and below tiles, along one dimension.
constexpr std::int64_t winograd_inputs(const WinogradCall& call, int dimension) {
  return call.convolution.window.size[dimension] == kWinogradSize ? call.results + kWinogradSize - 1
                                                                  : 1;
}
constexpr std::int64_t winograd_tiles(const WinogradCall& call, int dimension) {
  const Window& window = call.convolution.window;
  const std::int64_t out = window.out[dimension];
  return window.size[dimension] == kWinogradSize ? (out + call.results - 1) / call.results : out;
}

// The number of matrices.
constexpr std::int64_t winograd_matrices(const WinogradCall& call) {
  return winograd_inputs(call, 1) * winograd_inputs(call, 2);
}
// The tiles of all images.
constexpr std::int64_t winograd_tiles(const WinogradCall& call) {
  return call.convolution.batch * call.convolution.window.out[0] * winograd_tiles(call, 1) *
         winograd_tiles(call, 2);
}

// Tiles that are processed at a time: their numbers stay in the second-level cache, but each matrix
// is used for a few dozen tiles. A multiple of the rows of every kernel tile.
constexpr std::int64_t winograd_tiles_at_once(const WinogradCall& call) {
  constexpr std::int64_t kCacheBytes = 512 << 10, kUnit = 24, kFewest = 48, kMost = 480;
  const std::int64_t tile_bytes = winograd_matrices(call) *
                                  (call.convolution.in_channels + call.convolution.out_channels) *
                                  static_cast<std::int64_t>(sizeof(float));
  const std::int64_t fitting = kCacheBytes / tile_bytes / kUnit * kUnit;
  const std::int64_t most = fitting < kFewest ? kFewest : fitting > kMost ? kMost : fitting;
  const std::int64_t tiles = winograd_tiles(call);
  return tiles < most ? tiles : most;
}

// The step from the numbers for one matrix to those for the next. One extra cache line avoids set
// conflicts in L1.
constexpr std::int64_t winograd_step(const WinogradCall& call, std::int64_t channels) {
  return winograd_tiles_at_once(call) * channels + panel_columns(sizeof(float));
}

// Elements of a row of a tile's inputs, as whole panels.
constexpr std::int64_t winograd_row(const WinogradCall& call) {
  constexpr std::int64_t kUnit = panel_columns(sizeof(float));
  return (winograd_inputs(call, 2) * call.convolution.in_channels + kUnit - 1) / kUnit * kUnit;
}

// A row of inputs that are not in the image, then the numbers of all tiles: the factors of the
// matrices, and the sums.
constexpr std::int64_t winograd_scratch_bytes(const WinogradCall& call) {
  const std::int64_t elements = winograd_step(call, call.convolution.in_channels) +
                                winograd_step(call, call.convolution.out_channels);
  return (winograd_row(call) + winograd_matrices(call) * elements) *
         static_cast<std::int64_t>(sizeof(float));
}

// tfaot_resize: each result is a sum of `taps` neighbours along the first dimension and along the
// second, times weights: result[b, i, j, c] = sum over k < taps[0], l < taps[1] of rows[i, k] *
// columns[j, l] * input[b, start[i] + k, start[out[0] + j] + l, c]. in[1]: input[batch, in...,
// channels]; in[2]: rows[out[0], taps[0]], then columns[out[1], taps[1]]. The starts follow the
// struct. Scratch: resize_scratch_bytes().
struct ResizeCall {
  std::int64_t batch, in[2], out[2], taps[2], channels;
};

// One line of the input.
constexpr std::int64_t resize_scratch_bytes(const ResizeCall& call, std::int64_t element_bytes) {
  return call.in[1] * call.channels * element_bytes + kPanelBytes;
}

}  // namespace kernels
}  // namespace v1
}  // namespace tfaot
