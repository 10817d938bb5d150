// SPDX-License-Identifier: Apache-2.0
#include "exp.h"

#include "tfaot/kernels/functions.h"

double tfaot_exp_f64(double x) { return exp_of(x, 0); }

double tfaot_exp2_f64(double x) {
  constexpr double kLeast = -1100;
  constexpr double kLargest = 1025;
  if (!(x > kLeast)) return x <= kLeast ? 0 : x + x;
  if (x > kLargest) return kInfinity;
  const Rounded k = rounded(x * 64);
  const double r = (x - k.value * (1.0 / 64)) * kWholeLn2;
  return value_of({k.number >> 6, kExpSteps[k.number & 63], r + r * r * polynomial(kExp, r)});
}

// With e = exp(2 |x|) - 1 it is e / (e + 2), right near 0 too. From 20 on it is 1.
double tfaot_tanh_f64(double x) {
  if (x != x) return x + x;
  const double size = size_of(x) < 20 ? size_of(x) : 20;
  const Exponential of = exponential(2 * size, 0);
  const double power = power_of_two(of.n);
  const double step = power * of.step.high;
  const Pair e = ordered_sum(step - 1, power * of.step.low + step * of.change);
  const Pair below = ordered_sum(2, e.high);
  const double quotient = e.high / below.high;
  const double left = e.low - quotient * (below.low + e.low);
  const double tanh = quotient + left * (0.5 - 0.5 * quotient);  // left / below
  return with_sign(tanh < 1 ? tanh : 1, x);
}

float tfaot_exp_f32(float x) { return x != x ? x + x : float_exp2(within_floats(x * kLog2E)); }
float tfaot_exp2_f32(float x) { return x != x ? x + x : float_exp2(within_floats(x)); }
float tfaot_tanh_f32(float x) { return static_cast<float>(tfaot_tanh_f64(x)); }
