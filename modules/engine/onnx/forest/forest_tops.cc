// SPDX-License-Identifier: Apache-2.0
#include "onnx/forest/forest_tops.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

#include "hlo/hlo.h"

namespace tfaot::toolkit::engine {
namespace {

using kernels::ForestBottom;
using kernels::ForestTop;

constexpr std::int64_t kNodeBytes = 2 * sizeof(std::int32_t);

// A node as a walk reads it. A leaf leads to itself, by slot 0.
struct Step {
  std::int32_t key;
  std::int64_t slot;
  std::uint32_t left, right;
};

Step step_at(absl::Span<const std::int32_t> nodes, std::uint32_t place) {
  constexpr auto kBits = kernels::forest_slot_bits(sizeof(float));
  const auto word = static_cast<std::uint32_t>(nodes[2 * std::size_t{place} + 1]);
  const std::int64_t slot = word & ((1U << kBits) - 1);
  const std::uint32_t next = word >> kBits;
  return {nodes[2 * std::size_t{place}], slot, next, slot == 0 ? next : next + 1};
}

// A tree's part of its block's top. `nodes`: as in ForestTables.
void fill_lane(ForestTop& top, std::size_t lane, std::uint32_t root, std::int64_t features,
               absl::Span<const std::int32_t> nodes) {
  std::array<std::uint32_t, ForestTop::kNodes + ForestTop::kEnds> places{root};
  for (std::size_t i = 0; i < ForestTop::kNodes; ++i) {
    const Step step = step_at(nodes, places.at(i));
    places.at(2 * i + 1) = step.left;
    places.at(2 * i + 2) = step.right;
    top.keys[i][lane] = step.slot == 0 ? std::numeric_limits<std::int32_t>::max() : step.key;
    if (step.slot == 0) continue;
    const bool smallest = step.slot > features;
    const auto feature = static_cast<std::uint8_t>(step.slot - 1 - (smallest ? features : 0));
    top.slots[i][lane] =
        smallest ? static_cast<std::uint8_t>(feature | ForestTop::kSmallest) : feature;
  }
  for (std::size_t i = 0; i < ForestTop::kEnds; ++i) {
    top.ends[i][lane] = places.at(ForestTop::kNodes + i);
  }
}

ForestBottom bottom_of(std::uint32_t place, absl::Span<const std::int32_t> nodes) {
  ForestBottom bottom{};
  const Step first = step_at(nodes, place);
  const std::array<Step, ForestBottom::kNodes> steps = {first, step_at(nodes, first.left),
                                                        step_at(nodes, first.right)};
  for (std::size_t i = 0; i < steps.size(); ++i) {
    bottom.keys[i] = steps.at(i).key;
    bottom.slots[i] = static_cast<std::uint8_t>(steps.at(i).slot);
    if (i == 0) continue;
    bottom.leaves[2 * (i - 1)] = nodes[2 * std::size_t{steps.at(i).left}];
    bottom.leaves[2 * (i - 1) + 1] = nodes[2 * std::size_t{steps.at(i).right}];
  }
  return bottom;
}

// Of what the tops and bottoms hold, in the order of the table.
std::vector<std::int32_t> tops_and_bottoms(const ForestTables& tables) {
  const auto nodes = tables.nodes.data<std::int32_t>();
  std::vector<ForestTop> tops(tables.blocks.size());
  std::vector<ForestBottom> bottoms;
  constexpr auto kTopNodes = static_cast<std::int64_t>(sizeof(ForestTop)) / kNodeBytes;
  constexpr auto kBottomNodes = static_cast<std::int64_t>(sizeof(ForestBottom)) / kNodeBytes;
  const std::int64_t first_bottom = tables.tops + std::ssize(tops) * kTopNodes;
  for (std::size_t i = 0; i < tops.size(); ++i) {
    const kernels::ForestBlock& block = tables.blocks[i];
    if (has_bottoms(block)) tops[i].bottoms = first_bottom + std::ssize(bottoms) * kBottomNodes;
    for (std::int64_t tree = 0; tree < block.trees; ++tree) {
      const auto lane = static_cast<std::size_t>(tree);
      fill_lane(tops[i], lane, static_cast<std::uint32_t>(block.first + tree), tables.features,
                nodes);
      for (std::size_t end = 0; end < ForestTop::kEnds && has_bottoms(block); ++end) {
        bottoms.push_back(bottom_of(tops[i].ends[end][lane], nodes));
      }
    }
  }
  std::vector<std::int32_t> words(
      (tops.size() * sizeof(ForestTop) + bottoms.size() * sizeof(ForestBottom)) /
      sizeof(std::int32_t));
  std::memcpy(words.data(), tops.data(), tops.size() * sizeof(ForestTop));
  if (bottoms.empty()) return words;
  std::memcpy(words.data() + tops.size() * sizeof(ForestTop) / sizeof(std::int32_t), bottoms.data(),
              bottoms.size() * sizeof(ForestBottom));
  return words;
}

}  // namespace

void add_forest_tops(ForestTables& tables) {
  static_assert(sizeof(ForestTop) % kNodeBytes == 0 && sizeof(ForestBottom) % kNodeBytes == 0);
  if (tables.type != xla::F32 || tables.features > kernels::kForestTopFeatures) return;
  constexpr std::int64_t kLineNodes = 64 / kNodeBytes;
  const std::int64_t count = tables.nodes.shape().dimensions(0);
  tables.tops = (count + kLineNodes - 1) / kLineNodes * kLineNodes;
  const std::vector<std::int32_t> more = tops_and_bottoms(tables);
  xla::Literal all(shape_of(xla::S32, {tables.tops + std::ssize(more) / 2, 2}));
  const auto words = all.data<std::int32_t>();
  const auto end = std::ranges::copy(tables.nodes.data<std::int32_t>(), words.begin()).out;
  std::fill(end, words.begin() + 2 * tables.tops, 0);  // the same bytes each time
  std::ranges::copy(more, words.begin() + 2 * tables.tops);
  tables.nodes = std::move(all);
}

}  // namespace tfaot::toolkit::engine
