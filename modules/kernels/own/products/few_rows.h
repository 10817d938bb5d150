// SPDX-License-Identifier: Apache-2.0
// Plain products of a few rows with panels, of small layers: less is set up than for gemm.cc, whose
// tiles are faster for many rows or large layers.
#pragma once

#include "products/stream.h"

namespace {

// Calls step(column) for each whole `width` columns; returns the next column.
template <typename Step>
TFAOT_INLINE Int for_columns(Int column, Int end, Int width, const Step& step) {
  for (; column + width <= end; column += width) step(column);
  return column;
}

#if TFAOT_VECTOR_BYTES == 64

// Three rows, read a vector at a time: a vector that the layer before has just stored is slow to
// load in parts.

// One of the four quarters of a vector, in all of them.
template <int QUARTER>
TFAOT_INLINE Vec<float> quarter_of(Vec<float> x) {
  return _mm512_maskz_shuffle_f32x4(0xFFFF, x, x, QUARTER * 0x55);
}

// Adds four steps of the depth, with the numbers that each quarter of `fours` holds.
template <int MR, int NP, int N>
TFAOT_INLINE void multiply_fours(Vec<float> (&sums)[N][MR][NP], const Vec<float> (&fours)[MR],
                                 const float* b, Int panel) {
  Vec<float> left[kSpread][MR];
  TFAOT_UNROLL
  for (int r = 0; r < MR; ++r) {
    left[0][r] = spread<0>(fours[r]);
    left[1][r] = spread<1>(fours[r]);
    left[2][r] = spread<2>(fours[r]);
    left[3][r] = spread<3>(fours[r]);
  }
  TFAOT_UNROLL
  for (int i = 0; i < kSpread; ++i) {
    TFAOT_UNROLL
    for (int p = 0; p < NP; ++p) {
      const Vec<float> right = load(b + i * kPanelColumns<float> + p * panel);
      TFAOT_UNROLL
      for (int r = 0; r < MR; ++r) sums[i % N][r][p] += right * left[i][r];
    }
  }
}

template <int QUARTER, int MR, int NP, int N>
TFAOT_INLINE void multiply_quarter(Vec<float> (&sums)[N][MR][NP], const Vec<float> (&x)[MR],
                                   const float* b, Int panel) {
  Vec<float> fours[MR];
  TFAOT_UNROLL
  for (int r = 0; r < MR; ++r) fours[r] = quarter_of<QUARTER>(x[r]);
  multiply_fours(sums, fours, b + QUARTER * kSpread * kPanelColumns<float>, panel);
}

// Multiplies with NP panels from `column` on.
template <int MR, int NP, bool kPart>
TFAOT_INLINE void multiply_by_vectors(const Stream<float>& s, Int column) {
  constexpr Int kWidth = kPanelColumns<float>;
  constexpr int kSums = MR * NP <= 4 ? 4 : MR * NP <= 8 ? 2 : 1;
  const Int panel = s.depth * kWidth;
  const float* b = s.b + column * s.depth;
  Vec<float> sums[kSums][MR][NP] = {};
  Vec<float> x[MR];
  Int k = 0;
  for (; k + kWidth <= s.depth; k += kWidth, b += kWidth * kWidth) {
    TFAOT_UNROLL
    for (int r = 0; r < MR; ++r) {
      x[r] = load(s.a + r * s.a_row + k);
      asm("" : "+v"(x[r]));  // else the compiler loads each quarter alone
    }
    multiply_quarter<0>(sums, x, b, panel);
    multiply_quarter<1>(sums, x, b, panel);
    multiply_quarter<2>(sums, x, b, panel);
    multiply_quarter<3>(sums, x, b, panel);
  }
  for (; k + kSpread <= s.depth; k += kSpread, b += kSpread * kWidth) {
    TFAOT_UNROLL
    for (int r = 0; r < MR; ++r) x[r] = load_fours(s.a + r * s.a_row + k);
    multiply_fours(sums, x, b, panel);
  }
  for (; k < s.depth; ++k, b += kWidth) {
    TFAOT_UNROLL
    for (int p = 0; p < NP; ++p) {
      const Vec<float> right = load(b + p * panel);
      TFAOT_UNROLL
      for (int r = 0; r < MR; ++r) sums[0][r][p] += right * s.a[r * s.a_row + k];
    }
  }

  TFAOT_UNROLL
  for (int p = 0; p < NP; ++p) {
    const Int at = column + p * kWidth;
    const Int count = kPart ? s.columns - at : kWidth;
    const Vec<float> bias = s.bias == nullptr ? Vec<float>{}
                            : kPart           ? load_first(s.bias + at, count)
                                              : load(s.bias + at);
    TFAOT_UNROLL
    for (int r = 0; r < MR; ++r) {
      Vec<float> sum = sums[0][r][p];
      if constexpr (kSums == 2) sum += sums[1][r][p];
      if constexpr (kSums == 4) sum = (sum + sums[1][r][p]) + (sums[2][r][p] + sums[3][r][p]);
      sum = rectified<float>(sum + bias, s.rectifier);
      float* const to = s.c + r * s.c_row + at;
      if constexpr (kPart) {
        store_first(to, sum, count);
      } else {
        store(to, sum);
      }
    }
  }
}

template <int MR>
__attribute__((noinline)) void multiply_vectors(const Stream<float>& s) {
  constexpr Int kWidth = kPanelColumns<float>;
  const Int whole = s.columns - s.columns % kWidth;
  Int column = 0;
  column = for_columns(column, whole, 4 * kWidth,
                       [&](Int at) { multiply_by_vectors<MR, 4, false>(s, at); });
  column = for_columns(column, whole, 2 * kWidth,
                       [&](Int at) { multiply_by_vectors<MR, 2, false>(s, at); });
  column =
      for_columns(column, whole, kWidth, [&](Int at) { multiply_by_vectors<MR, 1, false>(s, at); });
  if (column < s.columns) multiply_by_vectors<MR, 1, true>(s, column);
}

#endif

// Most rows that are multiplied together.
constexpr Int kFewRows = TFAOT_VECTOR_BYTES == 64 ? 8 : TFAOT_VECTOR_BYTES == 32 ? 6 : 3;

// Multiplies rows that share each load of the weights, several panels at a time.
template <int MR>
__attribute__((noinline)) void multiply_together(const Stream<float>& s) {
  constexpr Int kWidth = kPanelColumns<float>;
  // As many sums as the registers hold, with room for the factors.
  constexpr int kMost = (TFAOT_VECTOR_REGISTERS == 32 ? 24 : 12) / (MR * kVectorsPerPanel);
  constexpr int kPanels = kMost > 4 ? 4 : kMost;
  const Int whole = s.columns - s.columns % kWidth;
  Int column = 0;
  if constexpr (kPanels > 2) {
    column = for_columns(column, whole, kPanels * kWidth, [&](Int at) {
      stream_panels<float, MR, kPanels, false>(s, s.b + at * s.depth, at);
    });
  }
  if constexpr (kPanels > 1) {
    column = for_columns(column, whole, 2 * kWidth, [&](Int at) {
      stream_panels<float, MR, 2, false>(s, s.b + at * s.depth, at);
    });
  }
  column = for_columns(column, whole, kWidth, [&](Int at) {
    stream_panels<float, MR, 1, false>(s, s.b + at * s.depth, at);
  });
  if (column < s.columns) stream_panels<float, MR, 1, true>(s, s.b + column * s.depth, column);
}

// REQUIRES: dense_chain.cc has no other code for this number of rows, which is at most kFewRows.
inline void multiply_few_rows(Int rows, const Stream<float>& s) {
#if TFAOT_VECTOR_BYTES == 64
  if (rows == 3) return multiply_vectors<3>(s);
#else
  constexpr int kPanelsOfTwo = kVectorsPerPanel == 2 ? 2 : 1;
  if (rows == 2) return multiply_stream<float, 2, kPanelsOfTwo>(s);
  if (rows == 3) return multiply_together<3>(s);
#endif
#if TFAOT_VECTOR_BYTES >= 32
  if (rows == 4) return multiply_together<4>(s);
  if (rows == 5) return multiply_together<5>(s);
  if (rows == 6) return multiply_together<6>(s);
#endif
#if TFAOT_VECTOR_BYTES == 64
  if (rows == 7) return multiply_together<7>(s);
  if (rows == 8) return multiply_together<8>(s);
#endif
  __builtin_unreachable();
}

}  // namespace
