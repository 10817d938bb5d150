// SPDX-License-Identifier: Apache-2.0
// The steps of a row alone, or of two rows with AVX-512, by a panel.
#pragma once

#include "products/row_quarters.h"

namespace {

#if TFAOT_VECTOR_BYTES == 64

// The vectors of the rows from k on.
template <int MR, int NP>
TFAOT_INLINE void take_vectors(Vec<float> (&x)[MR], const RowInput<MR, NP>& in, Int k) {
  TFAOT_UNROLL
  for (int r = 0; r < MR; ++r) x[r] = in.last[NP - 1][r];
  if (__builtin_expect(k != in.last_at, 1)) {
    if (NP > 1 && k == in.last_at - kRowWidth) {
      TFAOT_UNROLL
      for (int r = 0; r < MR; ++r) x[r] = in.last[0][r];
    } else {
      TFAOT_UNROLL
      for (int r = 0; r < MR; ++r) x[r] = load(in.x + r * in.depth + k);
    }
  }
  TFAOT_UNROLL
  for (int r = 0; r < MR; ++r) keep(x[r]);  // else the compiler loads each quarter alone
}

// Adds the products with NP panels, and returns where the next one begins. VECTORS of a row are in
// a turn of the loop. The last vector goes through the same code: the processor foresees most if
// an instruction always goes equally far. kFetch: panels are asked for ahead.
template <bool kFetch, int VECTORS, int MR, int NP, int KEPT>
TFAOT_INLINE const float* add_panels(RowSums<MR> (&sums)[NP], const RowInput<MR, KEPT>& in,
                                     const float* b) {
  constexpr Int kQuarter = kSpread * kRowWidth;
  const Int part = in.depth % kRowWidth;
  const Int whole = in.depth - part;
  PanelSteps<NP> at;
  TFAOT_UNROLL
  for (int p = 0; p < NP; ++p) {
    at[p] = b + p * in.depth * kRowWidth;
    asm("" : "+r"(at[p]));  // else the compiler keeps many addresses
  }
  Vec<float> x[MR];
  const auto add_vector = [&](Int k) __attribute__((always_inline)) {
    take_vectors(x, in, k);
    add_quarter<0, kFetch>(sums, x, at);
    add_quarter<1, kFetch>(sums, x, at, kQuarter);
    add_quarter<2, kFetch>(sums, x, at, 2 * kQuarter);
    add_quarter<3, kFetch>(sums, x, at, 3 * kQuarter);
    go_further<NP>(at, 4 * kQuarter);
  };
  Int k = 0;
  if constexpr (VECTORS > 1) {
    for (; k + VECTORS * kRowWidth <= whole; k += VECTORS * kRowWidth) {
      TFAOT_UNROLL
      for (int i = 0; i < VECTORS; ++i) add_vector(k + i * kRowWidth);
    }
  }
  TFAOT_NOT_UNROLLED
  for (; k < whole; k += kRowWidth) add_vector(k);
  if (part != 0) {
    take_vectors(x, in, whole);
    add_part<kFetch>(sums, x, at, part);
  }
  return at[NP - 1];
}

#else

template <bool kFetch, int VECTORS, int MR>
TFAOT_INLINE const float* add_panels(RowSums<MR> (&of_one)[1], const RowInput<MR, 1>& in,
                                     const float* b) {
  constexpr Int kSteps = 4;
  RowSums<MR>& sums = of_one[0];
  const float* a[MR];
  TFAOT_UNROLL
  for (int r = 0; r < MR; ++r) a[r] = in.x + r * in.depth;
  Int k = 0;
  for (; k + kSteps <= in.depth; k += kSteps, b += kSteps * kRowWidth) {
    if constexpr (kFetch) fetch_ahead<kSteps>(b);
#if TFAOT_CAN_SPREAD
    static_assert(kRowSums<MR> == kSpread && kSteps == kSpread, "a sum for each step");
    multiply_spread(sums, 0, a, k, b, 0);
#else
    TFAOT_UNROLL
    for (Int i = 0; i < kSteps; ++i) {
      multiply_step(sums[i % kRowSums<MR>], a, k + i, b + i * kRowWidth, 0);
    }
#endif
  }
  TFAOT_NOT_UNROLLED
  for (; k < in.depth; ++k, b += kRowWidth) multiply_step(sums[kRowSums<MR> - 1], a, k, b, 0);
  return b;
}

#endif

}  // namespace
