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

// A number for each of four rows.
struct RowNumbers {
  Floats lanes;

  static constexpr int lane_of(int row) {
    return TFAOT_VECTOR_BYTES == 64 ? row % 2 * 8 + row / 2 * 2 : row;
  }
  TFAOT_INLINE Floats of(int row) const {  // REQUIRES: the compiler knows the row
    return row == 0   ? shuffle<LaneOf<0>>(lanes, lanes)
           : row == 1 ? shuffle<LaneOf<1>>(lanes, lanes)
           : row == 2 ? shuffle<LaneOf<2>>(lanes, lanes)
                      : shuffle<LaneOf<3>>(lanes, lanes);
  }

 private:
  // Every quad has the number, but in vectors of sixteen lanes either half has other rows.
  template <int kRow>
  struct LaneOf {
    static constexpr int at(int l) {
      return TFAOT_VECTOR_BYTES == 64 ? lane_of(kRow) : l / 4 * 4 + kRow;
    }
  };
};

// A half of `a`, then the same half of `b`.
template <int kHalf>
struct Halves {
  static constexpr int kWidth = kLanes<float>;
  static constexpr int at(int l) {
    return l < kWidth / 2 ? l + kHalf * kWidth / 2 : l + kWidth / 2 + kHalf * kWidth / 2;
  }
};

// Joins the lanes of each row in the order of over_row(), of several rows at a time.
template <typename Op>
TFAOT_INLINE RowNumbers over_rows(const JoinedSums (&rows)[4]) {
  const auto apart_by_2 = [](Floats a, Floats b) TFAOT_ALWAYS {
    return Op::join(pick_lanes<0, 1>(a, b), pick_lanes<2, 3>(a, b));
  };
  Floats all[kEightVectors];
#if TFAOT_VECTOR_BYTES == 64
  const auto apart_by_8 = [](Floats a, Floats b) TFAOT_ALWAYS {
    return Op::join(shuffle<Halves<0>>(a, b), shuffle<Halves<1>>(a, b));
  };
  const Floats pairs =
      apart_by_2(apart_by_8(rows[0].v[0], rows[1].v[0]), apart_by_8(rows[2].v[0], rows[3].v[0]));
  all[0] = Op::join(pairs, shuffle<MovedLanes<1>>(pairs, pairs));
#else
  TFAOT_EACH (i, kEightVectors) {
    const Floats a = apart_by_2(rows[0].v[i], rows[1].v[i]);
    const Floats b = apart_by_2(rows[2].v[i], rows[3].v[i]);
    all[i] = Op::join(pick_lanes<0, 2>(a, b), pick_lanes<1, 3>(a, b));
  }
#endif
#if TFAOT_VECTOR_BYTES == 16
  all[0] = Op::join(all[0], all[1]);
#else
  all[0] = Op::join(all[0], shuffle<MovedLanes<4>>(all[0], all[0]));
#endif
  return {Op::kStart == 0 ? all[0] + 0.0F : all[0]};  // no -0, as over_row() gives none
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
    JoinedSums joined[4];
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
  // In the order of over_row().
  template <typename Op>
  static TFAOT_INLINE JoinedSums joined_row(const Floats (&row)[kVectors]) {
    Floats sums[kSumVectors];
    TFAOT_EACH (i, kVectors) {
      Floats& sum = sums[i % kSumVectors];
      sum = i < kSumVectors ? Op::first(row[i]) : Op::add(row[i], sum);
    }
    return join_vectors<Op, static_cast<int>(smaller(kVectors, kSumVectors))>(sums);
  }
};

// Calls run(rows of a group, vectors of a row, first, rows) for whole groups of rows, the largest
// that stay in registers, then for the remaining rows one by one. False if rows are too long.
template <typename Run>
TFAOT_INLINE bool in_registers(Int rows, Int columns, const Run& run) {
  const Int vectors = ceil_div(columns, kLanes<float>);
  if (vectors > 4 && vectors != 8) return false;
  for_each<8>([&](auto i) TFAOT_ALWAYS {
    constexpr int kVectors = i + 1, kRows = kVectors <= TFAOT_VECTOR_REGISTERS / 4 ? 4 : 2;
    if constexpr (kVectors <= 4 || kVectors == 8) {
      if (vectors != kVectors) return;
      const Int whole = rows / kRows * kRows;
      if (whole > 0) run(Number<kRows>(), Number<kVectors>(), 0, whole);
      if (whole < rows) run(Number<1>(), Number<kVectors>(), whole, rows - whole);
    }
  });
  return true;
}

// Rows that are shared out together, so that groups stay whole.
TFAOT_INLINE Int rows_together(Int columns) { return columns <= 8 * kLanes<float> ? 4 : 1; }

}  // namespace
