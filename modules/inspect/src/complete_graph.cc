// SPDX-License-Identifier: Apache-2.0
#include "tfaot/inspect/complete_graph.h"

#include <algorithm>
#include <vector>

namespace tfaot::toolkit {
namespace {

using Computations = std::map<std::string, const HloComputation*>;

// Far more than a call can do; sums of such numbers still fit.
constexpr double kMostCounted = 1e15;

bool has_own_code(const HloNode& node) { return node.kind != NodeKind::kData; }
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
    sum += static_cast<double>(std::max<std::int64_t>(node.*number, 0));
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
std::string first_origin(const HloNode& node) {
  return node.origin.substr(0, node.origin.find(';'));
}

std::string scope_of(const HloNode& node, const Computations& computations) {
  Scopes scopes;
  for (const std::string& name : node.computations) {
    const auto found = computations.find(name);
    if (found == computations.end()) continue;
    for (const HloNode& inner : found->second->nodes) {
      if (!has_own_code(inner) || inner.origin.empty()) continue;
      const auto weight = std::max<std::int64_t>(inner.picoseconds, 1);
      const std::string origin = first_origin(inner);
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
    if (origin.empty() && has_own_code(node)) origin = scope_of(node, computations);
    for (const std::string& operand : node.operands) {
      if (origin.empty() && origins.contains(operand)) origin = origins[operand];
    }
  }
  for (auto node = computation.nodes.rbegin(); node != computation.nodes.rend(); ++node) {
    const std::string origin = origins[node->name];
    if (has_own_code(*node)) node->origin = origin;
    if (origin.empty()) continue;
    for (const std::string& operand : node->operands) {
      const auto found = origins.find(operand);
      if (found != origins.end() && found->second.empty()) found->second = origin;
    }
  }
}

}  // namespace

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
