// SPDX-License-Identifier: Apache-2.0
// The right side of quad_tile.h: four steps of the depth by four columns in a vector.
#pragma once

#include "products/stream.h"

namespace {

constexpr int kQuad = 4;
constexpr int kMaxQuads = 3;

// What adding quarters takes pays for itself. Three quads save a quarter of the multiply-adds, so
// they need many rows.
constexpr bool pays_for_quads(Int rows, Int depth, Int quads) {
  return quads == 1 ? depth >= 16 : quads == 2 ? depth >= 32 : depth >= 64 && rows >= 32;
}

#define TFAOT_HAS_QUADS (TFAOT_HAS_MASKS && TFAOT_IS_F32)
#if TFAOT_HAS_QUADS

using Floats = Vec<float>;

// Pairs of (low, high) of the first eight columns.
TFAOT_INLINE Floats pair_up(Floats low, Floats high) {
  return __builtin_shufflevector(low, high, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
}

// So of the last eight.
TFAOT_INLINE Floats pair_up_high(Floats low, Floats high) {
  return __builtin_shufflevector(low, high, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30,
                                 15, 31);
}
TFAOT_INLINE Floats first_quad(Floats low, Floats high) {
  return __builtin_shufflevector(low, high, 0, 1, 16, 17, 2, 3, 18, 19, 4, 5, 20, 21, 6, 7, 22, 23);
}

// Four steps of a panel as quads.
template <int NQ>
TFAOT_INLINE void load_quads(Floats (&quads)[NQ], const float* b, Int b_step) {
  Floats rows[kQuad];
  TFAOT_UNROLL
  for (int i = 0; i < kQuad; ++i) rows[i] = load(b + i * b_step);
  const Floats low = pair_up(rows[0], rows[1]), high = pair_up(rows[2], rows[3]);
  quads[0] = first_quad(low, high);
  if constexpr (NQ >= 2) {
    quads[1] = __builtin_shufflevector(low, high, 8, 9, 24, 25, 10, 11, 26, 27, 12, 13, 28, 29, 14,
                                       15, 30, 31);
  }
  if constexpr (NQ >= 3) {
    quads[2] = first_quad(pair_up_high(rows[0], rows[1]), pair_up_high(rows[2], rows[3]));
  }
}

// All steps of a panel as quads, which many rows meet: made once, they need no shuffles there.
constexpr Int kMostQuadSteps = 128;
template <int NQ>
struct QuadPanel {
  alignas(64) float quads[kMostQuadSteps][NQ][kLanes<float>];
};

template <int NQ>
TFAOT_INLINE void fill_quads(QuadPanel<NQ>& panel, const float* b, Int b_step, Int steps) {
  for (Int i = 0; i < steps; ++i, b += kQuad * b_step) {
    Floats quads[NQ];
    load_quads(quads, b, b_step);
    TFAOT_UNROLL
    for (int q = 0; q < NQ; ++q) store(panel.quads[i][q], quads[q]);
  }
}

#endif

}  // namespace
