// SPDX-License-Identifier: Apache-2.0
// The inner loops of slide.h: several neighbouring positions by a vector of channels, with sums in
// registers.
//
// An operation has
//   static constexpr Filter kFilter                 what has a filter
//   static constexpr int kResults                   and how many results
//   using State                                     Vec<Element>, or more of them
//   template <bool kPart> State start(Int channel, Int count) const
//   static State step(State state, Vec<Element> input, Vec<Element> weight)   with a filter
//   static State step(State state, Vec<Element> input)                        without one
//   static State join(State, State)                 of two parts of a window; without a filter
//   Vec<Element> finish(const State& state, int result) const
#pragma once

#include "convolutions/image.h"
#include "simd/kernel.h"
#include "simd/vec_compare.h"

namespace {

enum class Filter { kNone, kOfChannels, kOfGroups };

// The taps of one tile; steps are in elements.
struct Taps {
  Int count[kSpatial], step[kSpatial], filter_step[kSpatial];
};

// Neighbouring positions and all their channels. The positions are `step` elements apart in the
// input and `result` in the result. If there are several results, they are `other_result` elements
// apart.
struct Positions {
  const Element* in;
  Int step;
  const Element* filter;
  Element* out;
  Int result, other_result;
  Int begin = 0, end = 0;  // of the columns from `in` on that are in the image; of Edged alone
};

template <bool kPart>
TFAOT_INLINE Vec<Element> load_channels(const Element* from, Int count) {
  if constexpr (kPart) return load_first(from, count);
  return load(from);
}

// What a tile does with one vector of channels. kPart: of which only `count` are read and written.
template <typename Op, bool kPart>
struct Tile {
  using State = typename Op::State;

  TFAOT_INLINE State start() const { return op.template start<kPart>(channel, count); }
  template <int N>
  TFAOT_INLINE void start(State (&sums)[N]) const {
    TFAOT_UNROLL
    for (int i = 0; i < N; ++i) sums[i] = start();
  }
  TFAOT_INLINE Vec<Element> read(const Element* from) const {
    return load_channels<kPart>(from, count);
  }
  TFAOT_INLINE void write(const State& state, Int position) const {
    write(state, at.out + position * at.result + channel);
  }
  TFAOT_INLINE void write(const State& state, Element* to) const {
    TFAOT_UNROLL
    for (int which = 0; which < Op::kResults; ++which) {
      const Vec<Element> value = op.finish(state, which);
      if constexpr (kPart) {
        store_first(to + which * at.other_result, value, count);
      } else {
        store(to + which * at.other_result, value);
      }
    }
  }
  // Of neighbouring positions.
  template <int P>
  TFAOT_INLINE void write(const State (&sums)[P]) const {
    Element* to = at.out + channel;
    TFAOT_UNROLL
    for (int r = 0; r < P; ++r, go_on(to, at.result)) write(sums[r], to);
  }
  // use(taps' input, their weights) for each row of the window.
  template <typename Use>
  TFAOT_INLINE void each_line(const Use& use) const {
    for (Int i = 0; i < taps.count[0]; ++i) {
      const Element* in = at.in + i * taps.step[0] + channel;
      const Element* weights = at.filter + i * taps.filter_step[0] + channel;
      for (Int j = 0; j < taps.count[1]; ++j) {
        use(in, weights);
        in += taps.step[1];
        weights += taps.filter_step[1];
      }
    }
  }

  const Op& op;
  const Taps& taps;
  const Positions& at;
  Int channel, count;
  Int apart = kLanes<Element>;  // from one vector to the next, of several
};

// A row of KW taps for P positions, which are kStride of the taps apart, so that neighbours share
// what they load. in_image(p, from): where column p is read, which lies at `from` if it is there.
template <int P, int KW, int kStride, typename Op, bool kPart, typename Where>
TFAOT_INLINE void slide_taps(const Tile<Op, kPart>& tile, typename Op::State (&sums)[P],
                             const Element* in, const Element* weights, const Where& in_image) {
  Vec<Element> weight[KW];
  TFAOT_UNROLL
  for (int k = 0; k < KW; ++k, go_on(weights, tile.taps.filter_step[2])) {
    weight[k] = tile.read(weights);
  }
  TFAOT_UNROLL
  for (int p = 0; p < (P - 1) * kStride + KW; ++p, go_on(in, tile.taps.step[2])) {
    Vec<Element> x = tile.read(in_image(p, in));
    keep(x);
    TFAOT_UNROLL
    for (int r = 0; r < P; ++r) {
      const int k = p - r * kStride;
      if (k >= 0 && k < KW) sums[r] = Op::step(sums[r], x, weight[k]);
    }
  }
}

}  // namespace
