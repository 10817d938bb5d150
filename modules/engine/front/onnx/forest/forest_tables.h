// SPDX-License-Identifier: Apache-2.0
// A checked forest as the tables that a walk without branches reads (ForestCall in
// tfaot/kernels/abi.h says how). All comparisons become one: is the key of a feature larger than
// the node's? A key is the number's bits as an integer of the same order; NaN is the largest or the
// smallest one, by where missing values go. Used by one thread.
#pragma once

#include <cstdint>
#include <vector>

#include "front/onnx/forest/forest.h"
#include "tfaot/kernels/abi.h"

namespace tfaot::toolkit::engine {

struct ForestTables {
  xla::PrimitiveType type = xla::F32;  // of the numbers that are compared and added
  std::int64_t features = 0;
  std::int64_t slots = 0;  // keys of a row: one that is the smallest, one or two for each feature
  std::int64_t targets = 0;
  xla::Literal nodes;     // [nodes, 2], integers as large as the numbers; the roots come first
  std::int64_t tops = 0;  // where in `nodes` the blocks' ForestTops begin; 0: there are none
  xla::Literal leaves;  // [leaves, targets], if leaves vote for several targets; else not an array
  std::vector<kernels::ForestBlock> blocks;  // all trees, in the order of the roots
  std::int64_t depth = 0;                    // most steps from a root to a leaf

  bool has_vectors() const { return leaves.shape().IsArray(); }
};

// Elements of the tables' leaves: with many targets, each leaf has a weight for each of them.
std::int64_t leaf_elements(const Forest& forest);

// `type`: of the feature values, F32 or F64. A forest with more nodes or features than tables of
// F32 hold, or one of float64, is walked in F64. Refuses nothing.
ForestTables forest_tables(const Forest& forest, xla::PrimitiveType type, std::int64_t features);

}  // namespace tfaot::toolkit::engine
