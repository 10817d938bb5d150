// SPDX-License-Identifier: Apache-2.0
// Groups of up to four rows of float32 that stay in registers, for functions that go over a row
// several times. Their sums or maxima are found for all four rows at once, because alone each row
// would wait for its own shuffles.
#pragma once

#include "simd/vec.h"

namespace {

// Two lanes of each quad of `a`, then the same two lanes of `b`.
template <int kFirst, int kSecond>
struct PickedLanes {
  static constexpr int at(int l) {
    return l / 4 * 4 + (l % 2 == 0 ? kFirst : kSecond) + (l % 4 < 2 ? 0 : int{kLanes<float>});
  }
};
template <int kFirst, int kSecond>
TFAOT_INLINE Floats pick_lanes(Floats a, Floats b) {
  return shuffle<PickedLanes<kFirst, kSecond>>(a, b);
}

// Joins the quads of a vector; each quad of the result has all of it.
template <typename Op>
TFAOT_INLINE Floats over_quads(Floats v) {
  if constexpr (kLanes<float> >= 16) v = Op::join(v, shuffle<MovedLanes<8>>(v, v));
  if constexpr (kLanes<float> >= 8) v = Op::join(v, shuffle<MovedLanes<4>>(v, v));
  return v;
}

// A number for each of four rows: the lanes of every quad.
struct RowNumbers {
  Floats quads;

  TFAOT_INLINE Floats of(int row) const {  // REQUIRES: the compiler knows the row
    return row == 0   ? pick_lanes<0, 0>(quads, quads)
           : row == 1 ? pick_lanes<1, 1>(quads, quads)
           : row == 2 ? pick_lanes<2, 2>(quads, quads)
                      : pick_lanes<3, 3>(quads, quads);
  }
};

// Joins all lanes of each vector.
template <typename Op>
TFAOT_INLINE RowNumbers over_rows(const Floats (&rows)[4]) {
  const Floats a = Op::join(pick_lanes<0, 1>(rows[0], rows[1]), pick_lanes<2, 3>(rows[0], rows[1]));
  const Floats b = Op::join(pick_lanes<0, 1>(rows[2], rows[3]), pick_lanes<2, 3>(rows[2], rows[3]));
  return {over_quads<Op>(Op::join(pick_lanes<0, 2>(a, b), pick_lanes<1, 3>(a, b)))};
}

// kRows rows (4, 2 or 1) of kVectors vectors each, of which the last one has `last` elements.
template <int kRows, int kVectors>
struct RowGroup {
  Floats v[kRows][kVectors];

  static TFAOT_INLINE RowGroup from(const float* x, Int step, Int last) {
    RowGroup group;
    TFAOT_FOR (int r = 0; r < kRows; ++r, x += step) {
      TFAOT_EACH (i, kVectors - 1) group.v[r][i] = load(x + i * kLanes<float>);
      group.v[r][kVectors - 1] = load_first(x + (kVectors - 1) * kLanes<float>, last);
    }
    return group;
  }
  TFAOT_INLINE void to(float* y, Int step, Int last) const {
    TFAOT_FOR (int r = 0; r < kRows; ++r, y += step) {
      TFAOT_EACH (i, kVectors - 1) store(y + i * kLanes<float>, v[r][i]);
      store_some(y + (kVectors - 1) * kLanes<float>, v[r][kVectors - 1], last);
    }
  }
  TFAOT_INLINE void end_with(float other, Int last) {
    TFAOT_EACH (r, kRows) v[r][kVectors - 1] = first_or(v[r][kVectors - 1], last, other);
  }
  template <typename Op>
  TFAOT_INLINE RowNumbers over() const {
    Floats joined[4];
    TFAOT_EACH (r, 4) joined[r] = joined_row<Op>(v[r % kRows]);
    return over_rows<Op>(joined);
  }
  // Replaces vector i of row r by function(v, r, i).
  template <typename Function>
  TFAOT_INLINE void each(const Function& function) {
    TFAOT_EACH (r, kRows) {
      TFAOT_EACH (i, kVectors) v[r][i] = function(v[r][i], r, i);
    }
  }

 private:
  template <typename Op>
  static TFAOT_INLINE Floats joined_row(const Floats (&row)[kVectors]) {
    Floats joined[kVectors];
    TFAOT_EACH (i, kVectors) joined[i] = row[i];
    TFAOT_FOR (int step = 1; step < kVectors; step *= 2) {
      TFAOT_FOR (int i = 0; i + step < kVectors; i += 2 * step) {
        joined[i] = Op::join(joined[i], joined[i + step]);
      }
    }
    return joined[0];
  }
};

// Calls run(rows of a group, vectors of a row, first, rows) for whole groups of rows: the largest
// groups that stay in registers, then the remaining rows one by one.
template <int kVectors, typename Run>
TFAOT_INLINE void run_groups(Int rows, const Run& run) {
  constexpr int kRows = kVectors <= TFAOT_VECTOR_REGISTERS / 4 ? 4 : 2;
  if (rows < kRows) return run(Number<1>(), Number<kVectors>(), 0, rows);
  const Int whole = rows / kRows * kRows;
  run(Number<kRows>(), Number<kVectors>(), 0, whole);
  if (whole < rows) run(Number<1>(), Number<kVectors>(), whole, rows - whole);
}

// The same if the rows have few enough vectors; else returns false.
template <typename Run>
TFAOT_INLINE bool in_registers(Int rows, Int columns, const Run& run) {
  const Int vectors = ceil_div(columns, kLanes<float>);
  if (vectors > 4 && vectors != 8) return false;
  for_each<8>([&](auto i) TFAOT_ALWAYS {
    constexpr int kVectors = i + 1;
    if constexpr (kVectors <= 4 || kVectors == 8) {
      if (vectors == kVectors) run_groups<kVectors>(rows, run);
    }
  });
  return true;
}

// Rows that are shared out together, so that groups stay whole.
TFAOT_INLINE Int rows_together(Int columns) { return columns <= 8 * kLanes<float> ? 4 : 1; }

}  // namespace
