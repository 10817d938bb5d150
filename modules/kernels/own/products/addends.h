// SPDX-License-Identifier: Apache-2.0
// What gemm.cc adds to results that tiles have stored: what was there before, or another tensor.
#pragma once

#include "simd/kernel.h"

namespace {

// A row of a spilled tile: `from` has whole vectors.
inline void add_row(Element* c, const Element* from, Int columns, Rectifier rectifier) {
  constexpr Int kWidth = kLanes<Element>;
  for (Int j = 0; j < columns; j += kWidth) {
    const Int count = smaller(kWidth, columns - j);
    const Vec<Element> sum = load_first(c + j, count) + load(from + j);
    store_first(c + j, rectified<Element>(sum, rectifier), count);
  }
}

// Reads what is added to a tile into the first-level cache while the tile is computed.
inline void fetch_rows(const Element* from, Int row, Int rows, Int columns) {
  for (Int r = 0; r < rows; ++r, from += row) {
    for (Int j = 0; j < columns; j += kLanes<Element>) __builtin_prefetch(from + j);
  }
}

// In a pass of its own, while the results are in the first-level cache: in each kind of tile it
// would be much code, and in the stream for one row more work for each panel.
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

}  // namespace
