// SPDX-License-Identifier: Apache-2.0
// Rows of float32 that stay in registers, for functions that go over a row several times.
#pragma once

#include "lanes.h"

namespace {

// A row of `kVectors` vectors, of which the last has `last` elements.
template <int kVectors>
struct RowInRegisters {
  Floats v[kVectors];

  static TFAOT_INLINE RowInRegisters from(const float* x, Int last) {
    RowInRegisters row;
    TFAOT_UNROLL
    for (int i = 0; i < kVectors - 1; ++i) row.v[i] = load(x + i * kLanes<float>);
    row.v[kVectors - 1] = load_some(x + (kVectors - 1) * kLanes<float>, last);
    return row;
  }
  TFAOT_INLINE void to(float* y, Int last) const {
    TFAOT_UNROLL
    for (int i = 0; i < kVectors - 1; ++i) store(y + i * kLanes<float>, v[i]);
    store_some(y + (kVectors - 1) * kLanes<float>, v[kVectors - 1], last);
  }
  TFAOT_INLINE void end_with(float other, Int last) {
    v[kVectors - 1] = first_or(v[kVectors - 1], last, other);
  }
  template <typename Op>
  TFAOT_INLINE float over() const {
    Floats joined[kVectors];
    TFAOT_UNROLL
    for (int i = 0; i < kVectors; ++i) joined[i] = v[i];
    TFAOT_UNROLL
    for (int step = 1; step < kVectors; step *= 2) {
      TFAOT_UNROLL
      for (int i = 0; i + step < kVectors; i += 2 * step) {
        joined[i] = Op::join(joined[i], joined[i + step]);
      }
    }
    return over_lanes<Op>(joined[0]);
  }
  template <typename Function>
  TFAOT_INLINE void each(const Function& function) {
    TFAOT_UNROLL
    for (int i = 0; i < kVectors; ++i) v[i] = function(v[i], i);
  }
};

template <int kVectors>
struct Vectors {
  static constexpr int kCount = kVectors;
};

// Calls use(Vectors<n>()) for the vectors of a row, if there are few; else it is false.
template <typename Use>
TFAOT_INLINE bool in_registers(Int columns, const Use& use) {
  switch (ceil_div(columns, kLanes<float>)) {
    case 1:
      return use(Vectors<1>()), true;
    case 2:
      return use(Vectors<2>()), true;
    case 3:
      return use(Vectors<3>()), true;
    case 4:
      return use(Vectors<4>()), true;
    case 8:
      return use(Vectors<8>()), true;
    default:
      return false;
  }
}

}  // namespace
