// SPDX-License-Identifier: Apache-2.0
#include "tfaot/profile/measure.h"

#include <gtest/gtest.h>

namespace tfaot::toolkit {
namespace {

// The numbers are numpy.quantile's.
TEST(Quantiles, AreThoseOfNumpy) {
  const std::vector<double> values = {4, 1, 3, 2};
  EXPECT_DOUBLE_EQ(quantile(values, 0), 1);
  EXPECT_DOUBLE_EQ(quantile(values, 0.16), 1.48);
  EXPECT_DOUBLE_EQ(quantile(values, 0.5), 2.5);
  EXPECT_DOUBLE_EQ(quantile(values, 0.84), 3.52);
  EXPECT_DOUBLE_EQ(quantile(values, 1), 4);
  EXPECT_DOUBLE_EQ(quantile({7}, 0.84), 7);
}

TEST(Quantiles, MakeABand) {
  const Band band = band_of({10, 30, 20});
  EXPECT_DOUBLE_EQ(band.median, 20);
  EXPECT_DOUBLE_EQ(band.low, 13.2);
  EXPECT_DOUBLE_EQ(band.high, 26.8);
  EXPECT_EQ(band_of({}).median, 0);
}

}  // namespace
}  // namespace tfaot::toolkit
