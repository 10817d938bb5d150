// SPDX-License-Identifier: Apache-2.0
#include "parts.h"
#include "tfaot/kernels/functions.h"

namespace {

// x = quadrant * pi / 2 + rest, where the quadrant counts modulo 4.
struct Angle {
  std::uint64_t quadrant;
  Pair rest;
};

// REQUIRES: 0 <= x < 2^10.
inline Angle small_angle(double x) {
  const Rounded n = rounded(x * kTwoOverPi);
  const Pair first = sum_of(x - n.value * kHalfPi[0], -n.value * kHalfPi[1]);
  const Pair rest = ordered_sum(first.high, first.low - n.value * kHalfPi[2]);
  return {static_cast<std::uint64_t>(n.number), rest};
}

// x is a whole number times a power of two. The product with 192 digits of 2 / pi, those that count
// modulo 4, is the quadrant and a fraction of 190 bits. REQUIRES: x >= 1.
inline Angle large_angle(double x) {
  const std::uint64_t number = (bits_of(x) & ((std::uint64_t{1} << 52) - 1)) | std::uint64_t{1}
                                                                                   << 52;
  const std::uint64_t place = (bits_of(x) >> 52) - 1075 + 62;
  const std::uint64_t* const digits = kTwoOverPiDigits + place / 64;
  const auto word = [&](int i) {
    const Wide two = Wide{digits[i]} << 64 | digits[i + 1];
    return static_cast<std::uint64_t>(two >> (64 - place % 64));
  };
  const Wide sum =
      (Wide{number} * word(2) >> 64) + Wide{number} * word(1) + (Wide{number * word(0)} << 64);
  const auto quadrant = static_cast<std::uint64_t>((sum + (Wide{1} << 125)) >> 126);
  const auto fraction = static_cast<SignedWide>(sum << 2) >> 2;  // of 2^126, from -1/2 to 1/2
  const auto high = static_cast<std::int64_t>(fraction >> 64);
  const auto low = static_cast<std::uint64_t>(fraction);
  const Pair most = ordered_sum(static_cast<double>(high >> 32) * 0x1p96,
                                static_cast<double>(high & 0xFFFFFFFF) * 0x1p64);
  const double least =
      static_cast<double>(low >> 32) * 0x1p32 + static_cast<double>(low & 0xFFFFFFFF);
  const Pair turns = sum_of(most.high, most.low + least);
  const Pair product = product_of(turns.high * 0x1p-126, kHalfPiPair[0]);
  const Pair rest = ordered_sum(product.high, product.low + turns.high * 0x1p-126 * kHalfPiPair[1] +
                                                  turns.low * 0x1p-126 * kHalfPiPair[0]);
  return {quadrant, rest};
}

// REQUIRES: 0 <= x < infinity.
inline Angle angle(double x) { return x < 0x1p10 ? small_angle(x) : large_angle(x); }

// The same for floats, whose rest is not as small.
struct FloatAngle {
  std::uint64_t quadrant;
  double rest;
};

inline FloatAngle float_angle(double x) {
  if (x >= 0x1p20) {
    const Angle of = large_angle(x);
    return {of.quadrant, of.rest.high};
  }
  const Rounded n = rounded(x * kTwoOverPi);
  return {static_cast<std::uint64_t>(n.number),
          x - n.value * kHalfPiOfFloat[0] - n.value * kHalfPiOfFloat[1]};
}

// The cosine of the rest if `quadrant` is odd, else the sine, with the sign of the quadrant. No
// branch: quadrants are random.
inline double of_rest(Pair rest, std::uint64_t quadrant) {
  const bool is_odd = quadrant % 2 != 0;
  const double square = rest.high * rest.high;
  const Pair one = ordered_sum(1, -0.5 * square);
  const double most = is_odd ? one.high : rest.high;
  const double least = is_odd ? one.low - rest.high * rest.low : rest.low * one.high;
  const double factor = square * (is_odd ? square : rest.high);
  const double size = most + (factor * polynomial(kSinCos[quadrant % 2], square) + least);
  return double_of(bits_of(size) ^ (quadrant << 62 & kSignBit));
}

// Fewer coefficients and the rest in one number are enough for floats.
inline float float_of_rest(double rest, std::uint64_t quadrant) {
  const bool is_odd = quadrant % 2 != 0;
  const double square = rest * rest;
  const double most = is_odd ? 1 - 0.5 * square : rest;
  const double factor = square * (is_odd ? square : rest);
  const double size = most + factor * polynomial(kSinCosOfFloat[quadrant % 2], square);
  return static_cast<float>(double_of(bits_of(size) ^ (quadrant << 62 & kSignBit)));
}

// Half a circle for negative x: the sine of the sum is that of x, not of its size.
inline std::uint64_t turn_of(double x) { return bits_of(x) >> 62 & 2; }

// The sine and the cosine, of which a caller may need one.
template <typename T>
inline void sin_and_cos(T x, T* sin, T* cos) {
  if (!(size_of(x) < kInfinity)) {
    *sin = *cos = x != x ? x + x : static_cast<T>(kNan);
  } else if constexpr (sizeof(T) == sizeof(float)) {
    const FloatAngle of = float_angle(size_of(x));
    *sin = float_of_rest(of.rest, of.quadrant + turn_of(x));
    *cos = float_of_rest(of.rest, of.quadrant + 1);
  } else {
    const Angle of = angle(size_of(x));
    *sin = of_rest(of.rest, of.quadrant + turn_of(x));
    *cos = of_rest(of.rest, of.quadrant + 1);
  }
}

template <typename T>
inline T sin_of(T x) {
  T sin;
  T cos;
  sin_and_cos(x, &sin, &cos);
  return sin;
}

template <typename T>
inline T cos_of(T x) {
  T sin;
  T cos;
  sin_and_cos(x, &sin, &cos);
  return cos;
}

}  // namespace

double tfaot_cos_f64(double x) { return cos_of(x); }
float tfaot_cos_f32(float x) { return cos_of(x); }
double tfaot_sin_f64(double x) { return sin_of(x); }
float tfaot_sin_f32(float x) { return sin_of(x); }
void tfaot_sincos_f64(double x, double* sin, double* cos) { sin_and_cos(x, sin, cos); }
void tfaot_sincos_f32(float x, float* sin, float* cos) { sin_and_cos(x, sin, cos); }
