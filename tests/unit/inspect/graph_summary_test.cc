// SPDX-License-Identifier: Apache-2.0
#include "tfaot/inspect/graph_summary.h"

#include <gmock/gmock.h>

#include "tests/unit/inspect/sample_graph.h"

namespace tfaot::toolkit {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::sample_graph;
using ::testing::SizeIs;

TEST(GraphSummary, AFusionCountsOnce) {
  const StageSummary summary = summary_of(sample_graph());
  EXPECT_EQ(summary.instructions, 10);
  EXPECT_EQ(summary.kinds.at(NodeKind::kKernel), 1);
  EXPECT_EQ(summary.kinds.at(NodeKind::kFusion), 1);
  EXPECT_EQ(summary.kinds.at(NodeKind::kLoop), 1);
  EXPECT_EQ(summary.flops, 72);
  EXPECT_EQ(summary.bytes, 368);
  EXPECT_EQ(summary.picoseconds, 1000);
}

TEST(GraphSummary, TheCostliestInstructionsFirst) {
  const HloGraph graph = sample_graph();
  std::vector<std::string> names;
  double shares = 0;
  for (const CodeNode& one : code_nodes(graph)) {
    names.push_back(one.node->name);
    shares += one.share;
  }
  EXPECT_THAT(names, ElementsAre("custom-call.4", "fusion.7", "reduce.6"));
  EXPECT_DOUBLE_EQ(shares, 1);
}

TEST(GraphSummary, WhatNobodyRunsIsNoHotSpot) {
  HloGraph graph = sample_graph();
  graph.computations[0].is_applied = false;
  graph.computations[0].nodes[0].picoseconds = 1'000'000;
  EXPECT_THAT(code_nodes(graph), SizeIs(3));
}

TEST(GraphSummary, NumbersThatAreNotKnown) {
  HloGraph graph = sample_graph();
  for (HloNode& node : graph.computations.back().nodes) node.picoseconds = node.flops = -1;
  EXPECT_EQ(summary_of(graph).picoseconds, 0);
  EXPECT_EQ(code_nodes(graph).front().share, -1);
}

TEST(GraphSummary, Layers) {
  EXPECT_EQ(short_origin("StatefulPartitionedCall/PartitionedCall/m/d/MatMul"), "m/d/MatMul");
  EXPECT_EQ(short_origin("StatefulPartitionedCall_1/m/d/Exp;m/d/Sub"), "m/d/Exp");
  EXPECT_EQ(layer_of("PartitionedCall/m/d/MatMul"), "m/d");
  EXPECT_EQ(layer_of("MatMul"), "MatMul");
  EXPECT_EQ(layer_of(""), "");
  const auto layers = layers_of(sample_graph());
  ASSERT_THAT(layers, SizeIs(2));
  EXPECT_EQ(layers[0].layer, "m/dense");
  EXPECT_EQ(layers[0].instructions, 2);
  EXPECT_EQ(layers[0].picoseconds, 960);
}

TEST(GraphSummary, WhatBecameOfAProduct) {
  HloGraph before = sample_graph();
  HloNode& product = before.computations.back().nodes[3];
  product.kind = NodeKind::kProduct;
  product.opcode = "dot";
  const HloGraph after = sample_graph();
  auto fates = product_fates(before, after, {});
  ASSERT_THAT(fates, SizeIs(1));
  ASSERT_THAT(fates[0].became, SizeIs(1));
  EXPECT_EQ(fates[0].became[0]->callee, "tfaot_matmul_f32_x86_64_v3");
  product.origin = "m/other/MatMul";
  fates = product_fates(before, after, {});
  EXPECT_THAT(fates[0].became, IsEmpty());
}

HloNode node_of(const std::string& name, const std::string& opcode,
                const std::vector<std::string>& operands, const std::string& origin) {
  HloNode node;
  node.name = name;
  node.opcode = opcode;
  node.kind = opcode == "dot" ? NodeKind::kProduct : NodeKind::kLoop;
  node.operands = operands;
  node.origin = origin;
  return node;
}

// Two layers become one call, which has the origin of the second; a loop's products become one call
// with the origin of what its step adds; the product of two weights is made ahead of time.
TEST(GraphSummary, ProductsThatAKernelTookWithOthers) {
  HloGraph before;
  before.entry = "main";
  HloNode loop = node_of("loop", "while", {"second"}, "m/rnn");
  loop.computations = {"step"};
  before.computations = {{"step",
                          "sum",
                          false,
                          false,
                          {node_of("state", "parameter", {}, ""),
                           node_of("gates", "dot", {"state", "state"}, "m/rnn/MatMul"),
                           node_of("sum", "add", {"gates", "state"}, "m/rnn/Add")}},
                         {"main",
                          "loop",
                          false,
                          false,
                          {node_of("x", "parameter", {}, "x"), node_of("w", "parameter", {}, "w"),
                           node_of("ahead", "dot", {"w", "w"}, "m/w/MatMul"),
                           node_of("first", "dot", {"x", "ahead"}, "m/a/MatMul"),
                           node_of("relu", "maximum", {"first", "first"}, "m/a/Relu"),
                           node_of("second", "dot", {"relu", "w"}, "m/b/MatMul"), loop}}};
  HloGraph after;
  after.entry = "main";
  HloNode chain = node_of("call.1", "custom-call", {}, "m/b/MatMul");
  HloNode layer = node_of("call.2", "custom-call", {}, "m/rnn/Add");
  chain.kind = layer.kind = NodeKind::kKernel;
  chain.callee = "chain";
  layer.callee = "layer";
  after.computations = {{"main", "call.2", false, false, {chain, layer}}};
  std::map<std::string, std::vector<std::string>> became;
  for (const ProductFate& fate : product_fates(before, after, {"w"})) {
    for (const HloNode* one : fate.became) became[fate.product->name].push_back(one->callee);
  }
  EXPECT_THAT(became["gates"], ElementsAre("layer"));
  EXPECT_THAT(became["first"], ElementsAre("chain"));
  EXPECT_THAT(became["second"], ElementsAre("chain"));
  EXPECT_THAT(became["ahead"], IsEmpty());
}

TEST(GraphSummary, Kernels) {
  EXPECT_THAT(called_kernels(sample_graph()), ElementsAre("tfaot_matmul_f32_x86_64_v3"));
}

TEST(GraphSummary, ADamagedGraph) {
  HloGraph graph = sample_graph();
  graph.entry = "other";
  EXPECT_EQ(entry_of(graph), nullptr);
  EXPECT_THAT(layers_of(graph), IsEmpty());
}

}  // namespace
}  // namespace tfaot::toolkit
