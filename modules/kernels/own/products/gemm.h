// SPDX-License-Identifier: Apache-2.0
// The input of gemm.cc from matmul and convolution: a matrix product with an indirect left side.
// One object per type and level, so that a plugin with both kernels carries the tiles only once.
#pragma once

#include "simd/kernel.h"

namespace {

TFAOT_INLINE constexpr bool is_narrow(Int columns) { return columns <= kMostNarrowColumns; }

// A plain product: rows that are equally far apart by a right side in panels.
struct PlainProduct {
  const Element* a;
  Int a_row, a_step, rows, depth;  // 1 <= rows <= kBlockRows
  const Element* b;
  Int b_step, b_panel;      // as in Tiles
  const Element* bias;      // null: none
  const Element* row_bias;  // used instead, one for each row; null: none
  Element* c;
  Int c_row, columns;
  bool narrow;
  Rectifier rectifier;
};

// Rows processed at a time: a multiple of every tile's rows. Blocks of 64 to 240 are 1 % slower.
constexpr Int kBlockRows = 480;

// Rows of one side or of the results: where they begin, from one to the next, elements of each.
template <typename T>
struct RowsOf {
  T* first;
  Int step, size;
};

// The product of rows of a by packed panels.
TFAOT_INLINE PlainProduct packed_product(Int rows, const RowsOf<const Element>& a,
                                         const Element* panels, const Element* bias,
                                         const RowsOf<Element>& c, Rectifier rectifier) {
  constexpr Int kColumns = kPanelColumns<Element>;
  return {a.first,           a.step, 1,       rows,    a.size, panels, kColumns,
          kColumns * a.size, bias,   nullptr, c.first, c.step, c.size, is_narrow(c.size),
          rectifier};
}

// Row (r0, r1, r2, r3) of the left side begins at a + sum of r * row_step. Its tap (t0, t1, t2)
// begins at sum of t * tap_step from there, and has `run` elements a_step apart. All steps are in
// elements. With c_line, the lines of rows (r0, r1, r2) are equally far apart in c, and a
// line has at most kBlockRows rows.
struct Gemm {
  const Element* a;
  Int row_count[4], row_step[4];
  Int tap_count[3], tap_step[3];
  Int run, a_step;

  const Element* b;
  Int b_step, b_panel;  // as in Tiles

  Element* c;
  Int c_row, columns;
  bool narrow;              // of the whole product, of which these columns may be a part
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

TFAOT_INLINE void set_columns(Gemm& g, Int columns) {
  g.columns = columns;
  g.narrow = is_narrow(columns);
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
// `product`: a PlainProduct. Nothing is prefetched.
extern "C"
    __attribute__((visibility("hidden"))) void TFAOT_KERNEL(plain_product)(const void* product);
