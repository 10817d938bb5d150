// SPDX-License-Identifier: Apache-2.0
// The cut of rows into tiles for gemm.cc, tiles that cannot write their results in place, addends
// of stored results, and products of small nets: one block of plain tiles.
#pragma once

#include "products/gemm.h"
#include "products/microkernel.h"
#include "simd/kernel.h"

namespace {

// Adds a row of a spilled tile to c. `from` has whole vectors.
inline void add_row(Element* c, const Element* from, Int columns, Rectifier rectifier) {
  constexpr Int kWidth = kLanes<Element>;
  for (Int j = 0; j < columns; j += kWidth) {
    const Int count = smaller(kWidth, columns - j);
    const Vec<Element> sum = load_first(c + j, count) + load(from + j);
    store_first(c + j, rectified<Element>(sum, rectifier), count);
  }
}

// Prefetches the addends of a tile into the first-level cache while the tile is computed.
inline void prefetch_rows(const Element* from, Int row, Int rows, Int columns) {
  for (Int r = 0; r < rows; ++r, from += row) {
    for (Int j = 0; j < columns; j += kLanes<Element>) __builtin_prefetch(from + j);
  }
}

// Adds in a pass of its own, while the results are in the first-level cache: in each kind of tile
// it would be much code, and in the stream for one row more work for each panel.
inline void add_rows(Element* c, const Element* addends, Int row, Int rows, Int columns,
                     Rectifier rectifier) {
  constexpr Int kWidth = kLanes<Element>;
  for (Int r = 0; r < rows; ++r, c += row, addends += row) {
    Int j = 0;
    for (; j + kWidth <= columns; j += kWidth) {
      store(c + j, rectified<Element>(load(c + j) + load(addends + j), rectifier));
    }
    if (j < columns) {
      const Int rest = columns - j;
      const Vec<Element> sum = load_first(c + j, rest) + load_first(addends + j, rest);
      store_first(c + j, rectified<Element>(sum, rectifier), rest);
    }
  }
}

// For tiles that end beyond the columns of c, if the CPU has no masks, and for tiles of further
// taps, which add to the contents of c.
struct Spill {
  Element bias[kMaxVectors * kLanes<Element>];
  Element c[kMaxTile * kLanes<Element>];
};

// Computes tiles of `rows` rows by `vectors` vectors, of which c has `columns` columns, by
// multiply(tile), and copies or adds each into c.
template <typename Multiply>
void multiply_spilled(int rows, Int vectors, const Tiles<Element>& tiles, Int columns, bool adds,
                      Spill& spill, const Multiply& multiply) {
  Tiles<Element> t = tiles;
  t.count = 1;
  t.c = spill.c;
  t.c_row = vectors * kLanes<Element>;
  t.rectifier = adds ? Rectifier::kNone : tiles.rectifier;
  for (Int i = 0; i < tiles.count; ++i, t.rows += rows) {
    if (tiles.row_start != nullptr) t.row_start = tiles.row_start + i * rows;
    multiply(t);
    for (Int r = 0; r < rows; ++r) {
      Element* const c = tiles.c + (i * rows + r) * tiles.c_row;
      const Element* const from = spill.c + r * t.c_row;
      if (adds) {
        add_row(c, from, columns, tiles.rectifier);
      } else {
        copy_elements(c, from, columns);
      }
    }
  }
}

// A cut of rows into `larger` tiles of `rows` rows, then `others` of `other_rows`, then one of
// `last_rows` if that is not zero.
struct Cut {
  Int larger, others;
  int rows, other_rows, last_rows;
};

// The most even cut.
Cut even_cut(Int rows) {
  const Int tiles = ceil_div(rows, kMaxRows);
  const int small = static_cast<int>(tiles == 1 ? rows : rows / tiles);
  const Int larger = rows - tiles * small;
  if (larger == 0) return {tiles, 0, small, small, 0};
  return {larger, tiles - larger, small + 1, small, 0};
}

// Tiles of tile_rows, then the rest.
Cut full_cut(Int rows, int tile_rows) {
  const Int rest = rows % tile_rows;
  return {rows / tile_rows, rest / kMaxRows, tile_rows, kMaxRows,
          static_cast<int>(rest % kMaxRows)};
}

// Setting up what convolutions need takes as long as some products of small nets, so these have
// code of their own: one block of plain tiles.

constexpr Element kZeros[kMaxVectors * kLanes<Element>] = {};

TFAOT_INLINE Int vectors_of(Int columns) { return ceil_div(columns, kLanes<Element>); }

// True for short rows of a plain product that lie far apart, such as those of one head among many,
// and compete for few sets of the first-level cache. Where the right side fits there, a few of them
// are multiplied with all of it at once.
TFAOT_INLINE bool has_distant_rows(const Gemm& g) {
  constexpr Int kMostBytes = 1 << 15;
  return g.a_step == 1 && g.row_step[3] > 2 * g.run && g.c_line == 0 &&
         g.tap_count[0] * g.tap_count[1] * g.tap_count[2] == 1 &&
         g.row_count[0] * g.row_count[1] * g.row_count[2] == 1 &&
         g.run * g.columns * static_cast<Int>(sizeof(Element)) <= kMostBytes;
}

// True if form_of() would choose plain tiles everywhere.
TFAOT_INLINE bool has_plain_tiles(const Gemm& g, Int rows) {
  const Int last = (g.columns - 1) % kLanes<Element> + 1;
  if (!TFAOT_HAS_MASKS) return last == kLanes<Element>;
  const bool is_for_half = last <= kLanes<Element> / 2 || g.columns <= kLanes<Element>;
  return rows < kMaxRows || g.row_bias != nullptr || !is_for_half;
}

// True for a product of one run for which gemm.cc would find one block and nothing to prefetch.
TFAOT_INLINE bool is_plain(const Gemm& g, Int rows) {
  return rows > 2 && rows <= kBlockRows && rows == g.row_count[3] && g.c_line == 0 &&
         g.tap_count[0] * g.tap_count[1] * g.tap_count[2] == 1 && g.addends == nullptr &&
         g.matrices == 0 && has_plain_tiles(g, rows) && !has_distant_rows(g) &&
         !is_prefetched(vectors_of(g.columns) * g.run * TFAOT_VECTOR_BYTES);
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
