// SPDX-License-Identifier: Apache-2.0
#include "tfaot/inspect/graph_drawing.h"

#include <gmock/gmock.h>

#include "tests/support/golden.h"
#include "tests/unit/inspect/sample_graph.h"

namespace tfaot::toolkit {
namespace {

using ::testing::HasSubstr;
using testing::matches_golden;
using testing::sample_graph;

TEST(GraphDrawing, InThreeDetails) {
  for (const auto& row : kWords<DrawnDetail>) {
    const std::string name = std::string("inspect/") + row.word + ".dot";
    EXPECT_TRUE(matches_golden(dot_of(sample_graph(), row.value), name));
  }
}

TEST(GraphDrawing, Boxes) {
  EXPECT_EQ(drawn_boxes(sample_graph(), DrawnDetail::kLayers), 4U);
  EXPECT_EQ(drawn_boxes(sample_graph(), DrawnDetail::kInstructions), 5U);
  EXPECT_EQ(drawn_boxes(sample_graph(), DrawnDetail::kAll), 8U);
}

TEST(GraphDrawing, ALoopIsALayerWithItsKernels) {
  HloGraph graph = sample_graph();
  HloComputation& entry = graph.computations.back();
  HloNode state = entry.nodes[4];
  state.name = "tuple.8";
  state.opcode = "tuple";
  state.operands = {"gte.5", "p1.2"};
  HloNode loop = entry.nodes[5];
  loop.opcode = "while";
  loop.kind = NodeKind::kControl;
  loop.operands = {"tuple.8"};
  loop.computations = {"body"};
  loop.origin = "rnn/while";
  HloNode kernel = entry.nodes[3];
  kernel.callee = "tfaot_sum_pool_f32";
  entry.nodes[5] = loop;
  entry.nodes.insert(entry.nodes.begin() + 5, state);
  graph.computations.insert(graph.computations.end() - 1,
                            {"body", kernel.name, false, false, {kernel}});
  const std::string dot = dot_of(graph, DrawnDetail::kLayers);
  EXPECT_THAT(dot, HasSubstr("\"rnn\" [label=\"rnn\\n1 instruction\\ntfaot_sum_pool_f32\""));
  EXPECT_THAT(dot, HasSubstr("\"dense/kernel, packed\" -> \"rnn\""));
  EXPECT_THAT(dot, HasSubstr("\"m/dense\" -> \"rnn\""));
}

TEST(GraphDrawing, HostileNames) {
  HloGraph graph = sample_graph();
  graph.computations.back().nodes[0].origin = "a\"] b[label=\"\\";
  EXPECT_THAT(dot_of(graph, DrawnDetail::kInstructions), HasSubstr(R"(a\"] b[label=\"\\")"));
}

TEST(GraphDrawing, GraphvizLaysItOut) {
  const auto svg = svg_of(dot_of(sample_graph(), DrawnDetail::kAll));
  if (!svg) {
    EXPECT_THAT(svg.error().text(), HasSubstr("install it (Debian: graphviz)"));
    GTEST_SKIP() << "graphviz is not installed";
  }
  EXPECT_THAT(*svg, HasSubstr("tfaot_matmul_f32_x86_64_v3"));
  const std::string coloured = with_page_colours(*svg);
  EXPECT_THAT(coloured, HasSubstr("fill=\"var(--good-soft)\""));
  EXPECT_THAT(coloured, Not(HasSubstr(" id=\"")));
  EXPECT_THAT(coloured, Not(HasSubstr("#1a1f26")));
}

}  // namespace
}  // namespace tfaot::toolkit
