// SPDX-License-Identifier: Apache-2.0
// A softmax of rows of float32, a row at a time, which stays in the first-level cache.
#pragma once

#include "row_registers.h"

namespace {

// exp(x) for x <= 0, right to 1.1 ulp; 0 for x < -87.3. A scaled number less the largest may be
// above 0, if it is not rounded in between; that counts as 0.
TFAOT_INLINE Floats exp_of_negative(Floats x) {
  constexpr float kLowest = -87.3F;
  const Reduced reduced = reduce(between(kLowest, x, 0));
  const Floats exp = reduced.power * little_expm1(reduced.rest) + reduced.power;
  return x < kLowest ? Floats{} : exp;
}

// Rows of y and x are `step` apart. They may be the same.
struct SoftmaxRows {
  float* y;
  const float* x;
  Int rows, columns, step;
  float scale;
};

template <int kVectors>
void short_softmax(const SoftmaxRows& all) {
  const Int last = all.columns - (kVectors - 1) * kLanes<float>;
  float* y = all.y;
  const float* x = all.x;
  for (Int r = 0; r < all.rows; ++r, x += all.step, y += all.step) {
    auto row = RowInRegisters<kVectors>::from(x, last);
    row.each([&](Floats v, int /*place*/) { return v * all.scale; });
    row.end_with(-__builtin_inff(), last);
    const float peak = row.template over<LargestOfLanes>();
    row.each([&](Floats v, int /*place*/) { return exp_of_negative(v - peak); });
    const float part = 1.0F / row.template over<SumOfLanes>();
    row.each([&](Floats v, int /*place*/) { return v * part; });
    row.to(y, last);
  }
}

// exp(scale * x - the largest one) of a row, and their sum.
TFAOT_INLINE float row_exponentials(float* y, const float* x, Int columns, float scale) {
  const float peak = over_row<LargestOfLanes>(columns, -__builtin_inff(), [&](Int j, Int count) {
    return first_or(load_some(x + j, count) * scale, count, -__builtin_inff());
  });
  return over_row<SumOfLanes>(columns, 0, [&](Int j, Int count) {
    const Floats e = exp_of_negative(load_some(x + j, count) * scale - peak);
    store_some(y + j, e, count);
    return first_or(e, count, 0);
  });
}

TFAOT_INLINE void scale_row(float* y, Int columns, float factor) {
  along_row(columns,
            [&](Int j, Int count) { store_some(y + j, load_some(y + j, count) * factor, count); });
}

// Whether rows are so short that they were done in registers.
TFAOT_INLINE bool softmax_in_registers(const SoftmaxRows& all) {
  return in_registers(all.columns,
                      [&](auto vectors) { short_softmax<decltype(vectors)::kCount>(all); });
}

}  // namespace
