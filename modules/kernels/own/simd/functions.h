// SPDX-License-Identifier: Apache-2.0
// The functions of tfaot/kernels/functions.h, of vectors of float32. What becomes of NaN stays NaN.
#pragma once

#include "simd/gelu.h"
#include "simd/kernel.h"

namespace {

struct TanhOf {
  explicit TanhOf(const ResultFunction& /*of*/) {}
  TFAOT_INLINE Floats operator()(Floats x) const { return tanh_of(x); }
};

struct SigmoidOf {
  explicit SigmoidOf(const ResultFunction& /*of*/) {}
  TFAOT_INLINE Floats operator()(Floats x) const { return 1.0F / sigmoid_divisor(x); }
};

// Below -87, where sigmoid_divisor() does not grow any more, sigmoid(x) is 0.
struct SwishOf {
  explicit SwishOf(const ResultFunction& /*of*/) {}
  TFAOT_INLINE Floats operator()(Floats x) const {
    const Floats zero = {};
    return x * (x < -87.0F ? zero : 1.0F / sigmoid_divisor(x));
  }
};

template <GeluForm kForm>
struct GeluOf {
  explicit GeluOf(const ResultFunction& /*of*/) {}
  TFAOT_INLINE Floats operator()(Floats x) const { return x * curve.of(x); }
  GeluCurve<kForm> curve;
};

// (atanh(s) / s - 1) / s^2 by s^2 for s <= 1/3, fitted for the relative error of atanh(s): 2e-10.
constexpr float kAtanh[] = {0.333333373F, 0.199994445F, 0.143082976F, 0.107153706F, 0.121447794F};

// log(1 + t) for 0 <= t <= 1, which is 2 atanh(t / (2 + t)).
TFAOT_INLINE Floats log1p_of(Floats t) {
  const Floats s = t / (t + 2.0F);
  const Floats double_s = s + s;
  return double_s + double_s * (s * s) * polynomial(kAtanh, s * s);
}

// log(1 + exp(x)), which for x < -87 stays what it is there, 1.6e-38.
struct SoftplusOf {
  explicit SoftplusOf(const ResultFunction& /*of*/) {}
  TFAOT_INLINE Floats operator()(Floats x) const {
    const Floats zero = {};
    const Floats size = x < 0.0F ? -x : x;
    const Reduced reduced = reduce(between(-87.0F, -size, 0.0F));
    const Floats power = reduced.power * little_expm1(reduced.rest) + reduced.power;
    return larger_of<float>(zero, x) + log1p_of(power);
  }
};

struct LeakyOf {
  explicit LeakyOf(const ResultFunction& of)
      : above(static_cast<float>(of.above)), below(static_cast<float>(of.below)) {}
  TFAOT_INLINE Floats operator()(Floats x) const { return x > 0.0F ? x * above : x * below; }
  float above, below;
};

// exp(x) - 1 for -87.3 <= x <= 88, right to 1.6 ulp.
TFAOT_INLINE Floats expm1_of(Floats x) {
  const Reduced reduced = reduce(x);
  return reduced.power * little_expm1(reduced.rest) + (reduced.power - 1.0F);
}

struct EluOf {
  explicit EluOf(const ResultFunction& of)
      : above(static_cast<float>(of.above)), below(static_cast<float>(of.below)) {}
  TFAOT_INLINE Floats operator()(Floats x) const {
    return x > 0.0F ? x * above : expm1_of(between(-87.0F, x, 0.0F)) * below;
  }
  float above, below;
};

// As the formula has it, hard swish of -infinity is NaN.
struct HardSigmoidOf {
  explicit HardSigmoidOf(const ResultFunction& of)
      : above(static_cast<float>(of.above)), below(static_cast<float>(of.below)) {}
  TFAOT_INLINE Floats operator()(Floats x) const {
    const Floats zero = {};
    return smaller_of<float>(zero + 1.0F, larger_of<float>(zero, x * above + below));
  }
  float above, below;
};

struct HardSwishOf {
  explicit HardSwishOf(const ResultFunction& of) : gate(of) {}
  TFAOT_INLINE Floats operator()(Floats x) const { return x * gate(x); }
  HardSigmoidOf gate;
};

}  // namespace
