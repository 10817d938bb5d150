// SPDX-License-Identifier: Apache-2.0
// The domain ai.onnx.ml, to which models of scikit-learn, XGBoost and LightGBM are converted:
// features, linear models, support vectors, trees. Declared here: forests, and the tables that a
// walk reads. Used by one thread.
#pragma once

#include "front/onnx/node.h"
#include "tfaot/kernels/abi.h"

namespace tfaot::toolkit::engine {

// The comparison of feature x in a branch, numbered as in TreeEnsemble: x <= threshold, and so on.
enum class BranchMode {
  kLessOrEqual,
  kLess,
  kGreaterOrEqual,
  kGreater,
  kEqual,
  kNotEqual,
  kMember
};

// The number that a leaf adds to a target.
struct LeafVote {
  std::int64_t target = 0;
  double weight = 0;
};

struct ForestNode {
  std::int64_t tree = -1;    // as the attributes count; -1: they do not
  std::int64_t number = -1;  // the same
  bool is_leaf = false;
  // A branch.
  BranchMode mode = BranchMode::kLessOrEqual;
  std::int64_t feature = 0;
  double threshold = 0;
  std::vector<double> members;   // of kMember
  bool missing_is_true = false;  // where NaN goes
  std::int64_t if_true = -1;     // nodes
  std::int64_t if_false = -1;
  // A leaf; it may have no votes.
  std::vector<LeafVote> votes;
};

enum class Aggregate { kAverage, kSum, kMin, kMax };

// A checked forest: all indices are in range, it has no cycles, and each branch is reachable from a
// root. Several branches may lead to one node: LightGBM's converter writes sets of categories as
// such chains.
struct Forest {
  std::vector<ForestNode> nodes;
  std::vector<std::int64_t> roots;
  std::int64_t targets = 0;
  Aggregate aggregate = Aggregate::kSum;
  bool has_doubles = false;  // thresholds or weights are stored as float64
};

// A forest as tables for a branchless walk (see ForestCall in tfaot/kernels/abi.h). All comparisons
// become one: is the key of a feature larger than the node's? A key is the number's bits as an
// integer of the same order; NaN is the largest or the smallest key, depending on where missing
// values go.
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

// `type`: of the feature values, F32 or F64. A forest that is too large for tables of F32, or has
// float64 numbers, is walked in F64. Never refuses.
ForestTables forest_tables(const Forest& forest, xla::PrimitiveType type, std::int64_t features);

}  // namespace tfaot::toolkit::engine
