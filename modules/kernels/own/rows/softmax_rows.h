// SPDX-License-Identifier: Apache-2.0
// A softmax of rows of float32, a row or a few at a time, which stay in the first-level cache.
#pragma once

#include "simd/functions.h"
#include "simd/kernel.h"
#include "simd/row_groups.h"

namespace {

// exp(x) for x <= 0, right to 1.1 ulp. Below -87.7 the power of two is 0.
TFAOT_INLINE Floats exp_of_negative(Floats x) {
  constexpr float kLowest = -88;
  const Reduced reduced = reduce(larger_of<float>(Floats{} + kLowest, x));
  return multiply_add(reduced.power, little_expm1(reduced.rest), reduced.power);
}

// Rows of y and x are `step` apart. They may be the same.
struct SoftmaxRows {
  float* y;
  const float* x;
  Int rows, columns, step;
  float scale;
};

// With a scale above 0, the largest number is also the largest scaled one. Other scales are rare.
TFAOT_INLINE SoftmaxRows with_scale_above_0(SoftmaxRows all) {
  if (all.scale > 0) return all;
  for (Int r = 0; r < all.rows; ++r) {
    along_row(all.columns, [&](Int j, Int count) {
      const Floats v = load_some(all.x + r * all.step + j, count);
      store_some(all.y + r * all.step + j, v * all.scale, count);
    });
  }
  all.x = all.y;
  all.scale = 1;
  return all;
}

// Computes whole groups of kRows rows. Arguments are in registers, as a struct would be waited for.
template <int kRows, int kVectors>
TFAOT_ONE_COPY void softmax_of_groups(float* y, const float* x, Int rows, Int columns,
                                      float scale) {
  const Int last = columns - (kVectors - 1) * kLanes<float>;
  for (; rows >= kRows; rows -= kRows, x += kRows * columns, y += kRows * columns) {
    auto group = RowGroup<kRows, kVectors>::from(x, columns, last);
    group.end_with(-__builtin_inff(), last);
    const RowNumbers peaks = group.template over<LargestOfLanes>();
    group.each(
        [&](Floats v, int r, int /*i*/) { return exp_of_negative((v - peaks.of(r)) * scale); });
    const RowNumbers factors = {1.0F / group.template over<SumOfLanes>().lanes};
    group.each([&](Floats v, int r, int /*i*/) { return v * factors.of(r); });
    group.to(y, columns, last);
  }
}

// y = exp(scale * (x - the largest x)) of a row; returns their sum.
TFAOT_INLINE float row_exponentials(float* y, const float* x, Int columns, float scale) {
  const float peak = over_row<LargestOfLanes>(columns, [&](Int j, Int count) {
    return first_or(load_some(x + j, count), count, -__builtin_inff());
  });
  return over_row<SumOfLanes>(columns, [&](Int j, Int count) {
    const Floats e = exp_of_negative((load_some(x + j, count) - peak) * scale);
    store_some(y + j, e, count);
    return first_or(e, count, 0);
  });
}

TFAOT_INLINE void scale_row(float* y, Int columns, float factor) {
  along_row(columns,
            [&](Int j, Int count) { store_some(y + j, load_some(y + j, count) * factor, count); });
}

}  // namespace
