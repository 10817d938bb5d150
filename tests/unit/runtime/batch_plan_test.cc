// SPDX-License-Identifier: Apache-2.0
#include "tfaot/runtime/batch_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "tests/unit/runtime/expect_error.h"

namespace {

using Sizes = std::vector<std::size_t>;
using Costs = std::vector<std::uint64_t>;

Sizes chunks(const tfaot::BatchPlan& plan, std::size_t rows) {
  Sizes chunks;
  while (rows > 0) {
    chunks.push_back(plan.sizes()[plan.next(rows)]);
    rows -= std::min(rows, chunks.back());
  }
  return chunks;
}

std::uint64_t cost_of(const Sizes& chunks, const Sizes& sizes, const Costs& costs) {
  std::uint64_t cost = 0;
  for (const std::size_t chunk : chunks) {
    for (std::size_t i = 0; i < sizes.size(); ++i) cost += sizes[i] == chunk ? costs[i] : 0;
  }
  return cost;
}

// Every possible composition: any number of chunks of each size, from sizes[i] on, that hold `rest`
// rows or more.
std::uint64_t cheapest(std::size_t i, std::size_t rest, const Sizes& sizes, const Costs& costs) {
  if (rest == 0) return 0;
  if (i == sizes.size()) return std::numeric_limits<std::uint64_t>::max() / 2;
  std::uint64_t best = std::numeric_limits<std::uint64_t>::max() / 2;
  for (std::size_t count = 0; count * sizes[i] < rest + sizes[i]; ++count) {
    const std::size_t left = rest - std::min(rest, count * sizes[i]);
    best = std::min(best, count * costs[i] + cheapest(i + 1, left, sizes, costs));
  }
  return best;
}

// The least costs of 0 .. rows rows, computed the plain way.
std::vector<std::uint64_t> least_costs(std::size_t rows, const Sizes& sizes, const Costs& costs) {
  std::vector<std::uint64_t> least = {0};
  for (std::size_t rest = 1; rest <= rows; ++rest) {
    std::uint64_t best = std::numeric_limits<std::uint64_t>::max();
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      best = std::min(best, costs[i] + least[rest - std::min(rest, sizes[i])]);
    }
    least.push_back(best);
  }
  return least;
}

// Like measurements: a cost per call and one per row that differ by size, and noise.
Costs measured_like(const Sizes& sizes, std::mt19937& random) {
  const std::uint64_t call = random() % 20000;
  Costs costs;
  for (const std::size_t size : sizes) {
    costs.push_back(1000 + call + size * (1000 + random() % 1000) + random() % 500);
  }
  return costs;
}

TEST(BatchPlan, TakesACompiledSizeAsItIs) {
  const tfaot::BatchPlan plan({1, 2, 4, 8});
  for (const std::size_t size : {1U, 2U, 4U, 8U}) EXPECT_EQ(chunks(plan, size), Sizes{size});
}

TEST(BatchPlan, TakesLargerSizesFirst) {
  const tfaot::BatchPlan plan({1, 2, 8});
  EXPECT_EQ(chunks(plan, 11), (Sizes{8, 2, 1}));
  EXPECT_EQ(chunks(plan, 3), (Sizes{2, 1}));
  EXPECT_EQ(chunks(plan, 35), (Sizes{8, 8, 8, 8, 2, 1}));
}

TEST(BatchPlan, PadsTheLastChunkWhereThatIsCheaper) {
  EXPECT_EQ(chunks(tfaot::BatchPlan({1, 256}), 255), Sizes{256});
  EXPECT_EQ(chunks(tfaot::BatchPlan({1, 256}), 257), (Sizes{256, 1}));
  EXPECT_EQ(chunks(tfaot::BatchPlan({1, 256}), 3), (Sizes{1, 1, 1}));
  EXPECT_EQ(chunks(tfaot::BatchPlan({4}), 1), Sizes{4});
  EXPECT_EQ(chunks(tfaot::BatchPlan({4}), 9), (Sizes{4, 4, 4}));
}

TEST(BatchPlan, PadsNothingWhereThatCostsTheSame) {
  EXPECT_EQ(chunks(tfaot::BatchPlan({1, 2, 4}), 7), (Sizes{4, 2, 1}));
  EXPECT_EQ(chunks(tfaot::BatchPlan({1, 2, 4}), 3), (Sizes{2, 1}));
}

TEST(BatchPlan, FindsTheCheapestOfAllCompositions) {
  const std::vector<Sizes> cases = {{1}, {3, 4}, {1, 2, 4, 8}, {2, 5}, {1, 7}, {6, 10}};
  std::mt19937 random(1);
  for (const Sizes& sizes : cases) {
    for (int round = 0; round < 10; ++round) {
      Costs costs = measured_like(sizes, random);
      if (round == 0)
        std::transform(sizes.begin(), sizes.end(), costs.begin(),
                       [](auto size) { return size + 1; });
      const tfaot::BatchPlan plan =
          round == 0 ? tfaot::BatchPlan(sizes) : tfaot::BatchPlan(sizes, costs);
      for (std::size_t rows = 1; rows < 3 * sizes.back(); ++rows) {
        ASSERT_EQ(cost_of(chunks(plan, rows), sizes, costs), cheapest(0, rows, sizes, costs))
            << rows << " rows, largest size " << sizes.back() << ", round " << round;
      }
    }
  }
}

// Far beyond the largest size, where the table has ended.
TEST(BatchPlan, IsTheCheapestForAnyNumberOfRows) {
  const std::vector<Sizes> cases = {
      {1, 2, 4, 8, 16, 32, 64, 128, 256}, {1, 4, 16}, {1, 3, 10, 100}, {7, 9, 31}, {29, 30}, {5}};
  std::mt19937 random(2);
  for (const Sizes& sizes : cases) {
    for (int round = 0; round < 20; ++round) {
      const Costs costs = measured_like(sizes, random);
      const tfaot::BatchPlan plan(sizes, costs);
      const std::vector<std::uint64_t> least = least_costs(3000, sizes, costs);
      for (std::size_t rows = 1; rows < least.size(); ++rows) {
        ASSERT_EQ(cost_of(chunks(plan, rows), sizes, costs), least[rows])
            << rows << " rows, largest size " << sizes.back() << ", round " << round;
      }
    }
  }
}

// The largest size alone is not right for many rows if another size has cheaper rows.
TEST(BatchPlan, LeavesABadLargestSizeOut) {
  const tfaot::BatchPlan plan({1, 64, 256}, {20, 640, 5000});
  EXPECT_EQ(chunks(plan, 256), (Sizes{64, 64, 64, 64}));
  EXPECT_EQ(chunks(plan, 100000 - 100000 % 64), Sizes(100000 / 64, 64));
}

// Sizes without a common factor and with the same cost per row: an exact sum of both is the best
// for nearly any number of rows, however large. There the plan may cost one call more.
TEST(BatchPlan, IsNearTheCheapestWhereNoTableEnds) {
  const Sizes sizes = {999, 1000};
  const Costs costs = {999, 1000};
  const tfaot::BatchPlan plan(sizes, costs);
  for (const std::size_t rows : {50 * 999U, 60 * 999U + 1000U}) {
    EXPECT_EQ(cost_of(chunks(plan, rows), sizes, costs), rows);
  }
  for (std::size_t rows = 500000; rows < 500999; ++rows) {
    ASSERT_LE(cost_of(chunks(plan, rows), sizes, costs), rows + 1000);
  }
}

TEST(BatchPlan, FollowsMeasuredCosts) {
  const tfaot::BatchPlan plan({1, 2, 4}, {10, 50, 45});  // 2 is a bad size
  EXPECT_EQ(chunks(plan, 2), (Sizes{1, 1}));
  EXPECT_EQ(chunks(plan, 3), (Sizes{1, 1, 1}));
}

// A padded chunk costs little more than its rows if the products of its size skip padding.
TEST(BatchPlan, PadsWhereRowsOfPaddingCostNothing) {
  const Sizes sizes = {1, 2, 4, 8};
  const Costs costs = {39, 45, 58, 105};  // one row waits for the weights like two
  EXPECT_EQ(chunks(tfaot::BatchPlan(sizes, costs), 5), (Sizes{4, 1}));
  const tfaot::BatchPlan live(sizes, costs, {0, 950, 950, 950});
  EXPECT_EQ(chunks(live, 3), Sizes{4});
  EXPECT_EQ(chunks(live, 5), Sizes{8});
  EXPECT_EQ(chunks(live, 8), Sizes{8});
  EXPECT_EQ(chunks(live, 13), (Sizes{8, 8}));
  EXPECT_EQ(chunks(tfaot::BatchPlan(sizes, costs, {0, 0, 0, 0}), 5), (Sizes{4, 1}));
}

// Rows cost the same in any size: padding gains nothing, even if it is free.
TEST(BatchPlan, PadsNothingForRowsThatCostTheSame) {
  const tfaot::BatchPlan plan({1, 2, 4}, {100, 200, 400}, {0, 1000, 1000});
  EXPECT_EQ(chunks(plan, 3), (Sizes{2, 1}));
  EXPECT_EQ(chunks(plan, 7), (Sizes{4, 2, 1}));
}

// Brute force, with the cost of padding as the header defines it.
TEST(BatchPlan, IsTheCheapestWithRowsThatAreLeftOut) {
  const Sizes sizes = {1, 3, 4, 10};
  std::mt19937 random(4);
  for (int round = 0; round < 30; ++round) {
    Costs costs = measured_like(sizes, random);
    std::sort(costs.begin(), costs.end());
    const std::vector<std::uint32_t> live = {0, 300, 700, 1000};
    const auto padded = [&](std::size_t i, std::size_t rows) {
      std::size_t above = 0;
      while (sizes[above] < rows) ++above;
      std::uint64_t line = costs[above];
      if (above > 0) {
        line = costs[above - 1] + (costs[above] - costs[above - 1]) * (rows - sizes[above - 1]) /
                                      (sizes[above] - sizes[above - 1]);
      }
      return costs[i] - (costs[i] - line) * live[i] / 1000;
    };
    const auto call = [&](std::size_t i, std::size_t rest) {
      return sizes[i] > rest ? padded(i, rest) : costs[i];
    };
    std::vector<std::uint64_t> least = {0};
    for (std::size_t rest = 1; rest < 200; ++rest) {
      std::uint64_t best = std::numeric_limits<std::uint64_t>::max();
      for (std::size_t i = 0; i < sizes.size(); ++i) {
        best = std::min(best, call(i, rest) + least[rest - std::min(rest, sizes[i])]);
      }
      least.push_back(best);
    }
    const tfaot::BatchPlan plan(sizes, costs, live);
    for (std::size_t rows = 1; rows < 200; ++rows) {
      std::uint64_t cost = 0;
      for (std::size_t rest = rows; rest > 0;) {
        const std::size_t i = plan.next(rest);
        cost += call(i, rest);
        rest -= std::min(rest, sizes[i]);
      }
      ASSERT_EQ(cost, least[rows]) << rows << " rows, round " << round;
    }
  }
}

TEST(BatchPlan, AddsUpHugeCosts) {
  const std::uint64_t huge = std::numeric_limits<std::uint64_t>::max();
  const tfaot::BatchPlan plan({1, 2, 4}, {huge / 2, huge / 4 * 3, huge});
  EXPECT_EQ(chunks(plan, 5), (Sizes{4, 1}));
  EXPECT_EQ(chunks(plan, 1000003), chunks(tfaot::BatchPlan({1, 2, 4}, {50, 75, 100}), 1000003));
}

TEST(BatchPlan, PadsOnlyTheLastChunk) {
  const tfaot::BatchPlan plan({3, 8});
  for (std::size_t rows = 1; rows < 100; ++rows) {
    std::size_t rest = rows;
    const Sizes all = chunks(plan, rows);
    for (std::size_t i = 0; i + 1 < all.size(); ++i) {
      ASSERT_LT(all[i], rest) << rows;
      rest -= all[i];
    }
    EXPECT_GE(all.back(), rest);
  }
}

TEST(BatchPlan, NeedsASize) {
  EXPECT_EQ(tfaot_test::error_of([] { tfaot::BatchPlan plan({}); }),
            "EmptySizes: a batch plan needs at least one size");
}

}  // namespace
