// SPDX-License-Identifier: Apache-2.0
// What tiles of a product ask for while they compute: the right side that comes next, so that
// reading it from a slower cache and computing happen at the same time. stream.h has its own way.
// Slower: requests of a single tile for the next columns, or into the second-level cache alone.
#pragma once

#include "simd/vec.h"

namespace {

// Whether a right side of so many bytes is worth it: its parts do not stay in the first-level
// cache, and it fits into the third.
TFAOT_INLINE bool is_worth_asking(Int bytes) {
  constexpr Int kLeast = 128 << 10, kMost = 8 << 20;
  return bytes >= kLeast && bytes <= kMost;
}

// A tile asks for what is `elements` further than what it reads, in all its panels. With a shift it
// asks for that part of a panel's depth, and the tile below goes on from there.
struct Ahead {
  Int elements;  // 0: nothing is asked for
  int shift;
};

// For tiles of `panels` panels of `left`, of b_panel elements each, of a right side of so many
// bytes. Of the `below` tiles below each other the first one waits for the right side, and the
// others find it in a cache. So each asks for a part of what the next columns need. A single tile
// asks for its own right side further down, if the whole is too large for the second-level cache.
// So do several if two of their right sides are. is_many: the right side is many small matrices, so
// a single tile asks for what the next one needs.
template <typename T>
TFAOT_INLINE Ahead ahead_of(Int b_panel, Int panels, Int left, Int below, Int bytes, bool is_many) {
  constexpr Int kSteps = 32;
  constexpr Int kLeastOfOne = 1 << 20, kMostOfMany = 384 << 10, kMostBelow = kPanelColumns<T>;
  constexpr Int kMostOfNext = 32 << 10;
  if (is_many && below == 1 && panels * b_panel * Int{sizeof(T)} <= kMostOfNext) {
    return {panels * b_panel, 0};
  }
  if (below == 1 || panels * b_panel * Int{sizeof(T)} > kMostOfMany) {
    return {bytes < kLeastOfOne ? 0 : kSteps * kPanelColumns<T>, 0};
  }
  if (below > kMostBelow || panels == left) return {0, 0};
  const int shift = 32 - __builtin_clz(static_cast<unsigned>(below - 1));
  return {smaller(panels, left - panels) * b_panel, shift};
}

// How much further than the first tile the one that many tiles below it begins to ask.
TFAOT_INLINE Int ahead_of_tiles(Int tiles, Int b_panel, int shift) {
  return shift == 0 ? 0 : (tiles * b_panel) >> shift;
}

// The lines of the right side that NV vectors are in.
template <typename T, int NV>
TFAOT_INLINE void ask_for(const T* from, Int b_panel) {
  TFAOT_UNROLL
  for (int v = 0; v < NV; v += kVectorsPerPanel) {
    __builtin_prefetch(from + v / kVectorsPerPanel * b_panel);
  }
}

}  // namespace
