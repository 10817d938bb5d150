// SPDX-License-Identifier: Apache-2.0
// A ForestTop leads a row to where four steps through the nodes lead it.
#include "onnx/forest/forest_tops.h"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <random>
#include <vector>

namespace tfaot::toolkit::engine {
namespace {

using kernels::ForestTop;

constexpr std::int64_t kFeatures = 5;

class RandomForest {
 public:
  explicit RandomForest(std::int64_t trees) {
    forest_.targets = 1;
    for (std::int64_t i = 0; i < trees; ++i) forest_.roots.push_back(grow(i % 7));
  }
  const Forest& forest() const { return forest_; }

 private:
  std::int64_t grow(std::int64_t depth) {
    ForestNode node;
    node.is_leaf = depth == 0 || random_() % 5 == 0;
    if (node.is_leaf) {
      node.votes = {{0, static_cast<double>(forest_.nodes.size())}};
    } else {
      // What is equal becomes two steps, and both lead to the same end.
      node.mode = random_() % 4 == 0 ? BranchMode::kEqual : BranchMode::kLessOrEqual;
      node.feature = static_cast<std::int64_t>(random_() % kFeatures);
      node.threshold = static_cast<double>(random_() % 5) - 2;
      node.missing_is_true = random_() % 2 == 0;
      node.if_true = grow(depth - 1);
      node.if_false = grow(depth - 1);
    }
    forest_.nodes.push_back(node);
    return std::ssize(forest_.nodes) - 1;
  }

  std::mt19937 random_{5};
  Forest forest_;
};

// The keys of a row, of which some features are missing.
std::vector<std::int32_t> random_keys(std::mt19937& random) {
  constexpr std::int32_t kLargest = std::numeric_limits<std::int32_t>::max();
  std::vector<std::int32_t> keys(1 + 2 * kFeatures, -kLargest - 1);
  for (std::size_t i = 0; i < kFeatures; ++i) {
    const float value = static_cast<float>(random() % 5) - 2;
    std::int32_t key = 0;
    std::memcpy(&key, &value, sizeof key);
    key = key < 0 ? key ^ kLargest : key;
    const bool is_missing = random() % 4 == 0;
    keys[1 + i] = is_missing ? kLargest : key;
    keys[1 + kFeatures + i] = is_missing ? -kLargest - 1 : key;
  }
  return keys;
}

std::uint32_t after_four_steps(const ForestTables& tables, const std::vector<std::int32_t>& keys,
                               std::uint32_t place) {
  const auto nodes = tables.nodes.data<std::int32_t>();
  for (int step = 0; step < ForestTop::kSteps; ++step) {
    const auto word = static_cast<std::uint32_t>(nodes[2 * std::size_t{place} + 1]);
    place = (word >> 12) + (keys[word & 0xFFF] > nodes[2 * std::size_t{place}] ? 1 : 0);
  }
  return place;
}

std::uint32_t after_top(const ForestTop& top, const std::vector<std::int32_t>& keys,
                        std::size_t lane) {
  std::size_t at = 0;
  while (at < ForestTop::kNodes) {
    const std::uint8_t slot = top.slots[at][lane];
    const bool smallest = (slot & ForestTop::kSmallest) != 0;
    const std::size_t feature = slot & (ForestTop::kSmallest - 1U);
    const std::int32_t key = keys[1 + feature + (smallest ? kFeatures : 0)];
    at = 2 * at + (key > top.keys[at][lane] ? 2 : 1);
  }
  return top.ends[at - ForestTop::kNodes][lane];
}

TEST(ForestTops, LeadWhereFourStepsLead) {
  const RandomForest made(37);
  const ForestTables tables = forest_tables(made.forest(), xla::F32, kFeatures);
  ASSERT_GT(tables.tops, 0);
  ASSERT_EQ(tables.tops % 8, 0) << "tops begin a line";
  std::mt19937 random(6);
  for (int row = 0; row < 200; ++row) {
    const std::vector<std::int32_t> keys = random_keys(random);
    for (std::size_t i = 0; i < tables.blocks.size(); ++i) {
      const kernels::ForestBlock& block = tables.blocks[i];
      ForestTop top;
      std::memcpy(&top,
                  &tables.nodes.data<std::int32_t>()[static_cast<std::size_t>(2 * tables.tops) +
                                                     i * sizeof top / sizeof(std::int32_t)],
                  sizeof top);
      for (std::int64_t tree = 0; tree < block.trees; ++tree) {
        EXPECT_EQ(after_top(top, keys, static_cast<std::size_t>(tree)),
                  after_four_steps(tables, keys, static_cast<std::uint32_t>(block.first + tree)));
      }
    }
    if (HasFailure()) return;
  }
}

TEST(ForestTops, AreOfFewFeaturesAndOfFloatsAlone) {
  const RandomForest made(3);
  EXPECT_EQ(forest_tables(made.forest(), xla::F64, kFeatures).tops, 0);
  EXPECT_EQ(forest_tables(made.forest(), xla::F32, kernels::kForestTopFeatures + 1).tops, 0);
  EXPECT_GT(forest_tables(made.forest(), xla::F32, kernels::kForestTopFeatures).tops, 0);
}

}  // namespace
}  // namespace tfaot::toolkit::engine
