// SPDX-License-Identifier: Apache-2.0
// A ForestTop leads a row to where four steps through the nodes lead it.
#include "front/onnx/operators/machine_learning.h"

#include <gtest/gtest.h>
#include <malloc.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

namespace tfaot::toolkit::engine {
namespace {

using kernels::ForestBottom;
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

std::uint32_t after_steps(const ForestTables& tables, const std::vector<std::int32_t>& keys,
                          std::uint32_t place, std::int64_t steps) {
  const auto nodes = tables.nodes.data<std::int32_t>();
  for (; steps > 0; --steps) {
    const auto word = static_cast<std::uint32_t>(nodes[2 * std::size_t{place} + 1]);
    place = (word >> 12) + (keys[word & 0xFFF] > nodes[2 * std::size_t{place}] ? 1 : 0);
  }
  return place;
}

// The end's number.
std::size_t end_of_top(const ForestTop& top, const std::vector<std::int32_t>& keys,
                       std::size_t lane) {
  std::size_t at = 0;
  while (at < ForestTop::kNodes) {
    const std::uint8_t slot = top.slots[at][lane];
    const bool smallest = (slot & ForestTop::kSmallest) != 0;
    const std::size_t feature = slot & (ForestTop::kSmallest - 1U);
    const std::int32_t key = keys[1 + feature + (smallest ? kFeatures : 0)];
    at = 2 * at + (key > top.keys[at][lane] ? 2 : 1);
  }
  return at - ForestTop::kNodes;
}

template <typename Part>
Part part_at(const ForestTables& tables, std::int64_t node, std::size_t number = 0) {
  Part part;
  const auto first =
      static_cast<std::size_t>(2 * node) + number * sizeof part / sizeof(std::int32_t);
  std::memcpy(&part, &tables.nodes.data<std::int32_t>()[first], sizeof part);
  return part;
}

std::int32_t leaf_of(const ForestBottom& bottom, const std::vector<std::int32_t>& keys) {
  const std::size_t first = keys[bottom.slots[0]] > bottom.keys[0] ? 1 : 0;
  const std::size_t second = keys[bottom.slots[1 + first]] > bottom.keys[1 + first] ? 1 : 0;
  return bottom.leaves[2 * first + second];
}

// use(keys, block, top, lane) for rows, and for the trees that each top is of.
template <typename Use>
void for_rows_and_trees(const ForestTables& tables, const Use& use) {
  std::mt19937 random(6);
  for (int row = 0; row < 200 && !::testing::Test::HasFailure(); ++row) {
    const std::vector<std::int32_t> keys = random_keys(random);
    for (std::size_t i = 0; i < tables.blocks.size(); ++i) {
      const kernels::ForestBlock& block = tables.blocks[i];
      const auto top = part_at<ForestTop>(tables, tables.tops, i);
      for (std::int64_t tree = 0; tree < block.trees; ++tree) {
        use(keys, block, top, static_cast<std::size_t>(tree));
      }
    }
  }
}

TEST(ForestTops, LeadWhereFourStepsLead) {
  const RandomForest made(37);
  const ForestTables tables = forest_tables(made.forest(), xla::F32, kFeatures);
  ASSERT_GT(tables.tops, 0);
  ASSERT_EQ(tables.tops % 8, 0) << "tops begin a line";
  for_rows_and_trees(tables, [&](const auto& keys, const auto& block, const auto& top, auto lane) {
    const auto root = static_cast<std::uint32_t>(block.first) + static_cast<std::uint32_t>(lane);
    EXPECT_EQ(top.ends[end_of_top(top, keys, lane)][lane],
              after_steps(tables, keys, root, ForestTop::kSteps));
  });
}

TEST(ForestTops, HaveBottomsWithTheLeavesOfFiveOrSixSteps) {
  const RandomForest made(137);
  const ForestTables tables = forest_tables(made.forest(), xla::F32, kFeatures);
  int blocks_with_bottoms = 0;
  for_rows_and_trees(tables, [&](const auto& keys, const auto& block, const auto& top, auto lane) {
    EXPECT_EQ(top.bottoms != 0, block.depth == 5 || block.depth == 6);
    if (top.bottoms == 0) return;
    ++blocks_with_bottoms;
    ASSERT_EQ(top.bottoms % 4, 0) << "a bottom is in one line";
    const auto root = static_cast<std::uint32_t>(block.first) + static_cast<std::uint32_t>(lane);
    const std::uint32_t leaf = after_steps(tables, keys, root, block.depth);
    const auto bottom = part_at<ForestBottom>(
        tables, top.bottoms, lane * ForestTop::kEnds + end_of_top(top, keys, lane));
    EXPECT_EQ(leaf_of(bottom, keys), tables.nodes.data<std::int32_t>()[2 * std::size_t{leaf}]);
  });
  EXPECT_GT(blocks_with_bottoms, 0);
}

// Else a package would depend on what the memory held before.
TEST(ForestTops, ComeAfterZeros) {
  mallopt(M_PERTURB, 0x55);  // new memory is no zeros
  for (std::int64_t trees = 1; trees < 20; ++trees) {
    const RandomForest made(trees);
    const auto tables = forest_tables(made.forest(), xla::F32, kFeatures);
    std::size_t last = 0;  // a node that another leads to, or a root
    const auto nodes = tables.nodes.data<std::int32_t>();
    for (std::size_t i = 0; i <= last || i < static_cast<std::size_t>(trees); ++i) {
      const auto word = static_cast<std::uint32_t>(nodes[2 * i + 1]);
      last = std::max(last, std::size_t{word >> 12} + ((word & 0xFFF) != 0 ? 1 : 0));
    }
    for (std::size_t i = 2 * (last + 1); i < 2 * static_cast<std::size_t>(tables.tops); ++i) {
      EXPECT_EQ(nodes[i], 0) << trees << " trees";
    }
  }
  mallopt(M_PERTURB, 0);
}

TEST(ForestTops, AreOfFewFeaturesAndOfFloatsAlone) {
  const RandomForest made(3);
  EXPECT_EQ(forest_tables(made.forest(), xla::F64, kFeatures).tops, 0);
  EXPECT_EQ(forest_tables(made.forest(), xla::F32, kernels::kForestTopFeatures + 1).tops, 0);
  EXPECT_GT(forest_tables(made.forest(), xla::F32, kernels::kForestTopFeatures).tops, 0);
}

}  // namespace
}  // namespace tfaot::toolkit::engine
