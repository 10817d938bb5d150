// SPDX-License-Identifier: Apache-2.0
// softmax of rows, a row at a time, which stays in the first-level cache.
#pragma once

#include "row_registers.h"

namespace {

// exp(x) for x <= 0, right to 1.6 ulp; 0 for x < -87.3. A scaled number less the largest may be
// above 0, if it is not rounded in between; that counts as 0.
TFAOT_INLINE Floats exp_of_negative(Floats x) {
  constexpr float kLowest = -87.3F;
  const Reduced reduced = reduce(between(kLowest, x, 0));
  const Floats exp = reduced.power * little_expm1(reduced.rest) + reduced.power;
  return x < kLowest ? Floats{} : exp;
}

template <int kVectors>
void short_softmax(float* y, const float* x, Int rows, Int columns, Int step, float scale) {
  const Int last = columns - (kVectors - 1) * kLanes<float>;
  for (Int r = 0; r < rows; ++r, x += step, y += step) {
    auto row = RowInRegisters<kVectors>::from(x, last);
    row.each([&](Floats v, int /*place*/) { return v * scale; });
    row.end_with(-__builtin_inff(), last);
    const float peak = row.template over<LargestOfLanes>();
    row.each([&](Floats v, int /*place*/) { return exp_of_negative(v - peak); });
    const float part = 1.0F / row.template over<SumOfLanes>();
    row.each([&](Floats v, int /*place*/) { return v * part; });
    row.to(y, last);
  }
}

inline void long_softmax(float* y, const float* x, Int columns, float scale) {
  const float peak = over_row<LargestOfLanes>(columns, -__builtin_inff(), [&](Int j, Int count) {
    return first_or(load_some(x + j, count) * scale, count, -__builtin_inff());
  });
  const float sum = over_row<SumOfLanes>(columns, 0, [&](Int j, Int count) {
    const Floats e = exp_of_negative(load_some(x + j, count) * scale - peak);
    store_some(y + j, e, count);
    return first_or(e, count, 0);
  });
  along_row(columns, [&](Int j, Int count) {
    store_some(y + j, load_some(y + j, count) * (1.0F / sum), count);
  });
}

// Of `scale` times each of x. Rows begin `step` elements apart in both; y may be x.
inline void softmax_rows(float* y, const float* x, Int rows, Int columns, Int step, float scale) {
  if (in_registers(columns, [&](auto vectors) {
        short_softmax<decltype(vectors)::kCount>(y, x, rows, columns, step, scale);
      })) {
    return;
  }
  for (Int r = 0; r < rows; ++r, x += step, y += step) long_softmax(y, x, columns, scale);
}

}  // namespace
