// SPDX-License-Identifier: Apache-2.0
// Chooses the form of tiles for a row of positions.
#pragma once

#include "convolutions/slide_tiles.h"
#include "convolutions/spread_groups.h"

namespace {

// `count` positions, by a filter for each channel. stride: how many taps they are apart; 0: no
// whole number, or more than two.
template <typename Op>
void slide_filter(const Op& op, const Taps& taps, const Positions& at, Int count,
                  const Channels& channels, Int stride) {
  if (channels.end - channels.begin < kLanes<Element>) {
    return slide_part<AnyFilter<1>>(op, taps, at, count, channels);
  }
  if (stride != 1) return slide_all<AnyFilter<1>>(op, taps, at, count, channels);
  slide_all<AnyFilter<3>>(op, taps, at, count, channels);
}

template <int I, int O, typename Op>
TFAOT_INLINE void slide_groups_of(const Op& op, const Taps& taps, const Positions& at, Int count,
                                  const Channels& channels) {
  using Form = GroupsFilter<I, O>;
  if (channels.end - channels.begin < kLanes<Element>) {
    return slide_part<Form>(op, taps, at, count, channels);
  }
  slide_all<Form>(op, taps, at, count, channels);
}

// By a filter for each group. For the sizes of is_grouped() in window.h.
template <typename Op>
void slide_groups(const Op& op, const Taps& taps, const Positions& at, Int count,
                  const Channels& channels) {
  if (op.inputs == 2) return slide_groups_of<2, 2>(op, taps, at, count, channels);
  if (op.inputs == 4) return slide_groups_of<4, 4>(op, taps, at, count, channels);
  if (op.outputs == 2) return slide_groups_of<1, 2>(op, taps, at, count, channels);
  slide_groups_of<1, 4>(op, taps, at, count, channels);
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
  if constexpr (Op::kFilter == Filter::kOfGroups) {
    slide_groups(op, taps, at, count, channels);
  } else if constexpr (Op::kFilter == Filter::kOfChannels) {
    slide_filter(op, taps, at, count, channels, stride);
  } else {
    slide_pool(op, taps, at, count, channels, stride);
  }
}

}  // namespace
