// SPDX-License-Identifier: Apache-2.0
#include "tfaot/inspect/graph_summary.h"
#include "tfaot/base/pattern.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

namespace tfaot::toolkit {
namespace {

bool has_code(const HloNode& node) { return node.kind != NodeKind::kData; }

std::int64_t known(std::int64_t number) { return std::max<std::int64_t>(number, 0); }

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

using Computations = std::map<std::string, const HloComputation*>;

// Far more than a call can do; sums of such numbers still fit.
constexpr double kMostCounted = 1e15;

bool is_loop(const HloNode& node) { return node.opcode == "while"; }
bool is_branch(const HloNode& node) { return node.opcode == "conditional"; }

std::int64_t counted_turns(const HloNode& node) {
  if (!is_loop(node)) return 1;
  return node.turns < 0 ? kAssumedTurns : node.turns;
}

// A number that is not known counts as none, as in the sums of a stage.
double sum_of(const HloComputation& computation, std::int64_t HloNode::*number) {
  double sum = 0;
  for (const HloNode& node : computation.nodes) {
    sum += static_cast<double>(known(node.*number));
  }
  return sum;
}

// Those that the estimate of a node counts: of branches the costliest one.
std::vector<const HloComputation*> counted_computations(const HloNode& node,
                                                        const Computations& computations) {
  std::vector<const HloComputation*> counted;
  for (const std::string& name : node.computations) {
    const auto found = computations.find(name);
    if (found != computations.end()) counted.push_back(found->second);
  }
  if (!is_branch(node) || counted.empty()) return counted;
  return {*std::ranges::max_element(counted, {}, [](const HloComputation* branch) {
    return sum_of(*branch, &HloNode::picoseconds);
  })};
}

void count_inner(HloNode& node, const Computations& computations) {
  const auto inner = counted_computations(node, computations);
  for (const auto number : {&HloNode::flops, &HloNode::bytes}) {
    double sum = 0;
    for (const HloComputation* one : inner) sum += sum_of(*one, number);
    sum *= static_cast<double>(counted_turns(node));
    node.*number = static_cast<std::int64_t>(std::min(sum, kMostCounted));
  }
}

// Weights of the scopes of names, "a" and "a/b" for "a/b/c".
class Scopes {
 public:
  void add(const std::string& origin, double weight) {
    all_ += weight;
    for (auto end = origin.find('/'); end != std::string::npos; end = origin.find('/', end + 1)) {
      weights_[origin.substr(0, end)] += weight;
    }
  }
  void add_whole(const std::string& origin, double weight) { weights_[origin] += weight; }
  // The deepest one that more than half of the weight is in.
  std::string deepest() const {
    std::string found;
    for (const auto& [scope, weight] : weights_) {
      if (2 * weight > all_ && scope.size() > found.size()) found = scope;
    }
    return found;
  }

 private:
  std::map<std::string, double> weights_;
  double all_ = 0;
};

// XLA joins the names of instructions that it merges.
std::string first_origin(const std::string& origin) { return origin.substr(0, origin.find(';')); }

std::string scope_of(const HloNode& node, const Computations& computations) {
  Scopes scopes;
  for (const std::string& name : node.computations) {
    const auto found = computations.find(name);
    if (found == computations.end()) continue;
    for (const HloNode& inner : found->second->nodes) {
      if (!has_code(inner) || inner.origin.empty()) continue;
      const auto weight = std::max<std::int64_t>(inner.picoseconds, 1);
      const std::string origin = first_origin(inner.origin);
      scopes.add(origin, static_cast<double>(weight));
      // A loop is more than one of its instructions.
      if (node.kind != NodeKind::kControl || origin.find('/') == std::string::npos) {
        scopes.add_whole(origin, static_cast<double>(weight));
      }
    }
  }
  return scopes.deepest();
}

void add_origins(HloComputation& computation, const Computations& computations) {
  std::map<std::string, std::string> origins;  // of nodes, and of the data that they show
  for (HloNode& node : computation.nodes) {
    std::string& origin = origins[node.name];
    origin = node.origin;
    if (origin.empty() && has_code(node)) origin = scope_of(node, computations);
    for (const std::string& operand : node.operands) {
      if (origin.empty() && origins.contains(operand)) origin = origins[operand];
    }
  }
  for (auto node = computation.nodes.rbegin(); node != computation.nodes.rend(); ++node) {
    const std::string origin = origins[node->name];
    if (has_code(*node)) node->origin = origin;
    if (origin.empty()) continue;
    for (const std::string& operand : node->operands) {
      const auto found = origins.find(operand);
      if (found != origins.end() && found->second.empty()) found->second = origin;
    }
  }
}

}  // namespace

const HloComputation* entry_of(const HloGraph& graph) {
  const auto found = std::ranges::find(graph.computations, graph.entry, &HloComputation::name);
  return found == graph.computations.end() ? nullptr : &*found;
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

std::string short_origin(const std::string& origin) {
  static const Pattern kCalls("((Stateful)?PartitionedCall(_[0-9]+)?/)+");
  return kCalls.without_first_match(first_origin(origin));
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

std::int64_t repeated(std::int64_t number, double times) {
  if (number < 0) return -1;
  return static_cast<std::int64_t>(std::min(static_cast<double>(number) * times, kMostCounted));
}

std::map<std::string, Runs> runs_of(const HloGraph& graph) {
  Computations computations;
  for (const HloComputation& one : graph.computations) computations[one.name] = &one;
  std::map<std::string, Runs> runs = {{graph.entry, {1, false, true}}};
  // What runs a computation is after it.
  for (auto outer = graph.computations.rbegin(); outer != graph.computations.rend(); ++outer) {
    const auto found = runs.find(outer->name);
    if (found == runs.end()) continue;
    const Runs of_outer = found->second;
    for (const HloNode& node : outer->nodes) {
      if (node.kind != NodeKind::kControl) continue;
      const auto counted = counted_computations(node, computations);
      for (const std::string& name : node.computations) {
        const bool is_counted = std::ranges::count(counted, name, &HloComputation::name) > 0;
        Runs& inner = runs[name];
        inner.times += of_outer.times * static_cast<double>(counted_turns(node));
        inner.is_assumed |= of_outer.is_assumed || (is_loop(node) && node.turns < 0);
        inner.is_estimated |= of_outer.is_estimated && is_counted;
      }
    }
  }
  return runs;
}

void complete_graph(HloGraph& graph) {
  Computations computations;
  for (HloComputation& computation : graph.computations) {
    for (HloNode& node : computation.nodes) {
      if (node.kind == NodeKind::kControl) count_inner(node, computations);
    }
    if (!computation.is_fused && !computation.is_applied) add_origins(computation, computations);
    computations[computation.name] = &computation;
  }
}

}  // namespace tfaot::toolkit
