// SPDX-License-Identifier: Apache-2.0
// The forms of tiles of slide_row.h.
#pragma once

#include "convolutions/slide_tile.h"

namespace {

// The forms of tiles: P positions by a vector. kMost: the most positions. kExact: there is a tile
// for each smaller number of positions, too.

// Forms whose columns are all in the image.
struct InImage {
  static TFAOT_INLINE void move_on(Positions& /*at*/, Int /*positions*/) {}
};

// Any filter. kShared: as many neighbouring taps at a time, if they are as far apart as the
// positions. 1: none.
template <int kShared>
struct AnyFilter : InImage {
  static constexpr int kMost = 8;
  static constexpr bool kExact = false;

  template <int P, typename Op, bool kPart>
  static TFAOT_INLINE void slide(const Tile<Op, kPart>& tile) {
    typename Op::State sums[P];
    tile.start(sums);
    tile.each_line([&](const Element* in, const Element* weights) __attribute__((always_inline)) {
      const Taps& taps = tile.taps;
      Int k = 0;
      if constexpr (kShared > 1) {
        for (; k + kShared <= taps.count[2]; k += kShared) {
          slide_taps<P, kShared, 1>(tile, sums, in, weights,
                                    [](int /*p*/, const Element* from) { return from; });
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
    tile.write(sums);
  }
};

// Without a filter, KW taps in a row, of which neighbouring positions are kStride apart, fewer than
// KW. Columns of the windows are joined first, and once for all windows that have them.
template <int KH, int KW, int kStride>
struct Overlapping : InImage {
  static constexpr int kMost = TFAOT_VECTOR_REGISTERS == 32 ? 8 : 4;
  static constexpr bool kExact = false;

  template <int P, typename Op, bool kPart>
  static TFAOT_INLINE void slide(const Tile<Op, kPart>& tile) {
    constexpr int kColumns = (P - 1) * kStride + KW;
    typename Op::State columns[kColumns];
    tile.start(columns);
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
struct Apart : InImage {
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
