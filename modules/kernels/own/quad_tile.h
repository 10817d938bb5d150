// SPDX-License-Identifier: Apache-2.0
// The micro-kernel for a few columns, as in the output layers of classifiers. A vector would be
// mostly empty, and loads limit the speed, because each multiply-add needs one. So one multiply-add
// processes four steps of the depth for four columns. A quad of four columns has one column in each
// quarter of a vector, with four of its numbers.
#pragma once

#include "stream.h"

namespace {

constexpr int kQuad = 4;
constexpr int kMaxQuads = 2;
constexpr Int kMinQuadDepth = 64;  // enough to pay for adding quarters

#define TFAOT_HAS_QUADS (TFAOT_HAS_MASKS && TFAOT_IS_F32)
#if TFAOT_HAS_QUADS

using Floats = Vec<float>;

// Pairs of (low, high) of the first eight columns.
TFAOT_INLINE Floats pair_up(Floats low, Floats high) {
  return __builtin_shufflevector(low, high, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
}

// Four steps of a panel as quads.
template <int NQ>
TFAOT_INLINE void load_quads(Floats (&quads)[NQ], const float* b, Int b_step) {
  Floats rows[kQuad];
  TFAOT_UNROLL
  for (int i = 0; i < kQuad; ++i) rows[i] = load(b + i * b_step);
  const Floats low = pair_up(rows[0], rows[1]), high = pair_up(rows[2], rows[3]);
  quads[0] =
      __builtin_shufflevector(low, high, 0, 1, 16, 17, 2, 3, 18, 19, 4, 5, 20, 21, 6, 7, 22, 23);
  if constexpr (NQ == 2) {
    quads[1] = __builtin_shufflevector(low, high, 8, 9, 24, 25, 10, 11, 26, 27, 12, 13, 28, 29, 14,
                                       15, 30, 31);
  }
}

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

// MR rows of NQ quads, with `last` columns. REQUIRES: t.a_step is 1; MR and t.run are multiples of
// four.
template <int MR, int NQ>
__attribute__((noinline)) void multiply_quad_tiles(const Tiles<float>& t) {
  const Int b_step = t.b_step, last = t.last;
  for (Int tile = 0; tile < t.count; ++tile) {
    Floats sums[MR][NQ] = {};
    const float* a[MR];
    TFAOT_UNROLL
    for (int r = 0; r < MR; ++r) a[r] = t.rows[tile * MR + r];
    const float* b = t.b;
    for (const Int *tap = t.taps, *end = tap + t.tap_count; tap != end; ++tap) {
      Int k = *tap;
      for (Int left = t.run; left > 0; left -= kQuad, k += kQuad, b += kQuad * b_step) {
        Floats quads[NQ];
        load_quads(quads, b, b_step);
        TFAOT_UNROLL
        for (int r = 0; r < MR; ++r) {
          const Floats fours = load_fours(a[r] + k);
          TFAOT_UNROLL
          for (int q = 0; q < NQ; ++q) sums[r][q] += quads[q] * fours;
        }
      }
    }

    float* const c = t.c + tile * MR * t.c_row;
    TFAOT_UNROLL
    for (int q = 0; q < NQ; ++q) {
      const Int columns = smaller(kQuad, last - q * kQuad);
      const Floats bias = load_first(t.start + q * kQuad, columns);
      const Floats start =
          __builtin_shufflevector(bias, bias, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3);
      TFAOT_UNROLL
      for (int r = 0; r < MR; r += kQuad) {
        const Floats sum =
            add_quarters(sums[r][q], sums[r + 1][q], sums[r + 2][q], sums[r + 3][q]) + start;
        float rows[kQuad * kQuad];
        store(rows, rectified<float>(sum, t.rectifier));
        for (int i = 0; i < kQuad; ++i) {
          copy_elements(c + (r + i) * t.c_row + q * kQuad, rows + i * kQuad, columns);
        }
      }
    }
  }
}

#endif

}  // namespace
