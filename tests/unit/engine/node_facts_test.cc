// SPDX-License-Identifier: Apache-2.0
#include "inspect/read_hlo.h"

#include <gmock/gmock.h>

#include "tests/support/memory_file_system.h"
#include "tests/unit/engine/parse_hlo.h"

namespace tfaot::toolkit::engine {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kProgram = R"(
sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}
fused {
  p = f32[4,32] parameter(0)
  t = f32[4,32] tanh(p)
  ROOT n = f32[4,32] negate(t)
}
ENTRY e {
  x = f32[4,16] parameter(0), metadata={op_name="x"}
  w = f32[1,2,16,16] parameter(1)
  c = s64[13] constant({1,4,32,16,0,16,1,1,0,0,0,3,0})
  k = (f32[4,32], u8[64]) custom-call(c, x, w), custom_call_target="tfaot_matmul_f32_x86_64_v3", metadata={op_name="dense/MatMul"}
  g = f32[4,32] get-tuple-element(k), index=0
  f = f32[4,32] fusion(g), kind=kLoop, calls=fused
  z = f32[] constant(0)
  ROOT r = f32[4] reduce(f, z), dimensions={1}, to_apply=sum
})";

HloComputation entry_of(const xla::HloModule& module, bool has_constants) {
  return NodeFacts(module, {{1, 64, "x86_64_v3"}, has_constants})
      .describe(*module.entry_computation());
}

const HloNode& node_of(const HloComputation& computation, const std::string& name) {
  for (const HloNode& node : computation.nodes) {
    if (node.name == name) return node;
  }
  ADD_FAILURE() << name;
  return computation.nodes.front();
}

TEST(NodeFacts, AKernelCall) {
  const auto module = testing::parse_hlo(kProgram);
  const HloNode node = node_of(entry_of(*module, true), "k");
  EXPECT_EQ(node.kind, NodeKind::kKernel);
  EXPECT_EQ(node.callee, "tfaot_matmul_f32_x86_64_v3");
  EXPECT_EQ(node.origin, "dense/MatMul");
  EXPECT_EQ(node.detail, "4 x 16 by 16 x 32, packed weights, then a bias, then relu");
  EXPECT_EQ(node.flops, 2 * 4 * 16 * 32);
  EXPECT_EQ(node.bytes, 4 * (4 * 16 + 2 * 16 * 16 + 4 * 32));
  EXPECT_GT(node.picoseconds, 0);
  EXPECT_THAT(node.operands, ElementsAre("c", "x", "w"));
}

TEST(NodeFacts, AKernelCallWithAFunction) {
  const auto module = testing::parse_hlo(R"(
ENTRY e {
  x = f32[4,16] parameter(0)
  w = f32[1,2,16,16] parameter(1)
  b = f32[32] parameter(2)
  c = s64[13] constant({1,4,32,16,0,16,1,1,0,0,0,257,0})
  f = s64[3] constant({10,4607182418800017408,0})
  k = (f32[4,32], u8[64]) custom-call(c, x, w, b, f), custom_call_target="tfaot_matmul_f32"
  ROOT g = f32[4,32] get-tuple-element(k), index=0
})");
  EXPECT_EQ(node_of(entry_of(*module, true), "k").detail,
            "4 x 16 by 16 x 32, packed weights, then a bias, then hard swish");
}

TEST(NodeFacts, Attention) {
  const auto module = testing::parse_hlo(R"(
ENTRY e {
  q = f32[6,70,8] parameter(0)
  k = f32[6,90,8] parameter(1)
  v = f32[6,90,5] parameter(2)
  c = s64[23] constant({6,1,70,90,8,5,4607182418800017408,560,0,8,1,720,0,8,1,450,0,5,1,350,0,5,1})
  ROOT a = (f32[6,70,5], u8[64]) custom-call(c, q, k, v), custom_call_target="tfaot_attention_f32"
})");
  const HloNode node = node_of(entry_of(*module, true), "a");
  EXPECT_EQ(node.detail, "6 times 70 queries x 8 by 90 keys, values of 5");
  EXPECT_EQ(node.flops, 6 * 2 * 70 * 90 * (8 + 5));
  EXPECT_EQ(node.bytes, 4 * 6 * (70 * 8 + 90 * 8 + 90 * 5 + 70 * 5));
  // The products alone, by what this machine multiplies in a cycle, and moving tensors.
  EXPECT_GT(node.picoseconds, 6 * 70 * 90 * (8 + 5) / 32 * 250);
}

TEST(NodeFacts, AChainOfDenseLayers) {
  // Layers of 32 with bias and relu, of 16 with tanh, of 3 without anything.
  const auto module = testing::parse_hlo(R"(
ENTRY e {
  x = f32[4,16] parameter(0)
  w0 = f32[1,2,16,16] parameter(1)
  b0 = f32[32] parameter(2)
  w1 = f32[1,1,32,16] parameter(3)
  w2 = f32[1,1,16,16] parameter(4)
  c = s64[20] constant({4,16,3,32,0,32,3,0,0,0,16,0,1,0,0,3,0,0,0,0})
  ROOT d = (f32[4,3], u8[1088]) custom-call(c, x, w0, b0, w1, w2), custom_call_target="tfaot_dense_chain_f32"
})");
  const HloNode node = node_of(entry_of(*module, true), "d");
  EXPECT_EQ(node.detail, "4 x 16 through layers of 32 relu, 16 tanh, 3");
  EXPECT_EQ(node.flops, 2 * 4 * (16 * 32 + 32 * 16 + 16 * 3));
  EXPECT_EQ(node.bytes, 4 * (4 * 16 + 2 * 16 * 16 + 32 + 32 * 16 + 16 * 16 + 4 * 3));
  EXPECT_GT(node.picoseconds, 0);
}

TEST(NodeFacts, ConstantsThatTheTextLeavesOutAreNotRead) {
  const auto module = testing::parse_hlo(kProgram);
  const HloNode node = node_of(entry_of(*module, false), "k");
  EXPECT_EQ(node.flops, -1);
  EXPECT_EQ(node.picoseconds, -1);
  EXPECT_EQ(node.detail, "");
}

TEST(NodeFacts, LoopsAndFusions) {
  const auto module = testing::parse_hlo(kProgram);
  const HloComputation entry = entry_of(*module, true);
  EXPECT_EQ(entry.root, "r");
  EXPECT_FALSE(entry.is_fused);
  const HloNode& fusion = node_of(entry, "f");
  EXPECT_EQ(fusion.kind, NodeKind::kFusion);
  EXPECT_THAT(fusion.computations, ElementsAre("fused"));
  EXPECT_EQ(fusion.flops, 2 * 4 * 32);
  EXPECT_GT(fusion.picoseconds, 0);
  const HloNode& reduce = node_of(entry, "r");
  EXPECT_EQ(reduce.kind, NodeKind::kLoop);
  EXPECT_THAT(reduce.detail, HasSubstr("dimensions={1}"));
  EXPECT_EQ(node_of(entry, "x").kind, NodeKind::kData);
  EXPECT_EQ(node_of(entry, "x").picoseconds, 0);
  EXPECT_EQ(node_of(entry, "x").origin, "x");
}

TEST(NodeFacts, TheTurnsOfALoop) {
  const auto turns = [](const std::string& end) {
    const auto module = testing::parse_hlo(
        "body {\n  s = (s32[]) parameter(0)\n  i = s32[] get-tuple-element(s), index=0\n"
        "  one = s32[] constant(1)\n  next = s32[] add(i, one)\n  ROOT t = (s32[]) tuple(next)\n}\n"
        "cond {\n  s = (s32[]) parameter(0)\n  i = s32[] get-tuple-element(s), index=0\n"
        "  end = s32[] " +
        end +
        "\n  ROOT r = pred[] compare(i, end), direction=LT\n}\n"
        "ENTRY e {\n  zero = s32[] constant(0)\n  t = (s32[]) tuple(zero)\n"
        "  ROOT w = (s32[]) while(t), condition=cond, body=body\n}");
    const HloNode loop = node_of(entry_of(*module, true), "w");
    EXPECT_EQ(loop.kind, NodeKind::kControl);
    EXPECT_EQ(loop.flops, -1) << "complete_graph() counts what it runs";
    return loop.turns;
  };
  EXPECT_EQ(turns("constant(7)"), 7);
  EXPECT_EQ(turns("convert(i)"), -1);
}

TEST(NodeFacts, TheCostsOfTheEntryAreThoseOfTheProgram) {
  const auto module = testing::parse_hlo(kProgram);
  const CodeSize code{1, 64, "x86_64_v3"};
  std::int64_t sum = 0;
  for (const HloNode& node : entry_of(*module, true).nodes) sum += node.picoseconds;
  // All but the part of a call that is no instruction's.
  const auto all = static_cast<std::int64_t>(static_cost(*module, code).picoseconds);
  EXPECT_NEAR(static_cast<double>(all - sum), 200 * 250, 10);
}

TEST(ReadHlo, TextAsAGraph) {
  const testing::MemoryFileSystem files{{"/d/a.txt", std::string("HloModule m\n") + kProgram},
                                        {"/d/b.txt", "HloModule"},
                                        {"/d/c.hlo.pb", "garbage"}};
  std::vector<HloGraph> graphs;
  const auto keep = [&](const HloGraph& graph) { graphs.push_back(graph); };
  ASSERT_TRUE(read_hlo(files, {{{"/d/a.txt", "before"}}, "x86_64_v3", 1, 0}, keep));
  ASSERT_EQ(graphs.size(), 1U);
  EXPECT_EQ(graphs[0].stage, "before");
  EXPECT_EQ(graphs[0].entry, "e");
  EXPECT_EQ(graphs[0].computations.back().name, "e");
  EXPECT_THAT(graphs[0].text, HasSubstr("ROOT r = f32[4] reduce("));
  for (const HloComputation& one : graphs[0].computations) {
    EXPECT_EQ(one.is_applied, one.name == "sum");
    EXPECT_EQ(one.is_fused, one.name == "fused");
  }
  const auto wrong = read_hlo(files, {{{"/d/b.txt", "b"}}, "", 1, 0}, keep);
  ASSERT_FALSE(wrong);
  EXPECT_THAT(wrong.error().text(), HasSubstr("/d/b.txt: XLA cannot read this HLO"));
  const auto garbage = read_hlo(files, {{{"/d/c.hlo.pb", "c"}}, "", 1, 0}, keep);
  ASSERT_FALSE(garbage);
  EXPECT_EQ(garbage.error().text(), "/d/c.hlo.pb: not an HLO proto");
}

}  // namespace
}  // namespace tfaot::toolkit::engine
