// SPDX-License-Identifier: Apache-2.0
// The sizes of tile.h's micro-kernel that exist, and which of them a product takes.
#pragma once

#include "half_tile.h"
#include "quad_tile.h"
#include "strip_tile.h"
#include "tile.h"

namespace {

// What there are tiles for: as many sums as the registers hold, and room for what is multiplied.
constexpr int kMaxSums = TFAOT_VECTOR_REGISTERS == 32 ? 24 : 12;
constexpr int kMaxRows = TFAOT_VECTOR_BYTES == 64                     ? 8
                         : kMaxSums == 24 || TFAOT_VECTOR_BYTES == 32 ? 6
                                                                      : 3;
constexpr int kMaxVectors = 8;
constexpr int kMaxTile = kMaxSums + 4;  // vectors, of any form (two in a row of half strips)

// Few rows wait for the right side, and take more of it at a time.
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

// REQUIRES: 1 <= rows <= kMaxRows; vectors is what next_vectors() gives for rows.
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

enum class Shape { kPlain, kHalf, kStrip, kHalfStrip, kQuads };

// The tiles of all the rows, or all but the last ones: their form and how many rows each has.
struct Form {
  Shape shape;
  int rows;
};

// Which rows are equally far apart: those of one line of the image, which has `length` of them; all
// when that is 0. The first row here is the `first` of all.
struct Lines {
  Int length, first;
};

constexpr int kStrips[] = {16, 14, 12};
constexpr int kHalfStrip = 14;

// Whether the rows make strips of that many.
TFAOT_INLINE bool has_strips(Int rows, const Lines& lines, int strip) {
  return rows >= strip && lines.length % strip == 0 &&
         (lines.length == 0 || lines.first % strip == 0);
}

// For columns of `vectors` vectors, of which the last has `last`.
TFAOT_INLINE Form form_of(const Tiles<Element>& t, Int rows, const Lines& lines, Int vectors,
                          Int last) {
  if (!TFAOT_HAS_MASKS || rows < kMaxRows) return {Shape::kPlain, 0};
  if (TFAOT_HAS_QUADS && vectors == 1 && last <= kMaxQuads * kQuad && t.a_step == 1 &&
      t.run % kQuad == 0 && t.run >= kMinQuadDepth) {
    return {Shape::kQuads, kMaxRows};
  }
  if ((vectors == 2 || vectors == 3) && last <= kLanes<Element> / 2) {
    if (vectors == 2 && has_strips(rows, lines, kHalfStrip)) return {Shape::kHalfStrip, kHalfStrip};
    return {Shape::kHalf, kMaxRows};
  }
  for (const int strip : kStrips) {
    if (vectors == 1 && has_strips(rows, lines, strip)) return {Shape::kStrip, strip};
  }
  return {Shape::kPlain, 0};
}

// REQUIRES: form_of() gives this form, which is not plain.
template <typename T>
TFAOT_INLINE void multiply_formed([[maybe_unused]] const Form& form, [[maybe_unused]] int vectors,
                                  [[maybe_unused]] const Tiles<T>& t) {
#if TFAOT_HAS_QUADS
  if (form.shape == Shape::kQuads && t.last <= kQuad) return multiply_quad_tiles<kMaxRows, 1>(t);
  if (form.shape == Shape::kQuads) return multiply_quad_tiles<kMaxRows, 2>(t);
#endif
#if TFAOT_HAS_MASKS
  if (form.shape == Shape::kHalfStrip) return multiply_strips_of<T, kHalfStrip, true>(t);
  if (form.shape == Shape::kHalf) {
    if (vectors == 2) return multiply_half_tiles<T, kMaxRows, 1>(t);
    return multiply_half_tiles<T, kMaxRows, 2>(t);
  }
  if (form.rows == 16) return multiply_strips_of<T, 16, false>(t);
  if (form.rows == 14) return multiply_strips_of<T, 14, false>(t);
  return multiply_strips_of<T, 12, false>(t);
#endif
}

// How many of the vectors that are left the next tile takes: the split is as even as the sizes that
// exist (1, 2, 3, 4, 6, 8) allow, and all tiles but the last end with a panel.
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
