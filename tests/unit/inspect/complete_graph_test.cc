// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include "tfaot/inspect/graph_summary.h"

namespace tfaot::toolkit {
namespace {

using ::testing::ElementsAre;

HloNode node(const std::string& name, const std::string& opcode, NodeKind kind,
             const std::vector<std::string>& operands, const std::string& origin = "") {
  HloNode made;
  made.name = name;
  made.opcode = opcode;
  made.kind = kind;
  made.operands = operands;
  made.origin = origin;
  return made;
}

HloNode kernel(const std::string& name, const std::string& origin, std::int64_t number) {
  HloNode made = node(name, "custom-call", NodeKind::kKernel, {"state"}, origin);
  made.flops = 2 * number;
  made.bytes = 3 * number;
  made.picoseconds = number;
  return made;
}

HloNode control(const std::string& name, const std::string& opcode,
                const std::vector<std::string>& computations, std::int64_t picoseconds) {
  HloNode made = node(name, opcode, NodeKind::kControl, {"copy"});
  made.computations = computations;
  made.picoseconds = picoseconds;
  return made;
}

// A recurrent net: a loop of two kernels, and one after it.
HloGraph recurrent(std::int64_t turns) {
  const HloComputation body{"body",
                            "hidden",
                            false,
                            false,
                            {node("state", "parameter", NodeKind::kData, {}),
                             kernel("input", "rnn/while/cell/MatMul", 100),
                             kernel("hidden", "rnn/while/cell/MatMul_1", 200)}};
  const HloComputation condition{"condition", "less", false, false, {}};
  HloNode loop = control("while", "while", {"body", "condition"}, 1500);
  loop.turns = turns;
  const HloComputation entry{"main",
                             "dense",
                             false,
                             false,
                             {node("x", "parameter", NodeKind::kData, {}, "x"),
                              node("copy", "copy", NodeKind::kLoop, {"x"}), loop,
                              node("gte", "get-tuple-element", NodeKind::kData, {"while"}),
                              kernel("dense", "dense/MatMul", 500)}};
  return {"cpu_after_optimizations", "main", {body, condition, entry}, ""};
}

const HloNode& node_named(const HloGraph& graph, const std::string& name) {
  for (const HloComputation& computation : graph.computations) {
    for (const HloNode& one : computation.nodes) {
      if (one.name == name) return one;
    }
  }
  ADD_FAILURE() << name;
  return graph.computations.front().nodes.front();
}

std::vector<std::string> hot_names(const HloGraph& graph) {
  std::vector<std::string> names;
  for (const CodeNode& one : code_nodes(graph)) names.push_back(one.node->name);
  return names;
}

TEST(CompleteGraph, ALoopCostsAllTurnsOfItsKernels) {
  HloGraph graph = recurrent(5);
  complete_graph(graph);
  const HloNode& loop = node_named(graph, "while");
  EXPECT_EQ(loop.flops, 5 * 2 * (100 + 200));
  EXPECT_EQ(loop.bytes, 5 * 3 * (100 + 200));
  EXPECT_EQ(summary_of(graph).flops, loop.flops + 2 * 500);
}

TEST(CompleteGraph, WhatALoopRunsIsAmongTheHotSpots) {
  HloGraph graph = recurrent(5);
  complete_graph(graph);
  const auto nodes = code_nodes(graph);
  EXPECT_THAT(hot_names(graph), ElementsAre("hidden", "input", "dense", "while", "copy"));
  EXPECT_DOUBLE_EQ(nodes[0].share, 0.5);
  EXPECT_EQ(nodes[0].picoseconds, 1000);
  EXPECT_EQ(nodes[0].flops, 2000);
  EXPECT_EQ(nodes[0].bytes, 3000);
  EXPECT_EQ(nodes[0].runs.times, 5);
  EXPECT_FALSE(nodes[0].runs.is_assumed);
  EXPECT_DOUBLE_EQ(nodes[0].share + nodes[1].share + nodes[2].share, 1);
  EXPECT_EQ(nodes[3].share, -1);
  const auto layers = layers_of(graph);
  EXPECT_EQ(layers[0].layer, "rnn/while/cell");
  EXPECT_EQ(layers[0].picoseconds, 1500);
}

TEST(CompleteGraph, TurnsThatXlaDoesNotKnowAreAssumed) {
  HloGraph graph = recurrent(-1);
  complete_graph(graph);
  EXPECT_EQ(node_named(graph, "while").flops, kAssumedTurns * 2 * (100 + 200));
  EXPECT_EQ(code_nodes(graph)[0].runs.times, kAssumedTurns);
  EXPECT_TRUE(code_nodes(graph)[0].runs.is_assumed);
}

TEST(CompleteGraph, ALoopInALoop) {
  HloGraph graph = recurrent(5);
  HloComputation outer = graph.computations.back();
  outer.name = "outer";
  HloNode loop = control("outer_while", "while", {"outer", "condition"}, 6000);
  loop.turns = 3;
  graph.computations.back() = outer;
  graph.computations.push_back({"main", "outer_while", false, false, {loop}});
  complete_graph(graph);
  EXPECT_EQ(code_nodes(graph)[0].node->name, "hidden");
  EXPECT_EQ(code_nodes(graph)[0].runs.times, 15);
  EXPECT_EQ(node_named(graph, "outer_while").flops, 3 * (3000 + 1000));
}

TEST(CompleteGraph, OnlyTheCostliestBranchCounts) {
  HloGraph graph = recurrent(5);
  graph.computations.insert(graph.computations.begin(),
                            {"cheap", "other", false, false, {kernel("other", "b/MatMul", 100)}});
  graph.computations.back().nodes[2] =
      control("conditional", "conditional", {"cheap", "body"}, 300);
  complete_graph(graph);
  EXPECT_EQ(node_named(graph, "conditional").flops, 600);
  EXPECT_THAT(hot_names(graph),
              ElementsAre("dense", "hidden", "input", "conditional", "other", "copy"));
  EXPECT_EQ(code_nodes(graph)[4].share, -1);
  EXPECT_EQ(code_nodes(graph)[4].runs.times, 1);
  for (const LayerSummary& layer : layers_of(graph)) EXPECT_NE(layer.layer, "b");
}

TEST(CompleteGraph, WhatXlaAddedComesFromWhatItRunsOrReads) {
  HloGraph graph = recurrent(5);
  graph.computations.back().nodes.push_back(node("copy.2", "copy", NodeKind::kLoop, {"gte"}));
  graph.computations.front().nodes.insert(graph.computations.front().nodes.begin() + 1,
                                          node("copy.3", "copy", NodeKind::kLoop, {"state"}));
  graph.computations.front().nodes.back().operands = {"copy.3"};
  complete_graph(graph);
  EXPECT_EQ(node_named(graph, "while").origin, "rnn/while/cell");
  EXPECT_EQ(node_named(graph, "copy").origin, "x");
  EXPECT_EQ(node_named(graph, "copy.2").origin, "rnn/while/cell");
  EXPECT_EQ(node_named(graph, "copy.3").origin, "rnn/while/cell/MatMul_1");
  EXPECT_EQ(node_named(graph, "gte").origin, "");
}

TEST(CompleteGraph, ADamagedGraphEnds) {
  HloGraph graph = recurrent(1'000'000'000'000'000'000);
  graph.computations.front().nodes.push_back(control("again", "while", {"main", "body", "?"}, 1));
  complete_graph(graph);
  EXPECT_GT(node_named(graph, "while").flops, 0);
  EXPECT_GT(code_nodes(graph).front().picoseconds, 0);
}

}  // namespace
}  // namespace tfaot::toolkit
