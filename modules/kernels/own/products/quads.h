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

// True if quads are faster than tiles. They take the same sums in the same order.
TFAOT_INLINE bool pays_for_quads(const Tiles<Element>& t, Int rows, Int columns) {
  return TFAOT_HAS_QUADS && rows >= kQuadRows && is_narrow(columns) && t.row_start == nullptr &&
         t.a_step == 1 && t.run % kNarrowSums == 0 && t.run >= (columns <= kQuadColumns ? 16 : 32);
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

// All steps of a panel as quads, arranged once for many rows.
constexpr Int kMostQuadSteps = 128;
template <int NQ>
struct QuadPanel {
  alignas(64) float quads[kMostQuadSteps][NQ][kLanes<float>];
};

template <int NQ>
TFAOT_INLINE void arrange_panel(QuadPanel<NQ>& panel, const float* b, Int b_step, Int steps) {
  for (Int i = 0; i < steps; ++i, b += kQuadColumns * b_step) {
    Floats quads[NQ];
    arrange_quads(quads, b, b_step);
    TFAOT_EACH (q, NQ) store(panel.quads[i][q], quads[q]);
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

// Computes MR rows of NQ quads; next_quads(quads) loads those of the next four steps.
template <int MR, int NQ, typename NextQuads>
TFAOT_INLINE void multiply_quad_tile(const Tiles<float>& t, Int tile, NextQuads next_quads) {
  Floats sums[MR][NQ];
  TFAOT_EACH (q, NQ) {
    sums[0][q] = start_of_quad(t, q);
    TFAOT_FOR (int r = 1; r < MR; ++r) sums[r][q] = sums[0][q];
  }
  const float* a[MR];
  TFAOT_EACH (r, MR) a[r] = t.rows[tile * MR + r];
  for (const Int *tap = t.taps, *end = tap + t.tap_count; tap != end; ++tap) {
    Int k = *tap;
    for (Int left = t.run; left > 0; left -= kQuadColumns, k += kQuadColumns) {
      Floats quads[NQ];
      next_quads(quads);
      TFAOT_EACH (r, MR) {
        const Floats fours = load_fours(a[r] + k);
        TFAOT_EACH (q, NQ) sums[r][q] = multiply_add(quads[q], fours, sums[r][q]);
      }
    }
  }
  store_quad_sums<MR, NQ>(t, sums, t.c + tile * MR * t.c_row);
}

// REQUIRES: t.a_step is 1; MR and t.run are multiples of four; t.last columns are NQ quads.
template <int MR, int NQ>
__attribute__((noinline)) void multiply_quad_tiles(const Tiles<float>& t) {
  const Int steps = t.tap_count * t.run / kQuadColumns;
  constexpr Int kFewSteps = 32;
  if (steps <= (t.count > 2 ? kMostQuadSteps : t.count == 2 ? kFewSteps : 0)) {
    QuadPanel<NQ> panel;
    arrange_panel(panel, t.b, t.b_step, steps);
    for (Int tile = 0; tile < t.count; ++tile) {
      const float* from = &panel.quads[0][0][0];
      multiply_quad_tile<MR, NQ>(t, tile, [&](Floats(&quads)[NQ]) {
        TFAOT_FOR (int q = 0; q < NQ; ++q, from += kLanes<float>) quads[q] = load(from);
      });
    }
    return;
  }
  for (Int tile = 0; tile < t.count; ++tile) {
    const float* b = t.b;
    multiply_quad_tile<MR, NQ>(t, tile, [&](Floats(&quads)[NQ]) {
      arrange_quads(quads, b, t.b_step);
      b += kQuadColumns * t.b_step;
    });
  }
}

// REQUIRES: pays_for_quads()
TFAOT_INLINE void multiply_quads(const Tiles<float>& t) {
  if (t.last <= kQuadColumns) return multiply_quad_tiles<kQuadRows, 1>(t);
  multiply_quad_tiles<kQuadRows, 2>(t);
}

#else
TFAOT_INLINE void multiply_quads(const Tiles<Element>& /*t*/) {}
#endif

}  // namespace
