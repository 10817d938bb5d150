// SPDX-License-Identifier: Apache-2.0
// Small ONNX models that ask for much: each is refused in words, in a moment (base/limits.h).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "tests/unit/engine/onnx_models.h"

namespace tfaot::toolkit::engine {
namespace {

using ::testing::HasSubstr;
using testing::OnnxFile;
using testing::tensor_text;

const std::string kRowsOfFour =
    tensor_text("input", "x", {"N", "4"}) + tensor_text("output", "y", {"N", "4"});

std::string whole_text(const std::string& name, const std::string& values, int dims = 0) {
  return "initializer { name: '" + name + "' data_type: 7 int64_data: [" + values + "]" +
         (dims > 0 ? " dims: " + std::to_string(dims) : std::string()) + " }";
}
std::string operator_text(const std::string& op, const std::vector<std::string>& inputs,
                          const std::string& output, const std::string& rest = "") {
  std::string text = "node { op_type: '" + op + "' output: '" + output + "'";
  for (const std::string& input : inputs) text += " input: '" + input + "'";
  return text + " " + rest + " }\n";
}
std::string int_text(const std::string& name, std::int64_t value) {
  return "attribute { name: '" + name + "' type: INT i: " + std::to_string(value) + " }";
}
// y = x + the sum of all of `made`.
std::string summed(const std::string& nodes, const std::string& made = "made") {
  return kRowsOfFour + nodes + operator_text("Cast", {made}, "real", int_text("to", 1)) +
         operator_text("ReduceSum", {"real"}, "sum", int_text("keepdims", 0)) +
         operator_text("Add", {"x", "sum"}, "y");
}

std::string outcome_of(const std::string& graph, const std::string& rest =
                                                     "opset_import { version: 17 } opset_import "
                                                     "{ domain: 'ai.onnx.ml' version: 3 }") {
  const OnnxFile file(graph, rest);
  const auto source = file.load();
  if (!source) return source.error().text();
  const auto lowering = (*source)->lowering({});
  if (!lowering) return lowering.error().text();
  const auto lowered = (*lowering)->lower(2);
  return lowered ? "lowered" : lowered.error().text();
}

// XLA would multiply the sums of both.
TEST(OnnxLimits, MatricesThatDoNotFit) {
  const std::string vector = "initializer { name: 'v' data_type: 1 dims: 3 float_data: [1, 2, 3] }";
  const std::string matrix =
      "initializer { name: 'v' data_type: 1 dims: [1, 2] float_data: [1, 2] }";
  EXPECT_THAT(outcome_of(summed(vector + operator_text("MatMul", {"x", "v"}, "made"))),
              HasSubstr("multiplies a matrix of 4 columns by one of 3 rows"));
  EXPECT_THAT(outcome_of(summed(matrix + operator_text("MatMul", {"x", "v"}, "made"))),
              HasSubstr("multiplies a matrix of 4 columns by one of 1 rows"));
  EXPECT_THAT(outcome_of(summed(matrix + operator_text("Gemm", {"x", "v"}, "made"))),
              HasSubstr("multiplies a matrix of 4 columns by one of 1 rows"));
}

TEST(OnnxLimits, WindowsAndMatrices) {
  EXPECT_THAT(outcome_of(summed(whole_text("l", "2147483648") +
                                operator_text("HannWindow", {"l"}, "made"))),
              HasSubstr("makes 2147483648 numbers while compiling, and at most 4194304 can be"));
  EXPECT_EQ(outcome_of(summed(whole_text("l", "8") + operator_text("HannWindow", {"l"}, "made"))),
            "lowered");
  EXPECT_THAT(
      outcome_of(kRowsOfFour + whole_text("l", "9223372036854775807") +
                 operator_text("Reshape", {"x", "to"}, "r") + whole_text("to", "-1, 4, 1", 3) +
                 operator_text("DFT", {"r", "l"}, "d") + operator_text("Identity", {"d"}, "y")),
      HasSubstr("makes 9223372036854775807 numbers while compiling"));
  EXPECT_THAT(outcome_of(summed(
                  whole_text("bins", "4000000000") + whole_text("l", "4000000000") +
                  whole_text("rate", "8000") + whole_text("low", "0") + whole_text("high", "4000") +
                  operator_text("MelWeightMatrix", {"bins", "l", "rate", "low", "high"}, "made"))),
              HasSubstr("makes 4000000000 numbers while compiling"));
}

TEST(OnnxLimits, SizesThatNoTensorHas) {
  EXPECT_THAT(
      outcome_of(summed(whole_text("d", "-5") +
                        "initializer { name: 'v' data_type: 1 dims: 2 float_data: [0, 1] }" +
                        operator_text("Cast", {"x"}, "xi", int_text("to", 7)) +
                        operator_text("OneHot", {"xi", "d", "v"}, "made"))),
      HasSubstr("makes a dimension of size -5"));
  EXPECT_THAT(outcome_of(summed(whole_text("s", "-2", 1) +
                                operator_text("ConstantOfShape", {"s"}, "made"))),
              HasSubstr("makes a dimension of size -2"));
  EXPECT_THAT(outcome_of(summed(whole_text("s", "4294967296, 4294967296", 2) +
                                operator_text("ConstantOfShape", {"s"}, "made"))),
              HasSubstr("makes a tensor of sizes [4294967296, 4294967296], which is larger than "
                        "any memory"));
  EXPECT_THAT(outcome_of(summed(whole_text("s", "1, 4611686018427387904", 2) +
                                operator_text("Tile", {"x", "s"}, "made"))),
              HasSubstr("which is larger than any memory"));
  EXPECT_THAT(
      outcome_of(summed(
          whole_text("s", "1099511627776, 1", 2) + whole_text("t", "1099511627776, 1", 2) +
          whole_text("zero", "0", 1) + operator_text("ConstantOfShape", {"s"}, "a") +
          operator_text("ConstantOfShape", {"t"}, "b") + operator_text("Transpose", {"b"}, "c") +
          operator_text("MatMul", {"a", "c"}, "made"))),
      HasSubstr("which is larger than any memory"));
  EXPECT_THAT(outcome_of(summed(whole_text("p", "0, 9223372036854775807, 0, 0", 4) +
                                operator_text("Pad", {"x", "p"}, "made"))),
              HasSubstr("pads a dimension by 9223372036854775807"));
  EXPECT_THAT(outcome_of(summed("initializer { name: 'a' data_type: 1 float_data: nan }"
                                "initializer { name: 'b' data_type: 1 float_data: 1 }" +
                                operator_text("Range", {"a", "b", "b"}, "made"))),
              HasSubstr("makes nan numbers"));
}

// It divided by their number.
TEST(OnnxLimits, PartsOfASplit) {
  const auto split_into = [](std::int64_t parts) {
    return outcome_of(
        kRowsOfFour + operator_text("Split", {"x"}, "y",
                                    int_text("num_outputs", parts) + int_text("axis", 1)),
        "opset_import { version: 18 }");
  };
  EXPECT_EQ(split_into(1), "lowered");
  EXPECT_THAT(split_into(0), HasSubstr("splits a dimension into 0 parts"));
  EXPECT_THAT(split_into(std::int64_t{1} << 40),
              HasSubstr("makes 1099511627776 numbers while compiling"));
}

TEST(OnnxLimits, ShapesThatGrow) {
  std::string nodes = whole_text("v0", "1", 1);
  for (int i = 0; i < 33; ++i) {
    const std::string from = "v" + std::to_string(i);
    nodes +=
        operator_text("Concat", {from, from}, "v" + std::to_string(i + 1), int_text("axis", 0));
  }
  EXPECT_THAT(outcome_of(kRowsOfFour + nodes + operator_text("Reshape", {"x", "v33"}, "y")),
              HasSubstr("needs the value of 'v33' while compiling, for which more than 4194304 "
                        "numbers would have to be computed"));
}

std::string loop_text(const std::string& inputs, const std::string& output,
                      const std::string& body) {
  return "node { op_type: 'Loop' " + inputs + " output: '" + output +
         "' attribute { name: 'body' type: GRAPH g { " + body + " } } }\n";
}

TEST(OnnxLimits, ALoopThatDoublesItsState) {
  EXPECT_THAT(
      outcome_of(summed(
          whole_text("n", "100") + "initializer { name: 's' data_type: 1 dims: 1 float_data: 1 }" +
          loop_text("input: 'n' input: '' input: 's'", "made",
                    "input { name: 'i' } input { name: 'k' } input { name: 'v' }" +
                        operator_text("Concat", {"v", "v"}, "w", int_text("axis", 0)) +
                        operator_text("Identity", {"k"}, "kk") +
                        "output { name: 'kk' } output { name: 'w' }"))),
      HasSubstr("which is larger than any memory"));
}

// Ten steps in each of five loops, and graphs that lie in each other as deep as messages can.
TEST(OnnxLimits, LoopsInLoops) {
  const auto nested = [](int depth) {
    std::string body = operator_text("Relu", {"v0"}, "w0");
    for (int i = 0; i < depth; ++i) {
      const std::string at = std::to_string(i);
      const std::string outer = std::to_string(i + 1);
      body =
          loop_text("input: 'n' input: '' input: 'v" + outer + "'", "w" + outer,
                    "input { name: 'i" + at + "' } input { name: 'k" + at + "' } input { name: 'v" +
                        at + "' }" + body + operator_text("Identity", {"k" + at}, "kk" + at) +
                        "output { name: 'kk" + at + "' } output { name: 'w" + at + "' }");
    }
    const std::string last = std::to_string(depth);
    return kRowsOfFour + whole_text("n", "10") + operator_text("Identity", {"x"}, "v" + last) +
           body + operator_text("Identity", {"w" + last}, "y");
  };
  EXPECT_EQ(outcome_of(nested(5)), "lowered");
  EXPECT_EQ(outcome_of(nested(25)), "lowered");
}

TEST(OnnxLimits, BranchesInBranches) {
  std::string graph = operator_text("Relu", {"x"}, "o0");
  for (int i = 0; i < 25; ++i) {
    const std::string made = "o" + std::to_string(i);
    const std::string other = "e" + std::to_string(i);
    graph = "node { op_type: 'If' input: 'c' output: 'o" + std::to_string(i + 1) +
            "' attribute { name: 'then_branch' type: GRAPH g { " + graph + " output { name: '" +
            made + "' } } } attribute { name: 'else_branch' type: GRAPH g { " +
            operator_text("Identity", {"x"}, other) + " output { name: '" + other + "' } } } }";
  }
  EXPECT_EQ(
      outcome_of(kRowsOfFour + operator_text("ReduceSum", {"x"}, "s", int_text("keepdims", 0)) +
                 operator_text("Cast", {"s"}, "c", int_text("to", 9)) + graph +
                 operator_text("Identity", {"o25"}, "y")),
      "lowered");
}

TEST(OnnxLimits, FunctionsInFunctions) {
  const std::string import = "opset_import { version: 17 } opset_import { domain: 'f' version: 1 }";
  // Each function calls the next one; `calls` times.
  const auto model = [&](int depth, int calls) {
    std::string functions = import;
    for (int i = 0; i < depth; ++i) {
      functions += "functions { name: 'F" + std::to_string(i) +
                   "' domain: 'f' input: 'a0' output: 'a" + std::to_string(calls) + "' " + import;
      for (int call = 0; call < calls; ++call) {
        const bool is_last = i + 1 == depth;
        functions += "node { op_type: '" +
                     (is_last ? std::string("Relu") : "F" + std::to_string(i + 1)) + "' domain: '" +
                     (is_last ? "" : "f") + "' input: 'a" + std::to_string(call) + "' output: 'a" +
                     std::to_string(call + 1) + "' }";
      }
      functions += "}";
    }
    return outcome_of(kRowsOfFour + "node { op_type: 'F0' domain: 'f' input: 'x' output: 'y' }",
                      functions);
  };
  EXPECT_EQ(model(10, 2), "lowered");
  EXPECT_THAT(model(20, 2), HasSubstr("has more than 100000 nodes once its functions are called"));
  EXPECT_THAT(model(200, 1), HasSubstr("more than 100 functions call each other in turn"));
}

// `leaves` leaves in one tree, which vote for two of `targets` targets.
std::string forest_text(int leaves, std::int64_t targets) {
  std::map<std::string, std::string> lists;
  const auto add = [&lists](const std::string& name, std::int64_t value) {
    std::string& list = lists[name];
    list += (list.empty() ? "" : ", ") + std::to_string(value);
  };
  std::string modes;
  const int branches = leaves - 1;
  for (int i = 0; i < branches + leaves; ++i) {
    const bool is_leaf = i >= branches;
    modes += std::string(i == 0 ? "'" : ", '") + (is_leaf ? "LEAF'" : "BRANCH_LEQ'");
    for (const char* const name : {"nodes_treeids", "nodes_featureids"}) add(name, 0);
    add("nodes_nodeids", i);
    // A chain of branches: each has a leaf and the next branch.
    add("nodes_truenodeids", is_leaf ? 0 : i + 1 < branches ? i + 1 : branches + leaves - 1);
    add("nodes_falsenodeids", is_leaf ? 0 : branches + i);
    if (!is_leaf) continue;
    add("target_treeids", 0);
    add("target_nodeids", i);
    add("target_ids", i % 2);
  }
  std::string text =
      "node { name: 'forest' domain: 'ai.onnx.ml' op_type: 'TreeEnsembleRegressor' input: 'x' "
      "output: 'y' attribute { name: 'nodes_modes' type: STRINGS strings: [" +
      modes + "] }" + int_text("n_targets", targets);
  for (const auto& [name, list] : lists) {
    text += "attribute { name: '" + name + "' type: INTS ints: [" + list + "] }";
  }
  const auto numbers = [](const std::string& name, int count) {
    std::string list = "1";
    for (int i = 1; i < count; ++i) list += ", 1";
    return "attribute { name: '" + name + "' type: FLOATS floats: [" + list + "] }";
  };
  return tensor_text("input", "x", {"N", "4"}) +
         tensor_text("output", "y", {"N", std::to_string(targets)}) + text +
         numbers("nodes_values", branches + leaves) + numbers("target_weights", leaves) + " }";
}

TEST(OnnxLimits, LeavesAndTargets) {
  EXPECT_EQ(outcome_of(forest_text(100, 1000)), "lowered");
  EXPECT_THAT(outcome_of(forest_text(1000, 1 << 20)),
              HasSubstr("node 'forest' (operator ai.onnx.ml.TreeEnsembleRegressor, opset 3) makes "
                        "1048576000 numbers while compiling"));
}

}  // namespace
}  // namespace tfaot::toolkit::engine
