// SPDX-License-Identifier: Apache-2.0
#include "tfaot/runtime/half.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

namespace {

using tfaot::bfloat16;
using tfaot::float16;

template <class Half>
struct Format;
template <>
struct Format<float16> {
  static constexpr int kMantissa = 10;
  static constexpr int kBias = 15;
};
template <>
struct Format<bfloat16> {
  static constexpr int kMantissa = 7;
  static constexpr int kBias = 127;
};

// What IEEE 754 says of the bits, without their sign.
template <class Half>
double meaning_of(unsigned bits) {
  using F = Format<Half>;
  const unsigned exponent = bits >> F::kMantissa;
  const unsigned mantissa = bits & ((1U << F::kMantissa) - 1);
  if (exponent == 2 * F::kBias + 1U) {
    return mantissa == 0 ? std::numeric_limits<double>::infinity()
                         : std::numeric_limits<double>::quiet_NaN();
  }
  const unsigned first = exponent == 0 ? 0U : 1U << F::kMantissa;
  const int power = static_cast<int>(exponent == 0 ? 1 : exponent) - F::kBias - F::kMantissa;
  return std::ldexp(static_cast<double>(first | mantissa), power);
}

template <class Half>
class HalfTest : public ::testing::Test {
 protected:
  // All without a sign: zero, ascending numbers, infinity, NaN.
  static constexpr unsigned kInfinity = (2 * Format<Half>::kBias + 1U) << Format<Half>::kMantissa;
  static constexpr unsigned kSign = 0x8000;

  static Half of_bits(unsigned bits) { return Half::from_bits(static_cast<std::uint16_t>(bits)); }

  // Rounds `value` and its negative, from a double, and from a float if it is one.
  static void expect_rounds(double value, unsigned bits) {
    EXPECT_EQ(Half(value).bits(), bits) << value;
    EXPECT_EQ(Half(-value).bits(), kSign | bits) << -value;
    const auto narrow = static_cast<float>(value);
    if (double{narrow} != value) return;
    EXPECT_EQ(Half(narrow).bits(), bits) << value;
  }
};
using Halves = ::testing::Types<float16, bfloat16>;
TYPED_TEST_SUITE(HalfTest, Halves, );

TYPED_TEST(HalfTest, EveryNumberIsWhatItsBitsSay) {
  for (unsigned bits = 0; bits <= this->kInfinity; ++bits) {
    const float number = this->of_bits(bits);
    const float negative = this->of_bits(bits | this->kSign);
    ASSERT_EQ(double{number}, meaning_of<TypeParam>(bits)) << bits;
    ASSERT_EQ(negative, -number) << bits;
    ASSERT_FALSE(std::signbit(number)) << bits;
    ASSERT_TRUE(std::signbit(negative)) << bits;
  }
}

TYPED_TEST(HalfTest, EveryNumberComesBack) {
  for (unsigned bits = 0; bits <= this->kInfinity; ++bits) {
    this->expect_rounds(double{float{this->of_bits(bits)}}, bits);
    if (this->HasFailure()) return;
  }
}

TYPED_TEST(HalfTest, EveryNanStaysOneWithItsSign) {
  for (unsigned bits = this->kInfinity + 1; bits < this->kSign; ++bits) {
    for (const unsigned sign : {0U, this->kSign}) {
      const float number = this->of_bits(bits | sign);
      ASSERT_TRUE(std::isnan(number)) << bits;
      ASSERT_EQ(std::signbit(number), sign != 0) << bits;
      const TypeParam again(number);
      ASSERT_GT(again.bits() & ~this->kSign, this->kInfinity) << bits;
      ASSERT_EQ(again.bits() & this->kSign, sign) << bits;
    }
  }
  // One whose bits all are behind those that a half has.
  const std::uint32_t low = 0x7f800001;
  float number = 0;
  std::memcpy(&number, &low, sizeof number);
  EXPECT_TRUE(std::isnan(float{TypeParam(number)}));
}

// Between every two neighbours: the middle goes to the even one, all else to the nearer one. Beyond
// the largest number is infinity, from the middle to the next number that would be.
TYPED_TEST(HalfTest, RoundsToTheNearestEven) {
  for (unsigned bits = 0; bits < this->kInfinity; ++bits) {
    const double low = meaning_of<TypeParam>(bits);
    const double step = low - meaning_of<TypeParam>(bits == 0 ? 0 : bits - 1);
    const double high = bits + 1 == this->kInfinity ? low + step : meaning_of<TypeParam>(bits + 1);
    const double middle = low + (high - low) / 2;
    const unsigned even = bits % 2 == 0 ? bits : bits + 1;
    this->expect_rounds(middle, even);
    this->expect_rounds(std::nextafter(middle, low), bits);
    this->expect_rounds(std::nextafter(middle, high), bits + 1);
    this->expect_rounds(double{std::nextafter(static_cast<float>(middle), 0.0F)}, bits);
    if (this->HasFailure()) return;
  }
}

TYPED_TEST(HalfTest, TooLargeAndTooSmallNumbers) {
  using Double = std::numeric_limits<double>;
  this->expect_rounds(Double::max(), this->kInfinity);
  this->expect_rounds(double{std::numeric_limits<float>::max()}, this->kInfinity);
  this->expect_rounds(Double::infinity(), this->kInfinity);
  this->expect_rounds(Double::min(), 0);
  this->expect_rounds(Double::denorm_min(), 0);
  this->expect_rounds(double{std::numeric_limits<float>::denorm_min()}, 0);
  this->expect_rounds(0.0, 0);
}

TYPED_TEST(HalfTest, HasLimits) {
  using Limits = std::numeric_limits<TypeParam>;
  using F = Format<TypeParam>;
  static_assert(Limits::is_specialized && Limits::is_signed && !Limits::is_integer);
  static_assert(Limits::digits == F::kMantissa + 1 && Limits::max_exponent == F::kBias + 1);
  EXPECT_EQ(float{Limits::min()}, std::ldexp(1.0F, Limits::min_exponent - 1));
  EXPECT_EQ(Limits::max().bits() + 1U, this->kInfinity);
  EXPECT_EQ(float{Limits::lowest()}, -float{Limits::max()});
  EXPECT_EQ(float{Limits::epsilon()}, std::ldexp(1.0F, -F::kMantissa));
  EXPECT_EQ(float{Limits::round_error()}, 0.5F);
  EXPECT_TRUE(std::isinf(Limits::infinity()));
  EXPECT_TRUE(std::isnan(Limits::quiet_NaN()));
  EXPECT_TRUE(std::isnan(Limits::signaling_NaN()));
  EXPECT_EQ(float{Limits::denorm_min()}, std::ldexp(1.0F, 1 - F::kBias - F::kMantissa));
}

TEST(Half, DigitsAreThoseOfDecimalNumbers) {
  using Float16 = std::numeric_limits<float16>;
  static_assert(Float16::digits10 == 3 && Float16::max_digits10 == 5);
  static_assert(Float16::min_exponent10 == -4 && Float16::max_exponent10 == 4);
  using Bfloat16 = std::numeric_limits<bfloat16>;
  static_assert(Bfloat16::digits10 == 2 && Bfloat16::max_digits10 == 4);
  static_assert(Bfloat16::min_exponent10 == -37 && Bfloat16::max_exponent10 == 38);
  EXPECT_EQ(float{Float16::max()}, 65504.0F);
}

TEST(Half, ComputesAsFloat) {
  const float16 third(1.0 / 3);
  const bfloat16 two(2);
  static_assert(std::is_same_v<decltype(third * two), float>);
  EXPECT_FLOAT_EQ(third * 3, 0.9997559F);
  EXPECT_TRUE(third < two && third != two && -two == bfloat16(-2.0F) && two == 2.0);
  EXPECT_EQ(float{float16()}, 0.0F);
  EXPECT_EQ(float{bfloat16{}}, 0.0F);
  const std::vector<float> floats = {0.5F, -1};
  const std::vector<float16> halves(floats.begin(), floats.end());
  EXPECT_EQ(halves[1], -1.0F);
  static_assert(!std::is_convertible_v<float, float16> && std::is_convertible_v<float16, double>);
}

}  // namespace
