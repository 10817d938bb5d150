// SPDX-License-Identifier: Apache-2.0
// Tiles of float32 for at most eight columns by many rows, with AVX-512. A vector would be mostly
// empty, and loads limit the speed, because each multiply-add needs one. So one multiply-add
// processes four steps of the depth for four columns. A quad of four columns has one column in each
// quarter of a vector, with four of its sums.
#pragma once

#include "products/microkernel.h"

namespace {

constexpr int kQuadColumns = 4;
constexpr int kQuadRows = 8;
static_assert(kNarrowSums == 4 && kMostNarrowColumns == 2 * kQuadColumns);

#define TFAOT_HAS_QUADS (TFAOT_HAS_MASKS && TFAOT_IS_F32)

// The most groups of four steps that are arranged as quads at once, for all rows.
constexpr Int kMostQuadSteps = 160;

// True if quads are faster than tiles. They take the same sums in the same order.
TFAOT_INLINE bool pays_for_quads(const Tiles<Element>& t, Int rows, Int columns) {
  return TFAOT_HAS_QUADS && rows >= 2 * kQuadRows && is_narrow(columns) && t.row_start == nullptr &&
         t.a_step == 1 && t.run % kNarrowSums == 0 &&
         t.run >= (columns <= kQuadColumns ? 16 : 32) &&
         t.tap_count * t.run <= kMostQuadSteps * kQuadColumns;
}

#if TFAOT_HAS_QUADS

// Groups of kSize lanes in turn, of `low` and of `high`, from kFirst on.
template <int kSize, int kFirst>
struct LanesInTurn {
  static constexpr int at(int l) {
    return kFirst + l / (2 * kSize) * kSize + l % kSize + l / kSize % 2 * int{kLanes<float>};
  }
};
template <int kSize, int kFirst>
TFAOT_INLINE Floats in_turn(Floats low, Floats high) {
  return shuffle<LanesInTurn<kSize, kFirst>>(low, high);
}

// Arranges four steps of a panel as quads.
template <int NQ>
TFAOT_INLINE void arrange_quads(Floats (&quads)[NQ], const float* b, Int b_step) {
  Floats rows[kQuadColumns];
  TFAOT_EACH (i, kQuadColumns) rows[i] = load(b + i * b_step);
  const Floats low = in_turn<1, 0>(rows[0], rows[1]), high = in_turn<1, 0>(rows[2], rows[3]);
  quads[0] = in_turn<2, 0>(low, high);
  if constexpr (NQ >= 2) quads[1] = in_turn<2, 8>(low, high);
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

// Stores a quarter of a vector, or fewer columns of it, in a store that seldom touches two lines.
template <int QUARTER>
TFAOT_INLINE void store_quarter(float* to, Floats v, Int columns) {
  constexpr int kFirst = QUARTER * kQuadColumns;
  const auto quarter = __builtin_shufflevector(v, v, kFirst, kFirst + 1, kFirst + 2, kFirst + 3);
  if (columns == kQuadColumns) return _mm_storeu_ps(to, quarter);
  _mm_mask_storeu_ps(to, static_cast<__mmask8>((1U << columns) - 1), quarter);
}

// Stores the sums of MR rows and NQ quads of `last` columns.
template <int MR, int NQ>
TFAOT_INLINE void store_quad_sums(const Tiles<float>& t, const Floats (&sums)[MR][NQ], float* c) {
  TFAOT_EACH (q, NQ) {
    const Int columns = smaller(kQuadColumns, t.last - q * kQuadColumns);
    TFAOT_FOR (int r = 0; r < MR; r += kQuadColumns) {
      const Floats sum = rectified<float>(
          add_quarters(sums[r][q], sums[r + 1][q], sums[r + 2][q], sums[r + 3][q]), t.rectifier);
      float* const to = c + r * t.c_row + q * kQuadColumns;
      store_quarter<0>(to, sum, columns);
      store_quarter<1>(to + t.c_row, sum, columns);
      store_quarter<2>(to + 2 * t.c_row, sum, columns);
      store_quarter<3>(to + 3 * t.c_row, sum, columns);
    }
  }
}

// The first values of the sums of quad q: the bias belongs to the first sum of each column.
TFAOT_INLINE Floats start_of_quad(const Tiles<float>& t, int q) {
  const Floats bias =
      load_first(t.start + q * kQuadColumns, smaller(kQuadColumns, t.last - q * kQuadColumns));
  return __builtin_shufflevector(bias, Floats{}, 0, 16, 16, 16, 1, 16, 16, 16, 2, 16, 16, 16, 3, 16,
                                 16, 16);
}

// REQUIRES: t.last columns are NQ quads; pays_for_quads().
template <int NQ>
__attribute__((noinline)) void multiply_quad_tiles(const Tiles<float>& t) {
  constexpr int kRows = kQuadRows;
  Floats panel[kMostQuadSteps][NQ];
  for (Int i = 0; i < t.tap_count * t.run / kQuadColumns; ++i) {
    arrange_quads(panel[i], t.b + i * kQuadColumns * t.b_step, t.b_step);
  }
  for (Int tile = 0; tile < t.count; ++tile) {
    Floats sums[kRows][NQ];
    TFAOT_EACH (q, NQ) {
      sums[0][q] = start_of_quad(t, q);
      TFAOT_FOR (int r = 1; r < kRows; ++r) sums[r][q] = sums[0][q];
    }
    const float* a[kRows];
    TFAOT_EACH (r, kRows) a[r] = t.rows[tile * kRows + r];
    const Floats* quads = panel[0];
    for (const Int *tap = t.taps, *end = tap + t.tap_count; tap != end; ++tap) {
      for (Int k = *tap; k < *tap + t.run; k += kQuadColumns, quads += NQ) {
        TFAOT_EACH (r, kRows) {
          const Floats fours = load_fours(a[r] + k);
          TFAOT_EACH (q, NQ) sums[r][q] = multiply_add(quads[q], fours, sums[r][q]);
        }
      }
    }
    store_quad_sums(t, sums, t.c + tile * kRows * t.c_row);
  }
}

// REQUIRES: pays_for_quads()
TFAOT_INLINE void multiply_quads(const Tiles<float>& t) {
  if (t.last <= kQuadColumns) return multiply_quad_tiles<1>(t);
  multiply_quad_tiles<2>(t);
}

#else
TFAOT_INLINE void multiply_quads(const Tiles<Element>& /*t*/) {}
#endif

}  // namespace
