// SPDX-License-Identifier: Apache-2.0
// The inner loops of slide.h: some neighbouring positions by some vectors of channels, sums in
// registers.
//
// An operation has
//   static constexpr bool kFilter                         whether there is a filter
//   template <bool kPart> Vec<Element> start(Int channel, Int count) const
//   static Vec<Element> step(Vec<Element> sum, Vec<Element> input, Vec<Element> weight)
//   Vec<Element> finish(Vec<Element> sum) const
#pragma once

#include "gemm.h"
#include "image.h"

namespace {

// Of one tile: steps in elements.
struct Taps {
  Int count[kSpatial], step[kSpatial], filter_step[kSpatial];
};

template <bool kPart>
TFAOT_INLINE Vec<Element> load_channels(const Element* from, Int count) {
  if constexpr (kPart) return load_first(from, count);
  return load(from);
}

// MR positions, `position` elements apart, by NV vectors of channels from `channel` on. kPart: only
// `count` channels of a vector.
template <typename Op, int MR, int NV, bool kPart>
TFAOT_INLINE void slide_tile(const Op& op, const Taps& taps, const Element* in, Int position,
                             const Element* filter, Element* out, Int channels, Int channel,
                             Int count) {
  Vec<Element> sums[MR][NV];
  TFAOT_UNROLL
  for (int v = 0; v < NV; ++v) {
    const Vec<Element> start = op.template start<kPart>(channel + v * kLanes<Element>, count);
    TFAOT_UNROLL
    for (int r = 0; r < MR; ++r) sums[r][v] = start;
  }
  in += channel;
  filter += channel;
  for (Int i = 0; i < taps.count[0]; ++i) {
    for (Int j = 0; j < taps.count[1]; ++j) {
      const Element* tap = in + i * taps.step[0] + j * taps.step[1];
      const Element* weights = filter + i * taps.filter_step[0] + j * taps.filter_step[1];
      for (Int k = 0; k < taps.count[2]; ++k) {
        TFAOT_UNROLL
        for (int v = 0; v < NV; ++v) {
          Vec<Element> weight = {};
          if constexpr (Op::kFilter) {
            weight = load_channels<kPart>(weights + v * kLanes<Element>, count);
          }
          TFAOT_UNROLL
          for (int r = 0; r < MR; ++r) {
            const Element* const x = tap + r * position + v * kLanes<Element>;
            sums[r][v] = Op::step(sums[r][v], load_channels<kPart>(x, count), weight);
          }
        }
        tap += taps.step[2];
        weights += taps.filter_step[2];
      }
    }
  }
  TFAOT_UNROLL
  for (int r = 0; r < MR; ++r) {
    TFAOT_UNROLL
    for (int v = 0; v < NV; ++v) {
      Element* const to = out + r * channels + channel + v * kLanes<Element>;
      const Vec<Element> result = op.finish(sums[r][v]);
      if constexpr (kPart) {
        store_first(to, result, count);
      } else {
        store(to, result);
      }
    }
  }
}

// All channels of MR positions.
template <typename Op, int MR>
void slide_positions(const Op& op, const Taps& taps, const Element* in, Int position,
                     const Element* filter, Element* out, Int channels) {
  constexpr int kMany = TFAOT_VECTOR_REGISTERS == 32 ? 4 : 2;
  constexpr Int kWidth = kLanes<Element>;
  Int c = 0;
  for (; channels - c >= kMany * kWidth; c += kMany * kWidth) {
    slide_tile<Op, MR, kMany, false>(op, taps, in, position, filter, out, channels, c, kWidth);
  }
  for (; channels - c >= kWidth; c += kWidth) {
    slide_tile<Op, MR, 1, false>(op, taps, in, position, filter, out, channels, c, kWidth);
  }
  if (c < channels) {
    slide_tile<Op, MR, 1, true>(op, taps, in, position, filter, out, channels, c, channels - c);
  }
}

}  // namespace
