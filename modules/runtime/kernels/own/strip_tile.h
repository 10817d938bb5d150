// SPDX-License-Identifier: Apache-2.0
// The micro-kernel for one vector of columns or less, as images with few channels have: many rows
// that lie equally far apart, such as the positions of one line of an image. A load for each
// multiply-add is then the limit, and fewer tiles begin and end. Four rows share a pointer.
#pragma once

#include "tile.h"

namespace {

#if TFAOT_HAS_MASKS

// REQUIRES: in every strip, t.rows[r] - t.rows[0] is r times the same, the same for all strips.
template <typename T, int MR>
__attribute__((noinline)) void multiply_strips(const Tiles<T>& t) {
  constexpr int kPointers = (MR + 3) / 4;
  const T* const* rows = t.rows;
  T* c = t.c;
  const Int step = rows[1] - rows[0];
  Int step3 = 3 * step;
  asm("" : "+r"(step3));  // not computed anew
  const Int a_step = t.a_step, b_step = t.b_step;
  const Int run = t.run, c_row = t.c_row, last = t.last;
  const bool is_relu = t.relu;

  for (Int strips = t.count; strips > 0; --strips, rows += MR) {
    Vec<T> sums[MR];
    sums[0] = load_first(t.start, last);
    TFAOT_UNROLL
    for (int r = 1; r < MR; ++r) sums[r] = sums[0];
    const T* b = t.b;
    for (const Int *tap = t.taps, *end = tap + t.tap_count; tap != end; ++tap) {
      const T* a[kPointers];
      TFAOT_UNROLL
      for (int p = 0; p < kPointers; ++p) a[p] = rows[4 * p] + *tap;
      for (Int left = run; left > 0; --left, b += b_step) {
        const Vec<T> right = load(b);
        TFAOT_UNROLL
        for (int r = 0; r < MR; ++r) {
          sums[r] += right * a[r / 4][r % 4 == 3 ? step3 : r % 4 * step];
        }
        TFAOT_UNROLL
        for (int p = 0; p < kPointers; ++p) a[p] += a_step;
      }
    }

    TFAOT_UNROLL
    for (int r = 0; r < MR; ++r, c += c_row) {
      const Vec<T> sum = is_relu ? relu<T>(sums[r]) : sums[r];
      if (last == kLanes<T>) {  // masked stores are slow even where the mask is full
        store(c, sum);
      } else {
        store_first(c, sum, last);
      }
    }
  }
}

#endif

}  // namespace
