// SPDX-License-Identifier: Apache-2.0
// Tiles of slide_tile.h for any number of positions and channels.
#pragma once

#include "slide_tile.h"

namespace {

template <int N>
struct Number {
  static constexpr int kValue = N;
};

// Those from `begin` to `end`.
struct Channels {
  Int begin, end;
};

// As many times P of `count` positions as there are. All channels of some positions before the next
// ones: they lie together, so the memory is read in order. kPart: fewer channels than a vector has.
template <typename Form, int P, bool kPart, typename Op>
TFAOT_INLINE void slide_some(const Op& op, const Taps& taps, Positions& at, Int& count,
                             const Channels& channels) {
  constexpr Int kWidth = kLanes<Element>;
  for (; count >= P; count -= P) {
    if constexpr (kPart) {
      const Int width = channels.end - channels.begin;
      Form::template slide<P>(Tile<Op, true>{op, taps, at, channels.begin, width});
    } else {
      // The last channels once more with some before them, as a whole vector.
      for (Int c = channels.begin; c < channels.end; c += kWidth) {
        const Int channel = smaller(c, channels.end - kWidth);
        Form::template slide<P>(Tile<Op, false>{op, taps, at, channel, kWidth});
      }
    }
    at.in += P * at.step;
    at.out += P * at.result;
  }
}

// What is referred to is copied first: for all that the compiler knows, a store could change it.
template <typename Form, typename Op>
__attribute__((noinline)) void slide_all(const Op op, const Taps& all_taps,
                                         const Positions& positions, Int count, Channels channels) {
  const Taps taps = all_taps;
  Positions at = positions;
  constexpr int kMost = Form::kMost;
  slide_some<Form, kMost, false>(op, taps, at, count, channels);
  if constexpr (Form::kExact) {  // of so few positions, two tiles cost more than their code
    slide_some<Form, 7, false>(op, taps, at, count, channels);
    slide_some<Form, 6, false>(op, taps, at, count, channels);
    slide_some<Form, 5, false>(op, taps, at, count, channels);
  }
  if constexpr (kMost > 4) slide_some<Form, 4, false>(op, taps, at, count, channels);
  if constexpr (Form::kExact) slide_some<Form, 3, false>(op, taps, at, count, channels);
  slide_some<Form, 2, false>(op, taps, at, count, channels);
  slide_some<Form, 1, false>(op, taps, at, count, channels);
}

// Fewer channels than a vector has.
template <typename Form, typename Op>
__attribute__((noinline)) void slide_part(const Op op, const Taps& all_taps,
                                          const Positions& positions, Int count,
                                          Channels channels) {
  const Taps taps = all_taps;
  Positions at = positions;
  if constexpr (TFAOT_HAS_MASKS) slide_some<Form, 4, true>(op, taps, at, count, channels);
  slide_some<Form, 1, true>(op, taps, at, count, channels);
}

// One position by NV vectors at a time; returns the next channel.
template <typename Form, int NV, typename Op>
TFAOT_INLINE Int slide_vectors(const Op& op, const Taps& taps, const Positions& at, Int c,
                               Int end) {
  constexpr Int kWidth = kLanes<Element>;
  for (; c + NV * kWidth <= end; c += NV * kWidth) {
    Form::template slide<1, NV>(Tile<Op, false>{op, taps, at, c, kWidth});
  }
  return c;
}

// Windows that share nothing: several positions of few channels, or one of many. Much of a pixel at
// a time, as the next one may be far away.
template <typename Form, typename Op>
__attribute__((noinline)) void slide_apart(const Op op, const Taps& all_taps,
                                           const Positions& positions, Int count,
                                           Channels channels) {
  constexpr Int kWidth = kLanes<Element>;
  constexpr int kVectors = TFAOT_VECTOR_REGISTERS / 2 / Op::kResults;
  constexpr Int kFew = 4;
  const Taps taps = all_taps;
  Positions at = positions;
  if (count >= kFew && channels.end - channels.begin < kFew * kWidth) {
    slide_some<Form, kFew, false>(op, taps, at, count, channels);
    return slide_some<Form, 1, false>(op, taps, at, count, channels);
  }
  for (; count > 0; --count, at.in += at.step, at.out += at.result) {
    Int c = slide_vectors<Form, kVectors>(op, taps, at, channels.begin, channels.end);
    if constexpr (kVectors > 8) c = slide_vectors<Form, 8>(op, taps, at, c, channels.end);
    if constexpr (kVectors > 4) c = slide_vectors<Form, 4>(op, taps, at, c, channels.end);
    c = slide_vectors<Form, 2>(op, taps, at, c, channels.end);
    const Int rest = channels.end - c;
    if (rest > kWidth) {
      Form::template slide<1, 2>(Tile<Op, false>{op, taps, at, c, kWidth, rest - kWidth});
    } else if (rest > 0) {
      Form::template slide<1, 1>(Tile<Op, false>{op, taps, at, channels.end - kWidth, kWidth});
    }
  }
}

// `count` positions. stride: how many taps they are apart; 0: no whole number, or more than two.
template <typename Op>
void slide_filter(const Op& op, const Taps& taps, const Positions& at, Int count,
                  const Channels& channels, Int stride) {
  if (channels.end - channels.begin < kLanes<Element>) {
    return slide_part<AnyFilter<1>>(op, taps, at, count, channels);
  }
  const Int width = taps.count[2];
  if (taps.count[0] == 1 && taps.count[1] == 3 && width == 3) {
    if (stride == 1) return slide_all<FixedFilter<3, 3, 1>>(op, taps, at, count, channels);
    if (stride == 2) return slide_all<FixedFilter<3, 3, 2>>(op, taps, at, count, channels);
  }
  if (stride != 1) return slide_all<AnyFilter<1>>(op, taps, at, count, channels);
  if (width == 5) return slide_all<AnyFilter<5>>(op, taps, at, count, channels);
  slide_all<AnyFilter<3>>(op, taps, at, count, channels);
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
  if constexpr (Op::kFilter) {
    slide_filter(op, taps, at, count, channels, stride);
  } else {
    slide_pool(op, taps, at, count, channels, stride);
  }
}

}  // namespace
