// SPDX-License-Identifier: Apache-2.0
// The micro-kernel: MR rows by NV vectors of columns of a product, with sums in registers. One
// source for all levels, products and convolutions.
//
// The left side is indirect: each row has a base pointer, and its elements are `tap_count` runs of
// `run` elements, at offsets that all rows share. A plain product has one run, a convolution one
// per row of its window. The right side is read a vector at a time, from panels. One call computes
// many tiles below each other, so that a tile can begin before the one before it has ended.
#pragma once

#include "products/ahead.h"
#include "products/step.h"

namespace {

template <typename T>
struct Tiles {
  Int count;
  const T* const* rows;
  const Int* taps;
  Int tap_count, run, a_step;
  const T* b;
  Int b_step;          // elements from one depth to the next
  Int b_panel;         // elements from one panel to the next
  const T* start;      // what the sums of every row start with: bias or zeros
  const T* row_start;  // in its place what those of each row start with; null: none
  T* c;
  Int c_row;
  Int last;  // columns of the last vector; all of them without masks
  Rectifier rectifier;
  int ahead_shift;
  const T* ahead;  // what tight tiles ask for (ahead.h); null: nothing
};
static_assert(sizeof(Tiles<float>) <= 128, "larger ones are cleared and copied in slow ways");

// The rows from `first` on. kPlain: a_step is 1 and the right side lies in panels. Then the loop
// has fewer numbers to keep, and the compiler room for all vectors.
template <typename T, int MR, int NV, bool kPlain>
TFAOT_INLINE void multiply_tile(const Tiles<T>& t, Int first) {
  constexpr int kSums = sums_per_element(MR * NV);
  const Int last = t.last;
  const bool whole = !TFAOT_HAS_MASKS || last == kLanes<T>;  // full masks are slow too
  Vec<T> sums[kSums][MR][NV] = {};
  TFAOT_UNROLL
  for (int v = 0; v < NV; ++v) {
    const T* const start = t.start + v * kLanes<T>;
    sums[0][0][v] = v < NV - 1 || whole ? load(start) : load_first(start, last);
    TFAOT_UNROLL
    for (int r = 1; r < MR; ++r) sums[0][r][v] = sums[0][0][v];
  }
  if (t.row_start != nullptr) {
    TFAOT_UNROLL
    for (int i = 0; i < MR * NV; ++i) {
      sums[0][i / NV][i % NV] = Vec<T>{} + t.row_start[first + i / NV];
    }
  }
  const T* a[MR];
  TFAOT_UNROLL
  for (int r = 0; r < MR; ++r) a[r] = t.rows[first + r];
  const T* b = t.b;
  const Int a_step = t.a_step, b_step = t.b_step, b_panel = t.b_panel;

  for (const Int *tap = t.taps, *end = tap + t.tap_count; tap != end; ++tap) {
    Int k = *tap, left = t.run;
    if constexpr (kSums > 1) {
      for (; left >= kSums; left -= kSums) {
        TFAOT_UNROLL
        for (int s = 0; s < kSums; ++s) {
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
          ask_for<T, NV>(ahead, b_panel);
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
  TFAOT_UNROLL
  for (int s = 1; s < kSums; ++s) {
    TFAOT_UNROLL
    for (int i = 0; i < MR * NV; ++i) sums[0][i / NV][i % NV] += sums[s][i / NV][i % NV];
  }

  const Int c_row = t.c_row;
  if (t.rectifier != Rectifier::kNone) {
    TFAOT_UNROLL
    for (int i = 0; i < MR * NV; ++i) sums[0][i / NV][i % NV] = relu<T>(sums[0][i / NV][i % NV]);
    if (t.rectifier == Rectifier::kRelu6) {
      TFAOT_UNROLL
      for (int i = 0; i < MR * NV; ++i) {
        sums[0][i / NV][i % NV] = smaller_of<T>(Vec<T>{} + T{6}, sums[0][i / NV][i % NV]);
      }
    }
  }
  T* const c = t.c + first * c_row;
  T* to = c;
  TFAOT_UNROLL
  for (int r = 0; r < MR; ++r, to += c_row) {
    TFAOT_UNROLL
    for (int v = 0; v < NV - 1; ++v) store(to + v * kLanes<T>, sums[0][r][v]);
  }
  to = c + (NV - 1) * kLanes<T>;
  if (whole) {
    TFAOT_UNROLL
    for (int r = 0; r < MR; ++r, to += c_row) store(to, sums[0][r][NV - 1]);
  } else {
    TFAOT_UNROLL
    for (int r = 0; r < MR; ++r, to += c_row) store_first(to, sums[0][r][NV - 1], last);
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
TFAOT_INLINE void multiply_tiles(const Tiles<T>& t) {
  constexpr bool kIsTight = MR * NV >= kTightSums;
  if (kIsTight && t.a_step == 1 && t.b_step == kPanelColumns<T>) {
    return multiply_tiles_of<T, MR, NV, kIsTight>(t);
  }
  multiply_tiles_of<T, MR, NV, false>(t);
}

}  // namespace
