// SPDX-License-Identifier: Apache-2.0
#include "tfaot/inspect/input_uses.h"

#include <gtest/gtest.h>

namespace tfaot::toolkit {
namespace {

// As the engine reads HLO: "select = pred[2] compare(x, zeros), direction=EQ" is given as name,
// opcode, shape, operands and the rest.
HloNode instruction(const std::string& name, const std::string& opcode, const std::string& shape,
                    const std::vector<std::string>& operands, const std::string& detail = "") {
  HloNode one;
  one.name = name;
  one.opcode = opcode;
  one.shape = shape;
  one.operands = operands;
  one.detail = detail;
  return one;
}

// Of the only input.
InputUse use_of(std::vector<HloNode> nodes, const std::string& name = "x") {
  nodes.insert(nodes.begin(), instruction("weights", "parameter", "f32[7,4]", {}, "parameter 1"));
  HloGraph graph;
  graph.entry = "main";
  graph.computations = {{"main", "", false, false, std::move(nodes)}};
  return input_uses(graph, {name}).front();
}

void expect(const InputUse& use, InputRole role, double value) {
  EXPECT_STREQ(word_of(use.role), word_of(role));
  EXPECT_EQ(use.value, value);
}

HloNode input(const std::string& shape) {
  return instruction("x", "parameter", shape, {}, "parameter 0");
}
HloNode constant(const std::string& value) {
  return instruction("c", "constant", "f32[]", {}, "constant(" + value + ")");
}
HloNode gather(const std::string& indices) {
  return instruction("g", "gather", "f32[3,4]", {"weights", indices},
                     "offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, "
                     "index_vector_dim=1, slice_sizes={1,4}");
}

TEST(InputUses, RowsOfAGatherAreIndices) {
  expect(use_of({input("s32[3]"), instruction("r", "reshape", "s32[3,1]", {"x"}), gather("r")}),
         InputRole::kIndex, 6);
  expect(use_of({input("f32[3]"), instruction("r", "convert", "s32[3]", {"x"}), gather("r")}),
         InputRole::kIndex, 6);
  expect(use_of({input("f32[7,4]"),
                 instruction("g", "gather", "f32[3,4]", {"x", "weights"}, "start_index_map={0}")}),
         InputRole::kNumbers, 0);
}

// As ONNX and numpy have negative indices.
TEST(InputUses, IndicesMayCountFromTheEnd) {
  expect(use_of({input("s32[3]"), constant("0"), instruction("b", "broadcast", "s32[3]", {"c"}),
                 instruction("below", "compare", "pred[3]", {"x", "b"}, "direction=LT"),
                 instruction("sum", "add", "s32[3]", {"x", "b"}),
                 instruction("i", "select", "s32[3]", {"below", "sum", "x"}), gather("i")}),
         InputRole::kIndex, 6);
}

TEST(InputUses, OneHotScatterAndSlicesAreIndexed) {
  expect(use_of({input("s32[3]"), instruction("b", "broadcast", "s32[3,5]", {"x"}),
                 instruction("i", "iota", "s32[3,5]", {}, "iota_dimension=1"),
                 instruction("r", "compare", "pred[3,5]", {"b", "i"}, "direction=EQ")}),
         InputRole::kIndex, 4);
  expect(use_of({input("s32[3,1]"), instruction("u", "parameter", "f32[3,4]", {}, "parameter 2"),
                 instruction("r", "scatter", "f32[7,4]", {"weights", "x", "u"},
                             "update_window_dims={1}, scatter_dims_to_operand_dims={0}")}),
         InputRole::kIndex, 6);
  expect(use_of({input("s32[]"), constant("0"),
                 instruction("r", "dynamic-slice", "f32[2,4]", {"weights", "x", "c"},
                             "dynamic_slice_sizes={2,4}")}),
         InputRole::kIndex, 5);
}

TEST(InputUses, ProductsWithHugeNumbersHide) {
  for (const std::string number : {"-1e+09", "-100"}) {
    expect(use_of({input("f32[2,4]"), constant(number),
                   instruction("b", "broadcast", "f32[2,4]", {"c"}),
                   instruction("left", "subtract", "f32[2,4]", {"b", "x"}),
                   instruction("r", "multiply", "f32[2,4]", {"left", "b"})}),
           number == "-100" ? InputRole::kNumbers : InputRole::kMask, 0);
  }
}

TEST(InputUses, TruthValuesThatChooseAreMasks) {
  expect(use_of({input("pred[2,4]"), instruction("r", "not", "pred[2,4]", {"x"})}),
         InputRole::kMask, 0);
  expect(use_of({input("pred[2,4]"),
                 instruction("r", "select", "f32[2,4]", {"x", "weights", "weights"})}),
         InputRole::kMask, 0);
}

TEST(InputUses, ComparedNumbersArePaddingsOrMasksByName) {
  const std::vector<HloNode> nodes = {
      input("f32[2,4]"), constant("-999"), instruction("b", "broadcast", "f32[2,4]", {"c"}),
      instruction("r", "compare", "pred[2,4]", {"x", "b"}, "direction=NE")};
  expect(use_of(nodes), InputRole::kPadded, -999);
  expect(use_of(nodes, "pf_Mask"), InputRole::kMask, 0);
}

TEST(InputUses, OtherNumbersAreNumbers) {
  expect(use_of({input("f32[2,4]"), constant("0"), instruction("b", "broadcast", "f32[2,4]", {"c"}),
                 instruction("r", "compare", "pred[2,4]", {"x", "b"}, "direction=GT"),
                 instruction("m", "multiply", "f32[2,4]", {"x", "x"}),
                 instruction("s", "select", "f32[2,4]", {"r", "m", "b"})}),
         InputRole::kNumbers, 0);
  HloGraph damaged;
  damaged.entry = "nowhere";
  EXPECT_EQ(input_uses(damaged, {"x", "y"}).size(), 2U);
}

}  // namespace
}  // namespace tfaot::toolkit
