// SPDX-License-Identifier: Apache-2.0
// A row alone, or two rows with AVX-512, that panels are multiplied with, and their results. NP
// panels are read together.
#pragma once

#include "products/stream.h"

namespace {

constexpr Int kRowWidth = kPanelColumns<float>;
// Of MR rows, for each of them and each vector of a panel.
template <int MR>
constexpr int kRowSums = sums_per_element(static_cast<int>(kVectorsPerPanel) * MR);
template <int MR>
using RowSums = Vec<float>[kRowSums<MR>][MR][kVectorsPerPanel];
template <int MR, int NP>
using PanelResult = Vec<float>[NP][MR][kVectorsPerPanel];

// Weights that do not stay in the first-level cache arrive fastest like this: two panels together,
// and so many vectors of the row in a turn of the loop that an instruction reads from another page
// each time. Else the processor foresees the wrong lines at the end of each panel.
constexpr int kRowPanels = TFAOT_VECTOR_BYTES == 64 ? 2 : 1;
constexpr int kRowVectors = TFAOT_VECTOR_BYTES == 64 ? 4 : 1;

// Rows that are multiplied, one after the other in memory.
template <int MR, int NP>
struct RowInput {
  const float* x;
  Int depth;
#if TFAOT_VECTOR_BYTES == 64
  Vec<float> last[NP][MR];  // the last vectors: what has just been stored comes back late
  Int last_at;              // where the very last one begins in each row
#endif
};

#if TFAOT_VECTOR_BYTES == 64
// As load_first() and store_first(), but the processor gives four or eight numbers at once to what
// has just stored, or loads next, as many.
TFAOT_INLINE Vec<float> load_few(const float* from, Int count) {
  if (count == 4) return _mm512_maskz_broadcast_f32x4(0x000F, _mm_loadu_ps(from));
  if (count == 8) return _mm512_maskz_broadcast_f32x8(0x00FF, _mm256_loadu_ps(from));
  return load_first(from, count);
}

TFAOT_INLINE void store_few(float* to, Vec<float> v, Int count) {
  if (count == 4) return _mm_storeu_ps(to, __builtin_shufflevector(v, v, 0, 1, 2, 3));
  if (count == 8)
    return _mm256_storeu_ps(to, __builtin_shufflevector(v, v, 0, 1, 2, 3, 4, 5, 6, 7));
  store_first(to, v, count);
}
#endif

// Rows that are in memory.
template <int MR, int NP>
TFAOT_INLINE RowInput<MR, NP> row_input(const float* x, Int depth) {
  RowInput<MR, NP> in;
  in.x = x;
  in.depth = depth;
#if TFAOT_VECTOR_BYTES == 64
  in.last_at = (depth - 1) / kRowWidth * kRowWidth;
  TFAOT_UNROLL
  for (int p = 0; p < NP; ++p) {
    const Int at = larger(0, in.last_at - (NP - 1 - p) * kRowWidth);
    TFAOT_UNROLL
    for (int r = 0; r < MR; ++r) {
      in.last[p][r] = load_few(x + r * depth + at, smaller(depth - at, kRowWidth));
    }
  }
#endif
  return in;
}

// Results that are stored, of which the last vectors are kept.
template <int MR, int NP>
TFAOT_INLINE RowInput<MR, NP> no_results_yet(const float* x, Int depth) {
  RowInput<MR, NP> out;
  out.x = x;
  out.depth = depth;
  return out;
}

// `made` begins at `column`.
template <int MADE, int MR, int NP>
TFAOT_INLINE void keep_results([[maybe_unused]] RowInput<MR, NP>& out, [[maybe_unused]] Int column,
                               [[maybe_unused]] const PanelResult<MR, MADE>& made) {
#if TFAOT_VECTOR_BYTES == 64
  out.last_at = column + (MADE - 1) * kRowWidth;
  TFAOT_UNROLL
  for (int r = 0; r < MR; ++r) {
    if constexpr (MADE < NP) out.last[0][r] = out.last[NP - 1][r];
    TFAOT_UNROLL
    for (int p = 0; p < MADE; ++p) out.last[NP - MADE + p][r] = made[p][r][0];
  }
#endif
}

}  // namespace
