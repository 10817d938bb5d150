// SPDX-License-Identifier: Apache-2.0
#include "tfaot/tune/plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "tfaot/runtime/batch_plan.h"

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

// Padding that costs little is better than a second call, and its time is that of fewer rows.
TEST(Plan, PadsWhereTheRuntimeDoes) {
  Manifest manifest = measured();
  manifest.tuning->calls = {{1, "x86-64", 10, 10, 10, 9, 900},
                            {4, "x86-64", 20, 20, 20, 9, 900},
                            {16, "x86-64", 30, 30, 30, 9, 900}};
  const LevelCosts costs = level_costs(*manifest.tuning, "x86-64");
  const PlannedRows planned = plan_rows(costs, 5);
  EXPECT_EQ(run_as_text(planned), "16 (11 of padding)");
  // 5 rows: 20 + 10 / 12, and a tenth of the way from there to 30 is not saved.
  EXPECT_NEAR(planned.ns, 20 + 10.0 / 12 + 0.1 * (10 - 10.0 / 12), 0.002);
  const ::tfaot::BatchPlan runtime({1, 4, 16}, {10'000, 20'000, 30'000}, {900, 900, 900});
  for (std::size_t rows = 1; rows < 100; ++rows) {
    std::vector<std::size_t> chunks;
    for (std::size_t rest = rows; rest > 0; rest -= std::min(rest, chunks.back())) {
      chunks.push_back(runtime.sizes()[runtime.next(rest)]);
    }
    EXPECT_EQ(plan_rows(costs, rows).chunks, chunks) << rows;
  }
}

}  // namespace
}  // namespace tfaot::toolkit
