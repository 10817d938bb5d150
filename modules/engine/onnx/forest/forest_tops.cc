// SPDX-License-Identifier: Apache-2.0
#include "onnx/forest/forest_tops.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

#include "hlo/hlo.h"

namespace tfaot::toolkit::engine {
namespace {

using kernels::ForestTop;

constexpr std::int64_t kNodeBytes = 2 * sizeof(std::int32_t);

// A tree's part of its block's top. `nodes`: as in ForestTables.
void fill_lane(ForestTop& top, std::size_t lane, std::uint32_t root, std::int64_t features,
               absl::Span<const std::int32_t> nodes) {
  constexpr auto kBits = kernels::forest_slot_bits(sizeof(float));
  std::array<std::uint32_t, ForestTop::kNodes + ForestTop::kEnds> places{root};
  for (std::size_t i = 0; i < ForestTop::kNodes; ++i) {
    const std::size_t at = 2 * std::size_t{places.at(i)};
    const auto word = static_cast<std::uint32_t>(nodes[at + 1]);
    const std::int64_t slot = word & ((1U << kBits) - 1);
    const std::uint32_t next = word >> kBits;
    places.at(2 * i + 1) = next;
    places.at(2 * i + 2) = slot == 0 ? next : next + 1;
    top.keys[i][lane] = slot == 0 ? std::numeric_limits<std::int32_t>::max() : nodes[at];
    if (slot == 0) continue;
    const bool smallest = slot > features;
    const auto feature = static_cast<std::uint8_t>(slot - 1 - (smallest ? features : 0));
    top.slots[i][lane] =
        smallest ? static_cast<std::uint8_t>(feature | ForestTop::kSmallest) : feature;
  }
  for (std::size_t i = 0; i < ForestTop::kEnds; ++i) {
    top.ends[i][lane] = places.at(ForestTop::kNodes + i);
  }
}

}  // namespace

void add_forest_tops(ForestTables& tables) {
  static_assert(sizeof(ForestTop) % kNodeBytes == 0);
  if (tables.type != xla::F32 || tables.features > kernels::kForestTopFeatures) return;
  const auto nodes = tables.nodes.data<std::int32_t>();
  constexpr std::int64_t kLineNodes = 64 / kNodeBytes;
  const std::int64_t count = tables.nodes.shape().dimensions(0);
  tables.tops = (count + kLineNodes - 1) / kLineNodes * kLineNodes;
  const auto blocks = std::ssize(tables.blocks);
  constexpr auto kTopNodes = static_cast<std::int64_t>(sizeof(ForestTop)) / kNodeBytes;
  xla::Literal all(shape_of(xla::S32, {tables.tops + blocks * kTopNodes, 2}));
  const auto words = all.data<std::int32_t>();
  std::ranges::copy(nodes, words.begin());
  for (std::int64_t i = 0; i < blocks; ++i) {
    const kernels::ForestBlock& block = tables.blocks[static_cast<std::size_t>(i)];
    ForestTop top{};
    for (std::int64_t tree = 0; tree < block.trees; ++tree) {
      fill_lane(top, static_cast<std::size_t>(tree), static_cast<std::uint32_t>(block.first + tree),
                tables.features, nodes);
    }
    std::memcpy(&words[static_cast<std::size_t>(2 * (tables.tops + i * kTopNodes))], &top,
                sizeof top);
  }
  tables.nodes = std::move(all);
}

}  // namespace tfaot::toolkit::engine
