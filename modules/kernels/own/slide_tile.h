// SPDX-License-Identifier: Apache-2.0
// The inner loops of slide.h: several neighbouring positions by several vectors of channels, with
// sums in registers.
//
// An operation has
//   static constexpr bool kFilter                   whether there is a filter
//   static constexpr int kResults                   and how many results
//   using State                                     Vec<Element>, or more of them
//   template <bool kPart> State start(Int channel, Int count) const
//   static State step(State state, Vec<Element> input, Vec<Element> weight)
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

template <bool kPart>
TFAOT_INLINE Vec<Element> load_channels(const Element* from, Int count) {
  if constexpr (kPart) return load_first(from, count);
  return load(from);
}

// MR positions, `position` elements apart in the input and `result` in the result, by NV vectors of
// channels, starting at `channel`. If there are several results, they are `other_result` elements
// apart. kPart: only `count` channels of a vector. kShared: the taps of a row of the window, if
// they are as far apart as the positions are: then neighbours share what they load. 0: they do not.
template <typename Op, int MR, int NV, bool kPart, int kShared>
TFAOT_INLINE void slide_tile(const Op& op, const Taps& taps, const Element* in, Int position,
                             const Element* filter, Element* out, Int result, Int other_result,
                             Int channel, Int count) {
  typename Op::State sums[MR][NV];
  TFAOT_UNROLL
  for (int v = 0; v < NV; ++v) {
    const typename Op::State start = op.template start<kPart>(channel + v * kLanes<Element>, count);
    TFAOT_UNROLL
    for (int r = 0; r < MR; ++r) sums[r][v] = start;
  }
  in += channel;
  filter += channel;
  for (Int i = 0; i < taps.count[0]; ++i) {
    for (Int j = 0; j < taps.count[1]; ++j) {
      const Element* tap = in + i * taps.step[0] + j * taps.step[1];
      const Element* weights = filter + i * taps.filter_step[0] + j * taps.filter_step[1];
      if constexpr (kShared > 0) {
        TFAOT_UNROLL
        for (int v = 0; v < NV; ++v) {
          Vec<Element> weight[kShared];
          TFAOT_UNROLL
          for (int k = 0; k < kShared; ++k) {
            const Element* const at = weights + k * taps.filter_step[2] + v * kLanes<Element>;
            weight[k] = load_channels<kPart>(at, count);
          }
          TFAOT_UNROLL
          for (int p = 0; p < MR + kShared - 1; ++p) {
            const Element* const at = tap + p * position + v * kLanes<Element>;
            const Vec<Element> x = load_channels<kPart>(at, count);
            TFAOT_UNROLL
            for (int r = p; r > p - kShared; --r) {
              if (r >= 0 && r < MR) sums[r][v] = Op::step(sums[r][v], x, weight[p - r]);
            }
          }
        }
        continue;
      }
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
  for (int which = 0; which < Op::kResults; ++which) {
    TFAOT_UNROLL
    for (int r = 0; r < MR; ++r) {
      TFAOT_UNROLL
      for (int v = 0; v < NV; ++v) {
        Element* const to = out + which * other_result + r * result + channel + v * kLanes<Element>;
        const Vec<Element> value = op.finish(sums[r][v], which);
        if constexpr (kPart) {
          store_first(to, value, count);
        } else {
          store(to, value);
        }
      }
    }
  }
}

}  // namespace
