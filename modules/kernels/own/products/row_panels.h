// SPDX-License-Identifier: Apache-2.0
// A row of float32 alone, or two with AVX-512, by the panels of a matrix. One or two at a time are
// read, in memory order: their sums are added up while those of the next ones are made.
#pragma once

#include "products/row_steps.h"

namespace {

template <int MR>
TFAOT_INLINE void start_sums(RowSums<MR>& sums, const float* bias, Int count) {
  TFAOT_UNROLL
  for (int v = 0; v < kVectorsPerPanel; ++v) {
    const Int at = v * kLanes<float>;
    if (TFAOT_HAS_MASKS) {
      sums[0][0][v] = load_first(bias, smaller(count, kRowWidth));
    } else if (count >= kRowWidth) {
      sums[0][0][v] = load(bias + at);
    } else if (at < count) {
      sums[0][0][v] = load_first(bias + at, smaller(kLanes<float>, count - at));
    }
    TFAOT_UNROLL
    for (int r = 1; r < MR; ++r) sums[0][r][v] = sums[0][0][v];
  }
}

// Of sums FIRST and the following.
template <int FIRST, int COUNT, int MR>
TFAOT_INLINE Vec<float> total_of(const RowSums<MR>& sums, int r, int v) {
  if constexpr (COUNT == 1) {
    return sums[FIRST][r][v];
  } else {
    constexpr int kHalf = COUNT / 2;
    return total_of<FIRST, kHalf, MR>(sums, r, v) + total_of<FIRST + kHalf, kHalf, MR>(sums, r, v);
  }
}

TFAOT_INLINE void store_panel(float* to, const Vec<float> (&made)[kVectorsPerPanel], Int count) {
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

// NP panels, from `column` on. Returns where the next one begins.
template <bool kFetch, int VECTORS, int NP, int MR, int KEPT>
TFAOT_INLINE const float* multiply_panels(const RowInput<MR, KEPT>& in, const RowProduct& p,
                                          const float* b, Int column, RowInput<MR, KEPT>& out) {
  RowSums<MR> sums[NP] = {};
  if (p.bias != nullptr) {
    TFAOT_UNROLL
    for (int i = 0; i < NP; ++i) {
      const Int at = column + i * kRowWidth;
      start_sums<MR>(sums[i], p.bias + at, i < NP - 1 ? kRowWidth : p.columns - at);
    }
  }
  b = add_panels<kFetch, VECTORS, MR>(sums, in, b);
  PanelResult<MR, NP> made;
  TFAOT_UNROLL
  for (int i = 0; i < NP; ++i) {
    const Int at = column + i * kRowWidth;
    TFAOT_UNROLL
    for (int r = 0; r < MR; ++r) {
      TFAOT_UNROLL
      for (int v = 0; v < kVectorsPerPanel; ++v) {
        made[i][r][v] = rectified<float>(total_of<0, kRowSums<MR>, MR>(sums[i], r, v), p.rectifier);
      }
      store_panel(p.c + r * p.columns + at, made[i][r], i < NP - 1 ? kRowWidth : p.columns - at);
    }
  }
  keep_results(out, column, made);
  return b;
}

// Returns the results, as the next product reads them. NP panels at a time share what is made of
// the row. Inlined: a call for each layer of a chain would take as long as a small layer.
template <bool kFetch, int VECTORS, int MR, int NP>
TFAOT_INLINE RowInput<MR, NP> multiply_by_panels(const RowInput<MR, NP>& in, const RowProduct& p) {
  RowInput<MR, NP> out = no_results_yet<MR, NP>(p.c, p.columns);
  const float* b = p.b;
  Int column = 0;
  if constexpr (NP > 1) {
    for (; column + (NP - 1) * kRowWidth < p.columns; column += NP * kRowWidth) {
      b = multiply_panels<kFetch, VECTORS, NP>(in, p, b, column, out);
    }
    if (column >= p.columns) return out;
  }
  do {
    b = multiply_panels<kFetch, VECTORS, 1>(in, p, b, column, out);
    column += kRowWidth;
  } while (column < p.columns);
  return out;
}

}  // namespace
