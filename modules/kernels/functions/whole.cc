// SPDX-License-Identifier: Apache-2.0
// Functions with exact results: roundings to whole numbers, the larger and the smaller of two,
// remainders, multiplications by powers of two.
#include "nearest.h"
#include "parts.h"
#include "tfaot/kernels/functions.h"

namespace {

// Up or down by one if that was the wrong side.
template <typename T>
inline T floor_of(T x) {
  const T whole = nearest(x);
  return whole > x ? whole - 1 : whole;
}

template <typename T>
inline T ceil_of(T x) {
  const T whole = nearest(x);
  return with_sign_of(whole < x ? whole + 1 : whole, x);
}

template <typename T>
inline T trunc_of(T x) {
  return with_sign_of(floor_of(size_of_any(x)), x);
}

// Halves go away from zero.
template <typename T>
inline T round_of(T x) {
  const T down = floor_of(size_of_any(x));
  return with_sign_of(size_of_any(x) - down >= T{0.5} ? down + 1 : down, x);
}

}  // namespace

#define TFAOT_WHOLE(name, function)                         \
  float tfaot_##name##_f32(float x) { return function(x); } \
  double tfaot_##name##_f64(double x) { return function(x); }
TFAOT_WHOLE(ceil, ceil_of)
TFAOT_WHOLE(floor, floor_of)
TFAOT_WHOLE(nearbyint, nearest)
TFAOT_WHOLE(rint, nearest)
TFAOT_WHOLE(round, round_of)
TFAOT_WHOLE(roundeven, nearest)
TFAOT_WHOLE(trunc, trunc_of)

// The other number if one is a NaN, and the first of +0 and -0.
float tfaot_fmax_f32(float x, float y) { return x >= y || y != y ? x : y; }
double tfaot_fmax_f64(double x, double y) { return x >= y || y != y ? x : y; }
float tfaot_fmin_f32(float x, float y) { return x <= y || y != y ? x : y; }
double tfaot_fmin_f64(double x, double y) { return x <= y || y != y ? x : y; }

// By long division, eleven bits at a time.
double tfaot_fmod_f64(double x, double y) {
  if (x != x) return x + x;
  if (y != y) return y + y;
  if (size_of(x) == kInfinity || y == 0) return kNan;
  if (size_of(x) < size_of(y)) return x;
  const Whole divisor = whole(y);
  const Whole dividend = whole(x);
  std::uint64_t rest = dividend.number % divisor.number;
  std::int64_t left = dividend.exponent - divisor.exponent;
  for (; left >= 11 && rest != 0; left -= 11) rest = (rest << 11) % divisor.number;
  if (rest != 0) rest = (rest << left) % divisor.number;
  // The rest times a power of two is exact.
  return with_sign(
      tfaot_ldexp_f64(static_cast<double>(rest), static_cast<int>(divisor.exponent) - 1074), x);
}

// Up to three steps. Only the last one rounds, unless the result is 0 in any case.
double tfaot_ldexp_f64(double x, int n) {
  for (int step = 0; step < 2; ++step) {
    const int part = n > 1023 ? 1023 : n < -1022 ? -969 : 0;
    x *= power_of_two(part);
    n -= part;
  }
  return x * power_of_two(n > 1023 ? 1023 : n < -1022 ? -1022 : n);
}

float tfaot_fmod_f32(float x, float y) { return static_cast<float>(tfaot_fmod_f64(x, y)); }

// Beyond 400, powers of two change all numbers to 0 or infinity.
float tfaot_ldexp_f32(float x, int n) {
  return static_cast<float>(x * power_of_two(n > 400 ? 400 : n < -400 ? -400 : n));
}
