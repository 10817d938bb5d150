// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace {

inline float size_of_any(float x) { return __builtin_fabsf(x); }
inline double size_of_any(double x) { return __builtin_fabs(x); }
inline float with_sign_of(float size, float of) { return __builtin_copysignf(size, of); }
inline double with_sign_of(double size, double of) { return __builtin_copysign(size, of); }

// The nearest whole number; of two, the even one. Of the sign of x.
template <typename T>
inline T nearest(T x) {
  // From it on, all numbers are whole.
  constexpr T kWhole = sizeof(T) == sizeof(float) ? T{0x1p23} : T{0x1p52};
  const T size = size_of_any(x);
  return size < kWhole ? with_sign_of(size + kWhole - kWhole, x) : x;
}

}  // namespace
