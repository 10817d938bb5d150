// SPDX-License-Identifier: Apache-2.0
// Steps of a product of a few rows that load four numbers of a row together.
#pragma once

#include "products/tile.h"

namespace {

// Loads four numbers of a row at once and then spreads each over a vector: a load for every
// multiply-add would take the place of a load of the right side.
#define TFAOT_CAN_SPREAD (TFAOT_IS_F32 && TFAOT_VECTOR_BYTES >= 32)
#if TFAOT_CAN_SPREAD
constexpr int kSpread = 4;

TFAOT_INLINE Vec<float> load_fours(const float* from) {
#if TFAOT_VECTOR_BYTES == 64
  Vec<float> fours = _mm512_maskz_broadcast_f32x4(0xFFFF, _mm_loadu_ps(from));
#else
  Vec<float> fours =
      _mm256_broadcast_ps(static_cast<const __m128*>(static_cast<const void*>(from)));
#endif
  asm("" : "+v"(fours));  // else the compiler loads each number alone
  return fours;
}

template <int I>
TFAOT_INLINE Vec<float> spread(Vec<float> fours) {
#if TFAOT_VECTOR_BYTES == 64
  return _mm512_maskz_permute_ps(0xFFFF, fours, I * 0x55);
#else
  return _mm256_permute_ps(fours, I * 0x55);
#endif
}

// Steps k to k + kSpread; adds to sums[first] and the following.
template <int MR, int NV, int N>
TFAOT_INLINE void multiply_spread(Vec<float> (&sums)[N][MR][NV], int first,
                                  const float* const (&a)[MR], Int k, const float* b, Int b_panel) {
  Vec<float> left[kSpread][MR];
  TFAOT_UNROLL
  for (int r = 0; r < MR; ++r) {
    const Vec<float> fours = load_fours(a[r] + k);
    left[0][r] = spread<0>(fours);
    left[1][r] = spread<1>(fours);
    left[2][r] = spread<2>(fours);
    left[3][r] = spread<3>(fours);
  }
  TFAOT_UNROLL
  for (int i = 0; i < kSpread; ++i, b += kPanelColumns<float>) {
    TFAOT_UNROLL
    for (int v = 0; v < NV; ++v) {
      const Vec<float> right =
          load(b + v / kVectorsPerPanel * b_panel + v % kVectorsPerPanel * kLanes<float>);
      TFAOT_UNROLL
      for (int r = 0; r < MR; ++r) sums[first + i][r][v] += right * left[i][r];
    }
  }
}
#endif

}  // namespace
