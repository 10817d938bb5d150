// SPDX-License-Identifier: Apache-2.0
#include "front/onnx/forest/forest.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "tfaot/base/limits.h"

namespace tfaot::toolkit::engine {
namespace {

// As TreeEnsemble numbers the modes.
constexpr auto kBranchModes = std::to_array<std::pair<std::string_view, BranchMode>>({
    {"BRANCH_LEQ", BranchMode::kLessOrEqual},
    {"BRANCH_LT", BranchMode::kLess},
    {"BRANCH_GTE", BranchMode::kGreaterOrEqual},
    {"BRANCH_GT", BranchMode::kGreater},
    {"BRANCH_EQ", BranchMode::kEqual},
    {"BRANCH_NEQ", BranchMode::kNotEqual},
    {"BRANCH_MEMBER", BranchMode::kMember},
});

template <typename T>
T forest_item(const std::vector<T>& values, std::size_t i) {
  return i < values.size() ? values[i] : T{};
}

std::string forest_place(const ForestNode& node) {
  return node.tree < 0 ? fmt::format("node {}", node.number)
                       : fmt::format("node {} of tree {}", node.number, node.tree);
}

// An attribute with one value for each node.
std::vector<std::int64_t> integers_of_nodes(const Node& node, const std::string& name,
                                            std::size_t count) {
  auto values = node.integers(name);
  if (values.size() != count) {
    node.refuse(fmt::format("has {} values of '{}' for {} nodes", values.size(), name, count));
  }
  return values;
}

std::vector<double> tensor_values(const Node& node, const std::string& name, std::size_t count,
                                  Forest& forest) {
  const auto tensor = node.tensor(name);
  if (!tensor) node.refuse(fmt::format("has no attribute '{}'", name));
  forest.has_doubles = forest.has_doubles || tensor->shape().element_type() == xla::F64;
  const auto values = tensor->Convert(xla::F64);
  if (!values.ok()) node.refuse(fmt::format("needs numbers as '{}'", name));
  const auto data = values->data<double>();
  if (data.size() != count) {
    node.refuse(fmt::format("has {} values of '{}' instead of {}", data.size(), name, count));
  }
  return {data.begin(), data.end()};
}

// Follows the branches from the roots.
void check_forest(const Node& node, const Forest& forest, std::int64_t features) {
  std::vector<bool> seen(forest.nodes.size(), false);
  for (const std::int64_t root : forest.roots) {
    const TreeOrder order = tree_order(forest, root);
    if (order.cycle >= 0) {
      const ForestNode& one = forest.nodes[static_cast<std::size_t>(order.cycle)];
      node.refuse(fmt::format("leads back to {}", forest_place(one)));
    }
    for (const std::int64_t at : order.nodes) {
      const ForestNode& one = forest.nodes[static_cast<std::size_t>(at)];
      if (seen[static_cast<std::size_t>(at)] && !one.is_leaf) {
        node.refuse(fmt::format("has {} in two trees", forest_place(one)));
      }
      seen[static_cast<std::size_t>(at)] = true;
    }
  }
  for (std::size_t i = 0; i < forest.nodes.size(); ++i) {
    const ForestNode& one = forest.nodes[i];
    if (one.is_leaf) continue;
    if (!seen[i]) node.refuse(fmt::format("reaches {} from no root", forest_place(one)));
    if (one.feature < 0 || one.feature >= features) {
      node.refuse(fmt::format("compares feature {} in {}, but its input has {}", one.feature,
                              forest_place(one), features));
    }
  }
}

Aggregate aggregate_of(const Node& node) {
  const std::string name = node.text("aggregate_function", "SUM");
  if (name == "AVERAGE") return Aggregate::kAverage;
  if (name == "MIN") return Aggregate::kMin;
  if (name == "MAX") return Aggregate::kMax;
  if (name != "SUM") node.refuse(fmt::format("has the aggregate_function '{}'", name));
  return Aggregate::kSum;
}

// The nodes of TreeEnsembleRegressor and TreeEnsembleClassifier: each has the number of its tree
// and its own.
class NumberedForest {
 public:
  NumberedForest(const Node& node, Forest& forest) : node_(node), forest_(forest) {}

  void read_nodes() {
    const auto modes = node_.texts("nodes_modes");
    const std::size_t count = modes.size();
    const auto trees = integers_of_nodes(node_, "nodes_treeids", count);
    const auto numbers = integers_of_nodes(node_, "nodes_nodeids", count);
    const auto features = integers_of_nodes(node_, "nodes_featureids", count);
    const auto if_true = integers_of_nodes(node_, "nodes_truenodeids", count);
    const auto if_false = integers_of_nodes(node_, "nodes_falsenodeids", count);
    const auto missing = node_.integers("nodes_missing_value_tracks_true");
    const auto thresholds = forest_numbers(node_, "nodes_values");
    if (thresholds.values.size() != count) {
      node_.refuse(fmt::format("has {} values of 'nodes_values' for {} nodes",
                               thresholds.values.size(), count));
    }
    forest_.has_doubles = thresholds.is_double;
    for (std::size_t i = 0; i < count; ++i) {
      ForestNode one;
      one.tree = trees[i];
      one.number = numbers[i];
      one.is_leaf = modes[i] == "LEAF";
      if (!one.is_leaf) one.mode = mode_of(modes[i], one);
      one.feature = features[i];
      one.threshold = thresholds.values[i];
      one.missing_is_true = forest_item(missing, i) == 1;
      if (!places_.try_emplace({trees[i], numbers[i]}, i).second) {
        node_.refuse(fmt::format("has {} twice", forest_place(one)));
      }
      forest_.nodes.push_back(std::move(one));
    }
    std::vector<bool> has_parent(count, false);
    for (std::size_t i = 0; i < count; ++i) {
      ForestNode& one = forest_.nodes[i];
      if (one.is_leaf) continue;
      one.if_true = find(one, if_true[i]);
      one.if_false = find(one, if_false[i]);
      has_parent[static_cast<std::size_t>(one.if_true)] = true;
      has_parent[static_cast<std::size_t>(one.if_false)] = true;
    }
    find_roots(has_parent);
  }

  void read_votes(const VoteNames& names) {
    const auto targets = node_.integers(names.prefix + "_ids");
    const std::size_t count = targets.size();
    const auto trees = integers_of_nodes(node_, names.prefix + "_treeids", count);
    const auto numbers = integers_of_nodes(node_, names.prefix + "_nodeids", count);
    const auto weights = forest_numbers(node_, names.prefix + "_weights");
    if (weights.values.size() != count) {
      node_.refuse(fmt::format("has {} values of '{}_weights' for {} votes", weights.values.size(),
                               names.prefix, count));
    }
    forest_.has_doubles = forest_.has_doubles || weights.is_double;
    for (std::size_t i = 0; i < count; ++i) {
      const auto found = places_.find({trees[i], numbers[i]});
      if (found == places_.end()) {
        node_.refuse(fmt::format("has a vote of node {} of tree {}, which is not there", numbers[i],
                                 trees[i]));
      }
      ForestNode& leaf = forest_.nodes[found->second];
      if (targets[i] < 0 || targets[i] >= forest_.targets) {
        node_.refuse(fmt::format("has a vote for number {} of {} in {}", targets[i],
                                 forest_.targets, forest_place(leaf)));
      }
      // Old converters gave branches a vote too; no row ends there.
      if (leaf.is_leaf) leaf.votes.push_back({targets[i], weights.values[i]});
    }
  }

 private:
  using Numbers = std::vector<std::int64_t>;

  BranchMode mode_of(const std::string& mode, const ForestNode& one) const {
    // Sets came with TreeEnsemble.
    for (const auto& [name, known] : kBranchModes) {
      if (name == mode && known != BranchMode::kMember) return known;
    }
    node_.refuse(fmt::format("has the mode '{}' in {}", mode, forest_place(one)));
  }

  std::int64_t find(const ForestNode& from, std::int64_t number) const {
    const auto found = places_.find({from.tree, number});
    if (found == places_.end()) {
      node_.refuse(
          fmt::format("leads from {} to node {}, which is not there", forest_place(from), number));
    }
    return static_cast<std::int64_t>(found->second);
  }

  // A tree's root is its only node that no branch leads to.
  void find_roots(const std::vector<bool>& has_parent) {
    absl::flat_hash_map<std::int64_t, std::int64_t> roots;
    for (std::size_t i = 0; i < has_parent.size(); ++i) {
      if (has_parent[i]) continue;
      const ForestNode& one = forest_.nodes[i];
      const auto [place, is_new] = roots.try_emplace(one.tree, static_cast<std::int64_t>(i));
      if (!is_new) {
        const ForestNode& other = forest_.nodes[static_cast<std::size_t>(place->second)];
        node_.refuse(fmt::format("has two roots in one tree: {} and {}", forest_place(other),
                                 forest_place(one)));
      }
      forest_.roots.push_back(static_cast<std::int64_t>(i));
    }
  }

  const Node& node_;
  Forest& forest_;
  absl::flat_hash_map<std::pair<std::int64_t, std::int64_t>, std::size_t> places_;
};

// The members of each set, which NaN ends.
std::vector<std::vector<double>> read_sets(const Node& node, Forest& forest) {
  std::vector<std::vector<double>> sets;
  if (!node.has_attribute("membership_values")) return sets;
  const auto size = static_cast<std::size_t>(
      xla::ShapeUtil::ElementsIn(node.tensor("membership_values")->shape()));
  std::vector<double> open;
  for (const double value : tensor_values(node, "membership_values", size, forest)) {
    if (!std::isnan(value)) {
      open.push_back(value);
      continue;
    }
    sets.push_back(std::move(open));
    open.clear();
  }
  if (!open.empty()) sets.push_back(std::move(open));
  return sets;
}

}  // namespace

TreeOrder tree_order(const Forest& forest, std::int64_t root) {
  enum class State { kOpen, kDone };
  TreeOrder order;
  absl::flat_hash_map<std::int64_t, State> states;
  std::vector<std::int64_t> stack = {root};
  while (!stack.empty()) {
    const std::int64_t at = stack.back();
    const ForestNode& one = forest.nodes[static_cast<std::size_t>(at)];
    const auto [state, is_new] = states.try_emplace(at, State::kOpen);
    if (!is_new || one.is_leaf) {
      // All that it leads to is done.
      stack.pop_back();
      if (state->second == State::kOpen) order.nodes.push_back(at);
      state->second = State::kDone;
      continue;
    }
    for (const std::int64_t next : {one.if_false, one.if_true}) {
      const auto known = states.find(next);
      if (known == states.end()) {
        stack.push_back(next);
      } else if (known->second == State::kOpen) {
        order.cycle = next;
        return order;
      }
    }
  }
  return order;
}

ForestNumbers forest_numbers(const Node& node, const std::string& name) {
  const std::string other = name + "_as_tensor";
  if (!node.has_attribute(other)) {
    const std::vector<float> values = node.reals(name);
    return {{values.begin(), values.end()}, false};
  }
  if (node.has_attribute(name)) node.refuse(fmt::format("has both '{}' and '{}'", name, other));
  const auto tensor = node.tensor(other);
  const auto values = tensor->Convert(xla::F64);
  if (!values.ok()) node.refuse(fmt::format("needs numbers as '{}'", other));
  const auto data = values->data<double>();
  return {{data.begin(), data.end()}, tensor->shape().element_type() == xla::F64};
}

std::int64_t forest_targets(const Node& node) {
  const std::int64_t targets = node.integer("n_targets");
  if (targets < 1 || targets > kMostTargets) node.refuse(fmt::format("has {} targets", targets));
  return targets;
}

Forest read_forest(const Node& node, const VoteNames& votes, std::int64_t features) {
  Forest forest;
  forest.targets = votes.targets;
  forest.aggregate = aggregate_of(node);
  NumberedForest numbered(node, forest);
  numbered.read_nodes();
  numbered.read_votes(votes);
  check_forest(node, forest, features);
  return forest;
}

Forest read_tree_ensemble(const Node& node, std::int64_t features) {
  Forest forest;
  forest.targets = forest_targets(node);
  const std::int64_t aggregate = node.integer("aggregate_function", 1);
  if (aggregate < 0 || aggregate > 3) {
    node.refuse(fmt::format("has the aggregate_function {}", aggregate));
  }
  forest.aggregate = static_cast<Aggregate>(aggregate);
  const auto feature_of = node.integers("nodes_featureids");
  const std::size_t count = feature_of.size();
  const auto if_true = integers_of_nodes(node, "nodes_truenodeids", count);
  const auto if_false = integers_of_nodes(node, "nodes_falsenodeids", count);
  const auto true_is_leaf = integers_of_nodes(node, "nodes_trueleafs", count);
  const auto false_is_leaf = integers_of_nodes(node, "nodes_falseleafs", count);
  const auto missing = node.integers("nodes_missing_value_tracks_true");
  const auto modes = tensor_values(node, "nodes_modes", count, forest);
  forest.has_doubles = false;
  const auto splits = tensor_values(node, "nodes_splits", count, forest);
  const auto targets = node.integers("leaf_targetids");
  const auto weights = tensor_values(node, "leaf_weights", targets.size(), forest);
  auto sets = read_sets(node, forest);

  std::size_t sets_used = 0;
  const auto place_of = [&](std::size_t from, std::int64_t to, bool is_leaf) {
    const auto limit = static_cast<std::int64_t>(is_leaf ? targets.size() : count);
    if (to < 0 || to >= limit) {
      node.refuse(fmt::format("leads from node {} to {} {}, which is not there", from,
                              is_leaf ? "leaf" : "node", to));
    }
    return is_leaf ? to + static_cast<std::int64_t>(count) : to;
  };
  for (std::size_t i = 0; i < count; ++i) {
    ForestNode one;
    one.number = static_cast<std::int64_t>(i);
    if (!(modes[i] >= 0 && modes[i] < static_cast<double>(kBranchModes.size()))) {
      node.refuse(fmt::format("has the mode {} in node {}", modes[i], i));
    }
    one.mode = kBranchModes[static_cast<std::size_t>(modes[i])].second;
    if (one.mode == BranchMode::kMember) {
      if (sets_used == sets.size())
        node.refuse(fmt::format("has no set of members for node {}", i));
      one.members = std::move(sets[sets_used++]);
    }
    one.feature = feature_of[i];
    one.threshold = splits[i];
    one.missing_is_true = forest_item(missing, i) == 1;
    one.if_true = place_of(i, if_true[i], true_is_leaf[i] != 0);
    one.if_false = place_of(i, if_false[i], false_is_leaf[i] != 0);
    forest.nodes.push_back(std::move(one));
  }
  for (std::size_t i = 0; i < targets.size(); ++i) {
    if (targets[i] < 0 || targets[i] >= forest.targets) {
      node.refuse(
          fmt::format("has a vote for number {} of {} in leaf {}", targets[i], forest.targets, i));
    }
    ForestNode leaf;
    leaf.is_leaf = true;
    leaf.votes = {{targets[i], weights[i]}};
    forest.nodes.push_back(std::move(leaf));
  }
  for (const std::int64_t root : node.integers("tree_roots")) {
    if (root < 0 || root >= static_cast<std::int64_t>(count)) {
      node.refuse(fmt::format("has the root {}, which is not there", root));
    }
    forest.roots.push_back(root);
  }
  check_forest(node, forest, features);
  return forest;
}

}  // namespace tfaot::toolkit::engine
