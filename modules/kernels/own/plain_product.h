// SPDX-License-Identifier: Apache-2.0
// A product of two matrices as a Gemm, and its right side that is known only at run time.
#pragma once

#include "gemm.h"
#include "pack.h"

namespace {

// Without its operands, their steps and the result.
TFAOT_INLINE Gemm plain_product(Int rows, Int depth, Int columns) {
  Gemm g = {};
  g.row_count[0] = g.row_count[1] = g.row_count[2] = 1;
  g.row_count[3] = rows;
  g.tap_count[0] = g.tap_count[1] = g.tap_count[2] = 1;
  g.run = depth;
  g.columns = columns;
  return g;
}

TFAOT_INLINE void multiply_panels(Gemm& g, const Element* panels) {
  g.b = panels;
  g.b_step = kPanelColumns<Element>;
  g.b_panel = g.b_step * g.run;
  TFAOT_KERNEL(gemm)(&g);
}

struct RightSide {
  const Element* b;
  Int depth, columns, depth_stride, column_stride;
};

TFAOT_INLINE void pack_panels(Element* to, const RightSide& right) {
  constexpr Int kColumns = kPanelColumns<Element>;
  for (Int j = 0; j < right.columns; j += kColumns) {
    pack_panel(to + j * right.depth, right.b + j * right.column_stride, right.depth,
               smaller(kColumns, right.columns - j), right.depth_stride, right.column_stride);
  }
}

}  // namespace
