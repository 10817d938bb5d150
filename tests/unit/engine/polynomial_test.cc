// SPDX-License-Identifier: Apache-2.0
#include "compiler/sizes/polynomial.h"

#include <gtest/gtest.h>

#include "compiler/sizes/sample_sizes.h"

namespace tfaot::toolkit::engine {
namespace {

std::vector<std::int64_t> values_of(const std::vector<std::vector<std::int64_t>>& points,
                                    std::int64_t (*function)(const std::vector<std::int64_t>&)) {
  std::vector<std::int64_t> values;
  for (const auto& point : points) values.push_back(function(point));
  return values;
}

std::vector<std::vector<std::int64_t>> points_of(std::size_t dimensions) {
  std::vector<FreeDimension> own;
  for (std::size_t i = 0; i < dimensions; ++i) own.push_back({"n" + std::to_string(i), 1, 60});
  return sample_sizes(own, SampleSide::kAbove, points_to_fit(dimensions));
}

TEST(SizePolynomial, IsFoundThroughPoints) {
  const auto points = points_of(2);
  const auto found = SizePolynomial::through(points, values_of(points, [](const auto& sizes) {
                                               return 3 * sizes[0] * sizes[1] - 7 * sizes[0] + 5;
                                             }));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->at(std::vector<std::int64_t>{4, 9}), 3 * 4 * 9 - 7 * 4 + 5);
  EXPECT_EQ(found->at(std::vector<std::int64_t>{0, 0}), 5);
}

TEST(SizePolynomial, OfPairsHasHalves) {
  const auto points = points_of(1);
  const auto found = SizePolynomial::through(
      points, values_of(points, [](const auto& sizes) { return sizes[0] * (sizes[0] - 1) / 2; }));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->divisor(), 2);
  EXPECT_EQ(found->at(std::vector<std::int64_t>{7}), 21);
}

TEST(SizePolynomial, IsNotFoundForOtherFunctions) {
  for (const std::size_t dimensions : {1U, 2U, 3U}) {
    const auto points = points_of(dimensions);
    const auto half = values_of(points, [](const auto& sizes) { return sizes[0] / 2; });
    const auto tiles = values_of(points, [](const auto& sizes) { return (sizes[0] + 15) / 16; });
    const auto least =
        values_of(points, [](const auto& sizes) { return std::min<std::int64_t>(sizes[0], 70); });
    EXPECT_FALSE(SizePolynomial::through(points, half)) << dimensions;
    EXPECT_FALSE(SizePolynomial::through(points, tiles)) << dimensions;
    EXPECT_FALSE(SizePolynomial::through(points, least)) << dimensions;
  }
}

// The numbers that strides make, found with so many bits of the sizes.
void expect_found(int bits, std::size_t dimensions,
                  std::int64_t (*function)(const std::vector<std::int64_t>&)) {
  std::vector<FreeDimension> own;
  for (std::size_t i = 0; i < dimensions; ++i) own.push_back({"n" + std::to_string(i), 1, 60});
  const auto points = sample_sizes(own, SampleSide::kAbove, points_to_fit(dimensions, bits), bits);
  const auto found = SizePolynomial::through({points, bits}, values_of(points, function));
  ASSERT_TRUE(found);
  const auto formula = found->formula();
  for (std::int64_t n = 0; n < 70; ++n) {
    const std::vector<std::int64_t> sizes = {n, 70 - n};
    EXPECT_EQ(found->at(sizes), function(sizes)) << n;
    EXPECT_EQ(size_at(formula, sizes), function(sizes)) << n;
  }
}

TEST(SizePolynomial, FollowsStrides) {
  expect_found(1, 1, [](const auto& sizes) { return sizes[0] / 2; });
  expect_found(1, 1, [](const auto& sizes) { return (sizes[0] + 1) / 2; });
  expect_found(2, 1, [](const auto& sizes) { return (sizes[0] + 3) / 4; });
  expect_found(1, 2, [](const auto& sizes) { return (sizes[0] + 1) / 2 + sizes[1]; });
  expect_found(1, 1, [](const auto& sizes) { return sizes[0] % 2; });
  expect_found(1, 1, [](const auto& sizes) { return 4 * (sizes[0] / 2); });
  expect_found(1, 1, [](const auto& sizes) { return sizes[0] / 2 * (sizes[0] / 2 - 1) / 2; });
  expect_found(2, 2, [](const auto& sizes) { return (sizes[0] + 1) / 4 * (sizes[1] / 4); });
}

TEST(SizeQuotient, IsFoundThroughPoints) {
  const auto points = points_of(2);
  const auto found = quotient_through(
      points, values_of(points, [](const auto& sizes) { return (sizes[1] + 3) / 7; }));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->dimension, 1U);
  EXPECT_EQ(found->factor, 1);
  EXPECT_EQ(found->divisor, 7);
  for (const auto& sizes : points) EXPECT_EQ((sizes[1] + found->more) / 7, (sizes[1] + 3) / 7);
  const auto has = [&](auto function) {
    return quotient_through(points, values_of(points, function)).has_value();
  };
  EXPECT_FALSE(has([](const auto& sizes) { return sizes[0] % 3; }));
  // As graph pooling keeps 0.8 of the nodes, rounded up.
  const auto kept = quotient_through(
      points, values_of(points, [](const auto& sizes) { return (4 * sizes[0] + 4) / 5; }));
  ASSERT_TRUE(kept);
  EXPECT_EQ(kept->dimension, 0U);
  EXPECT_EQ(kept->factor, 4);
  EXPECT_EQ(kept->more, 4);
  EXPECT_EQ(kept->divisor, 5);
  // Few numbers are anything by chance.
  EXPECT_FALSE(has([](const auto& sizes) { return std::int64_t{sizes[0] > 80 ? 7 : 6}; }));
}

TEST(SizePolynomial, AddsMultipliesAndDivides) {
  const auto points = points_of(2);
  const auto size = [&](auto function) {
    return SizePolynomial::through(points, values_of(points, function)).value();
  };
  const SizePolynomial n = size([](const auto& sizes) { return sizes[0]; });
  const SizePolynomial m = size([](const auto& sizes) { return sizes[1]; });
  EXPECT_EQ(n * m + n, size([](const auto& sizes) { return sizes[0] * (sizes[1] + 1); }));
  EXPECT_EQ(n + SizePolynomial(-1) * n, SizePolynomial(0));
  EXPECT_EQ((SizePolynomial(6) * n).divided_by(3), SizePolynomial(2) * n);
  EXPECT_EQ((SizePolynomial(6) * n + m).divided_by(3), std::nullopt);
  EXPECT_EQ(SizePolynomial(4).constant(), 4);
  EXPECT_EQ(n.constant(), std::nullopt);
}

TEST(SampleSizes, AreDifferentPrimesOnOneSideOfTheRange) {
  const std::vector<FreeDimension> own = {{"n", 1, 100}, {"m", 0, 10}};
  const auto above = sample_sizes(own, SampleSide::kAbove, 12);
  ASSERT_EQ(above.size(), 12U);
  EXPECT_EQ(above.front(), (Dimensions{101, 47}));
  for (const auto& point : above) {
    EXPECT_GE(point[0], 101);
    EXPECT_GE(point[1], 47);
    EXPECT_NE(point[0], point[1]);
  }
  const auto below = sample_sizes({{"n", 1, 128}}, SampleSide::kBelow, 7);
  ASSERT_EQ(below.size(), 7U);
  EXPECT_EQ(below.front(), Dimensions{128}) << "the largest";
  EXPECT_EQ(below[1], Dimensions{127});
  for (const auto& point : below) EXPECT_LE(point[0], 128);
  EXPECT_TRUE(sample_sizes({{"n", 1, 2}}, SampleSide::kBelow, 7).empty()) << "no prime";
  for (const Dimensions& sizes : sample_sizes({{"n", 1, 60}, {"k", 5, 5}}, SampleSide::kAbove, 9)) {
    EXPECT_EQ(sizes[1], 5) << "it has one size";
  }
  EXPECT_EQ(sample_sizes({{"n", 1, 3}}, SampleSide::kWithin, 7),
            (std::vector<Dimensions>{{3}, {2}, {1}}));
  EXPECT_TRUE(sample_sizes({{"n", 1, 8}}, SampleSide::kWithin, 7).empty());
}

TEST(SampleSizes, OfADimensionThatIsLikeAnother) {
  const std::vector<FreeDimension> all = {{"a", 1, 50}, {"b", 1, 50, "a"}, {"c", 2, 9}};
  EXPECT_EQ(sized_dimensions(all).size(), 2U);
  EXPECT_EQ(default_sizes(sized_dimensions(all)), (Dimensions{50, 9}));
  const auto sizes = named_sizes(all, {7, 3});
  ASSERT_EQ(sizes.size(), 3U);
  EXPECT_EQ(sizes[1].name, "b");
  EXPECT_EQ(sizes[1].size, 7);
  EXPECT_EQ(sizes[2].size, 3);
}

}  // namespace
}  // namespace tfaot::toolkit::engine
