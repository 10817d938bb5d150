// SPDX-License-Identifier: Apache-2.0
// The sizes of tile.h's micro-kernel that exist, and how a product chooses among them.
#pragma once

#include "products/tile.h"

namespace {

// The limit for tiles: as many sums as the registers hold, with room for the factors. No faster:
// tiles of 6x4, 12x2, 14x2, 9x3 vectors, an unrolled loop over the depth, the left side fetched.
constexpr int kMaxSums = TFAOT_VECTOR_REGISTERS == 32 ? 24 : 12;
constexpr int kMaxRows = TFAOT_VECTOR_BYTES == 64                     ? 8
                         : kMaxSums == 24 || TFAOT_VECTOR_BYTES == 32 ? 6
                                                                      : 3;
constexpr int kMaxVectors = 8;
constexpr int kMaxTile =
    kMaxSums + 4;  // vectors of a tile of any form (half strips have two in a row)

// Products of few rows wait for the right side, and take more of it at a time.
constexpr int max_vectors(int rows) {
  const int most = rows <= 2 ? kMaxVectors : kMaxVectors / 2;
  return kMaxSums / rows < most ? kMaxSums / rows : most;
}
static_assert(max_vectors(kMaxRows) >= kVectorsPerPanel, "a tile takes whole panels");

template <typename T, int MR>
TFAOT_INLINE void multiply_rows(int vectors, const Tiles<T>& t) {
  constexpr int kMax = max_vectors(MR);
  switch (vectors) {
    case 1:
      return multiply_tiles<T, MR, 1>(t);
    case 2:
      return multiply_tiles<T, MR, 2>(t);
    case 3:
      if constexpr (kMax >= 3) return multiply_tiles<T, MR, 3>(t);
      break;
    case 4:
      if constexpr (kMax >= 4) return multiply_tiles<T, MR, 4>(t);
      break;
    case 6:
      if constexpr (kMax >= 6) return multiply_tiles<T, MR, 6>(t);
      break;
    case 8:
      if constexpr (kMax >= 8) return multiply_tiles<T, MR, 8>(t);
      break;
    default:
      break;
  }
  __builtin_unreachable();
}

// REQUIRES: 1 <= rows <= kMaxRows; vectors comes from next_vectors() for these rows.
template <typename T>
TFAOT_INLINE void multiply(int rows, int vectors, const Tiles<T>& t) {
  switch (rows) {
    case 1:
      return multiply_rows<T, 1>(vectors, t);
    case 2:
      return multiply_rows<T, 2>(vectors, t);
    case 3:
      return multiply_rows<T, 3>(vectors, t);
    case 4:
      if constexpr (kMaxRows >= 4) return multiply_rows<T, 4>(vectors, t);
      break;
    case 5:
      if constexpr (kMaxRows >= 5) return multiply_rows<T, 5>(vectors, t);
      break;
    case 6:
      if constexpr (kMaxRows >= 6) return multiply_rows<T, 6>(vectors, t);
      break;
    case 7:
      if constexpr (kMaxRows >= 7) return multiply_rows<T, 7>(vectors, t);
      break;
    case 8:
      if constexpr (kMaxRows >= 8) return multiply_rows<T, 8>(vectors, t);
      break;
    default:
      break;
  }
  __builtin_unreachable();
}

// How many of the remaining vectors the next tile takes. The split is as even as the existing sizes
// (1, 2, 3, 4, 6, 8) allow, and all tiles but the last end with a panel.
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
