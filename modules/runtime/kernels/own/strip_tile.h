// SPDX-License-Identifier: Apache-2.0
// The micro-kernel for one vector of columns or less, as images with few channels have: many rows
// that lie equally far apart, such as the positions of one line of an image. A load for each
// multiply-add is then the limit, and fewer tiles begin and end. Four rows share a pointer.
#pragma once

#include "tile.h"

namespace {

#if TFAOT_HAS_MASKS

// REQUIRES: t.rows[r] - t.rows[0] is r times the same.
template <typename T, int MR>
__attribute__((noinline)) void multiply_strip(const Tile<T>& t) {
  constexpr int kPointers = (MR + 3) / 4;
  const Int step = t.rows[1] - t.rows[0];
  Int step3 = 3 * step;
  asm("" : "+r"(step3));  // not computed anew
  Vec<T> sums[MR];
  TFAOT_UNROLL
  for (int r = 0; r < MR; ++r) sums[r] = load_first(t.start + r * t.start_row, t.last);
  const T* b = t.b;
  const Int a_step = t.a_step, b_step = t.b_step;

  for (const Int *tap = t.taps, *end = tap + t.tap_count; tap != end; ++tap) {
    const T* a[kPointers];
    TFAOT_UNROLL
    for (int p = 0; p < kPointers; ++p) a[p] = t.rows[4 * p] + *tap;
    for (Int left = t.run; left > 0; --left, b += b_step) {
      const Vec<T> right = load(b);
      TFAOT_UNROLL
      for (int r = 0; r < MR; ++r) {
        sums[r] += right * a[r / 4][r % 4 == 3 ? step3 : r % 4 * step];
      }
      TFAOT_UNROLL
      for (int p = 0; p < kPointers; ++p) a[p] += a_step;
    }
  }

  T* to = t.c;
  const Int c_row = t.c_row, last = t.last;
  const bool is_relu = t.relu;
  TFAOT_UNROLL
  for (int r = 0; r < MR; ++r, to += c_row) {
    const Vec<T> sum = is_relu ? relu<T>(sums[r]) : sums[r];
    if (last == kLanes<T>) {  // masked stores are slow even where the mask is full
      store(to, sum);
    } else {
      store_first(to, sum, last);
    }
  }
}

#endif

}  // namespace
