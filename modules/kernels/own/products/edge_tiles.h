// SPDX-License-Identifier: Apache-2.0
// Tiles of float32 for columns that would waste vectors or wait for loads, with AVX-512: strips and
// quads, and the choice among them.
#pragma once

#include "products/microkernel.h"
#include "products/stream.h"

namespace {

constexpr int kQuadColumns = 4;
constexpr int kMaxQuads = 3;

// Adding up the quarters costs extra additions; it pays from this depth on. Three quads save a
// quarter of the multiply-adds, so they need many rows.
constexpr bool pays_for_quads(Int rows, Int depth, Int quads) {
  return quads == 1 ? depth >= 16 : quads == 2 ? depth >= 32 : depth >= 64 && rows >= 32;
}

#define TFAOT_HAS_EDGE_TILES (TFAOT_HAS_MASKS && TFAOT_IS_F32)
#if TFAOT_HAS_EDGE_TILES

// Strips: for one vector of columns or less, or for one and a half, as in images with few channels,
// by many rows that are equally far apart, such as the positions on one line of an image. Loads are
// then the bottleneck, and fewer tiles begin and end. Four rows share a pointer. Where the columns
// end in half a vector or less, the last columns of two neighbouring rows share a vector, so that
// none of it is wasted.

static_assert(kVectorsPerPanel == 1, "neighbouring vectors of columns are b_panel apart");

constexpr Int kHalf = kLanes<float> / 2;

TFAOT_INLINE Floats low_then_high(Floats low, Floats high) {
  return _mm512_mask_blend_ps(0xFF00, low, high);
}
TFAOT_INLINE Floats swap_halves(Floats v) { return shuffle<MovedLanes<kHalf>>(v, v); }
TFAOT_INLINE Floats twice_half(const float* from) {
  const auto half = read_as<VecOf<float, 32>::Type>(from);
  return __builtin_shufflevector(half, half, 0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7);
}
// Broadcasts x into a register, once for all uses.
TFAOT_INLINE Floats everywhere(float x) {
  Floats v = x - Floats{};  // not a sum: -0 stays
  keep(v);
  return v;
}

// Masked stores are slow even if the mask is full.
TFAOT_INLINE void store_half(float* to, Floats v, Int count) {
  if (count == kHalf) {
    __builtin_memcpy(to, &v, sizeof v / 2);
  } else {
    store_first(to, v, count);
  }
}

// Computes MR rows of `last` columns, or of a vector and `last` columns; then two rows share a
// vector. Neighbouring rows share all but the first `step` elements of a run of WINDOW * step, as
// in a window that slides by one pixel: each element is loaded once for all rows that have it. With
// a WINDOW of 1 they share nothing. REQUIRES: t.rows[r] - t.rows[0] is r times the same step in
// every strip.
template <int MR, int WINDOW, bool kAndHalf>
__attribute__((noinline)) void multiply_strips(const Tiles<float>& t) {
  constexpr int kLoads = MR + WINDOW - 1;
  constexpr int kPointers = (kLoads + 3) / 4;
  constexpr int kPairs = kAndHalf ? MR / 2 : 1;
  const Int step = t.rows[1] - t.rows[0];
  Int step3 = 3 * step;
  asm("" : "+r"(step3));  // not computed again
  const Int a_step = t.a_step, b_step = t.b_step;
  const Int steps = WINDOW == 1 ? t.run : step;
  const Int last = t.last;

  for (Int strip = 0; strip < t.count; ++strip) {
    Floats sums[MR], pairs[kPairs];
    sums[0] = kAndHalf ? load(t.start) : load_first(t.start, last);
    TFAOT_FOR (int r = 1; r < MR; ++r) sums[r] = sums[0];
    if constexpr (kAndHalf) {
      pairs[0] = load_first(t.start + kLanes<float>, last);
      pairs[0] = low_then_high(pairs[0], swap_halves(pairs[0]));
      TFAOT_FOR (int p = 1; p < kPairs; ++p) pairs[p] = pairs[0];
    }
    const float* b = t.b;

    for (const Int *tap = t.taps, *end = tap + t.tap_count; tap != end; ++tap) {
      const float* a[kPointers];
      TFAOT_EACH (p, kPointers) a[p] = t.rows[strip * MR] + *tap + 4 * p * step;
      for (Int left = steps; left > 0; --left, b += b_step) {
        Floats right[WINDOW], right_half[WINDOW];
        TFAOT_EACH (w, WINDOW) {
          right[w] = load(b + w * step * b_step);
          if constexpr (kAndHalf) right_half[w] = twice_half(b + w * step * b_step + t.b_panel);
        }
        Floats before = {};
        TFAOT_EACH (i, kLoads) {
          const Floats x = everywhere(a[i / 4][i % 4 == 3 ? step3 : i % 4 * step]);
          TFAOT_FOR (int r = i; r > i - WINDOW; --r) {
            if (r >= 0 && r < MR) sums[r] += right[i - r] * x;
          }
          if constexpr (kAndHalf) {
            const Floats both = low_then_high(before, x);
            TFAOT_FOR (int r = i - 1; r > i - 1 - WINDOW; --r) {
              if (r >= 0 && r % 2 == 0 && r < MR) pairs[r / 2] += right_half[i - 1 - r] * both;
            }
          }
          before = x;
        }
        TFAOT_EACH (p, kPointers) a[p] += a_step;
      }
      b += (WINDOW - 1) * step * b_step;
    }

    float* c = t.c + strip * MR * t.c_row;
    const Int c_row = t.c_row;
    const Rectifier rectifier = t.rectifier;
    TFAOT_FOR (int r = 0; r < MR; ++r, c += c_row) {
      const Floats sum = rectified<float>(sums[r], rectifier);
      if (kAndHalf || last == kLanes<float>) {  // masked stores are slow even if the mask is full
        store(c, sum);
      } else {
        store_first(c, sum, last);
      }
      if constexpr (kAndHalf) {
        const Floats end = r % 2 == 0 ? pairs[r / 2] : swap_halves(pairs[r / 2]);
        store_half(c + kLanes<float>, rectified<float>(end, rectifier), last);
      }
    }
  }
}

template <int MR, bool kAndHalf>
TFAOT_INLINE void multiply_strips_of(const Tiles<float>& t) {
  if (t.run == 3 * (t.rows[1] - t.rows[0]) && t.a_step == 1) {
    return multiply_strips<MR, 3, kAndHalf>(t);
  }
  multiply_strips<MR, 1, kAndHalf>(t);
}

// Quads: for a few columns, as in the output layers of classifiers. A vector would be mostly empty,
// and loads limit the speed, because each multiply-add needs one. So one multiply-add processes
// four steps of the depth for four columns. A quad of four columns has one column in each quarter
// of a vector, with four of its numbers.

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
  if constexpr (NQ >= 3) {
    quads[2] = in_turn<2, 0>(in_turn<1, 8>(rows[0], rows[1]), in_turn<1, 8>(rows[2], rows[3]));
  }
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

// Adds the bias to the sums of MR rows and NQ quads of `last` columns, and stores them.
template <int MR, int NQ>
TFAOT_INLINE void store_quad_sums(const Tiles<float>& t, const Floats (&sums)[MR][NQ], float* c) {
  TFAOT_EACH (q, NQ) {
    const Int columns = smaller(kQuadColumns, t.last - q * kQuadColumns);
    const Floats bias = load_first(t.start + q * kQuadColumns, columns);
    const Floats start =
        __builtin_shufflevector(bias, bias, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3);
    TFAOT_FOR (int r = 0; r < MR; r += kQuadColumns) {
      const Floats sum = rectified<float>(
          add_quarters(sums[r][q], sums[r + 1][q], sums[r + 2][q], sums[r + 3][q]) + start,
          t.rectifier);
      float* const to = c + r * t.c_row + q * kQuadColumns;
      store_quarter<0>(to, sum, columns);
      store_quarter<1>(to + t.c_row, sum, columns);
      store_quarter<2>(to + 2 * t.c_row, sum, columns);
      store_quarter<3>(to + 3 * t.c_row, sum, columns);
    }
  }
}

// Computes MR rows of NQ quads; next_quads(quads) loads those of the next four steps.
template <int MR, int NQ, typename NextQuads>
TFAOT_INLINE void multiply_quad_tile(const Tiles<float>& t, Int tile, NextQuads next_quads) {
  Floats sums[MR][NQ] = {};
  const float* a[MR];
  TFAOT_EACH (r, MR) a[r] = t.rows[tile * MR + r];
  for (const Int *tap = t.taps, *end = tap + t.tap_count; tap != end; ++tap) {
    Int k = *tap;
    for (Int left = t.run; left > 0; left -= kQuadColumns, k += kQuadColumns) {
      Floats quads[NQ];
      next_quads(quads);
      TFAOT_EACH (r, MR) {
        const Floats fours = load_fours(a[r] + k);
        TFAOT_EACH (q, NQ) sums[r][q] += quads[q] * fours;
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

#endif

enum class Shape { kPlain, kStrip, kHalfStrip, kQuads };

// The tiles of all rows, or of all but the last ones: their shape and the number of rows in each.
struct Form {
  Shape shape;
  int rows;
};

// Rows that are equally far apart: those of one line of the image, which has `length` of them; all
// rows if that is 0. `first`: the number of the first row here among all rows.
struct Lines {
  Int length, first;
};

constexpr int kLongStrip = 16, kStripRows = 14;

// True if the rows can be split into strips of `strip` rows.
TFAOT_INLINE bool has_strips(Int rows, const Lines& lines, int strip) {
  return rows >= strip && lines.length % strip == 0 &&
         (lines.length == 0 || lines.first % strip == 0);
}

// The form for `vectors` vectors of columns, of which the last has `last`.
TFAOT_INLINE Form form_of(const Tiles<Element>& t, Int rows, const Lines& lines, Int vectors,
                          Int last) {
  if (!TFAOT_HAS_EDGE_TILES || rows < kMaxRows) return {Shape::kPlain, 0};
  if (vectors == 1 && last <= kMaxQuads * kQuadColumns && t.a_step == 1 &&
      t.run % kQuadColumns == 0 && pays_for_quads(rows, t.run, ceil_div(last, kQuadColumns))) {
    return {Shape::kQuads, kMaxRows};
  }
  if (vectors == 1) {
    for (const int strip : {kLongStrip, kStripRows}) {
      if (has_strips(rows, lines, strip)) return {Shape::kStrip, strip};
    }
  }
  const bool is_split_evenly = rows % kMaxRows == 0 && rows < 2 * kStripRows;
  if (vectors == 2 && last <= kLanes<Element> / 2 && !is_split_evenly &&
      has_strips(rows, lines, kStripRows)) {
    return {Shape::kHalfStrip, kStripRows};
  }
  return {Shape::kPlain, 0};
}

// REQUIRES: form_of() gives this form, which is not plain.
TFAOT_INLINE void multiply_formed([[maybe_unused]] const Form& form,
                                  [[maybe_unused]] const Tiles<Element>& t) {
#if TFAOT_HAS_EDGE_TILES
  if (form.shape == Shape::kQuads && t.last <= kQuadColumns)
    return multiply_quad_tiles<kMaxRows, 1>(t);
  if (form.shape == Shape::kQuads && t.last <= 2 * kQuadColumns) {
    return multiply_quad_tiles<kMaxRows, 2>(t);
  }
  if (form.shape == Shape::kQuads) return multiply_quad_tiles<kMaxRows, 3>(t);
  if (form.shape == Shape::kHalfStrip) return multiply_strips_of<kStripRows, true>(t);
  if (form.rows == kLongStrip) return multiply_strips_of<kLongStrip, false>(t);
  multiply_strips_of<kStripRows, false>(t);
#endif
}

}  // namespace
