// SPDX-License-Identifier: Apache-2.0
// The call of tfaot_forest; abi.h says what calls are.
#pragma once

#include <cstdint>

#include "tfaot/kernels/panels.h"

namespace tfaot {
inline namespace v1 {
namespace kernels {

// tfaot_forest: result[row, target] = the sum of the row's leaves in all trees. in[1]: x[rows,
// features]; in[2]: nodes[.., 2], integers as large as the elements, a tree's root at the number of
// the tree; in[3]: leaves[.., targets] with `vectors`. A step goes from a node to (node[1] >> bits)
// + (keys[node[1] & mask] > node[0]), with forest_slot_bits() bits and mask. After the block's
// depth of steps, node[0] is the bits of what is added to the block's target, or with `vectors` the
// row of leaves that is added to all of them. A leaf leads to itself. keys[0] is the smallest
// integer, keys[1 + i] the bits of feature i as an integer of the same order, or the largest one
// for NaN; with slots = 1 + 2 * features follow the same keys with the smallest one for NaN. The
// blocks follow the struct. live_rows is as in MatMulCall. Scratch: forest_scratch_bytes().
struct ForestCall {
  std::int64_t rows, features, slots, targets, blocks;
  std::int64_t vectors;    // 1: leaves are rows of in[3]
  std::int64_t tops;       // the node in whose place the blocks' ForestTops begin; 0: none
  std::int64_t live_rows;  // rows for each row of the model's batch; 0: all rows count
};
// Trees [first, first + trees), at most kForestBlockTrees.
struct ForestBlock {
  std::int64_t first, trees, depth, target;
};
inline constexpr std::int64_t kForestBlockTrees = 16;

// The first four steps through the trees of a block, again: for vectors with a tree in each lane.
// Nodes are numbered level by level, the two ends of node n are 2 * n + 1 and 2 * n + 2. The right
// one is next if the key of the feature is larger than the node's. Where a tree has no more nodes,
// the left ends go on to its leaf. For float32 and at most kForestTopFeatures features.
struct ForestTop {
  static constexpr int kSteps = 4, kNodes = 15, kEnds = 16;
  std::int32_t keys[kNodes][kForestBlockTrees];  // the largest one: the left end is always next
  std::uint32_t ends[kEnds][kForestBlockTrees];  // nodes of the table, from left to right
  std::uint8_t slots[kNodes]
                    [kForestBlockTrees];  // a feature, and kSmallest for in[2]'s second keys
  std::int64_t bottoms;  // the node in whose place the block's bottoms begin; 0: none
  std::int64_t unused;   // whole lines
  static constexpr std::uint8_t kSmallest = 128;
};
inline constexpr std::int64_t kForestTopFeatures = 64;

// The last two steps of a tree from an end of its top, in a place of their own: [trees, kEnds] of a
// block whose trees have five or six steps. After the first node's comparison comes that of the
// second or third node, and one of four leaves is what node[0] of its node holds.
struct ForestBottom {
  static constexpr int kSteps = 2, kNodes = 3, kLeaves = 4;
  std::int32_t keys[kNodes];
  std::uint8_t slots[kNodes + 1];  // of the row's keys; the last one is unused
  std::int32_t leaves[kLeaves];
};
constexpr bool has_bottoms(const ForestBlock& block) {
  constexpr std::int64_t kMost = ForestTop::kSteps + ForestBottom::kSteps;
  return block.depth > ForestTop::kSteps && block.depth <= kMost;
}

constexpr std::int64_t forest_slot_bits(std::int64_t element_bytes) {
  return element_bytes == 4 ? 12 : 32;
}

// Rows whose keys are computed at a time: they stay in the first cache.
constexpr std::int64_t forest_tile_rows(const ForestCall& call, std::int64_t element_bytes) {
  constexpr std::int64_t kTileBytes = 16384;
  const std::int64_t fit = kTileBytes / (call.slots * element_bytes);
  const std::int64_t tile = fit < 8 ? 8 : fit;
  return tile < call.rows ? tile : call.rows;
}
constexpr std::int64_t forest_scratch_bytes(const ForestCall& call, std::int64_t element_bytes) {
  return forest_tile_rows(call, element_bytes) * call.slots * element_bytes + kPanelBytes;
}

}  // namespace kernels
}  // namespace v1
}  // namespace tfaot
