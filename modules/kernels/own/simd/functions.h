// SPDX-License-Identifier: Apache-2.0
// Exponentials of vectors of float32, the fractions that sigmoid and tanh are computed from, the
// curve of gelu, and the functions of tfaot/kernels/abi.h. NaN stays NaN.
// 1 / sigmoid_divisor() and tanh_of() are right to 2 ulp (activations_test.cc).
#pragma once

#include "simd/kernel.h"
#include "tfaot/kernels/abi.h"

namespace {

// x = n * log(2) + rest with |rest| <= log(2) / 2.
struct Reduced {
  Floats power;  // 2^n
  Floats rest;
};

// Reduces kSign * x, and multiplies the power by 2^kShift. REQUIRES: -87.3 <= kSign * x <= 88.
template <int kSign = 1, int kShift = 0>
TFAOT_INLINE Reduced reduce(Floats x) {
  // Adding a number this large leaves n in its last bits, with the bias of an exponent.
  constexpr float kRounder = 12582912.0F + (127.0F + kShift);
  constexpr float kLog2E = 1.44269504F;
  constexpr float kLn2High = 0.693145751953125F;  // few bits: its multiples by n are exact
  constexpr float kLn2Low = 1.42860677e-6F;
  const Floats shifted = multiply_add<kSign>(x, kLog2E, kRounder);
  const Floats n = shifted - kRounder;
  const Floats high = multiply_add<-1, kSign>(n, kLn2High, x);
  return {Floats(Bits(shifted) << 23), multiply_add<-1>(n, kLn2Low, high)};
}

TFAOT_INLINE Floats between(float low, Floats x, float high) {
  const Floats zero = {};
  return smaller_of<float>(zero + high, larger_of<float>(zero + low, x));
}

template <int kCount>
TFAOT_INLINE Floats polynomial(const float (&of)[kCount], Floats t) {
  Floats sum = multiply_add(t, of[kCount - 1], of[kCount - 2]);
  TFAOT_FOR (int i = kCount - 3; i >= 0; --i) sum = multiply_add(sum, t, of[i]);
  return sum;
}

// (exp(r) - 1 - r) / r^2 for |r| <= log(2) / 2, fitted for the relative error of exp(r) - 1: 2e-8.
constexpr float kExpm1[] = {0.49999997F, 0.16666543F, 0.0416672F, 0.0083665475F, 0.0013882517F};

// exp(rest) - 1
TFAOT_INLINE Floats little_expm1(Floats r) {
  const Floats square = r * r;
  const Floats high = multiply_add(square, kExpm1[4], multiply_add(r, kExpm1[3], kExpm1[2]));
  const Floats low = multiply_add(r, kExpm1[1], kExpm1[0]);
  return multiply_add(multiply_add(square, high, low), square, r);
}

// 1 + exp(-x), the inverse of sigmoid(x). For x < -87 the sigmoid stays 1.6e-38.
TFAOT_INLINE Floats sigmoid_divisor(Floats x) {
  const Reduced reduced = reduce<-1>(between(-87.0F, x, 87.0F));
  return multiply_add(reduced.power, little_expm1(reduced.rest), 1.0F) + reduced.power;
}

// |tanh(x)| = above / below: (1 - exp(-2 |x|)) / 2 and (1 + exp(-2 |x|)) / 2. Beyond 9.1 it is 1 to
// all bits. Each is rounded alone; with exp(2 |x|) the errors of small numbers would be larger.
struct TanhParts {
  Floats above, below;
};

TFAOT_INLINE TanhParts tanh_parts(Floats x) {
  const auto minus = Floats(Bits(x) | INT32_MIN);
  const Reduced half = reduce<1, -1>(larger_of<float>(Floats{} - 18.2F, minus + minus));
  const Floats change = little_expm1(half.rest);
  return {multiply_add<-1>(half.power, change, 0.5F - half.power),
          multiply_add(half.power, change, 0.5F + half.power)};
}

// `size`, which is not negative, with the sign of x.
TFAOT_INLINE Floats with_sign_of(Floats x, Floats size) {
  return Floats(Bits(size) | (Bits(x) & INT32_MIN));
}

TFAOT_INLINE Floats tanh_of(Floats x) {
  const TanhParts parts = tanh_parts(x);
  return with_sign_of(x, parts.above / parts.below);
}

// gelu is x times a curve from 0 to 1, which is (1 + erf(x / sqrt(2))) / 2 or TensorFlow's
// approximation of it, (1 + tanh(sqrt(2 / pi) * (x + 0.044715 x^3))) / 2. The curve is right to
// 2e-7. Where it is less than that it is 0, so that gelu(-infinity) is NaN, as in the formula.

// The curve minus 1/2 is x times a fraction of polynomials of x^2 up to a limit, where it is 1/2 to
// all bits, with and without fused multiply-adds.
struct GeluFraction {
  float limit, above[5], below[6];
};
constexpr GeluFraction kGeluFractions[] = {  // by form
    {5.49F,
     {0.398941607F, 0.0595491128F, 0.00624866625F, 0.000425031405F, 7.58949762e-6F},
     {1.0F, 0.315922854F, 0.0433377156F, 0.00334925857F, 0.000152627402F, 6.19747604e-7F}},
    {4.95F,
     {0.398941994F, 0.0374258496F, 0.00372740789F, 0.000170138126F, 4.55860572e-6F},
     {1.0F, 0.261300057F, 0.0275445208F, 0.0014682801F, 7.4394804e-5F, 4.38594412e-7F}}};

template <GeluForm kForm>
TFAOT_INLINE Floats gelu_of(Floats x) {
  constexpr const GeluFraction& kFraction = kGeluFractions[kForm];
  const Floats near = between(-kFraction.limit, x, kFraction.limit);
  const Floats t = near * near;
  return x * (near * polynomial(kFraction.above, t) / polynomial(kFraction.below, t) + 0.5F);
}

// (atanh(s) / s - 1) / s^2 as a polynomial of s^2 for s <= 1/3, fitted for the relative error of
// atanh(s): 2e-10.
constexpr float kAtanh[] = {0.333333373F, 0.199994445F, 0.143082976F, 0.107153706F, 0.121447794F};

// log(1 + t) for 0 <= t <= 1, which is 2 atanh(t / (2 + t)).
TFAOT_INLINE Floats log1p_of(Floats t) {
  const Floats s = t / (t + 2.0F);
  const Floats double_s = s + s;
  return multiply_add(double_s * (s * s), polynomial(kAtanh, s * s), double_s);
}

// log(1 + exp(x)); for x < -87 it stays 1.6e-38.
TFAOT_INLINE Floats softplus_of(Floats x) {
  const Floats size = x < 0.0F ? -x : x;
  const Reduced reduced = reduce(between(-87.0F, -size, 0.0F));
  const Floats power = multiply_add(reduced.power, little_expm1(reduced.rest), reduced.power);
  return relu<float>(x) + log1p_of(power);
}

// exp(x) - 1 for x <= 0, right to 1.6 ulp.
TFAOT_INLINE Floats expm1_of_negative(Floats x) {
  const Reduced reduced = reduce(between(-87.0F, x, 0.0F));
  return multiply_add(reduced.power, little_expm1(reduced.rest), reduced.power - 1.0F);
}

// A function of results. above, below: the two numbers that some of them have.
template <Function kKind>
TFAOT_INLINE Floats function_of(Floats x, float above, float below) {
  if constexpr (kKind == kFunctionTanh) return tanh_of(x);
  if constexpr (kKind == kFunctionSigmoid) return 1.0F / sigmoid_divisor(x);
  if constexpr (kKind == kFunctionSwish) {
    // Below -87, where sigmoid_divisor() stops growing, sigmoid(x) is taken as 0.
    return x * (x < -87.0F ? Floats{} : 1.0F / sigmoid_divisor(x));
  }
  if constexpr (kKind == kFunctionGelu) return gelu_of<kGeluErf>(x);
  if constexpr (kKind == kFunctionGeluTanh) return gelu_of<kGeluTanh>(x);
  if constexpr (kKind == kFunctionSoftplus) return softplus_of(x);
  if constexpr (kKind == kFunctionLeaky) return x > 0.0F ? x * above : x * below;
  if constexpr (kKind == kFunctionElu) {
    return x > 0.0F ? x * above : expm1_of_negative(x) * below;
  }
  if constexpr (kKind == kFunctionHardSigmoid) {
    return smaller_of<float>(Floats{} + 1.0F, relu<float>(multiply_add(x, above, below)));
  }
  if constexpr (kKind == kFunctionHardSwish) {  // as in the formula, of -infinity it is NaN
    return x * function_of<kFunctionHardSigmoid>(x, above, below);
  }
}

}  // namespace
