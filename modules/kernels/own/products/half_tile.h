// SPDX-License-Identifier: Apache-2.0
// The micro-kernel for columns that end in half a vector or less, such as 24 columns with vectors
// of 16: the last columns of two neighbouring rows share a vector, so that none of it is wasted.
#pragma once

#include "products/tile.h"

namespace {

#if TFAOT_HAS_MASKS

template <typename T>
constexpr Int kHalf = kLanes<T> / 2;

// Names for both element types.
TFAOT_INLINE Vec<float> low_then_high(Vec<float> low, Vec<float> high) {
  return _mm512_mask_blend_ps(0xFF00, low, high);
}
TFAOT_INLINE Vec<double> low_then_high(Vec<double> low, Vec<double> high) {
  return _mm512_mask_blend_pd(0xF0, low, high);
}
TFAOT_INLINE Vec<float> swap_halves(Vec<float> v) {
  return __builtin_shufflevector(v, v, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7);
}
TFAOT_INLINE Vec<double> swap_halves(Vec<double> v) {
  return __builtin_shufflevector(v, v, 4, 5, 6, 7, 0, 1, 2, 3);
}
TFAOT_INLINE Vec<float> twice_half(const float* from) {
  float half __attribute__((vector_size(32)));
  __builtin_memcpy(&half, from, sizeof half);
  return __builtin_shufflevector(half, half, 0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7);
}
TFAOT_INLINE Vec<double> twice_half(const double* from) {
  double half __attribute__((vector_size(32)));
  __builtin_memcpy(&half, from, sizeof half);
  return __builtin_shufflevector(half, half, 0, 1, 2, 3, 0, 1, 2, 3);
}
// In a register, once for all uses.
TFAOT_INLINE Vec<float> everywhere(float x) {
  Vec<float> v = _mm512_set1_ps(x);
  keep(v);
  return v;
}
TFAOT_INLINE Vec<double> everywhere(double x) {
  Vec<double> v = _mm512_set1_pd(x);
  keep(v);
  return v;
}

// Masked stores are slow even if the mask is full.
template <typename T>
TFAOT_INLINE void store_half(T* to, Vec<T> v, Int count) {
  if (count == kHalf<T>) {
    __builtin_memcpy(to, &v, sizeof v / 2);
  } else {
    store_first(to, v, count);
  }
}

// MR rows by NV vectors and `last` columns. REQUIRES: MR is even, t.last <= kHalf.
template <typename T, int MR, int NV>
__attribute__((noinline)) void multiply_half_tiles(const Tiles<T>& t) {
  constexpr int kPairs = MR / 2;
  const T* const* rows = t.rows;
  T* c = t.c;
  const Int a_step = t.a_step, b_step = t.b_step, b_panel = t.b_panel;
  const Int run = t.run, c_row = t.c_row, last = t.last;
  const Rectifier rectifier = t.rectifier;

  for (Int tiles = t.count; tiles > 0; --tiles, rows += MR) {
    Vec<T> whole[MR][NV], half[kPairs];
    TFAOT_UNROLL
    for (int v = 0; v < NV; ++v) {
      whole[0][v] = load(t.start + v * kLanes<T>);
      TFAOT_UNROLL
      for (int r = 1; r < MR; ++r) whole[r][v] = whole[0][v];
    }
    half[0] = load_first(t.start + NV * kLanes<T>, last);
    half[0] = low_then_high(half[0], swap_halves(half[0]));
    TFAOT_UNROLL
    for (int p = 1; p < kPairs; ++p) half[p] = half[0];
    const T* a[MR];
    TFAOT_UNROLL
    for (int r = 0; r < MR; ++r) a[r] = rows[r];
    const T* b = t.b;

    for (const Int *tap = t.taps, *end = tap + t.tap_count; tap != end; ++tap) {
      Int k = *tap;
      for (Int left = run; left > 0; --left, k += a_step, b += b_step) {
        Vec<T> right[NV];
        TFAOT_UNROLL
        for (int v = 0; v < NV; ++v) right[v] = load(b + v * b_panel);
        const Vec<T> right_half = twice_half(b + NV * b_panel);
        TFAOT_UNROLL
        for (int p = 0; p < kPairs; ++p) {
          const Vec<T> low = everywhere(a[2 * p][k]), high = everywhere(a[2 * p + 1][k]);
          TFAOT_UNROLL
          for (int v = 0; v < NV; ++v) {
            whole[2 * p][v] += right[v] * low;
            whole[2 * p + 1][v] += right[v] * high;
          }
          half[p] += right_half * low_then_high(low, high);
        }
      }
    }

    TFAOT_UNROLL
    for (int r = 0; r < MR; ++r, c += c_row) {
      TFAOT_UNROLL
      for (int v = 0; v < NV; ++v) {
        store(c + v * kLanes<T>, rectified<T>(whole[r][v], rectifier));
      }
      T* const to = c + NV * kLanes<T>;
      const Vec<T> sum = r % 2 == 0 ? half[r / 2] : swap_halves(half[r / 2]);
      store_half(to, rectified<T>(sum, rectifier), last);
    }
  }
}

static_assert(kVectorsPerPanel == 1, "a tile's vectors are b_panel apart");

#endif

}  // namespace
