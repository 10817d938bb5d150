// SPDX-License-Identifier: Apache-2.0
// Large Constant nodes of an ONNX model are weights, wherever they are.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/engine/evaluate_lowering.h"
#include "tests/unit/engine/onnx_models.h"

namespace tfaot::toolkit::engine {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::OnnxFile;
using testing::tensor_text;

const std::string kRowsOfSixteen =
    tensor_text("input", "x", {"batch", "16"}) + tensor_text("output", "y", {"batch", "16"});

std::string numbers_text(int count, int first = 1) {
  std::string text;
  for (int i = 0; i < count; ++i) text += (i == 0 ? "" : ", ") + std::to_string(first + i);
  return text;
}

// first, first + 1, ...
std::string constant_text(const std::string& name, int count = 16, int first = 1) {
  return "node { op_type: 'Constant' output: '" + name +
         "' attribute { name: 'value' type: TENSOR t { data_type: 1 dims: " +
         std::to_string(count) + " float_data: [" + numbers_text(count, first) + "] } } }\n";
}
std::string whole_numbers_text(const std::string& name, const std::string& values, int count) {
  return "node { op_type: 'Constant' output: '" + name +
         "' attribute { name: 'value' type: TENSOR t { data_type: 7 dims: " +
         std::to_string(count) + " int64_data: [" + values + "] } } }\n";
}
std::string add_text(const std::string& a, const std::string& b, const std::string& made) {
  return "node { op_type: 'Add' input: '" + a + "' input: '" + b + "' output: '" + made + "' }\n";
}

struct OnnxMade : testing::MadeOfRow {
  std::vector<std::string> variables;
};
OnnxMade made_of_onnx(const OnnxFile& file, const LoweringOptions& options = {}) {
  const auto source = file.load();
  if (!source) {
    ADD_FAILURE() << source.error().text();
    return {};
  }
  const auto lowering = (*source)->lowering(options);
  if (!lowering) {
    ADD_FAILURE() << lowering.error().text();
    return {};
  }
  OnnxMade made = {testing::made_of_row(**lowering), {}};
  for (const Variable& variable : (*source)->variables()) made.variables.push_back(variable.name);
  return made;
}

TEST(OnnxConstants, AreWeightsIfTheyAreLarge) {
  const OnnxFile file(kRowsOfSixteen + constant_text("large") + constant_text("small", 1, 100) +
                      add_text("x", "large", "a") + add_text("a", "small", "y"));
  const OnnxMade made = made_of_onnx(file);
  EXPECT_THAT(made.weights, ElementsAre("large"));
  EXPECT_THAT(made.variables, ElementsAre("large"));
  EXPECT_THAT(made.output, ElementsAre(102, 103, 104));
  EXPECT_THAT(made.from_code, Each(101));
  EXPECT_THAT(made_of_onnx(file, {.embed_weights = true}).from_code, ElementsAre(102, 103, 104));
}

TEST(OnnxConstants, InTheirOtherForms) {
  const OnnxMade made = made_of_onnx(
      OnnxFile(kRowsOfSixteen +
               "node { op_type: 'Constant' output: 'c' attribute { name: 'value_floats' type: "
               "FLOATS floats: [" +
               numbers_text(16) + "] } }" + add_text("x", "c", "y")));
  EXPECT_THAT(made.weights, ElementsAre("c"));
  EXPECT_THAT(made.from_code, Each(1));
}

// They mostly say where something is.
TEST(OnnxConstants, WholeNumbersAreCode) {
  const OnnxMade made = made_of_onnx(OnnxFile(
      kRowsOfSixteen + whole_numbers_text("c", numbers_text(16), 16) +
      "node { op_type: 'Cast' input: 'c' output: 'f' attribute { name: 'to' type: INT i: 1 } }" +
      add_text("x", "f", "y")));
  EXPECT_THAT(made.weights, IsEmpty());
  EXPECT_THAT(made.from_code, ElementsAre(2, 3, 4));
}

// Converters write bounds and exponents as initializers, too; kernels do a relu6 only if they know
// its 6.
TEST(OnnxConstants, BoundsAndExponentsOfOneNumberAreCode) {
  const auto number = [](const std::string& name, const std::string& sizes, int value) {
    return "initializer { name: '" + name + "' data_type: 1 " + sizes +
           " float_data: " + std::to_string(value) + " }\n";
  };
  const std::string nodes =
      "node { op_type: 'Add' input: 'x' input: 'bias' output: 'a' }"
      "node { op_type: 'Pow' input: 'a' input: 'two' output: 'b' }"
      "node { op_type: 'Clip' input: 'b' input: 'low' input: 'high' output: 'y' }";
  const OnnxMade made = made_of_onnx(
      OnnxFile(kRowsOfSixteen + number("bias", "dims: 1", 1) + number("two", "dims: 1", 2) +
               number("low", "dims: 1 dims: 1", 0) + number("high", "", 3) + nodes));
  EXPECT_THAT(made.weights, ElementsAre("bias"));
  EXPECT_THAT(made.output, Each(3));
  EXPECT_THAT(made.from_code, Each(1));
}

// As in a layer norm: the kernel takes it as a number.
TEST(OnnxConstants, ANumberUnderARootIsCode) {
  const auto number = [](const std::string& name) {
    return "initializer { name: '" + name + "' data_type: 1 dims: 1 dims: 1 float_data: 1 }\n";
  };
  const OnnxMade made = made_of_onnx(
      OnnxFile(kRowsOfSixteen + number("bias") + number("epsilon") + add_text("x", "bias", "a") +
               add_text("a", "epsilon", "b") + "node { op_type: 'Sqrt' input: 'b' output: 'y' }"));
  EXPECT_THAT(made.weights, ElementsAre("bias"));
}

TEST(OnnxConstants, ThatAreAnOutputStay) {
  const OnnxMade made = made_of_onnx(OnnxFile(
      tensor_text("input", "x", {"batch", "16"}) + tensor_text("output", "c", {"2", "16"}) +
      "node { op_type: 'Constant' output: 'c' attribute { name: 'value' type: TENSOR t { "
      "data_type: 1 dims: 2 dims: 16 float_data: [" +
      numbers_text(32) + "] } } }"));
  EXPECT_THAT(made.output, ElementsAre(1, 2, 3));
}

// A loop of so many steps that it stays a loop, and a choice in each step. Values of both branches
// have the same name.
TEST(OnnxConstants, InGraphsInsideOfNodes) {
  const auto branch = [](const std::string& name, const std::string& nodes) {
    return "attribute { name: '" + name + "' type: GRAPH g { name: '" + name + "' " + nodes +
           "output { name: 'chosen' } } }";
  };
  const std::string body =
      "attribute { name: 'body' type: GRAPH g { name: 'body'"
      "  input { name: 'i' } input { name: 'going' } input { name: 's' }" +
      constant_text("step") + add_text("s", "step", "t") +
      "node { op_type: 'Greater' input: 'i' input: 'limit' output: 'is_large' }"
      "node { op_type: 'If' input: 'is_large' output: 'u' " +
      branch("then_branch", constant_text("c", 16, 1000) + add_text("t", "c", "chosen")) +
      branch("else_branch", "initializer { name: 'c' data_type: 1 dims: 16 float_data: [" +
                                numbers_text(16, 2000) + "] }" + add_text("t", "c", "chosen")) +
      "}"
      "node { op_type: 'Identity' input: 'going' output: 'on' }"
      "output { name: 'on' } output { name: 'u' } } }";
  const OnnxMade made = made_of_onnx(OnnxFile(
      kRowsOfSixteen +
      "initializer { name: 'steps' data_type: 7 int64_data: 600 }"
      "initializer { name: 'limit' data_type: 7 int64_data: -1 }" +
      constant_text("around") + add_text("x", "around", "start") +
      "node { op_type: 'Loop' input: 'steps' input: '' input: 'start' output: 'y' " + body + "}"));
  EXPECT_THAT(made.weights, ElementsAre("around", "c", "c_2", "step"));
  EXPECT_THAT(made.output, ElementsAre(1 + 1 + 600 * (1 + 1000), 1 + 2 + 600 * (2 + 1001),
                                       1 + 3 + 600 * (3 + 1002)));
  EXPECT_THAT(made.from_code, Each(1));
}

// Functions see no values but their inputs.
TEST(OnnxConstants, InFunctionsOfTheModel) {
  const OnnxMade made = made_of_onnx(
      OnnxFile(kRowsOfSixteen + "node { op_type: 'outer' domain: 'own' input: 'x' output: 'a' }" +
                   "node { op_type: 'inner' domain: 'own' input: 'a' output: 'y' }",
               "opset_import { version: 17 } opset_import { domain: 'own' version: 1 }"
               "functions { name: 'outer' domain: 'own' input: 'a' output: 'c'"
               "  opset_import { version: 17 } opset_import { domain: 'own' version: 1 }"
               "  node { op_type: 'inner' domain: 'own' input: 'a' output: 'b' }"
               "  node { op_type: 'inner' domain: 'own' input: 'b' output: 'd' }" +
                   constant_text("k", 16, 100) + add_text("d", "k", "c") +
                   "}"
                   "functions { name: 'inner' domain: 'own' input: 'a' input: 'unused' output: 'c'"
                   "  opset_import { version: 17 }" +
                   constant_text("k") + add_text("a", "k", "c") + "}"));
  EXPECT_THAT(made.weights, ElementsAre("inner/k", "outer/k"));
  EXPECT_THAT(made.output, ElementsAre(1 + 3 + 100, 1 + 6 + 101, 1 + 9 + 102));
  EXPECT_THAT(made.from_code, Each(1));
}

// Of a shape, in a function.
TEST(OnnxConstants, ThatMustBeKnownAreCode) {
  const OnnxMade made = made_of_onnx(OnnxFile(
      kRowsOfSixteen + "node { op_type: 'take' domain: 'own' input: 'x' output: 'y' }",
      "opset_import { version: 17 } opset_import { domain: 'own' version: 1 }"
      "functions { name: 'take' domain: 'own' input: 'a' output: 'c' opset_import { version: 17 }" +
          constant_text("real", 16, 0) +
          "node { op_type: 'Cast' input: 'real' output: 'places' attribute { name: 'to' type: INT "
          "i: 7 } }"
          "node { op_type: 'Gather' input: 'a' input: 'places' output: 'c' attribute { name: "
          "'axis' type: INT i: 1 } } }"));
  EXPECT_THAT(made.weights, IsEmpty());
  EXPECT_THAT(made.output, Each(1));
}

std::string initializer_text(const std::string& name, int type, const std::string& dims,
                             const std::string& values) {
  return "initializer { name: '" + name + "' data_type: " + std::to_string(type) + " dims: [" +
         dims + "] " + (type == 7 ? "int64_data" : "float_data") + ": [" + values + "] }\n";
}
const std::string kProductOfSixteen =
    initializer_text("w", 1, "16, 16", numbers_text(256)) +
    "node { op_type: 'MatMul' input: 'x' input: 'w' output: 'c' }";
const std::string kSumOfProduct =
    kProductOfSixteen +
    "node { op_type: 'ReduceSum' input: 'c' output: 's' attribute { name: 'keepdims' type: INT i: "
    "0 } }";

// The nearest neighbours: what chooses them is no part of the code, small whole numbers are.
TEST(OnnxConstants, AboveIndicesThatDependOnInputsAreWeights) {
  const OnnxFile file(kRowsOfSixteen + kProductOfSixteen + initializer_text("k", 7, "1", "16") +
                      initializer_text("next", 7, "1", "1") +
                      initializer_text("table", 1, "17", numbers_text(17, 0)) +
                      "node { op_type: 'TopK' input: 'c' input: 'k' output: 'v' output: 'i' }"
                      "node { op_type: 'Add' input: 'i' input: 'next' output: 'j' }"
                      "node { op_type: 'Gather' input: 'table' input: 'j' output: 'y' }");
  const OnnxMade made = made_of_onnx(file);
  EXPECT_THAT(made.weights, ElementsAre("w", "table"));
  EXPECT_THAT(made.output, ElementsAre(16, 15, 14));
  EXPECT_THAT(made.from_code, Each(0));
}

TEST(OnnxConstants, AboveConditionsThatDependOnInputsAreWeights) {
  const auto branch = [](const std::string& name, const std::string& op) {
    return "attribute { name: '" + name + "' type: GRAPH g { node { op_type: '" + op +
           "' input: 'x' output: '" + name + "' } output { name: '" + name + "' } } }";
  };
  const OnnxMade made = made_of_onnx(OnnxFile(
      kRowsOfSixteen + kSumOfProduct +
      "node { op_type: 'Cast' input: 's' output: 'b' attribute { name: 'to' type: INT i: 9 } }"
      "node { op_type: 'If' input: 'b' output: 'y' " +
      branch("then_branch", "Neg") + branch("else_branch", "Identity") + " }"));
  EXPECT_THAT(made.weights, ElementsAre("w"));
  EXPECT_THAT(made.output, Each(-1));
  EXPECT_THAT(made.from_code, Each(1));
}

TEST(OnnxConstants, AboveNumbersOfStepsThatDependOnInputsAreWeights) {
  const OnnxMade made = made_of_onnx(OnnxFile(
      kRowsOfSixteen + kSumOfProduct +
      "node { op_type: 'Sign' input: 's' output: 'one' }"
      "node { op_type: 'Cast' input: 'one' output: 'n' attribute { name: 'to' type: INT i: 7 } }"
      "node { op_type: 'Loop' input: 'n' input: '' input: 'x' output: 'y'"
      "  attribute { name: 'body' type: GRAPH g {"
      "    input { name: 'i' } input { name: 'going' } input { name: 'a' }"
      "    node { op_type: 'Neg' input: 'a' output: 'b' }"
      "    node { op_type: 'Identity' input: 'going' output: 'on' }"
      "    output { name: 'on' } output { name: 'b' } } } }"));
  EXPECT_THAT(made.weights, ElementsAre("w"));
  EXPECT_THAT(made.output, Each(-1));
  EXPECT_THAT(made.from_code, Each(1));
}

}  // namespace
}  // namespace tfaot::toolkit::engine
