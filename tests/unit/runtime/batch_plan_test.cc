// SPDX-License-Identifier: Apache-2.0
#include "tfaot/runtime/batch_plan.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "tests/unit/runtime/expect_error.h"

namespace {

using Sizes = std::vector<std::size_t>;

Sizes chunks(const tfaot::BatchPlan& plan, std::size_t rows) {
  Sizes chunks;
  while (rows > 0) {
    chunks.push_back(plan.sizes()[plan.next(rows)]);
    rows -= std::min(rows, chunks.back());
  }
  return chunks;
}

double cost_of(const Sizes& chunks, const Sizes& sizes, const std::vector<double>& costs) {
  double cost = 0;
  for (const std::size_t chunk : chunks) {
    for (std::size_t i = 0; i < sizes.size(); ++i) cost += sizes[i] == chunk ? costs[i] : 0;
  }
  return cost;
}

// Every composition there is.
double cheapest(std::size_t rows, const Sizes& sizes, const std::vector<double>& costs) {
  if (rows == 0) return 0;
  double best = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    best = std::min(best, costs[i] + cheapest(rows - std::min(rows, sizes[i]), sizes, costs));
  }
  return best;
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
  for (const Sizes& sizes : cases) {
    std::vector<double> costs;
    for (const std::size_t size : sizes) costs.push_back(static_cast<double>(size) + 1);
    const tfaot::BatchPlan plan(sizes);
    for (std::size_t rows = 1; rows < 2 * sizes.back(); ++rows) {
      EXPECT_EQ(cost_of(chunks(plan, rows), sizes, costs), cheapest(rows, sizes, costs))
          << rows << " rows, largest size " << sizes.back();
    }
  }
}

TEST(BatchPlan, FollowsMeasuredCosts) {
  const Sizes sizes = {1, 2, 4};
  const std::vector<double> costs = {1, 5, 4.5};  // 2 is a bad size
  const tfaot::BatchPlan plan(sizes, costs);
  EXPECT_EQ(chunks(plan, 2), (Sizes{1, 1}));
  for (std::size_t rows = 1; rows < 8; ++rows) {
    EXPECT_EQ(cost_of(chunks(plan, rows), sizes, costs), cheapest(rows, sizes, costs)) << rows;
  }
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
