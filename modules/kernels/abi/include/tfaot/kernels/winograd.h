// SPDX-License-Identifier: Apache-2.0
// The call of tfaot_winograd_convolution; abi.h says what calls are.
#pragma once

#include <cstdint>

#include "tfaot/kernels/window.h"

namespace tfaot {
inline namespace v1 {
namespace kernels {

// tfaot_winograd_convolution, float32 alone: the same as tfaot_convolution, by Winograd's minimal
// filtering F(2, 3) or F(4, 3) (Lavin and Gray, https://arxiv.org/abs/1509.09308) along each of the
// last two spatial dimensions in which the window has size 3. A tile of inputs becomes as many
// numbers, each meets its own [in_channels, out_channels] matrix, and the sums become a tile of
// results. For two results a dimension: 16 products in place of 36, or 4 in place of 6; for four:
// 36 in place of 144, or 6 in place of 12. in[2]: the matrices of winograd_factor(), each packed,
// one after the other. For windows of is_for_winograd(), one group. Scratch:
// winograd_scratch_bytes().
struct WinogradCall {
  ConvolutionCall convolution;
  std::int64_t results;  // of a tile, along one dimension: 2 or 4
};

inline constexpr std::int64_t kWinogradSize = 3;  // of a window

// F(4, 3) is that of the polynomials' values at 0, infinity, and plus and minus these two. With
// 1 and 2, as usual, its errors are twice to five times as large.
inline constexpr double kWinogradPoints[] = {0.70710678118654752440, 1.41421356237309504880};

// What the matrix of a tile's number takes of a tap of the window, along one dimension.
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

// Along one dimension.
constexpr std::int64_t winograd_inputs(const WinogradCall& call, int dimension) {
  return call.convolution.window.size[dimension] == kWinogradSize ? call.results + kWinogradSize - 1
                                                                  : 1;
}
constexpr std::int64_t winograd_tiles(const WinogradCall& call, int dimension) {
  const Window& window = call.convolution.window;
  const std::int64_t out = window.out[dimension];
  return window.size[dimension] == kWinogradSize ? (out + call.results - 1) / call.results : out;
}

// How many matrices there are.
constexpr std::int64_t winograd_matrices(const WinogradCall& call) {
  return winograd_inputs(call, 1) * winograd_inputs(call, 2);
}
// Of all images.
constexpr std::int64_t winograd_tiles(const WinogradCall& call) {
  return call.convolution.batch * call.convolution.window.out[0] * winograd_tiles(call, 1) *
         winograd_tiles(call, 2);
}

// Tiles that are processed at a time: their numbers stay in the second-level cache, but each matrix
// meets a few dozen tiles. A multiple of the rows of every kernel tile.
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

// From the numbers for one matrix to those for the next. The line more keeps them out of the same
// places of the first-level cache.
constexpr std::int64_t winograd_step(const WinogradCall& call, std::int64_t channels) {
  return winograd_tiles_at_once(call) * channels + panel_columns(sizeof(float));
}

// Elements of a row of a tile's inputs, as whole panels.
constexpr std::int64_t winograd_row(const WinogradCall& call) {
  constexpr std::int64_t kUnit = panel_columns(sizeof(float));
  return (winograd_inputs(call, 2) * call.convolution.in_channels + kUnit - 1) / kUnit * kUnit;
}

// A row of inputs that are not in the image, then the numbers of all tiles: those that meet the
// matrices, and what comes of it.
constexpr std::int64_t winograd_scratch_bytes(const WinogradCall& call) {
  const std::int64_t elements = winograd_step(call, call.convolution.in_channels) +
                                winograd_step(call, call.convolution.out_channels);
  return (winograd_row(call) + winograd_matrices(call) * elements) *
         static_cast<std::int64_t>(sizeof(float));
}

}  // namespace kernels
}  // namespace v1
}  // namespace tfaot
