// SPDX-License-Identifier: Apache-2.0
// The micro-kernel for a few columns, as in the output layers of classifiers. A vector would be
// mostly empty, and loads limit the speed, because each multiply-add needs one. So one multiply-add
// processes four steps of the depth for four columns. A quad of four columns has one column in each
// quarter of a vector, with four of its numbers.
#pragma once

#include "products/quads.h"

namespace {

#if TFAOT_HAS_QUADS

// Adds up each quarter of four rows' sums: each quarter of the result belongs to one row.
TFAOT_INLINE Floats add_quarters(const Floats& a, const Floats& b, const Floats& c,
                                 const Floats& d) {
  const Floats ab = _mm512_maskz_unpacklo_ps(0xFFFF, a, b) + _mm512_maskz_unpackhi_ps(0xFFFF, a, b);
  const Floats cd = _mm512_maskz_unpacklo_ps(0xFFFF, c, d) + _mm512_maskz_unpackhi_ps(0xFFFF, c, d);
  const Floats sums =
      __builtin_shufflevector(ab, cd, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29) +
      __builtin_shufflevector(ab, cd, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31);
  return __builtin_shufflevector(sums, sums, 0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
}

// A quarter of a vector, or fewer columns of it.
template <int QUARTER>
TFAOT_INLINE void store_quarter(float* to, Floats v, Int columns) {
  constexpr int kFirst = QUARTER * kQuad;
  using Quarter = float __attribute__((vector_size(16)));
  const Quarter quarter = __builtin_shufflevector(v, v, kFirst, kFirst + 1, kFirst + 2, kFirst + 3);
  if (columns == kQuad) return _mm_storeu_ps(to, quarter);
  _mm_mask_storeu_ps(to, static_cast<__mmask8>((1U << columns) - 1), quarter);
}

// The sums of MR rows and NQ quads of `last` columns, with what they start with.
template <int MR, int NQ>
TFAOT_INLINE void store_quads(const Tiles<float>& t, const Floats (&sums)[MR][NQ], float* c) {
  TFAOT_UNROLL
  for (int q = 0; q < NQ; ++q) {
    const Int columns = smaller(kQuad, t.last - q * kQuad);
    const Floats bias = load_first(t.start + q * kQuad, columns);
    const Floats start =
        __builtin_shufflevector(bias, bias, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3);
    TFAOT_UNROLL
    for (int r = 0; r < MR; r += kQuad) {
      const Floats sum = rectified<float>(
          add_quarters(sums[r][q], sums[r + 1][q], sums[r + 2][q], sums[r + 3][q]) + start,
          t.rectifier);
      float* const to = c + r * t.c_row + q * kQuad;
      store_quarter<0>(to, sum, columns);
      store_quarter<1>(to + t.c_row, sum, columns);
      store_quarter<2>(to + 2 * t.c_row, sum, columns);
      store_quarter<3>(to + 3 * t.c_row, sum, columns);
    }
  }
}

// MR rows of NQ quads; next_quads(quads) loads those of the next four steps.
template <int MR, int NQ, typename NextQuads>
TFAOT_INLINE void multiply_quad_tile(const Tiles<float>& t, Int tile, NextQuads next_quads) {
  Floats sums[MR][NQ] = {};
  const float* a[MR];
  TFAOT_UNROLL
  for (int r = 0; r < MR; ++r) a[r] = t.rows[tile * MR + r];
  for (const Int *tap = t.taps, *end = tap + t.tap_count; tap != end; ++tap) {
    Int k = *tap;
    for (Int left = t.run; left > 0; left -= kQuad, k += kQuad) {
      Floats quads[NQ];
      next_quads(quads);
      TFAOT_UNROLL
      for (int r = 0; r < MR; ++r) {
        const Floats fours = load_fours(a[r] + k);
        TFAOT_UNROLL
        for (int q = 0; q < NQ; ++q) sums[r][q] += quads[q] * fours;
      }
    }
  }
  store_quads<MR, NQ>(t, sums, t.c + tile * MR * t.c_row);
}

// REQUIRES: t.a_step is 1; MR and t.run are multiples of four; t.last columns are NQ quads.
template <int MR, int NQ>
__attribute__((noinline)) void multiply_quad_tiles(const Tiles<float>& t) {
  const Int steps = t.tap_count * t.run / kQuad;
  constexpr Int kFewSteps = 32;
  if (steps <= (t.count > 2 ? kMostQuadSteps : t.count == 2 ? kFewSteps : 0)) {
    QuadPanel<NQ> panel;
    fill_quads(panel, t.b, t.b_step, steps);
    for (Int tile = 0; tile < t.count; ++tile) {
      const float* from = &panel.quads[0][0][0];
      multiply_quad_tile<MR, NQ>(t, tile, [&](Floats(&quads)[NQ]) {
        TFAOT_UNROLL
        for (int q = 0; q < NQ; ++q, from += kLanes<float>) quads[q] = load(from);
      });
    }
    return;
  }
  for (Int tile = 0; tile < t.count; ++tile) {
    const float* b = t.b;
    multiply_quad_tile<MR, NQ>(t, tile, [&](Floats(&quads)[NQ]) {
      load_quads(quads, b, t.b_step);
      b += kQuad * t.b_step;
    });
  }
}

#endif

}  // namespace
