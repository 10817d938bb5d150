// SPDX-License-Identifier: Apache-2.0
// The inner loops of slide.h: several neighbouring positions by a vector of channels, with sums in
// registers.
//
// An operation has
//   static constexpr bool kFilter                   whether there is a filter
//   static constexpr int kResults                   and how many results
//   using State                                     Vec<Element>, or more of them
//   template <bool kPart> State start(Int channel, Int count) const
//   static State step(State state, Vec<Element> input, Vec<Element> weight)   with a filter
//   static State step(State state, Vec<Element> input)                        without one
//   static State join(State, State)                 of two parts of a window; without a filter
//   Vec<Element> finish(const State& state, int result) const
#pragma once

#include "gemm.h"
#include "image.h"
#include "vec_compare.h"

namespace {

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
  TFAOT_INLINE Vec<Element> read(const Element* from) const {
    return load_channels<kPart>(from, count);
  }
  TFAOT_INLINE void write(const State& state, Int position) const {
    TFAOT_UNROLL
    for (int which = 0; which < Op::kResults; ++which) {
      Element* const to = at.out + position * at.result + which * at.other_result + channel;
      const Vec<Element> value = op.finish(state, which);
      if constexpr (kPart) {
        store_first(to, value, count);
      } else {
        store(to, value);
      }
    }
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
// what they load.
template <int P, int KW, int kStride, typename Op, bool kPart>
TFAOT_INLINE void slide_taps(const Tile<Op, kPart>& tile, typename Op::State (&sums)[P],
                             const Element* in, const Element* weights) {
  Vec<Element> weight[KW];
  TFAOT_UNROLL
  for (int k = 0; k < KW; ++k) weight[k] = tile.read(weights + k * tile.taps.filter_step[2]);
  TFAOT_UNROLL
  for (int p = 0; p < (P - 1) * kStride + KW; ++p) {
    const Vec<Element> x = loaded_once(tile.read(in + p * tile.taps.step[2]));
    TFAOT_UNROLL
    for (int r = 0; r < P; ++r) {
      const int k = p - r * kStride;
      if (k >= 0 && k < KW) sums[r] = Op::step(sums[r], x, weight[k]);
    }
  }
}

// The forms of tiles: P positions by a vector. kMost: the most positions. kExact: there is a tile
// for each smaller number of positions, too.

// A filter of KH by KW taps.
template <int KH, int KW, int kStride>
struct FixedFilter {
  static constexpr int kMost = 8;
  static constexpr bool kExact = kStride == 1;

  template <int P, typename Op, bool kPart>
  static TFAOT_INLINE void slide(const Tile<Op, kPart>& tile) {
    typename Op::State sums[P];
    TFAOT_UNROLL
    for (int r = 0; r < P; ++r) sums[r] = tile.start();
    const Element* in = tile.at.in + tile.channel;
    const Element* weights = tile.at.filter + tile.channel;
    TFAOT_UNROLL
    for (int i = 0; i < KH; ++i) {
      slide_taps<P, KW, kStride>(tile, sums, in, weights);
      in += tile.taps.step[1];
      weights += tile.taps.filter_step[1];
    }
    TFAOT_UNROLL
    for (int r = 0; r < P; ++r) tile.write(sums[r], r);
  }
};

// Any filter. kShared: as many neighbouring taps at a time, if they are as far apart as the
// positions. 1: none.
template <int kShared>
struct AnyFilter {
  static constexpr int kMost = 8;
  static constexpr bool kExact = kShared == 3;

  template <int P, typename Op, bool kPart>
  static TFAOT_INLINE void slide(const Tile<Op, kPart>& tile) {
    typename Op::State sums[P];
    TFAOT_UNROLL
    for (int r = 0; r < P; ++r) sums[r] = tile.start();
    tile.each_line([&](const Element* in, const Element* weights) __attribute__((always_inline)) {
      const Taps& taps = tile.taps;
      Int k = 0;
      if constexpr (kShared > 1) {
        for (; k + kShared <= taps.count[2]; k += kShared) {
          slide_taps<P, kShared, 1>(tile, sums, in, weights);
          in += kShared * taps.step[2];
          weights += kShared * taps.filter_step[2];
        }
      }
      for (; k < taps.count[2]; ++k, in += taps.step[2], weights += taps.filter_step[2]) {
        const Vec<Element> weight = tile.read(weights);
        TFAOT_UNROLL
        for (int r = 0; r < P; ++r) {
          sums[r] = Op::step(sums[r], tile.read(in + r * tile.at.step), weight);
        }
      }
    });
    TFAOT_UNROLL
    for (int r = 0; r < P; ++r) tile.write(sums[r], r);
  }
};

// Without a filter, KW taps in a row, of which neighbouring positions are kStride apart, fewer than
// KW. Columns of the windows are joined first, and once for all windows that have them.
template <int KH, int KW, int kStride>
struct Overlapping {
  static constexpr int kMost = TFAOT_VECTOR_REGISTERS == 32 ? 8 : 4;
  static constexpr bool kExact = false;

  template <int P, typename Op, bool kPart>
  static TFAOT_INLINE void slide(const Tile<Op, kPart>& tile) {
    constexpr int kColumns = (P - 1) * kStride + KW;
    typename Op::State columns[kColumns];
    TFAOT_UNROLL
    for (int p = 0; p < kColumns; ++p) columns[p] = tile.start();
    const auto line = [&](const Element* in, const Element*) __attribute__((always_inline)) {
      TFAOT_UNROLL
      for (int p = 0; p < kColumns; ++p) {
        columns[p] = Op::step(columns[p], tile.read(in + p * tile.taps.step[2]));
      }
    };
    if constexpr (KH != 0) {
      TFAOT_UNROLL
      for (int i = 0; i < KH; ++i) line(tile.at.in + i * tile.taps.step[1] + tile.channel, nullptr);
    } else {
      tile.each_line(line);
    }
    TFAOT_UNROLL
    for (int r = 0; r < P; ++r) {
      typename Op::State sum = columns[r * kStride];
      TFAOT_UNROLL
      for (int k = 1; k < KW; ++k) sum = Op::join(sum, columns[r * kStride + k]);
      tile.write(sum, r);
    }
  }
};

// The same for windows of KH by KW taps that share nothing, by NV vectors. 0: any number of taps.
template <int KH, int KW>
struct Apart {
  template <int P, int NV = 1, typename Op, bool kPart>
  static TFAOT_INLINE void slide(const Tile<Op, kPart>& tile) {
    typename Op::State sums[P][NV];
    const auto vector = [&](int v) __attribute__((always_inline)) {
      return Tile<Op, kPart>{tile.op, tile.taps, tile.at, tile.channel + v * tile.apart,
                             tile.count};
    };
    TFAOT_UNROLL
    for (int i = 0; i < P * NV; ++i) sums[i / NV][i % NV] = vector(i % NV).start();
    const auto tap = [&](const Element* in) __attribute__((always_inline)) {
      TFAOT_UNROLL
      for (int i = 0; i < P * NV; ++i) {
        const Element* const from = in + i / NV * tile.at.step + i % NV * tile.apart;
        sums[i / NV][i % NV] = Op::step(sums[i / NV][i % NV], tile.read(from));
      }
    };
    if constexpr (KH != 0) {
      TFAOT_UNROLL
      for (int i = 0; i < KH * KW; ++i) {
        tap(tile.at.in + i / KW * tile.taps.step[1] + i % KW * tile.taps.step[2] + tile.channel);
      }
    } else {
      tile.each_line([&](const Element* in, const Element*) __attribute__((always_inline)) {
        for (Int k = 0; k < tile.taps.count[2]; ++k, in += tile.taps.step[2]) tap(in);
      });
    }
    TFAOT_UNROLL
    for (int i = 0; i < P * NV; ++i) vector(i % NV).write(sums[i / NV][i % NV], i / NV);
  }
};

}  // namespace
