// SPDX-License-Identifier: Apache-2.0
// Products with int8 weights whose rows are rounded to whole numbers of 16 bits, times a number for
// each row: 1 / 32767 of its largest. Then a multiply-add takes two steps of the depth, and their
// sums are exact. Rows that hold NaN or infinities, or are too large or too small for that, are
// multiplied as they are.
#pragma once

#include "products/rounded_rows.h"

#if TFAOT_CAN_ROUND_ROWS

namespace {

// Some rows of the product, rounded.
struct RoundedRows {
  const std::int16_t* first;
  Int stride;
  const float* scale;  // of each row; negative: it is not rounded
  Int at;              // in the product
};

// MR rows by NP panels; columns of the last one may lie beyond c's.
template <int MR, int NP>
__attribute__((noinline)) void multiply_rounded(const NarrowProduct& p, const RoundedRows& rows,
                                                Int first_row, Int panel) {
  constexpr int kVectors = NP * kVectorsPerPanel;
  const Int groups = ceil_div(p.call.depth, kRoundedSteps);
  const Int panel_bytes = narrow_panel_bytes<Int8>(p.call.depth);
  const unsigned char* b = p.panels + panel * panel_bytes;
  const std::int16_t* a[MR];
  TFAOT_UNROLL
  for (int r = 0; r < MR; ++r) a[r] = rows.first + (first_row + r) * rows.stride;
  Vec<float> totals[MR][kVectors] = {};
  for (Int done = 0; done < groups; done += kGroupsPerSum) {
    SignedWords sums[MR][NP * kParts] = {};
    const Int end = smaller(groups, done + kGroupsPerSum);
    const auto add_group = [&](Int group) __attribute__((always_inline)) {
      Halves left[MR];
      TFAOT_UNROLL
      for (int r = 0; r < MR; ++r) left[r] = spread_steps(a[r] + group * kRoundedSteps);
      TFAOT_UNROLL
      for (int part = 0; part < NP * kParts; ++part) {
        const Halves right = load_part(b + part / kParts * panel_bytes, part % kParts);
        TFAOT_UNROLL
        for (int r = 0; r < MR; ++r) sums[r][part] += multiply_pairs(right, left[r]);
      }
      b += Int8::kGroupBytes;
    };
    constexpr Int kTurn = MR == 1 ? 4 : 1;
    Int group = done;
    for (; group + kTurn <= end; group += kTurn) {
      TFAOT_UNROLL
      for (Int i = 0; i < kTurn; ++i) add_group(group + i);
    }
    for (; group < end; ++group) add_group(group);
    TFAOT_UNROLL
    for (int i = 0; i < MR * kVectors; ++i) {
      const int r = i / kVectors, v = i % kVectors;
      totals[r][v] += join_pairs(sums[r][2 * v], sums[r][2 * v + 1]);
    }
  }
  TFAOT_UNROLL
  for (int v = 0; v < kVectors; ++v) {
    const Int at = panel * kColumns + v * kLanes<float>;
    const Int count = columns_of(p.call.columns - panel * kColumns, v);
    if (count <= 0) return;
    const Vec<float> scale = load_first(p.scale + at, count);
    TFAOT_UNROLL
    for (int r = 0; r < MR; ++r) {
      const Int row = first_row + r;
      finish_sums(p, totals[r][v] * (scale * rows.scale[row]), rows.at + row, at, count);
    }
  }
}

// As many blocks of MR rows as there are; returns the rows that are done.
template <int MR>
TFAOT_INLINE Int multiply_rounded_rows(const NarrowProduct& p, const RoundedRows& rows, Int done,
                                       Int count, Int panel) {
  if constexpr (MR <= kMostRoundedRows) {
    for (; count - done >= MR; done += MR) multiply_rounded<MR, 1>(p, rows, done, panel);
  }
  return done;
}

// A row as it is, by weights that are scaled before they meet it.
__attribute__((noinline)) void multiply_plain_row(const NarrowProduct& p, Int row) {
  const Int depth = p.call.depth;
  const float* const a = p.a + row * p.call.lhs_row_stride;
  for (Int column = 0, panel = 0; column < p.call.columns; column += kColumns, ++panel) {
    for (int v = 0; v < kVectorsPerPanel; ++v) {
      const Int at = column + v * kLanes<float>;
      const Int count = columns_of(p.call.columns - column, v);
      if (count <= 0) return;
      const Vec<float> scale = load_first(p.scale + at, count);
      const unsigned char* b = p.panels + panel * narrow_panel_bytes<Int8>(depth);
      Vec<float> sum = {};
      for (Int k = 0; k < depth; k += Int8::kSteps, b += Int8::kGroupBytes) {
        const Words group = Int8::load(b, v);
        for (int i = 0; i < smaller(Int8::kSteps, depth - k); ++i) {
          sum += Int8::step(group, i) * scale * a[k + i];
        }
      }
      finish_sums(p, sum, row, at, count);
    }
  }
}

// All rows.
void multiply_by_rounding(const NarrowProduct& p) {
  auto* const rounded = static_cast<std::int16_t*>(static_cast<void*>(p.scratch));
  float scale[kRoundedRows];
  const Int stride = rounded_row_bytes(p.call.depth) / 2;
  for (Int first = 0; first < p.call.rows; first += kRoundedRows) {
    const Int count = smaller(kRoundedRows, p.call.rows - first);
    bool all = true;
    for (Int r = 0; r < count; ++r) {
      const float* const row = p.a + (first + r) * p.call.lhs_row_stride;
      scale[r] = round_row(rounded + r * stride, row, p.call.depth);
      all = all && scale[r] >= 0;
    }
    const RoundedRows rows = {rounded, stride, scale, first};
    const Int panels = ceil_div(p.call.columns, kColumns);
    Int panel = 0;
    if (count == 1) {
      for (; panel + kRowPanels <= panels; panel += kRowPanels) {
        multiply_rounded<1, kRowPanels>(p, rows, 0, panel);
      }
    }
    for (; panel < panels; ++panel) {
      Int done = multiply_rounded_rows<8>(p, rows, 0, count, panel);
      done = multiply_rounded_rows<4>(p, rows, done, count, panel);
      done = multiply_rounded_rows<2>(p, rows, done, count, panel);
      multiply_rounded_rows<1>(p, rows, done, count, panel);
    }
    for (Int r = 0; !all && r < count; ++r) {
      if (scale[r] < 0) multiply_plain_row(p, first + r);
    }
  }
}

}  // namespace

#endif
