// SPDX-License-Identifier: Apache-2.0
// Windows that treat every channel alone: pooling and depthwise convolution. A window that reaches
// into the padding is clipped. slide_tiles.h lists the members of an operation.
#pragma once

#include "convolutions/image.h"
#include "convolutions/slide_tiles.h"

namespace {

// The part of a window that is inside the input, at one position of a dimension.
struct Clip {
  Clip(const Window& w, int d, Int position) {
    before = w.pad_low[d] - position * w.stride[d];
    first = smaller(larger(0, steps(before, w.window_dilation[d])), w.size[d]);
    const Int end = smaller(larger(0, steps(before + w.in[d], w.window_dilation[d])), w.size[d]);
    count = larger(0, end - first);
    at = first * w.window_dilation[d] - before;
  }
  // The number of positions from this one on that are clipped alike, as those of dilated windows
  // are.
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

// Elements between the filter's taps, and between neighbouring results.
struct SlideSteps {
  Int filter[kSpatial], out[kSpatial];
};

// Channels of a pixel.
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

// If rows would leave the first-level cache before the next row's windows use them again, an image
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

// Form of tiles for a filter of KW taps in a row, with neighbouring positions kStride taps apart,
// whose windows may reach beyond the row. Columns outside the image count as zero: at most kBeside
// on each side, so that no other column is checked.
template <int KW, int kStride>
struct Edged {
  static constexpr int kMost = 8;
  static constexpr bool kExact = kStride == 1;
  static constexpr int kBeside = KW / 2;

  template <int P, typename Op, bool kPart>
  static TFAOT_INLINE void slide(const Tile<Op, kPart>& tile) {
    constexpr int kColumns = (P - 1) * kStride + KW;
    static constexpr Element kZeros[kLanes<Element>] = {};
    const Int begin = tile.at.begin, end = tile.at.end;
    const auto in_image = [&](int p, const Element* from) __attribute__((always_inline)) {
      if (p < kBeside && p < begin) return &kZeros[0];
      if (p >= kColumns - kBeside && p >= end) return &kZeros[0];
      return from;
    };
    typename Op::State sums[P];
    tile.start(sums);
    tile.each_line([&](const Element* in, const Element* weights) __attribute__((always_inline)) {
      slide_taps<P, KW, kStride>(tile, sums, in, weights, in_image);
    });
    tile.write(sums);
  }
  static TFAOT_INLINE void move_on(Positions& at, Int positions) {
    at.begin -= positions * kStride;
    at.end -= positions * kStride;
  }
};

// A length dealt in turn to phases: the first ones may get one more.
struct Dealt {
  Dealt(Int length, Int phases) : each(length), rest(0) {
    if (phases == 1) return;  // divisions are slow
    each = length / phases;
    rest = length % phases;
  }
  Int to(Int phase) const { return each + (phase < rest ? 1 : 0); }

  Int each, rest;
};

// The windows of a row by phases: every n-th position if taps are n apart, so that their windows
// share columns. The columns from `begin` to `end` of each phase are in the image.
struct RowPhases {
  explicit RowPhases(const Window& w)
      : count(w.stride[2] == 1 ? w.window_dilation[2] : 1),
        positions(w.out[2], count),
        begin(larger(0, w.pad_low[2]), count),
        end(w.in[2] + w.pad_low[2], count) {}

  // True if the form Edged takes them.
  bool are_edged(const Window& w) const {
    const Int width = w.size[2], stride = w.stride[2];
    const bool has_form = stride == 1 ? width == 3 || width == 5 || width == 7
                                      : stride == 2 && (width == 3 || width == 5);
    const Int after =
        (positions.each - 1) * stride + width - end.each + (positions.rest > end.rest ? 1 : 0);
    return has_form && count == w.window_dilation[2] && w.pad_low[2] >= 0 &&
           begin.to(0) <= width / 2 && after <= width / 2;
  }

  Int count;
  Dealt positions, begin, end;
};

// `count` positions, which are `stride` taps apart.
template <typename Op>
void slide_edged(const Op& op, const Taps& taps, const Positions& at, Int count,
                 const Channels& channels, Int stride) {
  if (taps.count[2] == 3) {
    if (stride == 1) return slide_all<Edged<3, 1>>(op, taps, at, count, channels);
    return slide_all<Edged<3, 2>>(op, taps, at, count, channels);
  }
  if (taps.count[2] == 7) return slide_all<Edged<7, 1>>(op, taps, at, count, channels);
  if (stride == 1) return slide_all<Edged<5, 1>>(op, taps, at, count, channels);
  slide_all<Edged<5, 2>>(op, taps, at, count, channels);
}

// One row. at: the first column of the image, the first result, and their steps.
template <typename Op>
void slide_edged_row(const Op& op, const Taps& taps, const Positions& at, const Window& w,
                     const RowPhases& phases, const Channels& channels) {
  for (Int i = 0; i < smaller(phases.count, w.out[2]); ++i) {
    slide_edged(op, taps,
                {at.in + (i - w.pad_low[2]) * at.step, phases.count * w.stride[2] * at.step,
                 at.filter, at.out + i * at.result, phases.count * at.result, at.other_result,
                 phases.begin.to(i), phases.end.to(i)},
                phases.positions.to(i), channels, w.stride[2]);
  }
}

// `count` positions by a filter for each channel. stride: the number of taps that they are apart;
// 0: no whole number, or more than two.
template <typename Op>
void slide_filter(const Op& op, const Taps& taps, const Positions& at, Int count,
                  const Channels& channels, Int stride) {
  if (channels.end - channels.begin < kLanes<Element>) {
    return slide_part<AnyFilter<1>>(op, taps, at, count, channels);
  }
  if (stride != 1) return slide_all<AnyFilter<1>>(op, taps, at, count, channels);
  slide_all<AnyFilter<3>>(op, taps, at, count, channels);
}

template <int I, int O, typename Op>
TFAOT_INLINE void slide_groups_of(const Op& op, const Taps& taps, const Positions& at, Int count,
                                  const Channels& channels) {
  using Form = GroupsFilter<I, O>;
  if (channels.end - channels.begin < kLanes<Element>) {
    return slide_part<Form>(op, taps, at, count, channels);
  }
  slide_all<Form>(op, taps, at, count, channels);
}

// The same by a filter for each group, of the sizes of is_grouped() in window.h.
template <typename Op>
void slide_groups(const Op& op, const Taps& taps, const Positions& at, Int count,
                  const Channels& channels) {
  if (op.inputs == 2) return slide_groups_of<2, 2>(op, taps, at, count, channels);
  if (op.inputs == 4) return slide_groups_of<4, 4>(op, taps, at, count, channels);
  if (op.outputs == 2) return slide_groups_of<1, 2>(op, taps, at, count, channels);
  slide_groups_of<1, 4>(op, taps, at, count, channels);
}

template <typename Op>
void slide_pool(const Op& op, const Taps& taps, const Positions& at, Int count,
                const Channels& channels, Int stride) {
  if (channels.end - channels.begin < kLanes<Element>) {
    return slide_part<Apart<0, 0>>(op, taps, at, count, channels);
  }
  const Int width = taps.count[2];
  const Int height = taps.count[0] == 1 ? taps.count[1] : 0;
  if (width == 3 && stride == 1) {
    if (height == 3) return slide_all<Overlapping<3, 3, 1>>(op, taps, at, count, channels);
    return slide_all<Overlapping<0, 3, 1>>(op, taps, at, count, channels);
  }
  if (width == 3 && stride == 2) {
    if (height == 3) return slide_all<Overlapping<3, 3, 2>>(op, taps, at, count, channels);
    return slide_all<Overlapping<0, 3, 2>>(op, taps, at, count, channels);
  }
  if (width == 2 && stride == 1) {
    return slide_all<Overlapping<0, 2, 1>>(op, taps, at, count, channels);
  }
  if (width == 2 && height == 2) return slide_apart<Apart<2, 2>>(op, taps, at, count, channels);
  if (width == 3 && height == 3) return slide_apart<Apart<3, 3>>(op, taps, at, count, channels);
  slide_apart<Apart<0, 0>>(op, taps, at, count, channels);
}

template <typename Op>
TFAOT_INLINE void slide_row(const Op& op, const Taps& taps, const Positions& at, Int count,
                            const Channels& channels) {
  const Int stride = at.step == taps.step[2] ? 1 : at.step == 2 * taps.step[2] ? 2 : 0;
  if constexpr (Op::kFilter == Filter::kOfGroups) {
    slide_groups(op, taps, at, count, channels);
  } else if constexpr (Op::kFilter == Filter::kOfChannels) {
    slide_filter(op, taps, at, count, channels, stride);
  } else {
    slide_pool(op, taps, at, count, channels, stride);
  }
}

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

  static constexpr Int kFewestRows = 4;  // for doing the edges of an image by columns

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
      // Every n-th position of a dilated window, so that their windows share columns.
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
