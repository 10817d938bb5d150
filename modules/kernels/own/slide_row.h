// SPDX-License-Identifier: Apache-2.0
// Tiles of slide_tile.h for any number of positions and channels.
#pragma once

#include "slide_tile.h"

namespace {

// Neighbouring positions, `step` elements apart in the input and `result` in the result.
struct Positions {
  const Element* in;
  Int step, count, result;
};

template <int N>
struct Shared {
  static constexpr int kTaps = N;
};

// NV vectors of channels for all positions, several positions at a time. The last ones are computed
// twice rather than one by one.
template <typename Op, int NV, bool kPart>
TFAOT_INLINE void slide_channels(const Op& op, const Taps& taps, const Positions& positions,
                                 const Element* filter, Element* out, Int other_result, Int channel,
                                 Int count) {
  constexpr int kMany = 4;
  if (positions.count < kMany) {
    for (Int p = 0; p < positions.count; ++p) {
      slide_tile<Op, 1, NV, kPart, 0>(op, taps, positions.in + p * positions.step, 0, filter,
                                      out + p * positions.result, 0, other_result, channel, count);
    }
    return;
  }
  const auto tiles = [&](auto shared) {
    for (Int p = 0; p < positions.count; p += kMany) {
      p = smaller(p, positions.count - kMany);
      slide_tile<Op, kMany, NV, kPart, decltype(shared)::kTaps>(
          op, taps, positions.in + p * positions.step, positions.step, filter,
          out + p * positions.result, positions.result, other_result, channel, count);
    }
  };
  if constexpr (Op::kFilter) {
    if (taps.count[2] == 3 && taps.step[2] == positions.step) return tiles(Shared<3>());
  }
  tiles(Shared<0>());
}

template <typename Op>
void slide_row(const Op& op, const Taps& taps, const Positions& positions, const Element* filter,
               Element* out, Int other_result, Int channels) {
  constexpr int kMany = (TFAOT_VECTOR_REGISTERS == 32 ? 4 : 2) / Op::kResults;
  constexpr Int kWidth = kLanes<Element>;
  Int c = 0;
  for (; channels - c >= kMany * kWidth; c += kMany * kWidth) {
    slide_channels<Op, kMany, false>(op, taps, positions, filter, out, other_result, c, kWidth);
  }
  if constexpr (kMany > 2) {
    for (; channels - c >= 2 * kWidth; c += 2 * kWidth) {
      slide_channels<Op, 2, false>(op, taps, positions, filter, out, other_result, c, kWidth);
    }
  }
  for (; channels - c >= kWidth; c += kWidth) {
    slide_channels<Op, 1, false>(op, taps, positions, filter, out, other_result, c, kWidth);
  }
  if (c < channels) {
    slide_channels<Op, 1, true>(op, taps, positions, filter, out, other_result, c, channels - c);
  }
}

}  // namespace
