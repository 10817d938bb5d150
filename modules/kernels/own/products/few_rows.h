// SPDX-License-Identifier: Apache-2.0
// Plain products of a few rows with panels, of small layers: less is set up than for gemm.cc, whose
// tiles are faster for many rows or large layers.
#pragma once

#include "products/row_vectors.h"

namespace {

// So many rows are multiplied together.
constexpr Int kFewRows = TFAOT_VECTOR_BYTES == 64 ? 8 : TFAOT_VECTOR_BYTES == 32 ? 6 : 3;

// Rows that share each load of the weights, several panels at a time.
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

// REQUIRES: rows is what dense_chain.cc does not compute otherwise, and at most kFewRows.
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
