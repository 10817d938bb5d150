// SPDX-License-Identifier: Apache-2.0
// The input of gemm.cc from matmul and convolution: a matrix product with an indirect left side.
// One object per type and level, so that a plugin with both kernels carries the tiles only once.
#pragma once

#include "simd/kernel.h"

namespace {

// Rows processed at a time: a multiple of every tile's rows. Blocks of 64 to 240 are 1 % slower.
constexpr Int kBlockRows = 480;

// Row (r0, r1, r2, r3) of the left side begins at a + sum of r * row_step. Its tap (t0, t1, t2)
// begins at sum of t * tap_step from there, and has `run` elements a_step apart. All steps are in
// elements. With c_line, the lines of rows (r0, r1, r2) are equally far apart in c, and a
// line has at most kBlockRows rows.
struct Gemm {
  bool is_row;  // one row of a plain product with packed panels, no addends; counts and steps unset
  const Element* a;
  Int row_count[4], row_step[4];
  Int tap_count[3], tap_step[3];
  Int run, a_step;

  const Element* b;
  Int b_step, b_panel;  // as in Tiles

  Element* c;
  Int c_row, columns;
  Int c_line;               // from one r2 to the next; 0: all rows are c_row apart
  const Element* bias;      // null: none
  const Element* row_bias;  // used instead, one for each row; null: none
  const Element* addends;   // laid out like the results; null: none
  Rectifier rectifier;
  const ResultFunction* function;  // of the results, applied last; null: none
  tfaot::Tasks* tasks;             // null: the product is computed by the caller alone
  // Several plain products of this form, whose sides and results are this far apart. They have no
  // addends, function and tasks. 0: one product.
  Int matrices, a_matrix, b_matrix, c_matrix;
};

TFAOT_INLINE Int taps_of(const Gemm& g) { return g.tap_count[0] * g.tap_count[1] * g.tap_count[2]; }

// A plain product with packed panels, with rows of `depth` elements that are row_step apart.
TFAOT_INLINE Gemm plain_product(Int rows, Int row_step, Int depth) {
  Gemm g = {};
  g.row_count[0] = g.row_count[1] = g.row_count[2] = 1;
  g.row_count[3] = rows;
  g.row_step[3] = row_step;
  g.tap_count[0] = g.tap_count[1] = g.tap_count[2] = 1;
  g.run = depth;
  g.a_step = 1;
  g.b_step = kPanelColumns<Element>;
  g.b_panel = g.b_step * depth;
  return g;
}

// Leaves out the first columns of the results.
TFAOT_INLINE void skip_columns(Gemm& g, Int columns) {
  g.c += columns;
  if (g.bias != nullptr) g.bias += columns;
  if (g.addends != nullptr) g.addends += columns;
}

TFAOT_INLINE void set_epilogue(Gemm& g, Int epilogue, const EpilogueOperands& more) {
  g.bias = more.bias;
  g.row_bias = more.row_bias;
  g.addends = more.addends;
  g.rectifier = rectifier_of(epilogue);
  g.function = more.function;
  g.tasks = more.tasks;
}

}  // namespace

extern "C" __attribute__((visibility("hidden"))) void TFAOT_KERNEL(gemm)(const void* gemm);
