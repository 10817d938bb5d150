// SPDX-License-Identifier: Apache-2.0
// Which columns and rows need a special form of tile, because they would otherwise waste vectors or
// wait for loads.
#pragma once

#include "products/half_tile.h"
#include "products/quad_tile.h"
#include "products/strip_tile.h"
#include "products/tiles.h"

namespace {

enum class Shape { kPlain, kHalf, kStrip, kHalfStrip, kQuads };

// The tiles of all rows, or of all but the last ones: their form and the number of rows in each.
struct Form {
  Shape shape;
  int rows;
};

// Which rows are equally far apart: those of one line of the image, which has `length` of them; all
// rows if that is 0. `first`: the number of the first row here among all rows.
struct Lines {
  Int length, first;
};

constexpr int kStrips[] = {16, 14, 12};
constexpr int kHalfStrip = 14;

// Whether the rows can be split into strips of that many.
TFAOT_INLINE bool has_strips(Int rows, const Lines& lines, int strip) {
  return rows >= strip && lines.length % strip == 0 &&
         (lines.length == 0 || lines.first % strip == 0);
}

// For columns of `vectors` vectors, of which the last has `last`.
TFAOT_INLINE Form form_of(const Tiles<Element>& t, Int rows, const Lines& lines, Int vectors,
                          Int last) {
  if (!TFAOT_HAS_MASKS || rows < kMaxRows) return {Shape::kPlain, 0};
  if (TFAOT_HAS_QUADS && vectors == 1 && last <= kMaxQuads * kQuad && t.a_step == 1 &&
      t.run % kQuad == 0 && pays_for_quads(rows, t.run, ceil_div(last, kQuad))) {
    return {Shape::kQuads, kMaxRows};
  }
  if ((vectors == 2 || vectors == 3) && last <= kLanes<Element> / 2) {
    const bool is_split_evenly = rows % kMaxRows == 0 && rows < 2 * kHalfStrip;
    if (vectors == 2 && !is_split_evenly && has_strips(rows, lines, kHalfStrip)) {
      return {Shape::kHalfStrip, kHalfStrip};
    }
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
  if (form.shape == Shape::kQuads && t.last <= 2 * kQuad) {
    return multiply_quad_tiles<kMaxRows, 2>(t);
  }
  if (form.shape == Shape::kQuads) return multiply_quad_tiles<kMaxRows, 3>(t);
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

}  // namespace
