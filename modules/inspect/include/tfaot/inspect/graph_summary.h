// SPDX-License-Identifier: Apache-2.0
// A graph of a program in numbers: what each stage consists of, and where the time goes. Pure
// functions. Pointers lead into the graph, which must outlive them.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tfaot/records/hlo_graph.h"

namespace tfaot::toolkit {

// What one instruction alone does not say: flops and bytes of what runs other computations, and
// where instructions that XLA added come from. Pure functions.

// Flops and bytes of loops (with all turns, kAssumedTurns if their number is not known), of calls
// and of branches (of the costliest one). An instruction with code that names no node of the model
// gets the origin of what it runs, else of an operand, else of a user.
void complete_graph(HloGraph& graph);

// How often a call of the program runs a computation.
struct Runs {
  double times = 0;
  bool is_assumed = false;    // by kAssumedTurns
  bool is_estimated = false;  // in the estimate of a call; not of a branch that costs less
};
// By name, of the entry and of what it runs; without what fusions and reductions hold.
std::map<std::string, Runs> runs_of(const HloGraph& graph);
// A number of an instruction for as many runs; -1, not known, stays.
std::int64_t repeated(std::int64_t number, double times);

// Of all computations; what a fusion holds counts as the fusion. REQUIRES, as what follows:
// complete_graph().
struct StageSummary {
  std::int64_t instructions = 0;  // all, those inside of fusions too
  std::map<NodeKind, std::int64_t> kinds;
  std::int64_t flops = 0;        // of a call, where they are known
  std::int64_t bytes = 0;        // the same
  std::int64_t picoseconds = 0;  // the same
};
StageSummary summary_of(const HloGraph& graph);

// An instruction that has code, and what all its runs in a call of the program cost. -1 in a
// number: not known.
struct CodeNode {
  const HloComputation* computation = nullptr;
  const HloNode* node = nullptr;
  Runs runs;
  std::int64_t flops = -1;
  std::int64_t bytes = -1;
  std::int64_t picoseconds = -1;
  // Of the estimated time of a call. -1: not known, or not in it: what a loop or a branch costs is
  // what its instructions do, and only the costliest branch counts.
  double share = -1;
};
// The costliest first, those without a share last.
std::vector<CodeNode> code_nodes(const HloGraph& graph);

// The entry, or null if the graph is damaged.
const HloComputation* entry_of(const HloGraph& graph);

// What a part of the model costs: a layer, or another scope of names.
struct LayerSummary {
  std::string layer;
  std::int64_t instructions = 0;  // with code
  std::int64_t flops = 0;
  std::int64_t bytes = 0;
  std::int64_t picoseconds = 0;
};
// The costliest first. Of a call of the program.
std::vector<LayerSummary> layers_of(const HloGraph& graph);

// "model/dense_1" for "PartitionedCall/model/dense_1/MatMul".
std::string layer_of(const std::string& origin);
// "model/dense_1/MatMul" for the same; the first of several.
std::string short_origin(const std::string& origin);

// What became of a product, a convolution or a window of the model.
struct ProductFate {
  const HloNode* product = nullptr;  // in the first graph that still has them
  // In the last graph, with the same origin: calls of kernels, or what XLA makes itself. Otherwise
  // the kernels that took it, as those of chains of layers and of whole loops do: those that make
  // what the product is used for. Empty: computed ahead of time, or removed.
  std::vector<const HloNode*> became;
};
// `before`: products are not calls yet; the origins of its weights are `weights`.
std::vector<ProductFate> product_fates(const HloGraph& before, const HloGraph& after,
                                       const std::set<std::string>& weights);

// The symbols of our kernels that a graph calls, sorted, each once.
std::vector<std::string> called_kernels(const HloGraph& graph);

}  // namespace tfaot::toolkit
