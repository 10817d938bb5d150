// SPDX-License-Identifier: Apache-2.0
// Tiles of one form for any number of positions and channels.
#pragma once

#include "convolutions/slide_forms.h"

namespace {

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
    Form::move_on(at, P);
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

}  // namespace
