// SPDX-License-Identifier: Apache-2.0
// Packs a right-hand side that is known only at run time into panels (abi.h).
#pragma once

#include "simd/transpose.h"

namespace {

// Packs the panel of columns [0, columns) of b[l * depth_stride + j * column_stride] into rows that
// are to_row apart.
TFAOT_INLINE void pack_panel(Element* to, Int to_row, const Element* b, Int depth, Int columns,
                             Int depth_stride, Int column_stride) {
  constexpr Int kColumns = kPanelColumns<Element>;
  if (column_stride == 1) {
    for (Int l = 0; l < depth; ++l) {
      if (columns < kColumns) {
        __builtin_memset(to + l * to_row, 0, tfaot::kernels::kPanelBytes);
        copy_elements(to + l * to_row, b + l * depth_stride, columns);
      } else {
        __builtin_memcpy(to + l * to_row, b + l * depth_stride, tfaot::kernels::kPanelBytes);
      }
    }
    return;
  }
  Int done = 0;  // of the depth
  if (depth_stride == 1) {
    for (; done + kQuad <= depth; done += kQuad) {
      TFAOT_UNROLL
      for (Int j = 0; j < kColumns; j += kLanes<Element>) {
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
