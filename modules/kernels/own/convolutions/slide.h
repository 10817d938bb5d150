// SPDX-License-Identifier: Apache-2.0
// Windows that treat every channel alone: pooling and depthwise convolution. A window that reaches
// into the padding is clipped. slide_tile.h lists the members of an operation.
#pragma once

#include "convolutions/slide_edges.h"
#include "convolutions/slide_row.h"
#include "convolutions/slide_steps.h"

namespace {

template <typename Op>
class Slide {
 public:
  // REQUIRES: window.base_dilation is 1. other_result: the distance from one result to the next, if
  // the operation has several.
  Slide(const Op& op, const Window& window, const ChannelCounts& channels, const Element* filter,
        const SlideSteps& steps, Int other_result)
      : op_(op),
        w_(window),
        channels_(channels.out),
        filter_(filter),
        other_result_(other_result),
        phases_(window),
        is_edged_(Op::kFilter == Filter::kOfChannels && channels.out >= kLanes<Element> &&
                  phases_.are_edged(window)) {
    Int step = channels.in;
    for (int d = kSpatial; d-- > 0;) {
      in_step_[d] = step;
      out_step_[d] = steps.out[d];
      taps_.step[d] = step * w_.window_dilation[d];
      taps_.filter_step[d] = steps.filter[d];
      step *= w_.in[d];
    }
  }

  void image(const Element* in, Element* out) {
    const Int block = channels_of_block(w_, channels_);
    for (Int c = 0; c < channels_; c = block_.end) {
      block_ = {c, channels_ - c < block + kFewestChannels ? channels_ : c + block};
      block_of_image(in, out);
    }
  }

 private:
  void block_of_image(const Element* in, Element* out) {
    const Whole rows(w_, 1);
    Whole columns(w_, 2);
    const bool by_columns = !is_edged_ && rows.end - rows.begin >= kFewestRows;
    if (by_columns && w_.out[2] < kFewestRows) columns.end = columns.begin;  // all by columns
    for (Int i = 0; i < w_.out[0]; ++i, out += out_step_[0]) {
      const Clip plane(w_, 0, i);
      const Element* const from = in + plane.at * in_step_[0];
      const Element* const filter = filter_ + plane.first * taps_.filter_step[0];
      taps_.count[0] = plane.count;
      for (Int j = 0; j < w_.out[1]; ++j) {
        row_of(from, filter, out + j * out_step_[1], j, columns, !by_columns || !rows.has(j));
      }
      if (!by_columns) continue;
      for (Int k = 0; k < columns.begin; ++k) column_of(from, filter, out, k, rows);
      for (Int k = columns.end; k < w_.out[2]; ++k) column_of(from, filter, out, k, rows);
    }
  }

  static constexpr Int kFewestRows = 4;  // for which the edges of an image are done by columns

  // One row: the positions whose window is complete in the last dimension, and with `all` the
  // others, too.
  void row_of(const Element* in, const Element* filter, Element* out, Int j, const Whole& columns,
              bool all) {
    const Clip row(w_, 1, j);
    in += row.at * in_step_[1];
    filter += row.first * taps_.filter_step[1];
    taps_.count[1] = row.count;
    if constexpr (Op::kFilter == Filter::kOfChannels) {
      if (is_edged_) {
        taps_.count[2] = w_.size[2];
        return slide_edged_row(op_, taps_,
                               {in, in_step_[2], filter, out, out_step_[2], other_result_}, w_,
                               phases_, block_);
      }
    }
    if (all) edge(in, filter, out, 0, columns.begin);
    if (columns.begin < columns.end) {
      const Int at = columns.begin * w_.stride[2] - w_.pad_low[2];
      taps_.count[2] = w_.size[2];
      // Of a dilated window every n-th position, so that their windows share columns.
      const bool is_apart = w_.window_dilation[2] % w_.stride[2] != 0;
      const Int step = is_apart ? 1 : w_.window_dilation[2] / w_.stride[2];
      for (Int k = 0, count = columns.end - columns.begin; k < smaller(step, count); ++k) {
        slide_row(op_, taps_,
                  {in + at * in_step_[2] + k * w_.stride[2] * in_step_[2],
                   step * w_.stride[2] * in_step_[2], filter,
                   out + (columns.begin + k) * out_step_[2], step * out_step_[2], other_result_},
                  ceil_div(count - k, step), block_);
      }
    }
    if (all) edge(in, filter, out, columns.end, w_.out[2]);
  }

  // One position of all rows whose windows are complete, at the edge of the image.
  void column_of(const Element* in, const Element* filter, Element* out, Int k, const Whole& rows) {
    const Clip column(w_, 2, k);
    const Int at = rows.begin * w_.stride[1] - w_.pad_low[1];
    const auto turned = [](const Int(&by)[kSpatial], Int(&to)[kSpatial]) {
      to[0] = by[0];
      to[1] = by[2];
      to[2] = by[1];
    };
    taps_.count[1] = w_.size[1];
    taps_.count[2] = column.count;
    Taps taps;
    turned(taps_.count, taps.count);
    turned(taps_.step, taps.step);
    turned(taps_.filter_step, taps.filter_step);
    slide_row(op_, taps,
              {in + at * in_step_[1] + column.at * in_step_[2], w_.stride[1] * in_step_[1],
               filter + column.first * taps_.filter_step[2],
               out + rows.begin * out_step_[1] + k * out_step_[2], out_step_[1], other_result_},
              rows.end - rows.begin, block_);
  }

  // Positions k to end of one row, whose windows are not complete.
  void edge(const Element* in, const Element* filter, Element* out, Int k, Int end) {
    while (k < end) {
      const Clip column(w_, 2, k);
      const Int alike = smaller(column.positions(w_, 2), end - k);
      taps_.count[2] = column.count;
      slide_row(op_, taps_,
                {in + column.at * in_step_[2], w_.stride[2] * in_step_[2],
                 filter + column.first * taps_.filter_step[2], out + k * out_step_[2], out_step_[2],
                 other_result_},
                alike, block_);
      k += alike;
    }
  }

  const Op& op_;
  const Window& w_;
  Int channels_;
  Channels block_;
  const Element* filter_;
  Int other_result_;
  RowPhases phases_;
  bool is_edged_;
  Int in_step_[kSpatial], out_step_[kSpatial];
  Taps taps_;
};

}  // namespace
