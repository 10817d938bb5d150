// SPDX-License-Identifier: Apache-2.0
// Exponentials, and the fractions that sigmoid and tanh are made of, of vectors of float32. What
// becomes of NaN stays NaN. 1 / sigmoid_divisor() is right to 1.8 ulp, tanh_of() to 1.4
// (activations_test.cc).
#pragma once

#include "vec_compare.h"

namespace {

using Floats = Vec<float>;
using Bits = std::int32_t __attribute__((vector_size(TFAOT_VECTOR_BYTES)));

// x = n * log(2) + rest with |rest| <= log(2) / 2.
struct Reduced {
  Floats power;  // 2^n
  Floats rest;
};

// REQUIRES: -87.3 <= x <= 88.
TFAOT_INLINE Reduced reduce(Floats x) {
  // Adding so large a number leaves n in its last bits.
  constexpr float kRounder = 12582912.0F;
  constexpr float kLog2E = 1.44269504F;
  constexpr float kLn2High = 0.693145751953125F;  // few bits: its multiples by n are exact
  constexpr float kLn2Low = 1.42860677e-6F;
  const Floats shifted = x * kLog2E + kRounder;
  const Floats n = shifted - kRounder;
  Bits bits;
  __builtin_memcpy(&bits, &shifted, sizeof bits);
  bits = (bits << 23) + 0x3F800000;
  Reduced reduced;
  __builtin_memcpy(&reduced.power, &bits, sizeof bits);
  reduced.rest = (x - n * kLn2High) - n * kLn2Low;
  return reduced;
}

TFAOT_INLINE Floats between(float low, Floats x, float high) {
  const Floats zero = {};
  return smaller_of<float>(zero + high, larger_of<float>(zero + low, x));
}

// (exp(r) - 1 - r) / r^2 for |r| <= log(2) / 2, fitted for the relative error of exp(r) - 1: 2e-8.
constexpr float kExpm1[] = {0.49999997F, 0.16666543F, 0.0416672F, 0.0083665475F, 0.0013882517F};

// exp(rest) - 1
TFAOT_INLINE Floats little_expm1(Floats r) {
  const Floats high = (r * kExpm1[4] + kExpm1[3]) * r + kExpm1[2];
  return ((high * r + kExpm1[1]) * r + kExpm1[0]) * (r * r) + r;
}

// exp(x) - 1 for -87.3 <= x <= 88, right to 1.6 ulp.
TFAOT_INLINE Floats expm1_of(Floats x) {
  const Reduced reduced = reduce(x);
  return reduced.power * little_expm1(reduced.rest) + (reduced.power - 1.0F);
}

// 1 + exp(x), at most 6e37. From exp(x) = 2^24 on, of which the 1 is less than 1 ulp, it may be
// missing.
TFAOT_INLINE Floats exp_and_one(Floats x) {
  const Reduced reduced = reduce(between(-87.0F, x, 87.0F));
  return reduced.power * little_expm1(reduced.rest) + (reduced.power + 1.0F);
}

// 1 + exp(-x), so that 1 / it is sigmoid(x). For x < -87 that stays what it is there, 1.6e-38.
TFAOT_INLINE Floats sigmoid_divisor(Floats x) {
  const Reduced reduced = reduce(between(-87.0F, -x, 87.0F));
  const Floats sum = reduced.power + 1.0F;
  const Floats lost = 1.0F - (sum - reduced.power);  // 0 or 1: the power may hold no 1
  return (reduced.power * little_expm1(reduced.rest) + lost) + sum;
}

// tanh(x) = t / (t + 2), right to 2.5 ulp. Beyond +-9.1 tanh(x) is 1 to all bits.
TFAOT_INLINE Floats tanh_part(Floats x) { return expm1_of(between(-18.2F, x + x, 18.2F)); }

// (tanh(x) - x) / x^3 by x^2 for |x| < 0.55, fitted for the relative error of tanh(x): 4e-8.
constexpr float kTanh[] = {-0.33332947F, 0.13320725F, -0.05267181F, 0.01643757F};

// Near 0 as a polynomial, else as 1 - 2 / (1 + exp(2 |x|)).
TFAOT_INLINE Floats tanh_of(Floats x) {
  constexpr std::int32_t kSign = INT32_MIN;
  Bits bits;
  __builtin_memcpy(&bits, &x, sizeof bits);
  const Bits sign = bits & kSign;
  bits &= ~kSign;
  Floats size;
  __builtin_memcpy(&size, &bits, sizeof bits);
  const Floats far = 1.0F - 2.0F / exp_and_one(size + size);
  const Floats square = x * x;
  const Floats high = (square * kTanh[3] + kTanh[2]) * square + kTanh[1];
  const Floats near = (high * square + kTanh[0]) * (size * square) + size;
  const Floats found = size < 0.55F ? near : far;
  __builtin_memcpy(&bits, &found, sizeof bits);
  bits |= sign;
  Floats result;
  __builtin_memcpy(&result, &bits, sizeof bits);
  return result;
}

}  // namespace
