// SPDX-License-Identifier: Apache-2.0
// Packs a right-hand side that is known only at run time into panels (abi.h).
#pragma once

#include "gemm.h"

namespace {

#if TFAOT_IS_F32
using Quad = float __attribute__((vector_size(16)));
constexpr Int kQuad = 4;
#else
using Quad = double __attribute__((vector_size(16)));
constexpr Int kQuad = 2;
#endif

// A square of kQuad by kQuad elements: rows to columns.
TFAOT_INLINE void transpose_square(Element* to, Int to_row, const Element* from, Int from_row) {
  Quad in[kQuad], out[kQuad];
  for (Int i = 0; i < kQuad; ++i) __builtin_memcpy(&in[i], from + i * from_row, sizeof(Quad));
#if TFAOT_IS_F32
  const Quad low01 = __builtin_shufflevector(in[0], in[1], 0, 4, 1, 5);
  const Quad low23 = __builtin_shufflevector(in[2], in[3], 0, 4, 1, 5);
  const Quad high01 = __builtin_shufflevector(in[0], in[1], 2, 6, 3, 7);
  const Quad high23 = __builtin_shufflevector(in[2], in[3], 2, 6, 3, 7);
  out[0] = __builtin_shufflevector(low01, low23, 0, 1, 4, 5);
  out[1] = __builtin_shufflevector(low01, low23, 2, 3, 6, 7);
  out[2] = __builtin_shufflevector(high01, high23, 0, 1, 4, 5);
  out[3] = __builtin_shufflevector(high01, high23, 2, 3, 6, 7);
#else
  out[0] = __builtin_shufflevector(in[0], in[1], 0, 2);
  out[1] = __builtin_shufflevector(in[0], in[1], 1, 3);
#endif
  for (Int i = 0; i < kQuad; ++i) __builtin_memcpy(to + i * to_row, &out[i], sizeof(Quad));
}

// The panel of columns [0, columns) of b[l * depth_stride + j * column_stride].
TFAOT_INLINE void pack_panel(Element* to, const Element* b, Int depth, Int columns,
                             Int depth_stride, Int column_stride) {
  constexpr Int kColumns = kPanelColumns<Element>;
  if (column_stride == 1) {
    for (Int l = 0; l < depth; ++l) {
      if (columns < kColumns) {
        __builtin_memset(to + l * kColumns, 0, tfaot::kernels::kPanelBytes);
        copy_elements(to + l * kColumns, b + l * depth_stride, columns);
      } else {
        __builtin_memcpy(to + l * kColumns, b + l * depth_stride, tfaot::kernels::kPanelBytes);
      }
    }
    return;
  }
  Int done = 0;  // how much of the depth is done
  if (depth_stride == 1 && columns == kColumns) {
    for (; done + kQuad <= depth; done += kQuad) {
      TFAOT_UNROLL
      for (Int j = 0; j < kColumns; j += kQuad) {
        transpose_square(to + done * kColumns + j, kColumns, b + done + j * column_stride,
                         column_stride);
      }
    }
  }
  for (Int l = done; l < depth; ++l) {
    for (Int j = 0; j < kColumns; ++j) {
      to[l * kColumns + j] = j < columns ? b[l * depth_stride + j * column_stride] : Element{0};
    }
  }
}

// All panels of b[depth, columns].
TFAOT_INLINE void pack_matrix(Element* to, const Element* b, Int depth, Int columns,
                              Int depth_stride, Int column_stride) {
  constexpr Int kColumns = kPanelColumns<Element>;
  for (Int j = 0; j < columns; j += kColumns) {
    pack_panel(to + j * depth, b + j * column_stride, depth, smaller(kColumns, columns - j),
               depth_stride, column_stride);
  }
}

}  // namespace
