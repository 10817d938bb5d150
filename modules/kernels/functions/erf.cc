// SPDX-License-Identifier: Apache-2.0
#include "parts.h"
#include "tfaot/kernels/functions.h"

// From 6 on it is 1.
double tfaot_erf_f64(double x) {
  const double size = size_of(x);
  if (x != x) return x + x;
  if (size < 0.5) return x + x * polynomial(kErfNearZero, x * x);
  if (!(size < 6)) return with_sign(1, x);
  const auto interval = static_cast<std::int64_t>(size * 2);
  const double t = size - static_cast<double>(2 * interval + 1) / 4;
  const ErfInterval& of = kErf[interval - 1];
  return with_sign(of.middle + t * polynomial(of.others, t), x);
}

float tfaot_erf_f32(float x) { return static_cast<float>(tfaot_erf_f64(x)); }
