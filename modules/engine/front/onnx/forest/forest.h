// SPDX-License-Identifier: Apache-2.0
// The decision trees of a node of ai.onnx.ml, read from its attributes and checked: all indices are
// in range, no branch leads back, and each branch is reached from a root. Several branches may lead
// to one node: LightGBM's converter writes sets of categories as such chains. Used by one thread.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "front/onnx/node.h"

namespace tfaot::toolkit::engine {

// The comparison of a branch with its feature x: x <= threshold, and so on.
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
  // A leaf. None adds nothing.
  std::vector<LeafVote> votes;
};

enum class Aggregate { kAverage, kSum, kMin, kMax };

struct Forest {
  std::vector<ForestNode> nodes;
  std::vector<std::int64_t> roots;
  std::int64_t targets = 0;
  Aggregate aggregate = Aggregate::kSum;
  bool has_doubles = false;  // thresholds or weights are stored as float64
};

// The nodes of one tree, each once and after those that it leads to. A branch that leads back is
// `cycle`; -1: there is none.
struct TreeOrder {
  std::vector<std::int64_t> nodes;
  std::int64_t cycle = -1;
};
TreeOrder tree_order(const Forest& forest, std::int64_t root);

// Votes of TreeEnsembleRegressor and TreeEnsembleClassifier have different names.
struct VoteNames {
  std::string prefix;  // "class": of class_ids, class_nodeids ...
  std::int64_t targets = 0;
};
// These refuse what is wrong, and name it.
Forest read_forest(const Node& node, const VoteNames& votes, std::int64_t features);
// Reads a TreeEnsemble.
Forest read_tree_ensemble(const Node& node, std::int64_t features);

// Their number, an attribute. Refuses none, and more than any forest has.
std::int64_t forest_targets(const Node& node);

// The values of an attribute, or of the one of float64 that may take its place, "..._as_tensor".
struct ForestNumbers {
  std::vector<double> values;
  bool is_double = false;
};
ForestNumbers forest_numbers(const Node& node, const std::string& name);

}  // namespace tfaot::toolkit::engine
