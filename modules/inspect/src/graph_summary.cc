// SPDX-License-Identifier: Apache-2.0
#include "tfaot/inspect/graph_summary.h"

#include <algorithm>
#include <map>
#include <regex>
#include <set>
#include <tuple>
#include <utility>

namespace tfaot::toolkit {
namespace {

bool has_code(const HloNode& node) { return node.kind != NodeKind::kData; }

std::int64_t known(std::int64_t number) { return std::max<std::int64_t>(number, 0); }

}  // namespace

const HloComputation* entry_of(const HloGraph& graph) {
  for (const HloComputation& computation : graph.computations) {
    if (computation.name == graph.entry) return &computation;
  }
  return nullptr;
}

StageSummary summary_of(const HloGraph& graph) {
  StageSummary summary;
  for (const HloComputation& computation : graph.computations) {
    const bool is_entry = computation.name == graph.entry;
    summary.instructions += static_cast<std::int64_t>(computation.nodes.size());
    if (computation.is_fused || computation.is_applied) continue;
    for (const HloNode& node : computation.nodes) {
      ++summary.kinds[node.kind];
      if (!is_entry) continue;
      summary.flops += known(node.flops);
      summary.bytes += known(node.bytes);
      summary.picoseconds += known(node.picoseconds);
    }
  }
  return summary;
}

std::vector<CodeNode> code_nodes(const HloGraph& graph) {
  const auto total = static_cast<double>(summary_of(graph).picoseconds);
  const std::map<std::string, Runs> all_runs = runs_of(graph);
  std::vector<CodeNode> nodes;
  for (const HloComputation& computation : graph.computations) {
    const auto runs = all_runs.find(computation.name);
    if (runs == all_runs.end()) continue;
    for (const HloNode& node : computation.nodes) {
      if (!has_code(node)) continue;
      const double times = runs->second.times;
      CodeNode one{&computation, &node, runs->second};
      one.flops = repeated(node.flops, times);
      one.bytes = repeated(node.bytes, times);
      one.picoseconds = repeated(node.picoseconds, times);
      const bool has_share = total > 0 && one.picoseconds >= 0 && runs->second.is_estimated &&
                             node.kind != NodeKind::kControl;
      if (has_share) one.share = static_cast<double>(one.picoseconds) / total;
      nodes.push_back(one);
    }
  }
  std::ranges::stable_sort(nodes, std::ranges::greater(), [](const CodeNode& one) {
    return std::tuple(one.share, one.picoseconds, one.bytes);
  });
  return nodes;
}

// XLA joins the names of instructions that it merges.
std::string short_origin(const std::string& origin) {
  static const std::regex kCalls("((Stateful)?PartitionedCall(_[0-9]+)?/)+");
  const std::string first = origin.substr(0, origin.find(';'));
  return std::regex_replace(first, kCalls, "", std::regex_constants::format_first_only);
}

std::string layer_of(const std::string& origin) {
  const std::string name = short_origin(origin);
  const auto end = name.rfind('/');
  return end == std::string::npos ? name : name.substr(0, end);
}

std::vector<LayerSummary> layers_of(const HloGraph& graph) {
  std::vector<LayerSummary> layers;
  std::map<std::string, LayerSummary> sums;
  for (const CodeNode& one : code_nodes(graph)) {
    if (one.node->kind == NodeKind::kControl || !one.runs.is_estimated) continue;
    LayerSummary& sum = sums[layer_of(one.node->origin)];
    ++sum.instructions;
    sum.flops += known(one.flops);
    sum.bytes += known(one.bytes);
    sum.picoseconds += known(one.picoseconds);
  }
  for (auto& [layer, sum] : sums) {
    sum.layer = layer;
    layers.push_back(std::move(sum));
  }
  std::ranges::stable_sort(layers, std::ranges::greater(), &LayerSummary::picoseconds);
  return layers;
}

namespace {

using Origins = std::multimap<std::string, const HloNode*>;

// What nodes are used for, and made of.
class Flow {
 public:
  explicit Flow(const HloGraph& graph) {
    for (const HloComputation& computation : graph.computations) {
      for (const HloNode& node : computation.nodes) {
        places_[&node] = &computation;
        nodes_[{&computation, node.name}] = &node;
        for (const std::string& operand : node.operands) {
          users_[{&computation, operand}].push_back(&node);
        }
        for (const std::string& called : node.computations) callers_[called].push_back(&node);
      }
    }
  }

  // The nearest kernels that make something from the node.
  std::vector<const HloNode*> kernels_after(const HloNode& node, const Origins& made) const {
    std::set<const HloNode*> seen = {&node};
    std::vector<const HloNode*> open = {&node};
    for (std::size_t i = 0; i < open.size(); ++i) {
      std::vector<const HloNode*> kernels;
      const auto [first, last] = made.equal_range(open[i]->origin);
      for (auto one = first; one != last && !open[i]->origin.empty(); ++one) {
        if (one->second->kind == NodeKind::kKernel) kernels.push_back(one->second);
      }
      if (!kernels.empty()) return kernels;
      for (const HloNode* user : users_of(*open[i])) {
        if (seen.insert(user).second) open.push_back(user);
      }
    }
    return {};
  }

  // True if the node is made of these weights and of constants alone.
  bool is_known(const HloNode& node, const std::set<std::string>& weights) const {
    if (node.opcode == "parameter") return weights.contains(node.origin);
    if (node.operands.empty()) return true;
    return std::ranges::all_of(node.operands, [&](const std::string& operand) {
      const auto found = nodes_.find({places_.at(&node), operand});
      return found != nodes_.end() && is_known(*found->second, weights);
    });
  }

 private:
  using Place = std::pair<const HloComputation*, std::string>;

  // The users of a computation's result are those of its callers.
  std::vector<const HloNode*> users_of(const HloNode& node) const {
    const HloComputation* const computation = places_.at(&node);
    std::vector<const HloNode*> users;
    if (const auto found = users_.find({computation, node.name}); found != users_.end()) {
      users = found->second;
    }
    if (const auto found = callers_.find(computation->name);
        node.name == computation->root && found != callers_.end()) {
      users.insert(users.end(), found->second.begin(), found->second.end());
    }
    return users;
  }

  std::map<const HloNode*, const HloComputation*> places_;
  std::map<Place, const HloNode*> nodes_;
  std::map<Place, std::vector<const HloNode*>> users_;
  std::map<std::string, std::vector<const HloNode*>> callers_;  // by computation
};

}  // namespace

std::vector<ProductFate> product_fates(const HloGraph& before, const HloGraph& after,
                                       const std::set<std::string>& weights) {
  const auto is_product = [](const HloNode& node) {
    return node.kind == NodeKind::kProduct || node.opcode == "reduce-window";
  };
  Origins made;
  for (const HloComputation& computation : after.computations) {
    for (const HloNode& node : computation.nodes) {
      if (node.kind == NodeKind::kKernel || is_product(node)) made.emplace(node.origin, &node);
    }
  }
  const Flow flow(before);
  std::vector<ProductFate> fates;
  for (const HloComputation& computation : before.computations) {
    for (const HloNode& node : computation.nodes) {
      if (!is_product(node)) continue;
      ProductFate fate{&node, {}};
      const auto [first, last] = made.equal_range(node.origin);
      for (auto one = first; one != last; ++one) fate.became.push_back(one->second);
      if (fate.became.empty() && !flow.is_known(node, weights)) {
        fate.became = flow.kernels_after(node, made);
      }
      fates.push_back(std::move(fate));
    }
  }
  return fates;
}

std::vector<std::string> called_kernels(const HloGraph& graph) {
  std::set<std::string> kernels;
  for (const HloComputation& computation : graph.computations) {
    for (const HloNode& node : computation.nodes) {
      if (node.kind == NodeKind::kKernel) kernels.insert(node.callee);
    }
  }
  return {kernels.begin(), kernels.end()};
}

}  // namespace tfaot::toolkit
