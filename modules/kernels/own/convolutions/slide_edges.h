// SPDX-License-Identifier: Apache-2.0
// Rows of positions by a filter for each channel, whose windows may reach beyond the row: what is
// beside it counts as zero.
#pragma once

#include "convolutions/slide_steps.h"
#include "convolutions/slide_tiles.h"

namespace {

// A filter of KW taps in a row, of which neighbouring positions are kStride apart. Columns that are
// not in the image count as zero: at most kBeside on each side, so that no other one is asked
// about.
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

// A length in turn to some phases: the first ones may get one more.
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
// share columns. Of each phase the columns from `begin` to `end` are in the image.
struct RowPhases {
  explicit RowPhases(const Window& w)
      : count(w.stride[2] == 1 ? w.window_dilation[2] : 1),
        positions(w.out[2], count),
        begin(larger(0, w.pad_low[2]), count),
        end(w.in[2] + w.pad_low[2], count) {}

  // Whether the form Edged takes them.
  bool are_edged(const Window& w) const {
    const Int width = w.size[2], stride = w.stride[2];
    const bool has_form = stride == 1 ? width == 3 || width == 5 || width == 7
                                      : stride == 2 && (width == 3 || width == 5);
    const Int behind =
        (positions.each - 1) * stride + width - end.each + (positions.rest > end.rest ? 1 : 0);
    return has_form && count == w.window_dilation[2] && w.pad_low[2] >= 0 &&
           begin.to(0) <= width / 2 && behind <= width / 2;
  }

  Int count;
  Dealt positions, begin, end;
};

// `count` positions. stride: how many taps they are apart.
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

// One row. at: the first column of the image and the first result, and the steps from one to the
// next.
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

}  // namespace
