// SPDX-License-Identifier: Apache-2.0
// Which positions of a window are whole, and how far apart taps and results are.
#pragma once

#include "clip.h"

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

}  // namespace
