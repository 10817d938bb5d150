// SPDX-License-Identifier: Apache-2.0
// Conversions of 16-bit floats, and powers of a whole number. Compilers call them by these names if
// the processor has no instruction for them. libgcc has them since GCC 12 (float16) and 13
// (bfloat16). Programs may be linked with older ones, so the runtime brings its own; they are weak,
// because a newer libgcc may be linked too. Rounding is to the nearest, ties to even; doubles are
// rounded twice, as in TensorFlow.
#include <cstdint>
#include <cstring>

namespace {

// A 16-bit float is passed in the low bits of the register of a float, on x86-64 and aarch64.
using Half = float;

std::uint32_t bits_of(float value) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

float float_of(std::uint32_t bits) {
  float value = 0;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

constexpr std::uint32_t kSign = 0x80000000U;
constexpr std::uint32_t kInfinity = 0x7f800000U;

// Rounds the low `count` bits away.
std::uint32_t rounded(std::uint32_t bits, unsigned count) {
  return bits + (1U << (count - 1)) - 1 + ((bits >> count) & 1U);
}

std::uint32_t float16_of(float value) {
  constexpr std::uint32_t kTooLarge = 0x47800000U;     // 65536
  constexpr std::uint32_t kSmallNormal = 0x38800000U;  // 2^-14
  constexpr std::uint32_t kHalf = 0x3f000000U;         // 0.5: its last bit is worth 2^-24
  const std::uint32_t sign = (bits_of(value) & kSign) >> 16;
  const std::uint32_t bits = bits_of(value) & ~kSign;
  if (bits > kInfinity) return sign | 0x7e00U;
  if (bits >= kTooLarge) return sign | 0x7c00U;
  if (bits < kSmallNormal) return sign | (bits_of(float_of(bits) + float_of(kHalf)) - kHalf);
  return sign | ((rounded(bits, 13) >> 13) - (112U << 10));
}

float float_of_float16(std::uint32_t half) {
  const std::uint32_t sign = (half & 0x8000U) << 16;
  const std::uint32_t bits = half & 0x7fffU;
  if (bits >= 0x7c00U) return float_of(sign | kInfinity | (bits & 0x3ffU) << 13);
  if (bits >= 0x400U) return float_of(sign | ((bits << 13) + (112U << 23)));
  constexpr float kLeast = 1.0F / (1 << 24);
  return float_of(sign | bits_of(static_cast<float>(bits) * kLeast));
}

std::uint32_t bfloat16_of(float value) {
  const std::uint32_t bits = bits_of(value);
  if ((bits & ~kSign) > kInfinity) return bits >> 16 | 0x40U;
  return rounded(bits, 16) >> 16;
}

template <typename T>
T power(T base, std::int32_t exponent) {
  T result = 1;
  for (std::int32_t left = exponent; left != 0; left /= 2, base *= base) {
    if (left % 2 != 0) result *= base;
  }
  return exponent < 0 ? 1 / result : result;
}

}  // namespace

#define TFAOT_HELPER extern "C" __attribute__((weak))

TFAOT_HELPER float __extendhfsf2(Half half) { return float_of_float16(bits_of(half) & 0xffffU); }
TFAOT_HELPER double __extendhfdf2(Half half) { return __extendhfsf2(half); }
TFAOT_HELPER Half __truncsfhf2(float value) { return float_of(float16_of(value)); }
TFAOT_HELPER Half __truncdfhf2(double value) { return __truncsfhf2(static_cast<float>(value)); }
TFAOT_HELPER float __gnu_h2f_ieee(Half half) { return __extendhfsf2(half); }
TFAOT_HELPER Half __gnu_f2h_ieee(float value) { return __truncsfhf2(value); }
TFAOT_HELPER Half __truncsfbf2(float value) { return float_of(bfloat16_of(value)); }
TFAOT_HELPER Half __truncdfbf2(double value) { return __truncsfbf2(static_cast<float>(value)); }
TFAOT_HELPER float __powisf2(float base, std::int32_t exponent) { return power(base, exponent); }
TFAOT_HELPER double __powidf2(double base, std::int32_t exponent) { return power(base, exponent); }
