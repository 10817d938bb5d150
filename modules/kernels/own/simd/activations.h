// SPDX-License-Identifier: Apache-2.0
// Exponentials, and the fractions that sigmoid and tanh are made of, of vectors of float32. What
// becomes of NaN stays NaN. 1 / sigmoid_divisor() and tanh_of() are right to 2 ulp
// (activations_test.cc).
#pragma once

#include "simd/vec_compare.h"

namespace {

using Floats = Vec<float>;
using Bits = std::int32_t __attribute__((vector_size(TFAOT_VECTOR_BYTES)));

// x = n * log(2) + rest with |rest| <= log(2) / 2.
struct Reduced {
  Floats power;  // 2^n
  Floats rest;
};

// Of kSign * x, and power times 2^kShift. REQUIRES: -87.3 <= kSign * x <= 88.
template <int kSign = 1, int kShift = 0>
TFAOT_INLINE Reduced reduce(Floats x) {
  // Adding so large a number leaves n in its last bits, with the bias of an exponent.
  constexpr float kRounder = 12582912.0F + (127.0F + kShift);
  constexpr float kLog2E = 1.44269504F;
  constexpr float kLn2High = 0.693145751953125F;  // few bits: its multiples by n are exact
  constexpr float kLn2Low = 1.42860677e-6F;
  const Floats shifted = kSign > 0 ? x * kLog2E + kRounder : kRounder - x * kLog2E;
  const Floats n = shifted - kRounder;
  Bits bits;
  __builtin_memcpy(&bits, &shifted, sizeof bits);
  bits <<= 23;
  Reduced reduced;
  __builtin_memcpy(&reduced.power, &bits, sizeof bits);
  const Floats high = kSign > 0 ? x - n * kLn2High : -(n * kLn2High) - x;
  reduced.rest = high - n * kLn2Low;
  return reduced;
}

TFAOT_INLINE Floats between(float low, Floats x, float high) {
  const Floats zero = {};
  return smaller_of<float>(zero + high, larger_of<float>(zero + low, x));
}

template <int kCount>
TFAOT_INLINE Floats polynomial(const float (&of)[kCount], Floats t) {
  Floats sum = t * of[kCount - 1] + of[kCount - 2];
  TFAOT_UNROLL
  for (int i = kCount - 3; i >= 0; --i) sum = sum * t + of[i];
  return sum;
}

// (exp(r) - 1 - r) / r^2 for |r| <= log(2) / 2, fitted for the relative error of exp(r) - 1: 2e-8.
constexpr float kExpm1[] = {0.49999997F, 0.16666543F, 0.0416672F, 0.0083665475F, 0.0013882517F};

// exp(rest) - 1
TFAOT_INLINE Floats little_expm1(Floats r) {
  const Floats square = r * r;
  const Floats high = square * kExpm1[4] + (r * kExpm1[3] + kExpm1[2]);
  return (square * high + (r * kExpm1[1] + kExpm1[0])) * square + r;
}

// 1 + exp(-x), so that 1 / it is sigmoid(x). For x < -87 that stays what it is there, 1.6e-38.
TFAOT_INLINE Floats sigmoid_divisor(Floats x) {
  const Reduced reduced = reduce<-1>(between(-87.0F, x, 87.0F));
  return (reduced.power * little_expm1(reduced.rest) + 1.0F) + reduced.power;
}

// |tanh(x)| = above / below: (1 - exp(-2 |x|)) / 2 and (1 + exp(-2 |x|)) / 2. Beyond 9.1 it is 1 to
// all bits. Each is rounded alone; by exp(2 |x|) the errors of small numbers would be larger.
struct TanhParts {
  Floats above, below;
};

TFAOT_INLINE TanhParts tanh_parts(Floats x) {
  Bits bits;
  __builtin_memcpy(&bits, &x, sizeof bits);
  bits |= INT32_MIN;
  Floats minus;
  __builtin_memcpy(&minus, &bits, sizeof minus);
  const Reduced half = reduce<1, -1>(larger_of<float>(Floats{} - 18.2F, minus + minus));
  const Floats change = little_expm1(half.rest);
  return {(0.5F - half.power) - half.power * change, (0.5F + half.power) + half.power * change};
}

// `size`, which is not negative, with the sign of x.
TFAOT_INLINE Floats with_sign_of(Floats x, Floats size) {
  Bits bits, sign;
  __builtin_memcpy(&sign, &x, sizeof sign);
  __builtin_memcpy(&bits, &size, sizeof bits);
  bits |= sign & INT32_MIN;
  Floats result;
  __builtin_memcpy(&result, &bits, sizeof result);
  return result;
}

TFAOT_INLINE Floats tanh_of(Floats x) {
  const TanhParts parts = tanh_parts(x);
  return with_sign_of(x, parts.above / parts.below);
}

}  // namespace
