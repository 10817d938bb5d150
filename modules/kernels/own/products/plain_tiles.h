// SPDX-License-Identifier: Apache-2.0
// Products of small nets: one block of plain tiles. Setting up what convolutions need takes as long
// as some of them.
#pragma once

#include "products/activate.h"
#include "products/ahead.h"
#include "products/cut.h"
#include "products/gemm.h"

namespace {

constexpr Element kZeros[kMaxVectors * kLanes<Element>] = {};

TFAOT_INLINE Int vectors_of(Int columns) { return ceil_div(columns, kLanes<Element>); }

// Short rows of a plain product that lie far apart, as those of one head among many do, compete for
// few sets of the first-level cache. Where the right side fits there, a few of them meet all of it
// at once.
TFAOT_INLINE bool has_distant_rows(const Gemm& g) {
  constexpr Int kMostBytes = 1 << 15;
  return g.a_step == 1 && g.row_step[3] > 2 * g.run && g.c_line == 0 &&
         g.tap_count[0] * g.tap_count[1] * g.tap_count[2] == 1 &&
         g.row_count[0] * g.row_count[1] * g.row_count[2] == 1 &&
         g.run * g.columns * static_cast<Int>(sizeof(Element)) <= kMostBytes;
}

// Whether form_of() would say so for all tiles.
TFAOT_INLINE bool has_plain_tiles(const Gemm& g, Int rows) {
  const Int last = (g.columns - 1) % kLanes<Element> + 1;
  if (!TFAOT_HAS_MASKS) return last == kLanes<Element>;
  const bool is_for_half = last <= kLanes<Element> / 2 || g.columns <= kLanes<Element>;
  return rows < kMaxRows || g.row_bias != nullptr || !is_for_half;
}

// A product of one run for which gemm.cc would find one block and nothing to ask for.
TFAOT_INLINE bool is_plain(const Gemm& g, Int rows) {
  return rows > 2 && rows <= kBlockRows && rows == g.row_count[3] && g.c_line == 0 &&
         g.tap_count[0] * g.tap_count[1] * g.tap_count[2] == 1 && g.addends == nullptr &&
         g.matrices == 0 && has_plain_tiles(g, rows) && !has_distant_rows(g) &&
         !is_worth_asking(vectors_of(g.columns) * g.run * TFAOT_VECTOR_BYTES);
}

// REQUIRES: is_plain().
__attribute__((noinline)) inline void multiply_plain(const Gemm& g, Int rows) {
  const Element* row[kBlockRows];
  for (Int r = 0; r < rows; ++r) row[r] = g.a + r * g.row_step[3];
  const Int tap = 0;
  const Cut cut = even_cut(rows);
  const Int vectors = vectors_of(g.columns);
  Tiles<Element> t = {};
  t.taps = &tap;
  t.tap_count = 1;
  t.run = g.run;
  t.a_step = g.a_step;
  t.b_step = g.b_step;
  t.b_panel = g.b_panel;
  t.c_row = g.c_row;
  t.last = kLanes<Element>;
  t.rectifier = g.rectifier;
  int take = 0;
  for (Int v = 0; v < vectors; v += take) {
    take = next_vectors(cut.rows, vectors - v);
    const Int column = v * kLanes<Element>;
    if (v + take == vectors) t.last = g.columns - (vectors - 1) * kLanes<Element>;
    t.rows = row;
    t.b = g.b + v / kVectorsPerPanel * g.b_panel + v % kVectorsPerPanel * kLanes<Element>;
    t.start = g.bias != nullptr ? g.bias + column : kZeros;
    t.row_start = g.row_bias;
    t.c = g.c + column;
    t.count = cut.larger;
    multiply(cut.rows, take, t);
    if (cut.others == 0) continue;
    const Int done = cut.larger * cut.rows;
    t.rows += done;
    if (g.row_bias != nullptr) t.row_start += done;
    t.c += done * t.c_row;
    t.count = cut.others;
    multiply(cut.other_rows, take, t);
  }
  activate({g.c, g.c_row, rows, g.columns, g.function});
}

}  // namespace
