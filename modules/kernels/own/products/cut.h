// SPDX-License-Identifier: Apache-2.0
// How gemm.cc cuts rows into tiles, and tiles that cannot write their results where they belong.
#pragma once

#include "products/addends.h"
#include "products/tiles.h"

namespace {

// For tiles that end beyond the columns of c, if the CPU has no masks, and for tiles of further
// taps, which add to the contents of c.
struct Spill {
  Element bias[kMaxVectors * kLanes<Element>];
  Element c[kMaxTile * kLanes<Element>];
};

// Tiles of that many rows and vectors, of which c has `columns`. multiply(tiles) computes them; a
// spilled tile is copied.
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

// How rows are cut: `larger` tiles of `rows` rows, then `others` of `other_rows`, then one of
// `last_rows` if that is not zero.
struct Cut {
  Int larger, others;
  int rows, other_rows, last_rows;
};

// As even as possible.
Cut even_cut(Int rows) {
  const Int tiles = ceil_div(rows, kMaxRows);
  const int small = static_cast<int>(tiles == 1 ? rows : rows / tiles);
  const Int larger = rows - tiles * small;
  if (larger == 0) return {tiles, 0, small, small, 0};
  return {larger, tiles - larger, small + 1, small, 0};
}

// All tiles with that many rows.
Cut full_cut(Int rows, int tile_rows) {
  const Int rest = rows % tile_rows;
  return {rows / tile_rows, rest / kMaxRows, tile_rows, kMaxRows,
          static_cast<int>(rest % kMaxRows)};
}

}  // namespace
