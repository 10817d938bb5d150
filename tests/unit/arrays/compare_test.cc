// SPDX-License-Identifier: Apache-2.0
#include "tfaot/arrays/compare.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "tests/unit/arrays/array_samples.h"

namespace tfaot::toolkit {
namespace {

using testing::array_of;

constexpr float kNanF = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfF = std::numeric_limits<float>::infinity();

ArrayDifference floats(const std::vector<float>& a, const std::vector<float>& b) {
  const auto rows = static_cast<std::int64_t>(a.size());
  return compare_arrays(array_of<float>("y", DType::kFloat32, {rows}, a),
                        array_of<float>("y", DType::kFloat32, {rows}, b));
}

TEST(Compare, KnowsWhetherThereAreNumbers) {
  const auto has = [](const std::vector<float>& elements) {
    const auto rows = static_cast<std::int64_t>(elements.size());
    return has_numbers(array_of<float>("y", DType::kFloat32, {rows}, elements));
  };
  EXPECT_FALSE(has({}));
  EXPECT_FALSE(has({kNanF, kInfF, -kInfF}));
  EXPECT_TRUE(has({kNanF, 0}));
  EXPECT_FALSE(has_numbers(array_of<double>("y", DType::kFloat64, {1}, {std::nan("")})));
  EXPECT_TRUE(has_numbers(array_of<std::int32_t>("y", DType::kInt32, {1}, {0})));
}

TEST(Compare, FindsTheLargestDifference) {
  const ArrayDifference found = floats({1, 2, 3.5F, -8}, {1, 2.25F, 3, -8});
  EXPECT_EQ(found.numbers, 4U);
  EXPECT_EQ(found.unequal, 2U);
  EXPECT_EQ(found.largest, 0.5);
  EXPECT_EQ(found.mean, 0.75 / 4);
  EXPECT_EQ(found.scale, 8);
  EXPECT_EQ(found.place, 2U);
  EXPECT_EQ(found.nonfinite, 0U);
  EXPECT_EQ(relative_difference(found), 0.5 / 8);
}

TEST(Compare, CountsUlpsOfTheType) {
  const auto ulps = [](float a, float b) { return floats({a}, {b}).ulps; };
  EXPECT_EQ(ulps(1, 1), 0U);
  EXPECT_EQ(ulps(1, std::nextafter(1.0F, 2.0F)), 1U);
  EXPECT_EQ(ulps(std::nextafter(1.0F, 0.0F), 1), 1U);
  EXPECT_EQ(ulps(-1, std::nextafter(-1.0F, 0.0F)), 1U);
  EXPECT_EQ(ulps(0.0F, -0.0F), 0U);
  const float least = std::numeric_limits<float>::denorm_min();
  EXPECT_EQ(ulps(least, -least), 2U);
  EXPECT_EQ(ulps(1, 2), 1U << 23);
  const auto doubles = compare_arrays(array_of<double>("y", DType::kFloat64, {1}, {1}),
                                      array_of<double>("y", DType::kFloat64, {1}, {2}));
  EXPECT_EQ(doubles.ulps, std::uint64_t{1} << 52);
}

TEST(Compare, ZerosOfBothSignsAreEqual) { EXPECT_EQ(floats({0.0F}, {-0.0F}).unequal, 0U); }

TEST(Compare, NanAndInfinityMustBeTheSame) {
  const ArrayDifference same = floats({kNanF, kInfF, -kInfF, 2}, {-kNanF, kInfF, -kInfF, 2});
  EXPECT_EQ(same.unequal, 0U);
  EXPECT_EQ(same.nonfinite, 0U);
  EXPECT_EQ(same.scale, 2);
  // The number that is not finite is the place, however large the other differences are.
  const ArrayDifference other = floats({9, 0, kInfF, kInfF, 1}, {2, kNanF, -kInfF, 3, kInfF});
  EXPECT_EQ(other.nonfinite, 4U);
  EXPECT_EQ(other.unequal, 5U);
  EXPECT_EQ(other.place, 1U);
  EXPECT_EQ(other.largest, 7);
  EXPECT_EQ(other.mean, 7);
  EXPECT_EQ(other.scale, 3);
}

TEST(Compare, WholeNumbersKeepAllTheirDigits) {
  const std::int64_t large = (std::int64_t{1} << 53) + 1;
  const auto found =
      compare_arrays(array_of<std::int64_t>("y", DType::kInt64, {2}, {large, 5}),
                     array_of<std::int64_t>("y", DType::kInt64, {2}, {large - 1, 5}));
  EXPECT_EQ(found.largest, 1);
  EXPECT_EQ(found.unequal, 1U);
  EXPECT_EQ(found.ulps, 0U);
  using Limits = std::numeric_limits<std::int32_t>;
  const auto ends =
      compare_arrays(array_of<std::int32_t>("y", DType::kInt32, {1}, {Limits::max()}),
                     array_of<std::int32_t>("y", DType::kInt32, {1}, {Limits::min()}));
  EXPECT_EQ(ends.largest, 4294967295.0);
  const auto truths = compare_arrays(array_of<char>("y", DType::kBool, {3}, {0, 1, 1}),
                                     array_of<char>("y", DType::kBool, {3}, {0, 0, 1}));
  EXPECT_EQ(truths.unequal, 1U);
  EXPECT_EQ(truths.place, 1U);
}

TEST(Compare, CountsUlpsOfSixteenBits) {
  const auto compared = []<class Half>(DType dtype, Half a, Half b) {
    return compare_arrays(array_of<Half>("y", dtype, {1}, {a}),
                          array_of<Half>("y", dtype, {1}, {b}));
  };
  const auto halves = [&](double a, double b) {
    return compared(DType::kFloat16, ::tfaot::float16(a), ::tfaot::float16(b));
  };
  EXPECT_EQ(halves(1, 2).ulps, 1U << 10);
  EXPECT_EQ(halves(1, 2).largest, 1);
  EXPECT_EQ(halves(-0.0, 0.0).unequal, 0U);
  EXPECT_EQ(halves(0x1p-24, -0x1p-24).ulps, 2U);
  EXPECT_EQ(halves(-65504, 65504).ulps, 2U * 0x7bff);
  EXPECT_EQ(halves(1e9, 65504).nonfinite, 1U);
  const auto brains = compared(DType::kBfloat16, ::tfaot::bfloat16(1.0), ::tfaot::bfloat16(2.0));
  EXPECT_EQ(brains.ulps, 1U << 7);
}

TEST(Compare, WholeNumbersWithoutASign) {
  using Limits = std::numeric_limits<std::uint64_t>;
  const auto found =
      compare_arrays(array_of<std::uint64_t>("y", DType::kUint64, {2}, {Limits::max(), 5}),
                     array_of<std::uint64_t>("y", DType::kUint64, {2}, {Limits::max() - 1, 5}));
  EXPECT_EQ(found.largest, 1);
  EXPECT_EQ(found.unequal, 1U);
  const auto ends =
      compare_arrays(array_of<std::uint64_t>("y", DType::kUint64, {1}, {0}),
                     array_of<std::uint64_t>("y", DType::kUint64, {1}, {Limits::max()}));
  EXPECT_EQ(ends.largest, 0x1p64);
  const auto bytes = compare_arrays(array_of<std::int8_t>("y", DType::kInt8, {1}, {-128}),
                                    array_of<std::int8_t>("y", DType::kInt8, {1}, {127}));
  EXPECT_EQ(bytes.largest, 255);
}

TEST(Tolerance, IsOfTheType) {
  const Tolerance asked{.relative = 1e-5, .absolute = 1e-6};
  const auto of = [&](DType dtype) { return tolerance_for(dtype, asked).relative; };
  EXPECT_EQ(of(DType::kFloat32), 1e-5);
  EXPECT_EQ(of(DType::kFloat16), 0x1p-10);
  EXPECT_EQ(of(DType::kBfloat16), 0x1p-7);
  EXPECT_EQ(tolerance_for(DType::kFloat16, {.relative = 0.5}).relative, 0.5);
  EXPECT_EQ(tolerance_for(DType::kBfloat16, asked).absolute, 1e-6);
  for (const DType exact : {DType::kBool, DType::kUint8, DType::kInt64}) {
    EXPECT_EQ(of(exact), 0);
    EXPECT_EQ(tolerance_for(exact, asked).absolute, 0);
  }
}

TEST(Compare, LeavesOutFurtherRowsOfTheReference) {
  const auto found = compare_arrays(array_of<float>("y", DType::kFloat32, {1}, {1}),
                                    array_of<float>("y", DType::kFloat32, {3}, {1, 100, 200}));
  EXPECT_EQ(found.numbers, 1U);
  EXPECT_EQ(found.scale, 1);
}

TEST(Compare, DifferencesOfHugeNumbersAreFinite) {
  const double most = std::numeric_limits<double>::max();
  const auto found = compare_arrays(array_of<double>("y", DType::kFloat64, {1}, {most}),
                                    array_of<double>("y", DType::kFloat64, {1}, {-most}));
  EXPECT_EQ(found.largest, most);
}

TEST(Tolerance, IsAShareOfTheLargestNumberAndAnAbsoluteOne) {
  const Tolerance tolerance{.relative = 0.01, .absolute = 0.5};
  const auto is_fine = [&](double largest, double scale, std::uint64_t nonfinite = 0) {
    ArrayDifference difference;
    difference.largest = largest;
    difference.scale = scale;
    difference.nonfinite = nonfinite;
    return is_within(difference, tolerance);
  };
  EXPECT_TRUE(is_fine(0.5, 0));
  EXPECT_FALSE(is_fine(0.51, 0));
  EXPECT_TRUE(is_fine(1.5, 100));
  EXPECT_FALSE(is_fine(1.51, 100));
  EXPECT_FALSE(is_fine(0, 100, 1));
}

BitsDifference bits(const std::vector<float>& a, const std::vector<float>& b) {
  const auto rows = static_cast<std::int64_t>(a.size());
  return compare_bits(array_of<float>("y", DType::kFloat32, {rows}, a),
                      array_of<float>("y", DType::kFloat32, {rows}, b));
}

TEST(CompareBits, CountsEveryNumberThatDiffers) {
  const float after_one = std::nextafter(1.0F, 2.0F);
  const BitsDifference found =
      bits({1, after_one, -0.0F, kNanF, -kNanF, kInfF, 4, 5},
           {1, std::nextafter(after_one, 2.0F), 0, kNanF, kNanF, 7, kNanF, 5});
  EXPECT_EQ(found.numbers, 8U);
  EXPECT_EQ(found.unequal, 4U);
  EXPECT_EQ(found.nonfinite, 2U);
  EXPECT_EQ(found.ulps, 1U);
}

TEST(CompareBits, KnowsTheLargestDistance) {
  EXPECT_EQ(bits({1, 2, -1e-45F}, {std::nextafter(1.0F, 0.0F), 2, 1e-45F}).ulps, 2U);
  const BitsDifference whole =
      compare_bits(array_of<std::int32_t>("y", DType::kInt32, {2}, {1, 5}),
                   array_of<std::int32_t>("y", DType::kInt32, {2}, {1, 9}));
  EXPECT_EQ(whole.unequal, 1U);
  EXPECT_EQ(whole.ulps, 0U);
}

TEST(Sha256OfArrays, TellsBitsButNotNansApart) {
  const auto sha256 = [](float number) {
    return sha256_of_arrays({array_of<float>("y", DType::kFloat32, {1}, {number})});
  };
  EXPECT_NE(sha256(0), sha256(-0.0F));
  EXPECT_EQ(sha256(kNanF), sha256(-kNanF));
  EXPECT_EQ(sha256(0), "df3f619804a92fdb4057192dc43dd748ea778adc52bc498ce80524c014b81119");
}

}  // namespace
}  // namespace tfaot::toolkit
