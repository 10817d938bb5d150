// SPDX-License-Identifier: Apache-2.0
// What the functions here share: the bits of numbers, sums and products without an error, and
// polynomials. All of it is plain additions and multiplications in a written order, compiled
// without fused ones, so each CPU gives the same bits.
#pragma once

#include <cstdint>
#include <cstring>

#include "coefficients.h"

namespace {

__extension__ using Wide = unsigned __int128;
__extension__ using SignedWide = __int128;

constexpr double kInfinity = __builtin_inf();
constexpr double kNan = __builtin_nan("");  // CPUs make NaNs of either sign; x + x is quiet

inline std::uint64_t bits_of(double x) {
  std::uint64_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  return bits;
}

inline double double_of(std::uint64_t bits) {
  double x;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}

constexpr std::uint64_t kSignBit = std::uint64_t{1} << 63;
inline double size_of(double x) { return double_of(bits_of(x) & ~kSignBit); }
inline double with_sign(double size, double of) {
  return double_of(bits_of(size) | (bits_of(of) & kSignBit));
}

// 2^n. REQUIRES: -1022 <= n <= 1023.
inline double power_of_two(std::int64_t n) {
  return double_of(static_cast<std::uint64_t>(n + 1023) << 52);
}

// x * 2^n. REQUIRES: 0.5 <= x < 4, -2000 <= n <= 2000.
inline double scaled(double x, std::int64_t n) {
  if (n > -1000 && n < 1000) return double_of(bits_of(x) + (static_cast<std::uint64_t>(n) << 52));
  return x * power_of_two(n >> 1) * power_of_two(n - (n >> 1));
}

// |x| = number * 2^(exponent - 1074)
struct Whole {
  std::uint64_t number;
  std::int64_t exponent;
};

inline Whole whole(double x) {
  constexpr std::uint64_t kOne = std::uint64_t{1} << 52;
  const std::uint64_t fraction = bits_of(x) & (kOne - 1);
  const auto exponent = static_cast<std::int64_t>(bits_of(x) >> 52 & 0x7FF);
  if (exponent == 0) return {fraction, 0};
  return {fraction | kOne, exponent - 1};
}

// x as the nearest whole number and what it is without. REQUIRES: |x| < 2^50.
struct Rounded {
  std::int64_t number;
  double value;
};
inline Rounded rounded(double x) {
  constexpr double kRounder = 0x1.8p52;  // leaves the number in the last bits
  const double sum = x + kRounder;
  return {static_cast<std::int64_t>(bits_of(sum) - bits_of(kRounder)), sum - kRounder};
}

// high + low, where low is less than the last bit of high.
struct Pair {
  double high, low;
};

// a + b. REQUIRES: |a| >= |b|, or a is 0.
inline Pair ordered_sum(double a, double b) {
  const double sum = a + b;
  return {sum, b - (sum - a)};
}

// a + b, whichever is larger.
inline Pair sum_of(double a, double b) {
  const double sum = a + b;
  const double of_b = sum - a;
  return {sum, a - (sum - of_b) + (b - of_b)};
}

// x as two numbers of half the bits.
inline Pair halves_of(double x) {
  const double high = double_of(bits_of(x) & ~std::uint64_t{0x7FFFFFF});
  return {high, x - high};
}

// a * b. REQUIRES: neither it nor its error leaves the range of normal numbers.
inline Pair product_of(double a, double b) {
  const Pair x = halves_of(a);
  const Pair y = halves_of(b);
  const double product = a * b;
  const double most = x.high * y.high - product + x.high * y.low + x.low * y.high;
  return {product, most + x.low * y.low};
}

// of[0] + of[1] x + ..., in pairs, then pairs of pairs: these wait for each other less than a sum
// from the last one on.
template <int kCount>
inline double polynomial(const double (&of)[kCount], double x) {
  double sums[(kCount + 1) / 2];
  for (int i = 0; i < kCount / 2; ++i) sums[i] = of[2 * i] + of[2 * i + 1] * x;
  if constexpr (kCount % 2 != 0) sums[kCount / 2] = of[kCount - 1];
  if constexpr (kCount <= 2) {
    return sums[0];
  } else {
    return polynomial(sums, x * x);
  }
}

}  // namespace
