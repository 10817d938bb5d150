// SPDX-License-Identifier: Apache-2.0
// Plain products of few rows by packed panels. They have code of their own: setting up a column of
// tiles takes longer than some products of small nets.
#pragma once

#include "products/microkernel.h"

namespace {

constexpr Element kZeros[kMaxVectors * kLanes<Element>] = {};  // where there is no bias

TFAOT_INLINE Int vectors_of(Int columns) { return ceil_div(columns, kLanes<Element>); }

// Without what differs from tile to tile.
TFAOT_INLINE Tiles<Element> plain_tiles(const PlainProduct& p) {
  static constexpr Int kOnlyTap = 0;
  Tiles<Element> t = {};
  t.taps = &kOnlyTap;
  t.tap_count = 1;
  t.run = p.depth;
  t.a_step = p.a_step;
  t.b_step = p.b_step;
  t.b_panel = p.b_panel;
  t.c_row = p.c_row;
  t.rectifier = p.rectifier;
  return t;
}

// Where the right side does not stay in the first-level cache, a row alone waits for it, and takes
// one panel at a time: from several at once the second-level cache gives half as much (Zen 5).
constexpr Int kNearBytes = 32 << 10;

// Computes all columns of MR rows. kNarrow: p.narrow.
template <int MR, bool kNarrow>
TFAOT_INLINE void multiply_columns(const PlainProduct& p) {
  constexpr int kMost = most_vectors<Element>(MR, kNarrow);
  constexpr int kVectors = kMost > kVectorsPerPanel ? kMost - kMost % kVectorsPerPanel : kMost;
  const Element* row[MR];
  TFAOT_EACH (r, MR) row[r] = p.a + r * p.a_row;
  const Int vectors = vectors_of(p.columns);
  Tiles<Element> t = plain_tiles(p);
  t.rows = row;
  Int v = 0;
  const auto multiply_next = [&](auto count) TFAOT_ALWAYS {
    const Int column = v * kLanes<Element>;
    t.b = vector_at(p.b, p.b_panel, v);
    t.start = p.bias != nullptr ? p.bias + column : kZeros;
    t.c = p.c + column;
    t.last = smaller(kLanes<Element>, p.columns - column - (count - 1) * kLanes<Element>);
    multiply_tile<Element, MR, count, kNarrow ? kNarrowSums : kWideSums, true>(t, 0);
    v += count;
  };
  bool by_panels = false;
  if (MR == 1 && kVectors > 1 && vectors >= kVectors) {
    const Int bytes = vectors * p.depth * TFAOT_VECTOR_BYTES;
    by_panels = bytes > kNearBytes;
    t.ahead = is_prefetched(bytes) ? 2 * kStepsAhead : 0;
  }
  if (!by_panels) {
    while (v + kVectors <= vectors) multiply_next(Number<kVectors>());
  }
  static_assert(kVectors <= 4);
  if constexpr (kVectors > 2) {
    while (v + 2 <= vectors && (kVectorsPerPanel > 1 || !by_panels)) multiply_next(Number<2>());
  }
  if constexpr (kVectors > 1) {
    while (v < vectors) multiply_next(Number<1>());
  }
}

// REQUIRES: p.rows is MR, and the right side is packed; MR <= kNarrowRows<Element> or not p.narrow.
template <int MR>
TFAOT_INLINE void multiply_few(const PlainProduct& p) {
  if (!p.narrow) return multiply_columns<MR, false>(p);
  if constexpr (MR <= kNarrowRows<Element>) multiply_columns<MR, true>(p);
}

}  // namespace
