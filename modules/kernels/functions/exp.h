// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tables.h"

namespace {

// exp(x) = 2^n * step * (1 + change)
struct Exponential {
  std::int64_t n;
  ExpStep step;
  double change;
};

// Of high + low. REQUIRES: |high| < 1000.
inline Exponential exponential(double high, double low) {
  const Rounded k = rounded(high * (kLog2E * 64));
  const double r = high - k.value * kLn2Part[0] + (low - k.value * kLn2Part[1]);
  return {k.number >> 6, kExpSteps[k.number & 63], r + r * r * polynomial(kExp, r)};
}

inline double value_of(const Exponential& of) {
  return scaled(of.step.high + (of.step.low + of.step.high * of.change), of.n);
}

// Below 0 and from infinity on, results are that to all bits.
constexpr double kLeastExp = -746;
constexpr double kLargestExp = 710;

// exp(high + low)
inline double exp_of(double high, double low) {
  if (!(high > kLeastExp)) return high <= kLeastExp ? 0 : high + high;
  if (high > kLargestExp) return kInfinity;
  return value_of(exponential(high, low));
}

// 2^x to 2^-36 of itself, which is enough for a float. REQUIRES: |x| < 900.
inline float float_exp2(double x) {
  const Rounded k = rounded(x * 64);
  const double r = x - k.value * (1.0 / 64);
  const double step = kExpSteps[k.number & 63].high;
  const double size = step + step * (r * polynomial(kExp2, r));
  return static_cast<float>(
      double_of(bits_of(size) + (static_cast<std::uint64_t>(k.number >> 6) << 52)));
}

// Beyond these, floats are 0 and infinite.
inline double within_floats(double x) { return x < -200 ? -200 : x > 200 ? 200 : x; }

}  // namespace
