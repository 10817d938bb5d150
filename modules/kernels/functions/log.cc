// SPDX-License-Identifier: Apache-2.0
#include "exp.h"
#include "nearest.h"
#include "tfaot/kernels/functions.h"

namespace {

// x = 2^n m, where m is near 1 / step.inverse.
struct Place {
  double n, m;
  const LogStep& step;
};

// REQUIRES: 2^-1022 <= x < infinity.
inline Place place_of(double x) {
  constexpr double kLeast = 0.6875;  // of m
  const std::uint64_t above = bits_of(x) - bits_of(kLeast);
  const std::int64_t n = static_cast<std::int64_t>(above) >> 52;
  return {static_cast<double>(n), double_of(bits_of(x) - (static_cast<std::uint64_t>(n) << 52)),
          kLogSteps[(above >> 45) & 127]};
}

// log(x) = base + log(1 + t) + low, where base is exact.
struct Logarithm {
  double base, low;
  Pair t;
};

// REQUIRES: 0 < x < infinity.
inline Logarithm logarithm(double x) {
  constexpr double kSmall = 0x1p-1022;
  const Place place = place_of(x < kSmall ? x * 0x1p54 : x);
  const double n = x < kSmall ? place.n - 54 : place.n;
  const Pair m = halves_of(place.m);
  const LogStep& step = place.step;
  return {n * kLn2[0] + step.high, n * kLn2[1] + step.low,
          sum_of(m.high * step.inverse - 1, m.low * step.inverse)};
}

// The logarithm to 2^-65 of itself.
inline Pair exact_log(double x) {
  const Logarithm of = logarithm(x);
  const double t = of.t.high;
  const Pair square = product_of(t, t);
  const Pair first = ordered_sum(of.base, t);
  const Pair second = ordered_sum(first.high, -0.5 * square.high);
  const double small = t * square.high * polynomial(kLog1p, t) - 0.5 * square.low - t * of.t.low;
  return ordered_sum(second.high, first.low + (of.low + of.t.low) + second.low + small);
}

// REQUIRES: x and y are finite, x > 0.
inline double positive_power(double x, double y) {
  // Further, all powers are 0 or infinite.
  constexpr double kLargest = 0x1p65;
  const double least = size_of(y) < kLargest ? y : with_sign(kLargest, y);
  const Pair log = exact_log(x);
  const Pair product = product_of(least, log.high);
  return exp_of(product.high, product.low + least * log.low);
}

// The logarithm is right to 2^-45 of itself.
inline float positive_power(float base, float y) {
  const double x = base;
  const Place place = place_of(x);
  const double t = place.m * place.step.inverse - 1;
  const double small = t + t * t * (t * polynomial(kLog1pOfFloat, t) - 0.5);
  const double log = place.n * kWholeLn2 + (place.step.high + small);
  return float_exp2(within_floats(y * log * kLog2E));
}

inline bool is_whole(double x) { return nearest(x) == x; }

template <typename T>
inline T power(T x, T y) {
  constexpr T kInfinite = __builtin_inf();
  if (x > 0 && x < kInfinite && size_of(y) < kInfinity) return positive_power(x, y);
  if (y == 0 || x == 1) return 1;
  if (x != x) return x + x;
  if (y != y) return y + y;
  const T size = size_of_any(x);
  const bool is_negative = bits_of(x) >= kSignBit;
  const T sign = is_negative && is_whole(y) && !is_whole(y / 2) ? -1 : 1;
  if (size == 0 || size == kInfinite) return sign * ((size == 0) == (y < 0) ? kInfinite : 0);
  if (size_of(y) == kInfinity) return size == 1 ? 1 : (size > 1) == (y > 0) ? kInfinite : 0;
  return is_whole(y) ? sign * positive_power(size, y) : static_cast<T>(kNan);
}

}  // namespace

double tfaot_log_f64(double x) {
  if (!(x > 0)) return x == 0 ? -kInfinity : x < 0 ? kNan : x + x;
  if (x == kInfinity) return x;
  const Logarithm of = logarithm(x);
  const double t = of.t.high;
  const Pair first = ordered_sum(of.base, t);
  const double square = t * t * (t * polynomial(kLog1p, t) - 0.5);
  return first.high + (first.low + (of.low + of.t.low) + square);
}

float tfaot_log_f32(float x) { return static_cast<float>(tfaot_log_f64(x)); }

double tfaot_pow_f64(double x, double y) { return power(x, y); }
float tfaot_pow_f32(float x, float y) { return power(x, y); }
