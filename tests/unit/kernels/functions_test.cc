// SPDX-License-Identifier: Apache-2.0
// The functions in place of the C library's, compared with those of long double: how wrong results
// are, in units of their last place, and what becomes of zeros, infinities and NaN. Their bits are
// those of every machine: on_aarch64.sh runs this, too.
#include "tfaot/kernels/functions.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

namespace tfaot::kernels_test {
namespace {

// The rows of functions.def by form, each with the function that is right.
struct OfOne {
  const char* name;
  float (*f32)(float);
  double (*f64)(double);
  long double (*right)(long double);
};

struct OfTwo {
  const char* name;
  float (*f32)(float, float);
  double (*f64)(double, double);
  long double (*right)(long double, long double);
};

#define TFAOT_ROW(name) {#name, tfaot_##name##_f32, tfaot_##name##_f64, ::name##l},
#define TFAOT_NO_FUNCTION(name)

#define TFAOT_OF_ONE TFAOT_ROW
#define TFAOT_OF_TWO TFAOT_NO_FUNCTION
#define TFAOT_OF_THREE TFAOT_NO_FUNCTION
#define TFAOT_OF_ONE_AND_INT TFAOT_NO_FUNCTION
#define TFAOT_TO_TWO TFAOT_NO_FUNCTION
#define TFAOT_FUNCTION_ROW(name, form) form(name)
constexpr OfOne kOfOne[] = {
#include "tfaot/kernels/functions.def"
};
#undef TFAOT_OF_ONE
#undef TFAOT_OF_TWO
#define TFAOT_OF_ONE TFAOT_NO_FUNCTION
#define TFAOT_OF_TWO TFAOT_ROW
#define TFAOT_FUNCTION_ROW(name, form) form(name)
constexpr OfTwo kOfTwo[] = {
#include "tfaot/kernels/functions.def"
};

template <typename T>
using BitsOf = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;

template <typename T>
BitsOf<T> bits_of(T x) {
  BitsOf<T> bits;
  std::memcpy(&bits, &x, sizeof bits);
  return bits;
}

template <typename T>
T number_of(BitsOf<T> bits) {
  T x;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}

constexpr double kWrong = 1e9;

// In units of the last place.
template <typename T>
double ulps_between(T result, long double right) {
  using Limits = std::numeric_limits<T>;
  if (std::isnan(right) || std::isnan(result))
    return std::isnan(right) == std::isnan(result) ? 0 : kWrong;
  const T nearest = static_cast<T>(right);
  if (std::isinf(nearest) || nearest == 0) {
    if (result == nearest && std::signbit(result) == std::signbit(nearest)) return 0;
    if (std::isinf(nearest) != std::isinf(result) && std::abs(result) < Limits::max())
      return kWrong;
  }
  int exponent = 0;
  std::frexp(std::isinf(nearest) ? Limits::max() : nearest, &exponent);
  const int last = std::max(exponent - Limits::digits, Limits::min_exponent - Limits::digits);
  if (std::isinf(result)) return 1;  // beside the largest number
  return static_cast<double>(std::abs(result - right) / std::ldexp(1.0L, last));
}

// How wrong results may be. Of float: half a unit and 2^-10 more.
template <typename T>
double limit_of(const std::string& name) {
  if (sizeof(T) == sizeof(float)) return 0.501;
  if (name == "tanh" || name == "atan2") return 2.1;
  if (name == "erf") return 1.6;
  if (name == "sin" || name == "cos") return 0.9;
  return name == "exp" || name == "exp2" || name == "pow" ? 1.01
                                                          : 0.51;  // 1 where results are denormal
}

#ifdef TFAOT_TEST_SLOWED
constexpr int kSamples = 20'000;
#else
constexpr int kSamples = 100'000;
#endif

template <typename T>
std::vector<T> special_numbers() {
  using Limits = std::numeric_limits<T>;
  std::vector<T> numbers = {0,
                            Limits::infinity(),
                            Limits::quiet_NaN(),
                            Limits::denorm_min(),
                            Limits::min(),
                            Limits::max(),
                            1,
                            Limits::epsilon(),
                            2,
                            3,
                            4,
                            0.5,
                            1.5,
                            2.5,
                            1 - Limits::epsilon() / 2,
                            1 + Limits::epsilon(),
                            88.7F,
                            103.9F,
                            127,
                            128,
                            149,
                            150,
                            static_cast<T>(709.7),
                            static_cast<T>(709.8),
                            744.5,
                            746,
                            1022,
                            1023.5,
                            1024,
                            1074,
                            1075.5,
                            20,
                            6,
                            1 / Limits::epsilon(),
                            2 / Limits::epsilon() - 1,
                            T{1} / 3,
                            1e5,
                            1e30F,
                            Limits::min() * 0.75F};
  const std::size_t positive = numbers.size();
  for (std::size_t i = 0; i < positive; ++i) numbers.push_back(-numbers[i]);
  return numbers;
}

// Special numbers, all exponents, and numbers around 1, where most are used.
template <typename T>
std::vector<T> samples() {
  std::mt19937_64 random(7);
  std::vector<T> numbers = special_numbers<T>();
  for (int i = 0; i < kSamples; ++i)
    numbers.push_back(number_of<T>(static_cast<BitsOf<T>>(random())));
  std::uniform_real_distribution<T> size(-12, 12);
  for (int i = 0; i < kSamples; ++i) numbers.push_back(size(random));
  std::uniform_real_distribution<T> exponent(-760, 760);
  for (int i = 0; i < kSamples / 4; ++i) numbers.push_back(exponent(random));
  for (int i = 0; i < kSamples / 4; ++i) numbers.push_back(1 + size(random) / 64);
  for (int i = 0; i < kSamples / 4; ++i)
    numbers.push_back(static_cast<T>(i) * static_cast<T>(1.5707963267948966));
  return numbers;
}

template <typename T, typename Function, typename Right>
void expect_one(const char* name, Function function, Right right) {
  double largest = 0;
  T where = 0;
  for (const T x : samples<T>()) {
    const double error = ulps_between(function(x), right(x));
    if (error > largest) {
      largest = error;
      where = x;
    }
  }
  EXPECT_LE(largest, limit_of<T>(name))
      << name << (sizeof(T) == 4 ? "_f32(" : "_f64(") << where << ") = " << function(where);
}

template <typename T, typename Function, typename Right>
void expect_two(const char* name, Function function, Right right) {
  double largest = 0;
  T where[2] = {};
  const auto expect = [&](T x, T y) {
    const double error = ulps_between(function(x, y), right(x, y));
    if (error <= largest) return;
    largest = error;
    where[0] = x;
    where[1] = y;
  };
  const std::vector<T> special = special_numbers<T>();
  for (const T x : special) {
    for (const T y : special) expect(x, y);
  }
  std::vector<T> first = samples<T>();
  std::vector<T> second = first;
  std::shuffle(second.begin(), second.end(), std::mt19937(8));
  for (std::size_t i = 0; i < first.size(); ++i) expect(first[i], second[i]);
  // Powers of all sizes, and remainders of few quotients.
  for (std::size_t i = 0; i < first.size(); ++i) {
    expect(first[i], second[i] / std::log(std::abs(first[i])));
    expect(first[i], first[i] / second[i]);
  }
  EXPECT_LE(largest, limit_of<T>(name))
      << name << (sizeof(T) == 4 ? "_f32(" : "_f64(") << where[0] << ", " << where[1]
      << ") = " << function(where[0], where[1]);
}

TEST(Functions, OfOneNumberAreRight) {
  for (const OfOne& row : kOfOne) {
    expect_one<float>(row.name, row.f32, row.right);
    expect_one<double>(row.name, row.f64, row.right);
  }
}

TEST(Functions, OfTwoNumbersAreRight) {
  for (const OfTwo& row : kOfTwo) {
    expect_two<float>(row.name, row.f32, row.right);
    expect_two<double>(row.name, row.f64, row.right);
  }
}

template <typename T>
void expect_powers_of_two(T (*function)(T, int)) {
  std::mt19937 random(3);
  std::uniform_int_distribution<int> exponent(-2200, 2200);
  for (const T x : samples<T>()) {
    const int n = exponent(random);
    const T right = std::ldexp(x, n);
    const T result = function(x, n);
    ASSERT_TRUE(bits_of(result) == bits_of(right) || (std::isnan(x) && std::isnan(result)))
        << x << " * 2^" << n << " = " << result;
  }
  for (const int n : {std::numeric_limits<int>::min(), std::numeric_limits<int>::max()}) {
    EXPECT_EQ(function(1, n), n < 0 ? 0 : std::numeric_limits<T>::infinity());
  }
}

TEST(Functions, PowersOfTwoRoundOnce) {
  expect_powers_of_two(tfaot_ldexp_f32);
  expect_powers_of_two(tfaot_ldexp_f64);
}

TEST(Functions, SineAndCosineTogetherAreThoseAlone) {
  for (const double x : samples<double>()) {
    double sin = 0;
    double cos = 0;
    tfaot_sincos_f64(x, &sin, &cos);
    ASSERT_EQ(bits_of(sin), bits_of(tfaot_sin_f64(x)));
    ASSERT_EQ(bits_of(cos), bits_of(tfaot_cos_f64(x)));
    const auto single = static_cast<float>(x);
    float single_sin = 0;
    float single_cos = 0;
    tfaot_sincos_f32(single, &single_sin, &single_cos);
    ASSERT_EQ(bits_of(single_sin), bits_of(tfaot_sin_f32(single)));
    ASSERT_EQ(bits_of(single_cos), bits_of(tfaot_cos_f32(single)));
  }
}

// Sums that almost vanish, and others. std::fma is exact.
template <typename T>
void expect_fused(T (*fma)(T, T, T)) {
  const std::vector<T> numbers = samples<T>();
  std::mt19937_64 random(9);
  const auto one = [&] { return numbers[random() % numbers.size()]; };
  for (int i = 0; i < 4 * kSamples; ++i) {
    const T x = one(), y = one();
    const T z = i % 2 == 0 ? one() : -x * y * (1 + static_cast<T>(i % 5) * one());
    const T right = std::fma(x, y, z), result = fma(x, y, z);
    if (std::isnan(right)) {
      ASSERT_TRUE(std::isnan(result)) << x << ' ' << y << ' ' << z;
    } else if (std::abs(right) < std::numeric_limits<T>::min()) {  // rounded twice
      ASSERT_NEAR(result, right, std::numeric_limits<T>::denorm_min());
    } else {
      ASSERT_EQ(bits_of(result), bits_of(right)) << x << ' ' << y << ' ' << z;
    }
  }
}

TEST(Functions, ProductsAndSumsAreRoundedOnce) {
  expect_fused<float>(tfaot_fma_f32);
  expect_fused<double>(tfaot_fma_f64);
}

// A hash of the results for numbers of all exponents that no library makes. If you change a
// function on purpose, write the new one here; it must be the same on aarch64.
class Bits {
 public:
  template <typename T>
  void add(T x) {
    for (BitsOf<T> bits = bits_of(x); bits != 0; bits >>= 8) {
      hash_ = (hash_ ^ (bits & 0xFF)) * 0x100000001B3U;
    }
  }
  std::uint64_t hash() const { return hash_; }

 private:
  std::uint64_t hash_ = 0xCBF29CE484222325U;
};

template <typename T, typename Each>
void for_numbers(Each each) {
  std::uint64_t state = 1;
  for (int i = 0; i < 20'000; ++i) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    const auto any = number_of<T>(static_cast<BitsOf<T>>(state >> (sizeof(T) == 4 ? 32 : 0)));
    const T usual = static_cast<T>(static_cast<std::int64_t>(state) >> 40) / 524288;
    each(i % 2 == 0 ? any : usual);
  }
}

template <typename T>
void add_all(Bits& bits, T (*one)(T)) {
  for_numbers<T>([&](T x) { bits.add(one(x)); });
}

template <typename T>
void add_all(Bits& bits, T (*two)(T, T)) {
  T last = 2;
  for_numbers<T>([&](T x) {
    bits.add(two(x, last));
    last = x;
  });
}

TEST(Functions, HaveTheBitsOfEveryMachine) {
  Bits bits;
  for (const OfOne& row : kOfOne) {
    add_all(bits, row.f32);
    add_all(bits, row.f64);
  }
  for (const OfTwo& row : kOfTwo) {
    add_all(bits, row.f32);
    add_all(bits, row.f64);
  }
  EXPECT_EQ(bits.hash(), 9695137867898779635U);
}

}  // namespace
}  // namespace tfaot::kernels_test
