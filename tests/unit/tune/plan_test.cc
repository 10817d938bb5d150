// SPDX-License-Identifier: Apache-2.0
#include "tfaot/tune/plan.h"

#include <gtest/gtest.h>

namespace tfaot::toolkit {
namespace {

Manifest measured() {
  Manifest manifest;
  manifest.cpu_levels = {"x86-64", "x86-64-v3", "a-newer-cpu", "not-here"};
  manifest.tuning = {"A CPU",
                     {{1, "a-newer-cpu", 5, 5, 5, 9},
                      {1, "x86-64", 10, 10, 10, 9},
                      {16, "a-newer-cpu", 70, 70, 70, 9},
                      {16, "x86-64", 100, 100, 100, 9}}};
  return manifest;
}

TEST(Plan, TakesTheHighestLevelThatWasMeasured) {
  const LevelCosts costs = highest_level(measured());
  EXPECT_EQ(costs.cpu_level, "a-newer-cpu");
  EXPECT_EQ(costs.sizes, (std::vector<std::size_t>{1, 16}));
  EXPECT_EQ(costs.ns, (std::vector<double>{5, 70}));
  EXPECT_TRUE(highest_level(Manifest()).sizes.empty());
  EXPECT_TRUE(level_costs(*measured().tuning, "x86-64-v3").sizes.empty());
}

TEST(Plan, ShowsChunksPaddingAndTime) {
  const LevelCosts costs = level_costs(*measured().tuning, "x86-64");
  const PlannedRows exact = plan_rows(costs, 19);
  EXPECT_EQ(exact.chunks, (std::vector<std::size_t>{16, 1, 1, 1}));
  EXPECT_EQ(exact.padding, 0U);
  EXPECT_EQ(exact.ns, 130);
  const PlannedRows padded = plan_rows(costs, 31);
  EXPECT_EQ(padded.chunks, (std::vector<std::size_t>{16, 16}));
  EXPECT_EQ(padded.padding, 1U);
  EXPECT_EQ(padded.ns, 200);
}

}  // namespace
}  // namespace tfaot::toolkit
