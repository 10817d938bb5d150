// SPDX-License-Identifier: Apache-2.0
// Turns columns into rows, a vector of columns at a time, and packs matrices into panels.
#pragma once

#include "simd/kernel.h"

namespace {

using Quad = VecOf<Element, 16>::Type;
constexpr Int kQuad = 16 / sizeof(Element);

// The quads at from + at[i], in one vector.
TFAOT_INLINE Vec<Element> load_quads(const Element* from,
                                     const Int (&at)[kLanes<Element> / kQuad]) {
  Quad quads[kLanes<Element> / kQuad];
  TFAOT_EACH (i, kLanes<Element> / kQuad) {
    quads[i] = read_as<Quad>(from + at[i]);
  }
#if TFAOT_VECTOR_BYTES == 64
  // Inserted one after the other, straight from memory.
  __m512 v = _mm512_maskz_broadcast_f32x4(0xFFFF, __m128(quads[0]));
  v = _mm512_mask_broadcast_f32x4(v, 0x00F0, __m128(quads[1]));
  v = _mm512_mask_broadcast_f32x4(v, 0x0F00, __m128(quads[2]));
  return Vec<Element>(_mm512_mask_broadcast_f32x4(v, 0xF000, __m128(quads[3])));
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

// Transposes vectors quad by quad, and stores them.
TFAOT_INLINE void store_transposed(Element* to, Int to_row, const Vec<Element> (&in)[kQuad]) {
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

// Transposes kQuad elements of each of `columns` columns, at most a vector's, into kQuad rows. The
// lanes after the columns repeat the last one.
TFAOT_INLINE void transpose_quads(Element* to, Int to_row, const Element* from, Int columns,
                                  Int column_stride) {
  Vec<Element> in[kQuad];
  TFAOT_EACH (q, kQuad) {
    Int at[kLanes<Element> / kQuad];
    TFAOT_EACH (i, kLanes<Element> / kQuad) {
      at[i] = smaller(i * kQuad + q, columns - 1) * column_stride;
    }
    in[q] = load_quads(from, at);
  }
  store_transposed(to, to_row, in);
}

#if TFAOT_IS_F32
// The inverse: writes the lanes of four columns as `rows` rows, at most a vector's.
TFAOT_INLINE void store_quads(float* to, Int to_row, const Vec<float> (&columns)[kQuad], Int rows) {
  float quads[kQuad][kLanes<float>];  // quad i of quads[j] is of row 4 i + j
  store_transposed(quads[0], kLanes<float>, columns);
  TFAOT_FOR (int r = 0; r < kLanes<float>; ++r, to += to_row) {
    if (r >= rows) return;
    __builtin_memcpy(to, quads[r % kQuad] + r / kQuad * kQuad, sizeof(Quad));
  }
}
#endif

// Packs a right-hand side that is known only at run time into panels (abi.h).

// Packs the panel of columns [0, columns) of b[l * depth_stride + j * column_stride] into rows that
// are to_row apart.
TFAOT_INLINE void pack_panel(Element* to, Int to_row, const Element* b, Int depth, Int columns,
                             Int depth_stride, Int column_stride) {
  constexpr Int kColumns = kPanelColumns<Element>;
  if (column_stride == 1) {
    for (Int l = 0; l < depth; ++l) {
      if (columns < kColumns) {
        __builtin_memset(to + l * to_row, 0, kPanelBytes);
        copy_elements(to + l * to_row, b + l * depth_stride, columns);
      } else {
        __builtin_memcpy(to + l * to_row, b + l * depth_stride, kPanelBytes);
      }
    }
    return;
  }
  Int done = 0;  // of the depth
  if (depth_stride == 1) {
    for (; done + kQuad <= depth; done += kQuad) {
      TFAOT_FOR (Int j = 0; j < kColumns; j += kLanes<Element>) {
        const Int first = smaller(j, columns - 1);
        const Element* const from = b + done + first * column_stride;
        if (columns - first >= kLanes<Element>) {
          transpose_quads(to + done * to_row + j, to_row, from, kLanes<Element>, column_stride);
        } else {
          transpose_quads(to + done * to_row + j, to_row, from, columns - first, column_stride);
        }
      }
    }
  }
  for (Int l = done; l < depth; ++l) {
    for (Int j = 0; j < kColumns; ++j) {
      to[l * to_row + j] = j < columns ? b[l * depth_stride + j * column_stride] : Element{0};
    }
  }
}

// Packs all panels of b[depth, columns], to_panel apart.
TFAOT_INLINE void pack_panels(Element* to, Int to_row, Int to_panel, const Element* b, Int depth,
                              Int columns, Int depth_stride, Int column_stride) {
  constexpr Int kColumns = kPanelColumns<Element>;
  for (Int j = 0; j < columns; j += kColumns, to += to_panel) {
    pack_panel(to, to_row, b + j * column_stride, depth, smaller(kColumns, columns - j),
               depth_stride, column_stride);
  }
}

// Packs the panels one after the other.
TFAOT_INLINE void pack_matrix(Element* to, const Element* b, Int depth, Int columns,
                              Int depth_stride, Int column_stride) {
  constexpr Int kColumns = kPanelColumns<Element>;
  pack_panels(to, kColumns, kColumns * depth, b, depth, columns, depth_stride, column_stride);
}

}  // namespace
