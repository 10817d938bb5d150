// SPDX-License-Identifier: Apache-2.0
// Steps of the depth with AVX-512: numbers of rows, four at a time, by panels.
#pragma once

#include "products/row_input.h"

#if TFAOT_VECTOR_BYTES == 64

namespace {

// One step of the depth. Weights are read exactly in memory order: the processor then foresees what
// comes next. The compiler would change the order. Asking for many lines at once would take as long
// as it saves.
template <bool kFetch, int MR>
TFAOT_INLINE void add_step(Vec<float> (&sums)[MR][1], const Vec<float> (&left)[MR],
                           const float* b) {
  using Anywhere __attribute__((vector_size(64), aligned(4), may_alias)) = float;
  const auto& right = *reinterpret_cast<const Anywhere*>(b);
  if constexpr (kFetch) fetch_ahead<1>(b);
  if constexpr (MR == 1) {
    asm volatile("vfmadd231ps %2, %1, %0" : "+v"(sums[0][0]) : "v"(left[0]), "m"(right));
  } else {
    Vec<float> loaded;
    asm volatile("vmovups %1, %0" : "=v"(loaded) : "m"(right));
    TFAOT_UNROLL
    for (int r = 0; r < MR; ++r) sums[r][0] += left[r] * loaded;
  }
}

template <int I, int MR>
TFAOT_INLINE void spread_rows(Vec<float> (&left)[MR], const Vec<float> (&fours)[MR]) {
  TFAOT_UNROLL
  for (int r = 0; r < MR; ++r) left[r] = spread<I>(fours[r]);
}

// Rows whose vectors are permuted alike.
template <int QUARTERS, int MR>
TFAOT_INLINE void permute_quarters(Vec<float> (&to)[MR], const Vec<float> (&x)[MR]) {
  TFAOT_UNROLL
  for (int r = 0; r < MR; ++r) to[r] = _mm512_maskz_shuffle_f32x4(0xFFFF, x[r], x[r], QUARTERS);
}

// Where the steps of NP panels are.
template <int NP>
using PanelSteps = const float* [NP];

template <int NP>
TFAOT_INLINE void go_further(PanelSteps<NP>& b, Int elements) {
  TFAOT_UNROLL
  for (int p = 0; p < NP; ++p) b[p] += elements;
}

// Four steps of the depth, of a quarter of x, by each of NP panels, `at` elements further.
template <int QUARTER, bool kFetch, int MR, int NP>
TFAOT_INLINE void add_quarter(RowSums<MR> (&sums)[NP], const Vec<float> (&x)[MR],
                              const PanelSteps<NP>& b, Int at = 0) {
  constexpr int kFirst = QUARTER * kSpread % kRowSums<MR>;
  Vec<float> fours[MR], left[kSpread][MR];
  permute_quarters<QUARTER * 0x55>(fours, x);
  spread_rows<0>(left[0], fours);
  spread_rows<1>(left[1], fours);
  spread_rows<2>(left[2], fours);
  spread_rows<3>(left[3], fours);
  TFAOT_UNROLL
  for (int i = 0; i < kSpread; ++i) {
    TFAOT_UNROLL
    for (int p = 0; p < NP; ++p) {
      add_step<kFetch>(sums[p][kFirst + i], left[i], b[p] + at + i * kRowWidth);
    }
  }
}

// The first `count` numbers of x, which are fewer than a vector has.
template <bool kFetch, int MR, int NP>
TFAOT_INLINE void add_part(RowSums<MR> (&sums)[NP], Vec<float> (&x)[MR], PanelSteps<NP>& b,
                           Int count) {
  Vec<float> left[MR];
  TFAOT_NOT_UNROLLED
  for (; count >= kSpread; count -= kSpread, go_further<NP>(b, kSpread * kRowWidth)) {
    add_quarter<0, kFetch>(sums, x, b);
    permute_quarters<0x39>(x, x);  // the next quarter first
  }
  permute_quarters<0>(x, x);
  TFAOT_NOT_UNROLLED
  for (; count > 0; --count, go_further<NP>(b, kRowWidth)) {
    spread_rows<0>(left, x);
    TFAOT_UNROLL
    for (int p = 0; p < NP; ++p) add_step<kFetch>(sums[p][1], left, b[p]);
    TFAOT_UNROLL
    for (int r = 0; r < MR; ++r) x[r] = _mm512_maskz_permute_ps(0xFFFF, x[r], 0x39);  // the next
  }
}

}  // namespace

#endif
