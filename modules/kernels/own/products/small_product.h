// SPDX-License-Identifier: Apache-2.0
// Products with a small right side that lies in rows, in tiles of few vectors. Preparing those of
// gemm.cc takes a third of the time of 16 x 16 x 64.
#pragma once

#include "simd/kernel.h"

namespace {

struct SmallProduct {
  const Element* a;
  Int a_row;
  const Element* b;
  Int b_row;
  Element* c;
  Int c_row;
  Int rows, columns, depth;
};

// Which columns of a tile: its vectors are `apart` elements from one to the next. kPart: only
// `count` of a vector.
struct Strip {
  Int column, apart, count;
};

// MR rows by NV vectors.
template <int MR, int NV, bool kPart>
TFAOT_INLINE void small_tile(const SmallProduct& p, const Strip& strip, const Element* a,
                             Element* c) {
  Vec<Element> sums[MR][NV] = {};
  const Element* b = p.b + strip.column;
  for (Int k = 0; k < p.depth; ++k, b += p.b_row) {
    Vec<Element> right[NV];
    TFAOT_UNROLL
    for (int v = 0; v < NV; ++v) {
      const Element* const from = b + v * strip.apart;
      right[v] = kPart ? load_first(from, strip.count) : load(from);
      keep(right[v]);
    }
    TFAOT_UNROLL
    for (int r = 0; r < MR; ++r) {
      const Element left = a[r * p.a_row + k];
      TFAOT_UNROLL
      for (int v = 0; v < NV; ++v) sums[r][v] += right[v] * left;
    }
  }
  TFAOT_UNROLL
  for (int r = 0; r < MR; ++r, go_on(c, p.c_row)) {
    TFAOT_UNROLL
    for (int v = 0; v < NV; ++v) {
      if constexpr (kPart) {
        store_first(c, sums[r][v], strip.count);
      } else {
        store(c + v * strip.apart, sums[r][v]);
      }
    }
  }
}

// The next MR rows, as often as there are as many.
template <int MR, int NV, bool kPart>
TFAOT_INLINE void small_rows(const SmallProduct& p, const Strip& strip, Int& done) {
  for (; done + MR <= p.rows; done += MR) {
    small_tile<MR, NV, kPart>(p, strip, p.a + done * p.a_row, p.c + done * p.c_row + strip.column);
  }
}

// All rows. Copies: for all that the compiler knows, a store could change what is referred to.
template <int NV, bool kPart>
__attribute__((noinline)) void small_strip(const SmallProduct product, const Strip strip) {
  constexpr int kMostRows = TFAOT_VECTOR_REGISTERS == 32 ? 8 : 6;
  Int done = 0;
  small_rows<kMostRows, NV, kPart>(product, strip, done);
  small_rows<4, NV, kPart>(product, strip, done);
  small_rows<2, NV, kPart>(product, strip, done);
  small_rows<1, NV, kPart>(product, strip, done);
}

// The last columns are computed once more with some before them, as a whole vector, if there are as
// many.
TFAOT_INLINE void multiply_small(const SmallProduct& p) {
  constexpr Int kWidth = kLanes<Element>;
  if (p.columns < kWidth) return small_strip<1, true>(p, {0, 0, p.columns});
  for (Int column = 0; column < p.columns; column += 2 * kWidth) {
    const Int left = p.columns - column;
    if (left > kWidth) {
      small_strip<2, false>(p, {column, smaller(kWidth, left - kWidth), kWidth});
    } else {
      small_strip<1, false>(p, {p.columns - kWidth, 0, kWidth});
    }
  }
}

}  // namespace
