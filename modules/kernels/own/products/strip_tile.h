// SPDX-License-Identifier: Apache-2.0
// The micro-kernel for one vector of columns or less, or for one and a half, as in images with few
// channels. It has many rows that are equally far apart, such as the positions on one line of an
// image. Loads are then the bottleneck, and fewer tiles begin and end. Four rows share a pointer.
#pragma once

#include "products/half_tile.h"

namespace {

#if TFAOT_HAS_MASKS

// MR rows of `last` columns, or of a vector and `last` columns; then two rows share a vector.
// Neighbouring rows share all but the first `step` elements of a run of WINDOW * step, as in a
// window that slides by one pixel: each element is loaded once for all rows that have it. With a
// WINDOW of 1 they share nothing. REQUIRES: t.rows[r] - t.rows[0] is r times the same step in every
// strip.
template <typename T, int MR, int WINDOW, bool kAndHalf>
__attribute__((noinline)) void multiply_strips(const Tiles<T>& t) {
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
    Vec<T> sums[MR], pairs[kPairs];
    sums[0] = kAndHalf ? load(t.start) : load_first(t.start, last);
    TFAOT_UNROLL
    for (int r = 1; r < MR; ++r) sums[r] = sums[0];
    if constexpr (kAndHalf) {
      pairs[0] = load_first(t.start + kLanes<T>, last);
      pairs[0] = low_then_high(pairs[0], swap_halves(pairs[0]));
      TFAOT_UNROLL
      for (int p = 1; p < kPairs; ++p) pairs[p] = pairs[0];
    }
    const T* b = t.b;

    for (const Int *tap = t.taps, *end = tap + t.tap_count; tap != end; ++tap) {
      const T* a[kPointers];
      TFAOT_UNROLL
      for (int p = 0; p < kPointers; ++p) a[p] = t.rows[strip * MR] + *tap + 4 * p * step;
      for (Int left = steps; left > 0; --left, b += b_step) {
        Vec<T> right[WINDOW], right_half[WINDOW];
        TFAOT_UNROLL
        for (int w = 0; w < WINDOW; ++w) {
          right[w] = load(b + w * step * b_step);
          if constexpr (kAndHalf) right_half[w] = twice_half(b + w * step * b_step + t.b_panel);
        }
        Vec<T> before = {};
        TFAOT_UNROLL
        for (int i = 0; i < kLoads; ++i) {
          const Vec<T> x = everywhere(a[i / 4][i % 4 == 3 ? step3 : i % 4 * step]);
          TFAOT_UNROLL
          for (int r = i; r > i - WINDOW; --r) {
            if (r >= 0 && r < MR) sums[r] += right[i - r] * x;
          }
          if constexpr (kAndHalf) {
            const Vec<T> both = low_then_high(before, x);
            TFAOT_UNROLL
            for (int r = i - 1; r > i - 1 - WINDOW; --r) {
              if (r >= 0 && r % 2 == 0 && r < MR) pairs[r / 2] += right_half[i - 1 - r] * both;
            }
          }
          before = x;
        }
        TFAOT_UNROLL
        for (int p = 0; p < kPointers; ++p) a[p] += a_step;
      }
      b += (WINDOW - 1) * step * b_step;
    }

    T* c = t.c + strip * MR * t.c_row;
    const Int c_row = t.c_row;
    const Rectifier rectifier = t.rectifier;
    TFAOT_UNROLL
    for (int r = 0; r < MR; ++r, c += c_row) {
      const Vec<T> sum = rectified<T>(sums[r], rectifier);
      if (kAndHalf || last == kLanes<T>) {  // masked stores are slow even if the mask is full
        store(c, sum);
      } else {
        store_first(c, sum, last);
      }
      if constexpr (kAndHalf) {
        const Vec<T> end = r % 2 == 0 ? pairs[r / 2] : swap_halves(pairs[r / 2]);
        store_half(c + kLanes<T>, rectified<T>(end, rectifier), last);
      }
    }
  }
}

template <typename T, int MR, bool kAndHalf>
TFAOT_INLINE void multiply_strips_of(const Tiles<T>& t) {
  if (t.run == 3 * (t.rows[1] - t.rows[0]) && t.a_step == 1) {
    return multiply_strips<T, MR, 3, kAndHalf>(t);
  }
  multiply_strips<T, MR, 1, kAndHalf>(t);
}

#endif

}  // namespace
