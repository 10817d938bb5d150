// SPDX-License-Identifier: Apache-2.0
// Tiles of slide.h for groups of channels: a channel of each group's input is spread over the lanes
// of that group's results, then the next one.
#pragma once

#include <utility>

#include "convolutions/slide_forms.h"

namespace {

// Lane l becomes lane l / O * I + J of v.
template <int I, int O, int J, int... kLane>
TFAOT_INLINE Vec<Element> spread_lanes(Vec<Element> v, std::integer_sequence<int, kLane...>) {
  return __builtin_shufflevector(v, v, (kLane / O * I + J)...);
}

// Groups of I channels of the input and O of the result, any filter. An operation has filter_row:
// elements from one channel of a group's input to the next.
template <int I, int O>
struct GroupsFilter : InImage {
  static constexpr int kWidth = kLanes<Element>;
  static constexpr bool kIsOneGroup = O >= kWidth;  // that a vector of results belongs to
  static constexpr int kMost = TFAOT_VECTOR_REGISTERS == 32 ? 8 : kIsOneGroup ? 4 : 6;
  static constexpr bool kExact = false;

  // The inputs of `count` lanes of results.
  template <bool kPart>
  static TFAOT_INLINE Vec<Element> read(const Element* from, Int count) {
    if constexpr (kPart) return load_first(from, count / O * I);
    if constexpr (I < O && kWidth == 4) return Vec<Element>{from[0], from[1]};
    if constexpr (I < O) return load_first(from, kWidth / O * I);
    return load(from);
  }

  template <int J, int P>
  static TFAOT_INLINE void spread(Vec<Element> (&spread)[P], const Vec<Element> (&inputs)[P],
                                  const Element* from, Int step) {
    TFAOT_UNROLL
    for (int r = 0; r < P; ++r) {
      if constexpr (kIsOneGroup) {
        spread[r] = Vec<Element>{} + from[r * step + J];
      } else {
        spread[r] = spread_lanes<I, O, J>(inputs[r], std::make_integer_sequence<int, kWidth>());
      }
    }
  }

  // The J-th input of each group, and those after it.
  template <int J, int P, typename Op, bool kPart>
  static TFAOT_INLINE void add(const Tile<Op, kPart>& tile, typename Op::State (&sums)[P],
                               const Vec<Element> (&inputs)[P], const Element* from,
                               const Element* weights) {
    if constexpr (J < I) {
      Vec<Element> x[P];
      spread<J>(x, inputs, from, tile.at.step);
      const Vec<Element> weight = tile.read(weights);
      TFAOT_UNROLL
      for (int r = 0; r < P; ++r) sums[r] = Op::step(sums[r], x[r], weight);
      add<J + 1>(tile, sums, inputs, from, weights + tile.op.filter_row);
    }
  }

  template <int P, typename Op, bool kPart>
  static TFAOT_INLINE void slide(const Tile<Op, kPart>& tile) {
    typename Op::State sums[P];
    tile.start(sums);
    const Int first = tile.channel / O * I - tile.channel;
    tile.each_line([&](const Element* in, const Element* weights) __attribute__((always_inline)) {
      in += first;
      for (Int k = 0; k < tile.taps.count[2]; ++k) {
        Vec<Element> inputs[P] = {};
        if constexpr (!kIsOneGroup) {
          TFAOT_UNROLL
          for (int r = 0; r < P; ++r) {
            inputs[r] = read<kPart>(in + r * tile.at.step, tile.count);
          }
        }
        add<0>(tile, sums, inputs, in, weights);
        in += tile.taps.step[2];
        weights += tile.taps.filter_step[2];
      }
    });
    tile.write(sums);
  }
};

}  // namespace
