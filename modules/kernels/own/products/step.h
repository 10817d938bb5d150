// SPDX-License-Identifier: Apache-2.0
// One step of the depth of a product, in registers.
#pragma once

#include "simd/vec_compare.h"

namespace {

// Enough independent sums to keep two multiply-add units busy for four cycles each.
constexpr int sums_per_element(int elements) {
  return elements >= 8 ? 1 : elements >= 4 ? 2 : elements >= 2 ? 4 : 8;
}

// The compiler finds out for itself that large tiles must not load the right side again for every
// row; they have no register to lose.
constexpr bool is_large_tile(int rows, int vectors) {
  return rows * vectors >= TFAOT_VECTOR_REGISTERS * 5 / 8;
}

template <typename T, int MR, int NV>
TFAOT_INLINE void multiply_step(Vec<T> (&sums)[MR][NV], const T* const (&a)[MR], Int k, const T* b,
                                Int b_panel) {
  Vec<T> right[NV];
  TFAOT_UNROLL
  for (int v = 0; v < NV; ++v) {
    right[v] = load(b + v / kVectorsPerPanel * b_panel + v % kVectorsPerPanel * kLanes<T>);
    if constexpr (MR > 1 && !is_large_tile(MR, NV)) keep(right[v]);
  }
  TFAOT_UNROLL
  for (int r = 0; r < MR; ++r) {
    TFAOT_UNROLL
    for (int v = 0; v < NV; ++v) sums[r][v] += right[v] * a[r][k];
  }
}

}  // namespace
