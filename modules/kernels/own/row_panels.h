// SPDX-License-Identifier: Apache-2.0
// A row of float32 alone by the panels of a matrix. They are read in memory order, one after the
// other: the sums of a panel are added up while those of the next one are made.
#pragma once

#include "row_steps.h"

namespace {

TFAOT_INLINE void start_sums(RowSums& sums, const float* bias, Int count) {
#if TFAOT_HAS_MASKS
  sums[0][0][0] = load_first(bias, smaller(count, kRowWidth));
#else
  TFAOT_UNROLL
  for (int v = 0; v < kVectorsPerPanel; ++v) {
    const Int at = v * kLanes<float>;
    if (count >= kRowWidth) {
      sums[0][0][v] = load(bias + at);
    } else if (at < count) {
      sums[0][0][v] = load_first(bias + at, smaller(kLanes<float>, count - at));
    }
  }
#endif
}

// Of sums FIRST and the following.
template <int FIRST, int COUNT>
TFAOT_INLINE Vec<float> total_of(const RowSums& sums, int v) {
  if constexpr (COUNT == 1) {
    return sums[FIRST][0][v];
  } else {
    constexpr int kHalf = COUNT / 2;
    return total_of<FIRST, kHalf>(sums, v) + total_of<FIRST + kHalf, kHalf>(sums, v);
  }
}

TFAOT_INLINE void store_panel(float* to, const PanelResult& made, Int count) {
#if TFAOT_HAS_MASKS
  if (count < kRowWidth) return store_first(to, made[0], count);
#else
  if (count < kRowWidth) {
    alignas(tfaot::kernels::kPanelBytes) float all[kRowWidth];
    TFAOT_UNROLL
    for (int v = 0; v < kVectorsPerPanel; ++v) store(all + v * kLanes<float>, made[v]);
    return copy_elements(to, all, count);
  }
#endif
  TFAOT_UNROLL
  for (int v = 0; v < kVectorsPerPanel; ++v) store(to + v * kLanes<float>, made[v]);
}

// What a row is multiplied with, and what becomes of the sums.
struct RowProduct {
  const float* b;
  const float* bias;  // null: none
  float* c;
  Int columns;
  Rectifier rectifier;
};

// Returns the results, as the next product reads them. Inlined: a call for each layer of a chain
// would take as long as a small layer.
template <Int kAhead>
TFAOT_INLINE RowInput multiply_by_panels(const RowInput& in, const RowProduct& p) {
  const float* b = p.b;
  for (Int column = 0;; column += kRowWidth) {
    const Int count = p.columns - column;
    RowSums sums = {};
    if (p.bias != nullptr) start_sums(sums, p.bias + column, count);
    b = add_panel<kAhead>(sums, in, b);
    PanelResult made;
    TFAOT_UNROLL
    for (int v = 0; v < kVectorsPerPanel; ++v) {
      made[v] = rectified<float>(total_of<0, kRowSums>(sums, v), p.rectifier);
    }
    store_panel(p.c + column, made, count);
    if (count <= kRowWidth) return input_of_results(p.c, p.columns, column, made);
  }
}

}  // namespace
