// SPDX-License-Identifier: Apache-2.0
// Which positions of a window are whole, and how far apart taps and results are.
#pragma once

#include "convolutions/clip.h"

namespace {

// How many elements apart the filter's taps and neighbouring results are.
struct SlideSteps {
  Int filter[kSpatial], out[kSpatial];
};

// Of a pixel.
struct ChannelCounts {
  Int in, out;
};

inline SlideSteps dense_steps(const Window& w, Int channels) {
  SlideSteps steps = {};
  Int filter = channels, out = channels;
  for (int d = kSpatial; d-- > 0;) {
    steps.filter[d] = filter;
    steps.out[d] = out;
    filter *= w.size[d];
    out *= w.out[d];
  }
  return steps;
}

// Positions whose window is not clipped in one dimension.
struct Whole {
  Whole(const Window& w, int d) {
    const Int last = w.in[d] + w.pad_low[d] - (w.size[d] - 1) * w.window_dilation[d];
    end = last <= 0 ? 0 : smaller(w.out[d], ceil_div(last, w.stride[d]));
    begin = smaller(end, ceil_div(larger(0, w.pad_low[d]), w.stride[d]));
  }
  bool has(Int position) const { return begin <= position && position < end; }

  Int begin, end;
};

// If rows would leave the first-level cache before the next row's windows meet them again, an image
// is cut into blocks of as many channels as stay there.
constexpr Int kFewestChannels = 128 / sizeof(Element);  // of a block: lines come in pairs
inline Int channels_of_block(const Window& w, Int channels) {
  constexpr Int kCache = 30000 / sizeof(Element);
  const Int pixels = w.size[0] * w.size[1] * w.in[2];
  if (w.size[1] <= w.stride[1] || pixels * channels <= kCache) return channels;
  const Int fit = kCache / pixels;
  if (fit < kFewestChannels) return channels;
  const Int even = ceil_div(channels, ceil_div(channels, fit));
  return ceil_div(even, kFewestChannels) * kFewestChannels;
}

}  // namespace
