// SPDX-License-Identifier: Apache-2.0
// 16-bit numbers: tfaot::float16 and tfaot::bfloat16, the elements of tensors of these types. They
// are for storage; arithmetic converts them to float. Plain values.
#pragma once

#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "tfaot/runtime/detail/abi.h"

namespace tfaot {
inline namespace TFAOT_RUNTIME_NAMESPACE {

/// A floating-point number of two bytes: a sign, `kExponent` bits of exponent and `kMantissa` of
/// mantissa, in the layout of IEEE 754, with infinities, NaN and subnormal numbers. See
/// tfaot::float16 and tfaot::bfloat16.
///
/// Converts to float implicitly and exactly, so `half * 2.5F` and `std::isnan(half)` compute with
/// floats. The conversion from float rounds, and is explicit: `tfaot::float16(x)`.
template <int kExponent, int kMantissa>
class HalfFloat {
  static_assert(1 + kExponent + kMantissa == 16);

 public:
  /// `HalfFloat()` and `HalfFloat{}` are zero; a variable without an initializer is undefined, as
  /// with float.
  HalfFloat() = default;

  /// The nearest number of this type; ties go to the one whose last bit is zero. Numbers that are
  /// too large become infinite, and NaN stays NaN. Types other than float and double are converted
  /// to double first.
  template <class Number, class = std::enable_if_t<std::is_arithmetic_v<Number>>>
  explicit HalfFloat(Number value) noexcept : bits_(nearest(static_cast<double>(value))) {}

  /// The same number.
  operator float() const noexcept { return widened(); }

  /// The number with these bits: one of sign, then the exponent, then the mantissa.
  static constexpr HalfFloat from_bits(std::uint16_t bits) noexcept { return {Bits{bits}}; }
  /// The bits of this number.
  constexpr std::uint16_t bits() const noexcept { return bits_; }

 private:
  struct Bits {
    std::uint16_t value;
  };
  constexpr HalfFloat(Bits bits) noexcept : bits_(bits.value) {}

  static constexpr int kBias = (1 << (kExponent - 1)) - 1;
  static constexpr std::uint32_t kInfinity = ((1U << kExponent) - 1) << kMantissa;

  static std::uint16_t nearest(double value) noexcept {
    constexpr int kDoubleMantissa = 52;
    constexpr int kDoubleBias = 1023;
    constexpr std::uint64_t kDoubleInfinity = std::uint64_t{0x7ff} << kDoubleMantissa;
    std::uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    const auto sign = static_cast<std::uint32_t>(bits >> 63 << 15);
    const std::uint64_t magnitude = bits << 1 >> 1;
    if (magnitude > kDoubleInfinity) {  // a quiet NaN, with the payload bits that fit
      const auto payload = static_cast<std::uint32_t>(magnitude >> (kDoubleMantissa - kMantissa));
      return static_cast<std::uint16_t>(sign | kInfinity | 1U << (kMantissa - 1) |
                                        (payload & ((1U << kMantissa) - 1)));
    }
    // The exponent as it is stored here. Subnormal numbers keep the smallest, and lose digits.
    int exponent = static_cast<int>(magnitude >> kDoubleMantissa) - kDoubleBias + kBias;
    int dropped = kDoubleMantissa - kMantissa;
    if (exponent < 1) {
      dropped += 1 - exponent;
      exponent = 1;
    }
    constexpr int kAllAndOne = kDoubleMantissa + 2;  // dropping this many digits leaves zero
    if (dropped > kAllAndOne) dropped = kAllAndOne;
    constexpr std::uint64_t kOne = std::uint64_t{1} << kDoubleMantissa;
    const std::uint64_t mantissa = (magnitude & (kOne - 1)) | kOne;
    const std::uint64_t last = mantissa >> dropped & 1U;
    const std::uint64_t rounded =
        (mantissa + (std::uint64_t{1} << (dropped - 1)) - 1 + last) >> dropped;
    // The leading digit, which is not stored, adds one to the exponent; so does a carry.
    const std::uint64_t result = (static_cast<std::uint64_t>(exponent - 1) << kMantissa) + rounded;
    return static_cast<std::uint16_t>(
        sign | (result < kInfinity ? static_cast<std::uint32_t>(result) : kInfinity));
  }

  float widened() const noexcept {
    constexpr int kFloatMantissa = 23;
    constexpr int kFloatBias = 127;
    constexpr int kMore = kFloatMantissa - kMantissa;
    const std::uint32_t sign = (bits_ & 0x8000U) << 16;
    const std::uint32_t magnitude = bits_ & 0x7fffU;
    std::uint32_t bits = magnitude << kMore;
    if (magnitude >= kInfinity) {
      bits |= 0xffU << kFloatMantissa;
    } else if (magnitude >= 1U << kMantissa) {
      bits += static_cast<std::uint32_t>(kFloatBias - kBias) << kFloatMantissa;
    } else if (kBias != kFloatBias) {  // a multiple of the smallest number, which float has
      constexpr std::uint32_t kSmallest =
          static_cast<std::uint32_t>(kFloatBias - kBias - kMantissa + 1) << kFloatMantissa;
      float smallest = 0;
      std::memcpy(&smallest, &kSmallest, sizeof smallest);
      const float number = static_cast<float>(magnitude) * smallest;
      std::memcpy(&bits, &number, sizeof bits);
    }
    bits |= sign;
    float value = 0;
    std::memcpy(&value, &bits, sizeof value);
    return value;
  }

  std::uint16_t bits_;
};

/// IEEE 754's half precision, numpy's `float16`: 11 binary digits, up to 65504. The same bits as
/// `_Float16` and `Eigen::half`.
using float16 = HalfFloat<5, 10>;
/// The first half of a float: 8 binary digits, and the exponents of float. The same bits as
/// `Eigen::bfloat16`.
using bfloat16 = HalfFloat<8, 7>;

static_assert(sizeof(float16) == 2 && std::is_trivial_v<float16>);
static_assert(sizeof(bfloat16) == 2 && std::is_trivial_v<bfloat16>);

}  // namespace TFAOT_RUNTIME_NAMESPACE
}  // namespace tfaot

/// Members that are not redefined are those of float.
template <int kExponent, int kMantissa>
class std::numeric_limits<tfaot::HalfFloat<kExponent, kMantissa>>
    : public std::numeric_limits<float> {
  using Half = tfaot::HalfFloat<kExponent, kMantissa>;
  static constexpr int kBias = (1 << (kExponent - 1)) - 1;
  static constexpr int kInfinity = ((1 << kExponent) - 1) << kMantissa;
  static constexpr Half half(int bits) noexcept {
    return Half::from_bits(static_cast<std::uint16_t>(bits));
  }
  // The decimal digits that this many binary ones hold.
  static constexpr int decimal(int binary) noexcept { return binary * 30103 / 100000; }

 public:
  static constexpr int digits = kMantissa + 1;
  static constexpr int digits10 = decimal(digits - 1);
  static constexpr int max_digits10 = decimal(digits) + 2;
  static constexpr int min_exponent = 2 - kBias;
  static constexpr int min_exponent10 = -decimal(kBias - 1);
  static constexpr int max_exponent = kBias + 1;
  static constexpr int max_exponent10 = decimal(max_exponent);

  static constexpr Half min() noexcept { return half(1 << kMantissa); }
  static constexpr Half max() noexcept { return half(kInfinity - 1); }
  static constexpr Half lowest() noexcept { return half(0x8000 | (kInfinity - 1)); }
  static constexpr Half epsilon() noexcept { return half((kBias - kMantissa) << kMantissa); }
  static constexpr Half round_error() noexcept { return half((kBias - 1) << kMantissa); }
  static constexpr Half infinity() noexcept { return half(kInfinity); }
  static constexpr Half quiet_NaN() noexcept { return half(kInfinity | 1 << (kMantissa - 1)); }
  static constexpr Half signaling_NaN() noexcept { return half(kInfinity | 1); }
  static constexpr Half denorm_min() noexcept { return half(1); }
};
