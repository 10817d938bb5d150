// SPDX-License-Identifier: Apache-2.0
// ONNX graphs inside of nodes, and recurrent operators: what is decided while compiling, what
// becomes a loop of XLA, and what is refused. The values that they compute are the work of
// packaging/onnx_conformance.sh.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "tests/unit/engine/onnx_models.h"

namespace tfaot::toolkit::engine {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::OnnxFile;
using testing::tensor_text;

const std::string kEnds =
    tensor_text("input", "x", {"batch", "3"}) + tensor_text("output", "y", {"batch", "3"});

std::string integer_text(const std::string& name, const std::string& value) {
  return "initializer { name: '" + name + "' data_type: 7 int64_data: " + value + " }";
}

Result<std::unique_ptr<Lowering>> lowering_of(const OnnxFile& file,
                                              std::unique_ptr<SourceModel>& source) {
  TFAOT_ASSIGN(source, file.load());
  return source->lowering({});
}

// How many instructions of each kind two rows take, also in computations that are called.
struct Instructions {
  std::map<std::string, int> counts;
  std::string error;
  int of(const std::string& opcode) const {
    const auto found = counts.find(opcode);
    return found == counts.end() ? 0 : found->second;
  }
};
Instructions instructions_of(const OnnxFile& file) {
  std::unique_ptr<SourceModel> source;
  const auto lowering = lowering_of(file, source);
  if (!lowering) return {{}, lowering.error().text()};
  const auto lowered = (*lowering)->lower(2);
  if (!lowered) return {{}, lowered.error().text()};
  Instructions instructions;
  for (const auto& computation : lowered->computation.proto().computations()) {
    for (const auto& instruction : computation.instructions()) {
      ++instructions.counts[instruction.opcode()];
    }
  }
  return instructions;
}

std::vector<float> values_of(const OnnxFile& file, const xla::Literal& input, std::int64_t rows) {
  std::unique_ptr<SourceModel> source;
  const auto lowering = lowering_of(file, source);
  if (!lowering) {
    ADD_FAILURE() << lowering.error().text();
    return {};
  }
  std::vector<xla::Literal> inputs;
  inputs.push_back(input.Clone());
  const auto outputs = testing::evaluate(**lowering, inputs, rows);
  if (!outputs) {
    ADD_FAILURE() << outputs.error().text();
    return {};
  }
  const auto data = outputs->front().data<float>();
  return {data.begin(), data.end()};
}

// y = x if `condition`, else y = -x.
std::string choice(const std::string& condition,
                   const std::string& then_nodes =
                       "node { op_type: 'Identity' input: 'x' output: "
                       "'t' }") {
  return condition +
         "node { name: 'choice' op_type: 'If' input: 'c' output: 'y'"
         "  attribute { name: 'then_branch' type: GRAPH g { name: 't' " +
         then_nodes +
         "    output { name: 't' } } }"
         "  attribute { name: 'else_branch' type: GRAPH g { name: 'e'"
         "    node { op_type: 'Neg' input: 'x' output: 'e' } output { name: 'e' } } } }";
}
const std::string kRowsAreTwo =
    "node { op_type: 'Shape' input: 'x' output: 's' attribute { name: 'end' type: INT i: 1 } }"
    "node { op_type: 'Equal' input: 's' input: 'two' output: 'c' }" +
    integer_text("two", "2");
const std::string kSumIsPositive =
    "node { op_type: 'ReduceSum' input: 'x' output: 's' attribute { name: 'keepdims' type: INT i: "
    "0 "
    "} }"
    "node { op_type: 'Greater' input: 's' input: 'zero' output: 'c' }"
    "initializer { name: 'zero' data_type: 1 float_data: 0 }";

TEST(OnnxControlTest, AKnownConditionTakesItsBranch) {
  const OnnxFile file(kEnds + choice(kRowsAreTwo));
  const auto made = instructions_of(file);
  EXPECT_EQ(made.error, "");
  EXPECT_EQ(made.of("conditional"), 0);
  EXPECT_EQ(made.of("negate"), 0);
  EXPECT_THAT(values_of(file, xla::LiteralUtil::CreateR2<float>({{1, 2, 3}, {4, 5, 6}}), 2),
              ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_THAT(values_of(file, xla::LiteralUtil::CreateR2<float>({{1, 2, 3}}), 1),
              ElementsAre(-1, -2, -3));
}

TEST(OnnxControlTest, AnotherConditionChoosesAtRunTime) {
  const OnnxFile file(kEnds + choice(kSumIsPositive));
  EXPECT_EQ(instructions_of(file).of("conditional"), 1);
  EXPECT_THAT(values_of(file, xla::LiteralUtil::CreateR2<float>({{1, 2, 3}}), 1),
              ElementsAre(1, 2, 3));
  EXPECT_THAT(values_of(file, xla::LiteralUtil::CreateR2<float>({{1, -9, 3}}), 1),
              ElementsAre(-1, 9, -3));
}

TEST(OnnxControlTest, BranchesOfDifferentShapesAreRefused) {
  const OnnxFile file(kEnds + choice(kSumIsPositive,
                                     "node { op_type: 'Concat' input: 'x' input: 'x' output: 't'"
                                     "  attribute { name: 'axis' type: INT i: 1 } }"));
  EXPECT_EQ(
      instructions_of(file).error,
      "node 'choice' (operator If, opset 17) has branches with results of different shapes, and "
      "its condition depends on the model's inputs");
}

// y = x * factor^trips.
std::string power(const std::string& trips, const std::string& rest = "") {
  return integer_text("trips", trips) +
         "initializer { name: 'factor' data_type: 1 dims: 3 float_data: [1, 2, 3] }"
         "node { name: 'power' op_type: 'Loop' input: 'trips' input: '' input: 'x' output: 'y'"
         "  attribute { name: 'body' type: GRAPH g { name: 'body' " +
         rest +
         "    node { op_type: 'Mul' input: 'v' input: 'factor' output: 'w' }"
         "    node { op_type: 'Identity' input: 'go' output: 'on' }"
         "    input { name: 'i' } input { name: 'go' } input { name: 'v' }"
         "    output { name: 'on' } output { name: 'w' } } } }";
}

TEST(OnnxControlTest, AShortLoopIsWrittenOut) {
  const OnnxFile file(kEnds + power("3"));
  const auto made = instructions_of(file);
  EXPECT_EQ(made.error, "");
  EXPECT_EQ(made.of("while"), 0);
  EXPECT_EQ(made.of("multiply"), 3);
  EXPECT_THAT(values_of(file, xla::LiteralUtil::CreateR2<float>({{1, 1, 1}}), 1),
              ElementsAre(1, 8, 27));
}

TEST(OnnxControlTest, ALongLoopIsAWhileThatGetsWeightsFromOutside) {
  const OnnxFile file(kEnds + power("1000"));
  const auto made = instructions_of(file);
  EXPECT_EQ(made.error, "");
  EXPECT_EQ(made.of("while"), 1);
  EXPECT_EQ(made.of("multiply"), 1);
  std::unique_ptr<SourceModel> source;
  const auto lowering = lowering_of(file, source);
  ASSERT_TRUE(lowering) << lowering.error().text();
  ASSERT_EQ((*lowering)->weights().size(), 1U);
  EXPECT_EQ((*lowering)->weights().front().name, "factor");
  EXPECT_THAT(values_of(file, xla::LiteralUtil::CreateR2<float>({{5, 0, 0}}), 1),
              ElementsAre(5, 0, 0));
}

TEST(OnnxControlTest, StepsOfUnknownNumberCannotBeCollected) {
  const OnnxFile file(
      tensor_text("input", "x", {"batch", "3"}) + tensor_text("output", "y", {"batch", "3"}) +
      "node { op_type: 'ReduceSum' input: 'x' output: 's' attribute { name: 'keepdims' type: INT "
      "i: "
      "0 } }"
      "node { op_type: 'Cast' input: 's' output: 'n' attribute { name: 'to' type: INT i: 7 } }"
      "node { name: 'steps' op_type: 'Loop' input: 'n' input: '' input: 'x' output: '' output: "
      "'all'"
      "  attribute { name: 'body' type: GRAPH g { name: 'body'"
      "    node { op_type: 'Neg' input: 'v' output: 'w' }"
      "    node { op_type: 'Identity' input: 'go' output: 'on' }"
      "    input { name: 'i' } input { name: 'go' } input { name: 'v' }"
      "    output { name: 'on' } output { name: 'w' } output { name: 'w' } } } }"
      "node { op_type: 'ReduceSum' input: 'all' input: 'zero' output: 'y' attribute { name: "
      "'keepdims' type: INT i: 0 } }" +
      integer_text("zero", "0"));
  EXPECT_EQ(
      instructions_of(file).error,
      "node 'steps' (operator Loop, opset 17) collects values of steps whose number depends on "
      "the model's inputs");
}

// As tf2onnx writes TensorFlow's loops: the condition counts a value of the loop's own.
TEST(OnnxControlTest, StepsOfALoopThatCountsByItselfAreCollected) {
  const auto counting = [](const std::string& bound) {
    return tensor_text("input", "x", {"batch", "3"}) + tensor_text("output", "y", {"batch", "3"}) +
           integer_text("most", "1000") + integer_text("none", "0") + integer_text("two", "2") +
           "initializer { name: 'yes' data_type: 9 int32_data: 1 }" + bound +
           "node { name: 'steps' op_type: 'Loop' input: 'most' input: 'yes' input: 'none' input: "
           "'x' output: '' output: '' output: 'all'"
           "  attribute { name: 'body' type: GRAPH g { name: 'body'"
           "    node { op_type: 'Add' input: 'v' input: 'v' output: 'w' }"
           "    node { op_type: 'Add' input: 'c' input: 'two' output: 'd' }"
           "    node { op_type: 'Less' input: 'd' input: 'bound' output: 'on' }"
           "    input { name: 'i' } input { name: 'go' } input { name: 'c' } input { name: 'v' }"
           "    output { name: 'on' } output { name: 'd' } output { name: 'w' }"
           "    output { name: 'w' } } } }"
           "node { op_type: 'ReduceSum' input: 'all' input: 'axis' output: 'y' attribute { name: "
           "'keepdims' type: INT i: 0 } }"
           "initializer { name: 'axis' data_type: 7 dims: 1 int64_data: 0 }";
  };
  const OnnxFile file(counting(integer_text("bound", "9")));
  EXPECT_EQ(instructions_of(file).of("while"), 1);
  // 2 + 4 + 8 + 16 + 32: d is 2, 4, 6, 8, 10.
  EXPECT_THAT(values_of(file, xla::LiteralUtil::CreateR2<float>({{1, 2, 0}}), 1),
              ElementsAre(62, 124, 0));
  const OnnxFile of_inputs(counting(
      "node { op_type: 'ReduceMax' input: 'x' output: 'largest' attribute { name: 'keepdims' type: "
      "INT i: 0 } } node { op_type: 'Cast' input: 'largest' output: 'bound' attribute { name: 'to' "
      "type: INT i: 7 } }"));
  EXPECT_THAT(instructions_of(of_inputs).error, HasSubstr("collects values of steps"));
}

TEST(OnnxControlTest, ANodeInALoopIsNamed) {
  const OnnxFile file(
      kEnds + power("1000", "node { name: 'bad' op_type: 'NoSuch' input: 'v' output: 'factor' }"));
  EXPECT_THAT(instructions_of(file).error, HasSubstr("node 'bad' (operator NoSuch, opset 17)"));
}

TEST(OnnxControlTest, KnownValuesStayKnownWhenScattered) {
  const OnnxFile file(
      tensor_text("input", "x", {"batch", "1"}) + tensor_text("output", "y", {"batch", "4"}) +
      "initializer { name: 'at' data_type: 7 dims: 1 dims: 1 int64_data: 1 }"
      "initializer { name: 'four' data_type: 7 dims: 1 int64_data: 4 }"
      "node { op_type: 'Shape' input: 'x' output: 's' }"
      "node { op_type: 'ScatterND' input: 's' input: 'at' input: 'four' output: 'to' }"
      "node { op_type: 'Expand' input: 'x' input: 'to' output: 'y' }");
  EXPECT_EQ(instructions_of(file).error, "");
  EXPECT_THAT(values_of(file, xla::LiteralUtil::CreateR2<float>({{7}}), 1),
              ElementsAre(7, 7, 7, 7));
}

TEST(OnnxControlTest, PlacesOfInputsAreRefusedWhereTheirNumberIsASize) {
  const OnnxFile file(kEnds + "node { name: 'where' op_type: 'NonZero' input: 'x' output: 'y' }");
  EXPECT_THAT(instructions_of(file).error,
              HasSubstr("node 'where' (operator NonZero, opset 17) needs the value of 'x'"));
}

}  // namespace
}  // namespace tfaot::toolkit::engine
