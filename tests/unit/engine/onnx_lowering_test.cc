// SPDX-License-Identifier: Apache-2.0
// ONNX graphs become HLO that computes what the standard says; single operators are the work of
// packaging/onnx_conformance.sh.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/kernels/kernel_call.h"
#include "tests/unit/engine/onnx_models.h"
#include "tests/unit/engine/run_pass.h"

namespace tfaot::toolkit::engine {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::OnnxFile;
using testing::tensor_text;

// y = relu(x W + b) with W = [[1, 2], [3, 4]], b = [0, -100]
const std::string kDense =
    tensor_text("input", "x", {"batch", "2"}) + tensor_text("output", "y", {"batch", "2"}) +
    "initializer { name: 'W' data_type: 1 dims: 2 dims: 2 float_data: [1, 2, 3, 4] }"
    "initializer { name: 'b' data_type: 1 dims: 2 float_data: [0, -100] }"
    "node { name: 'product' op_type: 'Gemm' input: 'x' input: 'W' input: 'b' output: 'sum' }"
    "node { name: 'act' op_type: 'Relu' input: 'sum' output: 'y' }";

std::vector<std::string> names_of(const std::vector<RawWeight>& weights) {
  std::vector<std::string> names;
  for (const RawWeight& weight : weights) names.push_back(weight.name);
  return names;
}

struct Lowered {
  std::unique_ptr<SourceModel> source;
  std::unique_ptr<Lowering> lowering;
};
Result<Lowered> lowered(const OnnxFile& file, const JobModel& job = {}) {
  Lowered made;
  TFAOT_ASSIGN(made.source, file.load(job));
  TFAOT_ASSIGN(made.lowering, made.source->lowering({false, job.fixed_shapes}));
  return made;
}

std::vector<float> run(const OnnxFile& file, const xla::Literal& input, std::int64_t rows) {
  const auto made = lowered(file);
  if (!made) {
    ADD_FAILURE() << made.error().text();
    return {};
  }
  std::vector<xla::Literal> inputs;
  inputs.push_back(input.Clone());
  const auto outputs = testing::evaluate(*made->lowering, inputs, rows);
  if (!outputs) {
    ADD_FAILURE() << outputs.error().text();
    return {};
  }
  const auto data = outputs->front().data<float>();
  return {data.begin(), data.end()};
}

std::string error_of(const OnnxFile& file, const JobModel& job = {}) {
  const auto made = lowered(file, job);
  if (!made) return made.error().text();
  const auto computation = made->lowering->lower(2);
  return computation ? "no error" : computation.error().text();
}

TEST(OnnxLoweringTest, InitializersAreWeights) {
  const OnnxFile file(kDense);
  const auto made = lowered(file);
  ASSERT_TRUE(made) << made.error().text();
  EXPECT_THAT(names_of(made->lowering->weights()), ElementsAre("W", "b"));
  EXPECT_FALSE(made->lowering->has_fixed_batch());
  EXPECT_THAT(run(file, xla::LiteralUtil::CreateR2<float>({{1, 1}, {0, 1}, {-9, 0}}), 3),
              ElementsAre(4, 0, 3, 0, 0, 0));
}

TEST(OnnxLoweringTest, ScalarsAndShapesAreConstantsAndLargeConstantsAreWeights) {
  std::string zeros;
  for (int i = 0; i < 16; ++i) zeros += std::string(i == 0 ? "" : ", ") + "1";
  const OnnxFile file(
      tensor_text("input", "x", {"batch", "16"}) + tensor_text("output", "y", {"batch", "4", "4"}) +
      "initializer { name: 'scale' data_type: 1 float_data: 2 }"
      "initializer { name: 'sizes' data_type: 7 dims: 2 int64_data: [4, 4] }"
      "node { op_type: 'Constant' output: 'large' attribute { name: 'value' type: TENSOR"
      "  t { data_type: 1 dims: 16 float_data: [" +
      zeros +
      "] } } }"
      "node { op_type: 'Constant' output: 'small' attribute { name: 'value' type: TENSOR"
      "  t { data_type: 1 dims: 1 float_data: 3 } } }"
      "node { op_type: 'Shape' input: 'x' output: 'shape' attribute { name: 'end' type: INT i: 1 } "
      "}"
      "node { op_type: 'Concat' input: 'shape' input: 'sizes' output: 'to' attribute { name: "
      "'axis' type: INT i: 0 } }"
      "node { op_type: 'Mul' input: 'x' input: 'scale' output: 'm' }"
      "node { op_type: 'Add' input: 'm' input: 'large' output: 'a' }"
      "node { op_type: 'Add' input: 'a' input: 'small' output: 's' }"
      "node { op_type: 'Reshape' input: 's' input: 'to' output: 'y' }");
  const auto made = lowered(file);
  ASSERT_TRUE(made) << made.error().text();
  EXPECT_THAT(names_of(made->lowering->weights()), ElementsAre("large"));
  const auto at_three = made->lowering->lower(3);
  ASSERT_TRUE(at_three) << at_three.error().text();
  EXPECT_THAT(at_three->outputs.at(0).row_shape, ElementsAre(4, 4));
}

TEST(OnnxLoweringTest, FunctionsOfTheModelAreCalledWithTheirAttributes) {
  const OnnxFile file(
      tensor_text("input", "x", {"batch", "2"}) + tensor_text("output", "y", {"batch", "2"}) +
          "node { name: 'call' op_type: 'scaled' domain: 'own' input: 'x' output: 'y'"
          "  attribute { name: 'slope' type: FLOAT f: 0.5 } }",
      "opset_import { version: 17 } opset_import { domain: 'own' version: 1 }"
      "functions { name: 'scaled' domain: 'own' input: 'a' output: 'c' attribute: 'slope'"
      "  opset_import { version: 17 }"
      "  node { op_type: 'LeakyRelu' input: 'a' output: 'b'"
      "    attribute { name: 'alpha' type: FLOAT ref_attr_name: 'slope' } }"
      "  node { op_type: 'Neg' input: 'b' output: 'c' } }");
  EXPECT_THAT(run(file, xla::LiteralUtil::CreateR2<float>({{-2, 4}}), 1), ElementsAre(1, -4));
}

// As in ONNX Runtime: the mean of int32 is one of them, where their sum is none.
TEST(OnnxLoweringTest, AMeanOfIntegersDoesNotOverflow) {
  const OnnxFile file(
      tensor_text("input", "x", {"batch", "4"}) + tensor_text("output", "y", {"batch", "1"}) +
      "node { op_type: 'Cast' input: 'x' output: 'i' attribute { name: 'to' type: INT i: 6 } }"
      "node { op_type: 'ReduceMean' input: 'i' output: 'm'"
      "  attribute { name: 'axes' type: INTS ints: 1 } }"
      "node { op_type: 'Cast' input: 'm' output: 'y' attribute { name: 'to' type: INT i: 1 } }");
  EXPECT_THAT(
      run(file, xla::LiteralUtil::CreateR2<float>({{0x1p30F, 0x1p30F, 0x1p30F, 0x1p30F}}), 1),
      ElementsAre(0x1p30F));
}

TEST(OnnxLoweringTest, NodesMayComeInAnyOrder) {
  const OnnxFile file(tensor_text("input", "x", {"batch", "2"}) +
                      tensor_text("output", "y", {"batch", "2"}) +
                      "node { op_type: 'Neg' input: 'b' output: 'y' }"
                      "node { op_type: 'Abs' input: 'a' output: 'b' }"
                      "node { op_type: 'Neg' input: 'x' output: 'a' }");
  EXPECT_THAT(run(file, xla::LiteralUtil::CreateR2<float>({{-2, 4}}), 1), ElementsAre(-2, -4));
}

TEST(OnnxLoweringTest, NodesOfACycleAreRefused) {
  const OnnxFile file(tensor_text("input", "x", {"batch", "2"}) +
                      tensor_text("output", "y", {"batch", "2"}) +
                      "node { name: 'one' op_type: 'Add' input: 'x' input: 'b' output: 'a' }"
                      "node { name: 'two' op_type: 'Neg' input: 'a' output: 'b' }"
                      "node { op_type: 'Neg' input: 'b' output: 'y' }");
  EXPECT_THAT(error_of(file),
              HasSubstr("model.onnx: node 'one' (operator Add, opset 17) needs a result of node "
                        "'two' (operator Neg, opset 17), which needs a result of node 'one'"));
  const OnnxFile own(tensor_text("input", "x", {"batch", "2"}) +
                     tensor_text("output", "y", {"batch", "2"}) +
                     "node { name: 'n' op_type: 'Add' input: 'x' input: 'y' output: 'y' }");
  EXPECT_THAT(error_of(own), HasSubstr("node 'n' (operator Add, opset 17) needs a result of its "
                                       "own"));
}

TEST(OnnxLoweringTest, ANameIsGivenOnce) {
  const std::string ends =
      tensor_text("input", "x", {"batch", "2"}) + tensor_text("output", "y", {"batch", "2"});
  const std::string relu = "node { name: 'a' op_type: 'Relu' input: 'x' output: 'y' }";
  const std::string weight = "initializer { name: 'w' data_type: 1 dims: 1 float_data: 1 }";
  const std::vector<std::pair<std::string, std::string>> faults = {
      {"node { name: 'b' op_type: 'Neg' input: 'x' output: 'y' }",
       "node 'b' (operator Neg, opset 17) makes 'y', and so does node 'a' (operator Relu, opset "
       "17)"},
      {"node { name: 'b' op_type: 'Neg' input: 'x' output: 'x' }",
       "node 'b' (operator Neg, opset 17) makes 'x', which is an input already"},
      {weight + "node { name: 'b' op_type: 'Neg' input: 'x' output: 'w' }",
       "node 'b' (operator Neg, opset 17) makes 'w', which is an initializer already"},
      {weight + weight, "the graph has two initializers 'w'"},
      {tensor_text("input", "x", {"batch", "2"}), "the graph has two inputs 'x'"},
      {tensor_text("output", "y", {"batch", "2"}), "the graph has two outputs 'y'"}};
  for (const auto& [fault, text] : faults) {
    EXPECT_THAT(error_of(OnnxFile(ends + relu + fault)), HasSubstr("model.onnx: " + text)) << fault;
  }
}

TEST(OnnxLoweringTest, AnInitializerMayHaveTheNameOfAnInput) {
  const OnnxFile file(tensor_text("input", "x", {"batch", "2"}) + tensor_text("input", "w", {"1"}) +
                      tensor_text("output", "y", {"batch", "2"}) +
                      "initializer { name: 'w' data_type: 1 dims: 1 float_data: 3 }"
                      "node { op_type: 'Mul' input: 'x' input: 'w' output: 'y' }");
  EXPECT_THAT(run(file, xla::LiteralUtil::CreateR2<float>({{-2, 4}}), 1), ElementsAre(-6, 12));
}

TEST(OnnxLoweringTest, SizesBeyondAnyImageAreRefused) {
  const std::string ends = tensor_text("input", "x", {"batch", "1", "4"}) +
                           tensor_text("output", "y", {"batch", "1", "4"});
  const auto pool = [&](const std::string& attribute) {
    return error_of(OnnxFile(ends +
                             "node { name: 'n' op_type: 'MaxPool' input: 'x' output: 'y'"
                             "  attribute { name: 'kernel_shape' type: INTS ints: 2 }" +
                             attribute + "}"));
  };
  for (const std::string what : {"dilations", "strides"}) {
    EXPECT_THAT(
        pool("attribute { name: '" + what + "' type: INTS ints: 4611686018427387904 }"),
        HasSubstr("node 'n' (operator MaxPool, opset 17) has a window, a stride, a dilation or a "
                  "padding larger than any image"));
  }
  EXPECT_THAT(
      error_of(OnnxFile(
          ends + "node { name: 'n' op_type: 'Resize' input: 'x' input: '' input: 's' output: 'y' }"
                 "initializer { name: 's' data_type: 1 dims: 3 float_data: [1, 1, 1e9] }")),
      HasSubstr("node 'n' (operator Resize, opset 17) makes 4000000000 numbers while compiling"));
}

TEST(OnnxLoweringTest, NamedDimensionsGetTheirSizes) {
  const OnnxFile file(tensor_text("input", "x", {"batch", "n_pf"}) +
                      tensor_text("output", "y", {"batch", "n_pf"}) +
                      "node { op_type: 'Neg' input: 'x' output: 'y' }");
  EXPECT_EQ(error_of(file),
            "the dimension 'n_pf' of input 'x' has no size\n"
            "  give each a size, such as 10, in the config: model.dimensions: {n_pf: 10}\n"
            "  or on the command line: --dimension n_pf=10\n"
            "  or a range, of which each call chooses a size: --dimension n_pf=1..128");
  JobModel job;
  job.dimensions = {{"n_pf", 5}};
  const auto made = lowered(file, job);
  ASSERT_TRUE(made) << made.error().text();
  const auto at_two = made->lowering->lower(2);
  ASSERT_TRUE(at_two) << at_two.error().text();
  EXPECT_THAT(at_two->inputs.at(0).row_shape, ElementsAre(5));
}

// y = reshape(x * scale, shape): the latter two are inputs.
const std::string kWithSettings =
    tensor_text("input", "x", {"batch", "4"}) +
    "input { name: 'scale' type { tensor_type { elem_type: 1 shape { } } } }"
    "input { name: 'shape' type { tensor_type { elem_type: 7 shape { dim { dim_value: 3 } } } } }" +
    tensor_text("output", "y", {"batch", "2", "2"}) +
    "node { op_type: 'Mul' input: 'x' input: 'scale' output: 'm' }"
    "node { op_type: 'Reshape' input: 'm' input: 'shape' output: 'y' }";

JobModel with_settings(const ModelConstant& shape) {
  JobModel job;
  job.constants = {{"scale", {}, {"0.5"}}, shape};
  return job;
}

TEST(OnnxLoweringTest, InputsWithAValueAreKnownWhileCompiling) {
  const OnnxFile file(kWithSettings);
  const auto made = lowered(file, with_settings({"shape", {3}, {"-1", "2", "2"}}));
  ASSERT_TRUE(made) << made.error().text();
  ASSERT_EQ(made->source->inputs().size(), 1U);
  std::vector<xla::Literal> inputs;
  inputs.push_back(xla::LiteralUtil::CreateR2<float>({{2, 4, 6, 8}}));
  const auto outputs = testing::evaluate(*made->lowering, inputs, 1);
  ASSERT_TRUE(outputs) << outputs.error().text();
  EXPECT_THAT(outputs->front().data<float>(), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(outputs->front().shape().dimensions(), ElementsAre(1, 2, 2));
}

TEST(OnnxLoweringTest, AnInputsValueMustFit) {
  const OnnxFile file(kWithSettings);
  EXPECT_EQ(error_of(file, with_settings({"shapes", {3}, {"-1", "2", "2"}})),
            "there is no input 'shapes'\n  did you mean 'shape'?\n"
            "  inputs of the model: shape, x");
  EXPECT_EQ(error_of(file, with_settings({"shape", {2}, {"-1", "4"}})),
            "input 'shape' has the shape (3), but the value has (2)");
  EXPECT_EQ(error_of(file, with_settings({"shape", {3}, {"-1", "2", "0.5"}})),
            "input 'shape' has dtype int64, and 0.5 is not one");
}

TEST(OnnxLoweringTest, AModelWithoutABatchIsOneRow) {
  const OnnxFile file(tensor_text("input", "x", {"3"}) + tensor_text("output", "y", {"3"}) +
                      "node { op_type: 'Neg' input: 'x' output: 'y' }");
  JobModel job;
  job.fixed_shapes = true;
  const auto made = lowered(file, job);
  ASSERT_TRUE(made) << made.error().text();
  const auto row = made->lowering->lower(1);
  ASSERT_TRUE(row) << row.error().text();
  EXPECT_THAT(row->inputs.at(0).row_shape, ElementsAre(3));
  EXPECT_THAT(row->outputs.at(0).row_shape, ElementsAre(3));
}

TEST(OnnxLoweringTest, NodesThatNoOutputNeedsAreLeftOut) {
  const OnnxFile file(kDense + "node { op_type: 'NoSuchOperator' input: 'x' output: 'unused' }");
  EXPECT_EQ(error_of(file), "no error");
}

TEST(OnnxLoweringTest, ErrorsNameTheNode) {
  const std::string ends =
      tensor_text("input", "x", {"batch", "2"}) + tensor_text("output", "y", {"batch", "2"});
  EXPECT_THAT(
      error_of(OnnxFile(ends + "node { name: 'n' op_type: 'NoSuch' input: 'x' output: 'y' }")),
      HasSubstr("node 'n' (operator NoSuch, opset 17) cannot be compiled"));
  EXPECT_THAT(
      error_of(OnnxFile(ends + "node { name: 'n' op_type: 'Relu' input: 'z' output: 'y' }")),
      HasSubstr("node 'n' (operator Relu, opset 17) reads 'z', which no node makes"));
  EXPECT_THAT(error_of(OnnxFile(ends + "node { name: 'n' op_type: 'Add' input: 'x' output: 'y' }")),
              HasSubstr("node 'n' (operator Add, opset 17) needs two operands"));
  EXPECT_THAT(error_of(OnnxFile(
                  ends + "node { name: 'n' op_type: 'Reshape' input: 'x' input: 's' output: 'y' }"
                         "initializer { name: 's' data_type: 7 dims: 1 int64_data: 3 }")),
              HasSubstr("node 'n' (operator Reshape, opset 17)"));
  EXPECT_THAT(
      error_of(OnnxFile(ends +
                        "node { name: 'n' op_type: 'Relu' domain: 'own' input: 'x' output: 'y' }")),
      HasSubstr("is of domain 'own', which the model does not import"));
  EXPECT_THAT(error_of(OnnxFile(ends + "node { name: 'n' op_type: 'Elu' input: 'x' output: 'y' }",
                                "opset_import { version: 5 }")),
              HasSubstr("is older than opset 6"));
  EXPECT_THAT(error_of(OnnxFile(ends + "node { name: 'n' op_type: 'Elu' input: 'x' output: 'y'"
                                       "  attribute { name: 'alpha' type: INT i: 1 } }")),
              HasSubstr("has an attribute 'alpha' of type INT instead of FLOAT"));
}

TEST(OnnxLoweringTest, AnOperandOfMoreDimensionsThanTheResultIsRefused) {
  const OnnxFile file(
      tensor_text("input", "x", {"batch", "2"}) + tensor_text("output", "y", {"batch", "2"}) +
      "node { name: 'n' op_type: 'PRelu' input: 'x' input: 's' output: 'y' }"
      "initializer { name: 's' data_type: 1 dims: 1 dims: 1 dims: 2 float_data: 1 float_data: 2 }");
  EXPECT_THAT(error_of(file), HasSubstr("node 'n' (operator PRelu, opset 17) has operands of sizes "
                                        "[1, 1, 2] that do not broadcast"));
}

TEST(OnnxLoweringTest, ASizeThatDependsOnTheInputsIsRefused) {
  const OnnxFile file(
      tensor_text("input", "x", {"batch", "2"}) + tensor_text("output", "y", {"batch", "2"}) +
      "node { op_type: 'Cast' input: 'x' output: 's' attribute { name: 'to' type: INT i: 7 } }"
      "node { name: 'n' op_type: 'Expand' input: 'x' input: 's' output: 'y' }");
  EXPECT_THAT(
      error_of(file),
      HasSubstr("node 'n' (operator Expand, opset 17) needs the value of 's' while compiling"));
}

TEST(OnnxLoweringTest, AFunctionThatCallsItselfIsRefused) {
  const OnnxFile file(tensor_text("input", "x", {"batch"}) + tensor_text("output", "y", {"batch"}) +
                          "node { op_type: 'f' domain: 'own' input: 'x' output: 'y' }",
                      "opset_import { domain: 'own' version: 1 }"
                      "functions { name: 'f' domain: 'own' input: 'a' output: 'b'"
                      "  node { op_type: 'f' domain: 'own' input: 'a' output: 'b' } }");
  EXPECT_THAT(error_of(file), HasSubstr("function 'f' calls itself"));
}

TEST(OnnxLoweringTest, FunctionsThatCallOthersTwiceDoNotTakeForever) {
  std::string functions = "opset_import { version: 17 } opset_import { domain: 'own' version: 1 }";
  for (int i = 0; i < 40; ++i) {
    const std::string next = "op_type: 'f" + std::to_string(i + 1) + "' domain: 'own'";
    functions += "functions { name: 'f" + std::to_string(i) +
                 "' domain: 'own' input: 'a' output: 'c' opset_import { domain: 'own' version: 1 }"
                 "  node { " +
                 next +
                 " input: 'a' output: 'b' }"
                 "  node { " +
                 next + " input: 'b' output: 'c' } }";
  }
  functions +=
      "functions { name: 'f40' domain: 'own' input: 'a' output: 'b'"
      "  opset_import { version: 17 } node { op_type: 'Relu' input: 'a' output: 'b' } }";
  const OnnxFile file(tensor_text("input", "x", {"batch"}) + tensor_text("output", "y", {"batch"}) +
                          "node { op_type: 'f0' domain: 'own' input: 'x' output: 'y' }",
                      functions);
  EXPECT_THAT(error_of(file), HasSubstr("more than 100000 nodes"));
}

TEST(OnnxLoweringTest, ACallHasNoMoreArgumentsThanItsFunction) {
  const auto error_with = [](const std::string& arguments) {
    return error_of(OnnxFile(
        tensor_text("input", "x", {"batch"}) + tensor_text("output", "y", {"batch"}) +
            "node { name: 'call' op_type: 'f' domain: 'own' output: 'y' " + arguments + " }",
        "opset_import { version: 17 } opset_import { domain: 'own' version: 1 }"
        "functions { name: 'f' domain: 'own' input: 'a' output: 'b'"
        "  opset_import { version: 17 } node { op_type: 'Relu' input: 'a' output: 'b' } }"));
  };
  EXPECT_EQ(error_with("input: 'x'"), "no error");
  EXPECT_THAT(error_with("input: 'x' input: 'x'"),
              HasSubstr("has 2 inputs and 1 outputs, but its function 1 and 1"));
  EXPECT_THAT(error_with("input: 'x' output: 'z'"),
              HasSubstr("has 1 inputs and 2 outputs, but its function 1 and 1"));
}

// The values would be read as numbers of another type.
TEST(OnnxLoweringTest, AnOutputHasTheDeclaredType) {
  const auto error_with = [](int type) {
    return error_of(OnnxFile(tensor_text("input", "x", {"batch"}) +
                             tensor_text("output", "y", {"batch"}) +
                             "node { op_type: 'Cast' input: 'x' output: 'y'"
                             "  attribute { name: 'to' type: INT i: " +
                             std::to_string(type) + " } }"));
  };
  EXPECT_EQ(error_with(onnx::TensorProto::FLOAT), "no error");
  EXPECT_THAT(error_with(onnx::TensorProto::INT32),
              HasSubstr("output 'y' is declared as float32, but the graph makes int32"));
  EXPECT_THAT(error_with(onnx::TensorProto::BOOL), HasSubstr("makes bool"));
}

TEST(OnnxLoweringTest, ASoftmaxKeepsItsNameForAKernel) {
  const OnnxFile file(tensor_text("input", "x", {"batch", "4"}) +
                      tensor_text("output", "y", {"batch", "4"}) +
                      "node { op_type: 'Softmax' input: 'x' output: 'y' }");
  const auto made = lowered(file);
  ASSERT_TRUE(made) << made.error().text();
  const auto computation = made->lowering->lower(2);
  ASSERT_TRUE(computation) << computation.error().text();
  const auto module = make_module(computation->computation.proto());
  ASSERT_TRUE(module) << module.error().text();
  ASSERT_TRUE(testing::run_pass("choose_composite", **module, 1));
  EXPECT_THAT((*module)->entry_computation()->instructions(),
              ::testing::Contains(::testing::ResultOf(
                  [](const auto* one) { return is_call_of(*one, Kernel::kSoftmax); }, true)));
  EXPECT_EQ((*module)->computation_count(), 1) << "the computation in plain HLO is gone";
}

// HLO files, which 'tfaot inspect' reads, hold UTF-8 alone.
TEST(OnnxLoweringTest, NamesOfNodesMayBeAnyBytes) {
  const auto made = lowered(
      OnnxFile(tensor_text("input", "x", {"batch"}) + tensor_text("output", "y", {"batch"}) +
               "node { name: '\\377n' op_type: 'Relu' input: 'x' output: 'y' }"));
  ASSERT_TRUE(made) << made.error().text();
  const auto computation = made->lowering->lower(2);
  ASSERT_TRUE(computation) << computation.error().text();
  std::vector<std::string> names;
  for (const auto& instruction : computation->computation.proto().computations(0).instructions()) {
    names.push_back(instruction.metadata().op_name());
  }
  EXPECT_THAT(names, ::testing::Contains("\\xffn"));
}

}  // namespace
}  // namespace tfaot::toolkit::engine
