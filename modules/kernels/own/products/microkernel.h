// SPDX-License-Identifier: Apache-2.0
// The micro-kernel: MR rows by NV vectors of columns of a product, with sums in registers. One
// source for all levels, products and convolutions.
//
// The left side is indirect: each row has a base pointer, and its elements are `tap_count` runs of
// `run` elements, at offsets that all rows share. A plain product has one run, a convolution one
// per row of its window. The right side is read a vector at a time, from panels. One call computes
// a column of tiles, so that a tile can begin before the one before it has ended.
#pragma once

#include "simd/vec.h"

namespace {

// Enough independent sums to keep two multiply-add units busy for four cycles each.
constexpr int sums_per_element(int elements) {
  return elements >= 8 ? 1 : elements >= 4 ? 2 : elements >= 2 ? 4 : 8;
}

// Adds up the independent sums of a row and a vector, in pairs: kCount from kFirst on; 0: all.
template <int kFirst = 0, int kCount = 0, typename V, int N, int MR, int NV>
TFAOT_INLINE V join_sums(const V (&sums)[N][MR][NV], int r, int v) {
  constexpr int kHalf = (kCount == 0 ? N : kCount) / 2;
  if constexpr (kHalf == 0) {
    return sums[kFirst][r][v];
  } else {
    return join_sums<kFirst, kHalf>(sums, r, v) + join_sums<kFirst + kHalf, kHalf>(sums, r, v);
  }
}

// True for tiles in which the compiler keeps the right side in registers by itself; they have no
// register to lose.
constexpr bool is_large_tile(int rows, int vectors) {
  return rows * vectors >= TFAOT_VECTOR_REGISTERS * 5 / 8;
}

// One step of the depth.
template <typename T, int MR, int NV>
TFAOT_INLINE void multiply_step(Vec<T> (&sums)[MR][NV], const T* const (&a)[MR], Int k, const T* b,
                                Int b_panel) {
  Vec<T> right[NV];
  TFAOT_EACH (v, NV) {
    right[v] = load(b + v / kVectorsPerPanel * b_panel + v % kVectorsPerPanel * kLanes<T>);
    if constexpr (MR > 1 && !is_large_tile(MR, NV)) keep(right[v]);
  }
  TFAOT_EACH (r, MR) {
    TFAOT_EACH (v, NV) sums[r][v] += right[v] * a[r][k];
  }
}

// Tiles prefetch the right side that comes next, so that reading it from a slower cache and
// computing happen at the same time. stream.h has its own way. Slower: prefetches of a single tile
// for the next columns, or into the second-level cache alone.

// True if a right side of this many bytes is worth prefetching: its parts do not stay in the
// first-level cache, and it fits into the third.
TFAOT_INLINE bool is_prefetched(Int bytes) {
  constexpr Int kLeast = 128 << 10, kMost = 8 << 20;
  return bytes >= kLeast && bytes <= kMost;
}

// A tile prefetches `elements` beyond what it reads, in all its panels. With a shift it prefetches
// that fraction of a panel's depth, and the tile below goes on from there.
struct Ahead {
  Int elements;  // 0: nothing is prefetched
  int shift;
};

// For tiles of `panels` of the `left` panels, of b_panel elements each, of a right side of `bytes`.
// In a column of `below` tiles only the first misses the cache, so each prefetches a part of the
// next columns' panels. A single tile prefetches its own right side further down, if the whole is
// too large for the second-level cache; so do several if two of their right sides are. is_many: the
// right side is many small matrices, so a single tile prefetches that of the next one.
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

// Elements that the prefetches of the tile `tiles` below the first one begin further on.
TFAOT_INLINE Int ahead_of_tiles(Int tiles, Int b_panel, int shift) {
  return shift == 0 ? 0 : (tiles * b_panel) >> shift;
}

// Prefetches the cache lines of NV vectors of the right side.
template <typename T, int NV>
TFAOT_INLINE void prefetch(const T* from, Int b_panel) {
  TFAOT_FOR (int v = 0; v < NV; v += kVectorsPerPanel) {
    __builtin_prefetch(from + v / kVectorsPerPanel * b_panel);
  }
}

template <typename T>
struct Tiles {
  Int count;
  const T* const* rows;
  const Int* taps;
  Int tap_count, run, a_step;
  const T* b;
  Int b_step;          // elements from one depth to the next
  Int b_panel;         // elements from one panel to the next
  const T* start;      // first values of the sums of every row: bias or zeros
  const T* row_start;  // used instead, a first value for each row; null: none
  T* c;
  Int c_row;
  Int last;  // columns of the last vector; all of them without masks
  Rectifier rectifier;
  int ahead_shift;
  const T* ahead;  // prefetched by tight tiles; null: nothing
};
static_assert(sizeof(Tiles<float>) <= 128, "larger ones are cleared and copied in slow ways");

// Computes the rows from `first` on. kPlain: a_step is 1 and the right side lies in panels. Then
// the loop has fewer numbers to keep, and the compiler room for all vectors.
template <typename T, int MR, int NV, bool kPlain>
TFAOT_INLINE void multiply_tile(const Tiles<T>& t, Int first) {
  constexpr int kSums = sums_per_element(MR * NV);
  const Int last = t.last;
  const bool whole = !TFAOT_HAS_MASKS || last == kLanes<T>;  // full masks are slow too
  Vec<T> sums[kSums][MR][NV] = {};
  TFAOT_EACH (v, NV) {
    const T* const start = t.start + v * kLanes<T>;
    sums[0][0][v] = v < NV - 1 || whole ? load(start) : load_first(start, last);
    TFAOT_FOR (int r = 1; r < MR; ++r) sums[0][r][v] = sums[0][0][v];
  }
  if (t.row_start != nullptr) {
    TFAOT_EACH (i, MR * NV) {
      sums[0][i / NV][i % NV] = Vec<T>{} + t.row_start[first + i / NV];
    }
  }
  const T* a[MR];
  TFAOT_EACH (r, MR) a[r] = t.rows[first + r];
  const T* b = t.b;
  const Int a_step = t.a_step, b_step = t.b_step, b_panel = t.b_panel;

  for (const Int *tap = t.taps, *end = tap + t.tap_count; tap != end; ++tap) {
    Int k = *tap, left = t.run;
    if constexpr (kSums > 1) {
      for (; left >= kSums; left -= kSums) {
        TFAOT_EACH (s, kSums) {
          multiply_step(sums[s], a, k, b, b_panel);
          k += a_step;
          b += b_step;
        }
      }
    }
    if constexpr (kPlain) {
      const Int last_k = k + left;
      if (MR > 2 && __builtin_expect(t.ahead != nullptr, 0)) {
        const T* ahead = t.ahead + ahead_of_tiles(first / MR, b_panel, t.ahead_shift) +
                         ((b - t.b) >> t.ahead_shift);
        const Int step = kPanelColumns<T> >> t.ahead_shift;
        for (; k != last_k; ++k, b += kPanelColumns<T>) {
          prefetch<T, NV>(ahead, b_panel);
          ahead += step;
          multiply_step(sums[0], a, k, b, b_panel);
        }
      }
      for (; k != last_k; ++k, b += kPanelColumns<T>) {
        multiply_step(sums[0], a, k, b, b_panel);
      }
    } else {
      for (; left > 0; --left) {
        multiply_step(sums[0], a, k, b, b_panel);
        k += a_step;
        b += b_step;
      }
    }
  }
  TFAOT_FOR (int s = 1; s < kSums; ++s) {
    TFAOT_EACH (i, MR * NV) sums[0][i / NV][i % NV] += sums[s][i / NV][i % NV];
  }

  const Int c_row = t.c_row;
  if (t.rectifier != Rectifier::kNone) {
    TFAOT_EACH (i, MR * NV) sums[0][i / NV][i % NV] = relu<T>(sums[0][i / NV][i % NV]);
    if (t.rectifier == Rectifier::kRelu6) {
      TFAOT_EACH (i, MR * NV) {
        sums[0][i / NV][i % NV] = smaller_of<T>(Vec<T>{} + T{6}, sums[0][i / NV][i % NV]);
      }
    }
  }
  T* const c = t.c + first * c_row;
  T* to = c;
  TFAOT_FOR (int r = 0; r < MR; ++r, to += c_row) {
    TFAOT_EACH (v, NV - 1) store(to + v * kLanes<T>, sums[0][r][v]);
  }
  to = c + (NV - 1) * kLanes<T>;
  if (whole) {
    TFAOT_FOR (int r = 0; r < MR; ++r, to += c_row) store(to, sums[0][r][NV - 1]);
  } else {
    TFAOT_FOR (int r = 0; r < MR; ++r, to += c_row) store_first(to, sums[0][r][NV - 1], last);
  }
}

// Not inlined: a tile's loop needs all registers.
template <typename T, int MR, int NV, bool kPlain>
__attribute__((noinline)) void multiply_tiles_of(const Tiles<T>& t) {
  for (Int i = 0; i < t.count; ++i) {
    multiply_tile<T, MR, NV, kPlain>(t, i * MR);
  }
}

constexpr int kTightSums = 16;  // fewer leave enough room
template <typename T, int MR, int NV>
void multiply_tiles(const Tiles<T>& t) {
  constexpr bool kIsTight = MR * NV >= kTightSums;
  if (kIsTight && t.a_step == 1 && t.b_step == kPanelColumns<T>) {
    return multiply_tiles_of<T, MR, NV, kIsTight>(t);
  }
  multiply_tiles_of<T, MR, NV, false>(t);
}

// The limit for tiles: as many sums as the registers hold, with room for the factors. No faster:
// tiles of 6x4, 12x2, 14x2, 9x3 vectors, an unrolled loop over the depth, the left side fetched.
constexpr int kMaxSums = TFAOT_TILE_SUMS;
constexpr int kMaxRows = TFAOT_TILE_ROWS;
constexpr int kMaxVectors = 8;
// Vectors of a tile of any form; half strips have two in a row.
constexpr int kMaxTile = kMaxSums + 4;

// Products of few rows wait for the right side, and take more of it at a time.
constexpr int max_vectors(int rows) {
  const int most = rows <= 2 ? kMaxVectors : kMaxVectors / 2;
  return kMaxSums / rows < most ? kMaxSums / rows : most;
}
static_assert(max_vectors(kMaxRows) >= kVectorsPerPanel, "a tile takes whole panels");

// The function for tiles of MR rows by NV vectors; null: next_vectors() never gives that many.
template <typename T>
using MultiplyTiles = void (*)(const Tiles<T>&);
template <typename T, int MR, int NV>
constexpr MultiplyTiles<T> tiles_of() {
  if constexpr (NV != 5 && NV != 7 && NV <= max_vectors(MR)) return &multiply_tiles<T, MR, NV>;
  return nullptr;
}
template <typename T, int... kSize>
TFAOT_INLINE void multiply_sized(int rows, int vectors, const Tiles<T>& t,
                                 std::integer_sequence<int, kSize...> /*sizes*/) {
  static constexpr MultiplyTiles<T> kTiles[] = {
      tiles_of<T, kSize / kMaxVectors + 1, kSize % kMaxVectors + 1>()...};
  kTiles[(rows - 1) * kMaxVectors + vectors - 1](t);
}

// REQUIRES: 1 <= rows <= kMaxRows; vectors comes from next_vectors() for these rows.
template <typename T>
TFAOT_INLINE void multiply(int rows, int vectors, const Tiles<T>& t) {
  multiply_sized(rows, vectors, t, std::make_integer_sequence<int, kMaxRows * kMaxVectors>());
}

// Vectors of the next tile. The split is as even as the existing sizes (1, 2, 3, 4, 6, 8) allow,
// and all tiles but the last end with a panel.
TFAOT_INLINE int next_vectors(int rows, Int left) {
  const int most = max_vectors(rows);
  if (left <= 4 && left <= most) return static_cast<int>(left);
  Int even = ceil_div(left, ceil_div(left, most));
  if (even == 5) even = left == 5 ? 3 : 6;
  if (even == 7) even = left == 7 ? 4 : 8;
  if (even < left) even = larger(kVectorsPerPanel, even - even % kVectorsPerPanel);
  return static_cast<int>(even);
}

}  // namespace
