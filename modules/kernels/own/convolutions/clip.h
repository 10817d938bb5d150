// SPDX-License-Identifier: Apache-2.0
// Windows that reach into the padding.
#pragma once

#include "convolutions/image.h"

namespace {

// The part of a window that is inside the input, at one position.
struct Clip {
  Clip(const Window& w, int d, Int position) {
    before = w.pad_low[d] - position * w.stride[d];
    first = smaller(larger(0, steps(before, w.window_dilation[d])), w.size[d]);
    const Int end = smaller(larger(0, steps(before + w.in[d], w.window_dilation[d])), w.size[d]);
    count = larger(0, end - first);
    at = first * w.window_dilation[d] - before;
  }
  // How many positions from this one on are clipped alike, which dilated windows are.
  Int positions(const Window& w, int d) const {
    const Int dilation = w.window_dilation[d];
    if (dilation == 1) return 1;
    Int next = (first + count - 1) * dilation - w.in[d];  // of `before`, where a tap leaves the end
    if (first > 0) next = larger(next, (first - 1) * dilation);  // or one enters at the beginning
    return larger(1, ceil_div(before - next, w.stride[d]));
  }
  // A division is slow, and most windows are not dilated.
  static Int steps(Int distance, Int step) {
    return step == 1 ? distance : ceil_div(distance, step);
  }

  Int first, count;  // of the window
  Int at;            // in the input
  Int before;        // elements of the window in the padding
};

}  // namespace
