// SPDX-License-Identifier: Apache-2.0
#include "size_costs.h"

#include <gtest/gtest.h>

#include <random>

namespace tfaot::toolkit {
namespace {

TEST(Median, IsTheMiddleOne) {
  EXPECT_EQ(median_of({5}).value, 5);
  EXPECT_EQ(median_of({9, 1, 5}).value, 5);
  EXPECT_EQ(median_of({9, 1, 5, 6}).value, 5.5);
}

TEST(Median, OfFewValuesIsSomewhereAmongThem) {
  const Median median = median_of({9, 1, 5});
  EXPECT_EQ(median.low, 1);
  EXPECT_EQ(median.high, 9);
}

TEST(Median, IgnoresOutliers) {
  std::vector<double> values(101, 7);
  for (int i = 0; i < 30; ++i) values[static_cast<std::size_t>(i)] = 1000;
  const Median median = median_of(values);
  EXPECT_EQ(median.value, 7);
  EXPECT_EQ(median.low, 7);
  EXPECT_EQ(median.high, 7);
}

// Of 1000 intervals about 950 contain the true median, whatever the distribution; here it is
// skewed.
TEST(Median, IntervalsHoldTheTrueMedianAsOftenAsTheySay) {
  std::mt19937 random(3);
  std::exponential_distribution<double> skewed(1);
  const double truth = 0.6931471805599453;
  int held = 0;
  for (int round = 0; round < 1000; ++round) {
    std::vector<double> values;
    for (int i = 0; i < 60; ++i) values.push_back(skewed(random));
    const Median median = median_of(values);
    EXPECT_LE(median.low, median.value);
    EXPECT_LE(median.value, median.high);
    held += median.low <= truth && truth <= median.high;
  }
  EXPECT_GE(held, 930);
  EXPECT_LE(held, 985);
}

}  // namespace
}  // namespace tfaot::toolkit
