// SPDX-License-Identifier: Apache-2.0
// Turns columns into rows, a vector of columns at a time.
#pragma once

#include "simd/kernel.h"

namespace {

#if TFAOT_IS_F32
using Quad = float __attribute__((vector_size(16)));
#else
using Quad = double __attribute__((vector_size(16)));
#endif
constexpr Int kQuad = 16 / sizeof(Element);

// The quads at from + at[i], in one vector.
TFAOT_INLINE Vec<Element> load_quads(const Element* from,
                                     const Int (&at)[kLanes<Element> / kQuad]) {
  Quad quads[kLanes<Element> / kQuad];
  TFAOT_UNROLL
  for (Int i = 0; i < kLanes<Element> / kQuad; ++i) {
    __builtin_memcpy(&quads[i], from + at[i], sizeof(Quad));
  }
#if TFAOT_VECTOR_BYTES == 64
  // Inserted one after the other, straight from memory.
#if TFAOT_IS_F32
  __m512 v = _mm512_maskz_broadcast_f32x4(0xFFFF, quads[0]);
  v = _mm512_mask_broadcast_f32x4(v, 0x00F0, quads[1]);
  v = _mm512_mask_broadcast_f32x4(v, 0x0F00, quads[2]);
  return _mm512_mask_broadcast_f32x4(v, 0xF000, quads[3]);
#else
  __m512d v = _mm512_maskz_broadcast_f64x2(0xFF, quads[0]);
  v = _mm512_mask_broadcast_f64x2(v, 0x0C, quads[1]);
  v = _mm512_mask_broadcast_f64x2(v, 0x30, quads[2]);
  return _mm512_mask_broadcast_f64x2(v, 0xC0, quads[3]);
#endif
#elif TFAOT_VECTOR_BYTES == 32
  return __builtin_shufflevector(quads[0], quads[1], 0, 1, 2, 3
#if TFAOT_IS_F32
                                 ,
                                 4, 5, 6, 7
#endif
  );
#else
  return quads[0];
#endif
}

// Elements of a and b in turn, from the low or the high half of each quad.
template <typename T, bool kHigh>
struct InterleavedLanes {
  static constexpr int at(int l) {
    constexpr int kOfQuad = 16 / sizeof(T);
    const int from = l / kOfQuad * kOfQuad + (kHigh ? kOfQuad / 2 : 0) + l % kOfQuad / 2;
    return from + (l % 2 == 0 ? 0 : int{kLanes<T>});
  }
};
template <bool kHigh>
TFAOT_INLINE Vec<Element> interleave(Vec<Element> a, Vec<Element> b) {
  return shuffle<InterleavedLanes<Element, kHigh>>(a, b);
}

// The same with pairs of float32.
template <bool kHigh>
TFAOT_INLINE Vec<Element> interleave_pairs(Vec<Element> a, Vec<Element> b) {
  return Vec<Element>(shuffle<InterleavedLanes<double, kHigh>>(Vec<double>(a), Vec<double>(b)));
}

// Transposes kQuad elements of each of `columns` columns, at most a vector's, into kQuad rows. The
// lanes after the columns repeat the last one.
TFAOT_INLINE void transpose_quads(Element* to, Int to_row, const Element* from, Int columns,
                                  Int column_stride) {
  Vec<Element> in[kQuad];
  TFAOT_UNROLL
  for (Int q = 0; q < kQuad; ++q) {
    Int at[kLanes<Element> / kQuad];
    TFAOT_UNROLL
    for (Int i = 0; i < kLanes<Element> / kQuad; ++i) {
      at[i] = smaller(i * kQuad + q, columns - 1) * column_stride;
    }
    in[q] = load_quads(from, at);
  }
#if TFAOT_IS_F32
  const Vec<Element> low01 = interleave<false>(in[0], in[1]);
  const Vec<Element> low23 = interleave<false>(in[2], in[3]);
  const Vec<Element> high01 = interleave<true>(in[0], in[1]);
  const Vec<Element> high23 = interleave<true>(in[2], in[3]);
  store(to, interleave_pairs<false>(low01, low23));
  store(to + to_row, interleave_pairs<true>(low01, low23));
  store(to + 2 * to_row, interleave_pairs<false>(high01, high23));
  store(to + 3 * to_row, interleave_pairs<true>(high01, high23));
#else
  store(to, interleave<false>(in[0], in[1]));
  store(to + to_row, interleave<true>(in[0], in[1]));
#endif
}

#if TFAOT_IS_F32
// The inverse: writes the lanes of four columns as `rows` rows, at most a vector's.
TFAOT_INLINE void store_quads(float* to, Int to_row, const Vec<float> (&columns)[kQuad], Int rows) {
  const Vec<float> low01 = interleave<false>(columns[0], columns[1]);
  const Vec<float> low23 = interleave<false>(columns[2], columns[3]);
  const Vec<float> high01 = interleave<true>(columns[0], columns[1]);
  const Vec<float> high23 = interleave<true>(columns[2], columns[3]);
  float quads[kQuad][kLanes<float>];  // quad i of quads[j] is of row 4 i + j
  store(quads[0], interleave_pairs<false>(low01, low23));
  store(quads[1], interleave_pairs<true>(low01, low23));
  store(quads[2], interleave_pairs<false>(high01, high23));
  store(quads[3], interleave_pairs<true>(high01, high23));
  TFAOT_UNROLL
  for (int r = 0; r < kLanes<float>; ++r, to += to_row) {
    if (r >= rows) return;
    __builtin_memcpy(to, quads[r % kQuad] + r / kQuad * kQuad, sizeof(Quad));
  }
}
#endif

}  // namespace
