// SPDX-License-Identifier: Apache-2.0
// A number of each of four rows of float32, as their sums, found for all four at once: the lanes of
// their vectors are joined while they are shuffled into one. Alone, each row would wait for each of
// its own shuffles.
#pragma once

#include "simd/lanes.h"

namespace {

// Two lanes of each quad of `a`, then the same two of `b`.
template <int kFirst, int kSecond>
TFAOT_INLINE Floats pick_lanes(Floats a, Floats b) {
  [[maybe_unused]] constexpr int kPick = (kFirst + 4 * kSecond) * 0x11;
#if TFAOT_VECTOR_BYTES == 64
  return _mm512_maskz_shuffle_ps(0xFFFF, a, b, kPick);
#elif TFAOT_VECTOR_BYTES == 32
  return _mm256_shuffle_ps(a, b, kPick);
#elif defined(__SSE2__)
  return _mm_shuffle_ps(a, b, kPick);
#else
  return __builtin_shufflevector(a, b, kFirst, kSecond, 4 + kFirst, 4 + kSecond);
#endif
}

// The quads of a vector joined, in each quad.
template <typename Op>
TFAOT_INLINE Floats over_quads(Floats v) {
#if TFAOT_VECTOR_BYTES == 64
  v = Op::join(v, Floats(_mm512_maskz_shuffle_f32x4(0xFFFF, v, v, 0x4E)));
  return Op::join(v, Floats(_mm512_maskz_shuffle_f32x4(0xFFFF, v, v, 0xB1)));
#elif TFAOT_VECTOR_BYTES == 32
  return Op::join(v, Floats(_mm256_permute2f128_ps(v, v, 1)));
#else
  return v;
#endif
}

// A number of each of four rows: the lanes of every quad.
struct RowNumbers {
  Floats quads;

  TFAOT_INLINE Floats of(int row) const {  // REQUIRES: the compiler knows the row
    return row == 0   ? pick_lanes<0, 0>(quads, quads)
           : row == 1 ? pick_lanes<1, 1>(quads, quads)
           : row == 2 ? pick_lanes<2, 2>(quads, quads)
                      : pick_lanes<3, 3>(quads, quads);
  }
};

// All lanes of each vector joined.
template <typename Op>
TFAOT_INLINE RowNumbers over_rows(const Floats (&rows)[4]) {
  const Floats a = Op::join(pick_lanes<0, 1>(rows[0], rows[1]), pick_lanes<2, 3>(rows[0], rows[1]));
  const Floats b = Op::join(pick_lanes<0, 1>(rows[2], rows[3]), pick_lanes<2, 3>(rows[2], rows[3]));
  return {over_quads<Op>(Op::join(pick_lanes<0, 2>(a, b), pick_lanes<1, 3>(a, b)))};
}

}  // namespace
