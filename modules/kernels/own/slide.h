// SPDX-License-Identifier: Apache-2.0
// Windows that treat every channel alone: pooling and depthwise convolution. A window that reaches
// into the padding is clipped. slide_tile.h lists the members of an operation.
#pragma once

#include "slide_tile.h"

namespace {

// The part of a window that is inside the input, at one position.
struct Clip {
  Clip(const Window& w, int d, Int position) {
    const Int before = w.pad_low[d] - position * w.stride[d];
    first = smaller(larger(0, steps(before, w.window_dilation[d])), w.size[d]);
    const Int end = smaller(larger(0, steps(before + w.in[d], w.window_dilation[d])), w.size[d]);
    count = larger(0, end - first);
    at = first * w.window_dilation[d] - before;
  }
  // A division is slow, and most windows are not dilated.
  static Int steps(Int distance, Int step) {
    return step == 1 ? distance : ceil_div(distance, step);
  }

  Int first, count;  // of the window
  Int at;            // in the input
};

template <typename Op>
class Slide {
 public:
  // REQUIRES: window.base_dilation is 1. other_result: the distance from one result to the next, if
  // the operation has several.
  Slide(const Op& op, const Window& window, Int channels, const Element* filter, Int other_result)
      : op_(op), w_(window), channels_(channels), filter_(filter), other_result_(other_result) {
    Int step = channels, filter_step = channels;
    for (int d = kSpatial; d-- > 0;) {
      in_step_[d] = step;
      taps_.step[d] = step * w_.window_dilation[d];
      taps_.filter_step[d] = filter_step;
      step *= w_.in[d];
      filter_step *= w_.size[d];
    }
  }

  void image(const Element* in, Element* out) {
    // Positions whose window is not clipped in the last dimension.
    const Int last = w_.in[2] + w_.pad_low[2] - (w_.size[2] - 1) * w_.window_dilation[2];
    const Int end = last <= 0 ? 0 : smaller(w_.out[2], ceil_div(last, w_.stride[2]));
    const Int begin = smaller(end, ceil_div(larger(0, w_.pad_low[2]), w_.stride[2]));
    for (Int i = 0; i < w_.out[0]; ++i) {
      const Clip plane(w_, 0, i);
      for (Int j = 0; j < w_.out[1]; ++j) {
        const Clip row(w_, 1, j);
        const Element* const from = in + plane.at * in_step_[0] + row.at * in_step_[1];
        const Element* const filter =
            filter_ + plane.first * taps_.filter_step[0] + row.first * taps_.filter_step[1];
        taps_.count[0] = plane.count;
        taps_.count[1] = row.count;
        Int k = 0;
        for (; k < begin; ++k) one(from, filter, out + k * channels_, k);
        if (k < end) {
          row_of(from, filter, out, k, end);
          k = end;
        }
        for (; k < w_.out[2]; ++k) one(from, filter, out + k * channels_, k);
        out += w_.out[2] * channels_;
      }
    }
  }

 private:
  void one(const Element* in, const Element* filter, Element* out, Int k) {
    const Clip column(w_, 2, k);
    taps_.count[2] = column.count;
    slide_row(op_, taps_, {in + column.at * in_step_[2], 0, 1},
              filter + column.first * taps_.filter_step[2], out, other_result_, channels_);
  }

  // Positions [k, end) of a row; their windows are complete in the last dimension.
  void row_of(const Element* in, const Element* filter, Element* out, Int k, Int end) {
    taps_.count[2] = w_.size[2];
    const Int at = k * w_.stride[2] - w_.pad_low[2];
    slide_row(op_, taps_, {in + at * in_step_[2], w_.stride[2] * in_step_[2], end - k}, filter,
              out + k * channels_, other_result_, channels_);
  }

  const Op& op_;
  const Window& w_;
  Int channels_;
  const Element* filter_;
  Int other_result_;
  Int in_step_[kSpatial];
  Taps taps_;
};

template <typename Op>
void pool(const Op& op, void* out, const void** in) {
  const auto& call = *static_cast<const tfaot::kernels::PoolCall*>(in[0]);
  const Window& w = call.window;
  const auto* image = static_cast<const Element*>(in[1]);
  auto* result = static_cast<Element*>(out);
  const Int out_elements = w.out[0] * w.out[1] * w.out[2] * call.channels;
  Slide<Op> slide(op, w, call.channels, image /* there is no filter */, call.batch * out_elements);
  for (Int i = 0; i < call.batch; ++i) {
    slide.image(image, result);
    image += w.in[0] * w.in[1] * w.in[2] * call.channels;
    result += out_elements;
  }
}

}  // namespace
