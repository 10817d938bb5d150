// SPDX-License-Identifier: Apache-2.0
// Weights that ONNX operators make of their attributes: each node gets its own, in all branches and
// steps, and a model whose branches go by the number of rows mixes them. The values are those of
// ONNX Runtime 1.32.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/rows/row_check.h"
#include "tests/unit/engine/evaluate_lowering.h"
#include "tests/unit/engine/onnx_models.h"
#include "tfaot/base/real_file_system.h"

namespace tfaot::toolkit::engine {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::OnnxFile;
using testing::tensor_text;

const std::string kOpsets =
    "opset_import { version: 17 } opset_import { domain: 'ai.onnx.ml' version: 3 }";
const std::string kRowsOfTwo = tensor_text("input", "x", {"N", "2"}) +
                               tensor_text("output", "y", {"N", "1"}) +
                               "initializer { name: 'zero' data_type: 7 int64_data: 0 }"
                               "initializer { name: 'one' data_type: 7 int64_data: 1 }"
                               "initializer { name: 'axes' data_type: 7 dims: 1 int64_data: 1 }"
                               "node { op_type: 'Shape' input: 'x' output: 's' }"
                               "node { op_type: 'Gather' input: 's' input: 'zero' output: 'n' }";

// `left` if feature 0 is at most 0.5, else `right`.
struct Stump {
  std::string name;
  std::string left;
  std::string right;
  std::string made;
};
std::string stump_text(const Stump& stump) {
  const auto ints = [](const std::string& name, const std::string& values) {
    return "attribute { name: '" + name + "' type: INTS ints: [" + values + "] }";
  };
  const auto floats = [](const std::string& name, const std::string& values) {
    return "attribute { name: '" + name + "' type: FLOATS floats: [" + values + "] }";
  };
  return "node { name: '" + stump.name +
         "' domain: 'ai.onnx.ml' op_type: 'TreeEnsembleRegressor' input: 'x' output: '" +
         stump.made + "' attribute { name: 'n_targets' type: INT i: 1 }" +
         "attribute { name: 'nodes_modes' type: STRINGS strings: ['BRANCH_LEQ', 'LEAF', 'LEAF'] }" +
         ints("nodes_treeids", "0, 0, 0") + ints("nodes_nodeids", "0, 1, 2") +
         ints("nodes_featureids", "0, 0, 0") + floats("nodes_values", "0.5, 0, 0") +
         ints("nodes_truenodeids", "1, 0, 0") + ints("nodes_falsenodeids", "2, 0, 0") +
         ints("target_treeids", "0, 0") + ints("target_nodeids", "1, 2") +
         ints("target_ids", "0, 0") + floats("target_weights", stump.left + ", " + stump.right) +
         " }";
}
std::string branch_text(const std::string& name, const std::string& nodes,
                        const std::string& output) {
  return "attribute { name: '" + name + "' type: GRAPH g { " + nodes + " output { name: '" +
         output + "' } } }";
}
std::string if_one_row(const std::string& small, const std::string& large,
                       const std::string& made) {
  return "node { op_type: 'Equal' input: 'n' input: 'one' output: 'is_one' }"
         "node { op_type: 'If' input: 'is_one' output: '" +
         made + "'" + branch_text("then_branch", small, "small") +
         branch_text("else_branch", large, "large") + " }";
}

struct MadeRows {
  std::vector<std::string> weights;
  std::vector<float> values;
};
// For rows of feature 0, 1, 0, 1 ...
MadeRows rows_of(const OnnxFile& file, std::int64_t rows) {
  const auto source = file.load();
  if (!source) {
    ADD_FAILURE() << source.error().text();
    return {};
  }
  const auto lowering = (*source)->lowering({}).value();
  MadeRows made;
  for (const RawWeight& weight : lowering->weights()) made.weights.push_back(weight.name);
  xla::Literal x(shape_of(xla::F32, {rows, 2}));
  for (std::int64_t r = 0; r < rows; ++r) {
    for (const std::int64_t feature : {0, 1}) {
      x.Set<float>({r, feature}, static_cast<float>(r % 2));
    }
  }
  std::vector<xla::Literal> inputs;
  inputs.push_back(std::move(x));
  const auto outputs = testing::evaluate(*lowering, inputs, rows);
  if (!outputs) {
    ADD_FAILURE() << outputs.error().text();
    return made;
  }
  const auto data = outputs->front().data<float>();
  made.values.assign(data.begin(), data.end());
  return made;
}

const std::string kBySize =
    kRowsOfTwo + if_one_row(stump_text({"small", "10", "11", "small"}),
                            stump_text({"large", "20", "21", "large"}), "y");

TEST(OnnxMadeWeights, OfTheBranchThatIsTaken) {
  const OnnxFile file(kBySize, kOpsets);
  EXPECT_THAT(rows_of(file, 1).weights, ElementsAre("small/trees"));
  EXPECT_THAT(rows_of(file, 1).values, ElementsAre(10));
  EXPECT_THAT(rows_of(file, 4).values, ElementsAre(20, 21, 20, 21));
}

TEST(OnnxMadeWeights, OfNodesOfTheSameName) {
  const OnnxFile file(kRowsOfTwo + if_one_row(stump_text({"forest", "10", "11", "small"}),
                                              stump_text({"forest", "20", "21", "large"}), "y"),
                      kOpsets);
  EXPECT_THAT(rows_of(file, 2).values, ElementsAre(20, 21));
}

TEST(OnnxMadeWeights, AfterABranchThatMakesSome) {
  const OnnxFile file(
      kRowsOfTwo +
          if_one_row("node { op_type: 'ReduceSum' input: 'x' input: 'axes' output: 'small' }",
                     stump_text({"large", "20", "21", "large"}), "a") +
          stump_text({"last", "100", "200", "b"}) +
          "node { op_type: 'Add' input: 'a' input: 'b' output: 'y' }",
      kOpsets);
  EXPECT_THAT(rows_of(file, 1).weights, ElementsAre("last/trees"));
  EXPECT_THAT(rows_of(file, 4).values, ElementsAre(120, 221, 120, 221));
}

// As many steps as rows, each with the same forest: one weight.
TEST(OnnxMadeWeights, InTheStepsOfALoop) {
  const OnnxFile file(
      kRowsOfTwo +
          "initializer { name: 'true' data_type: 9 int32_data: 1 }"
          "initializer { name: 'nought' data_type: 1 float_data: 0 }"
          "node { op_type: 'ReduceSum' input: 'x' input: 'axes' output: 'r' }"
          "node { op_type: 'Mul' input: 'r' input: 'nought' output: 'start' }"
          "node { op_type: 'Loop' input: 'n' input: 'true' input: 'start' output: 'a'"
          "  attribute { name: 'body' type: GRAPH g {"
          "    node { op_type: 'Identity' input: 'going' output: 'still' }" +
          stump_text({"inside", "1", "2", "t"}) +
          "    node { op_type: 'Add' input: 'sum' input: 't' output: 'more' }"
          "    input { name: 'i' } input { name: 'going' } input { name: 'sum' }"
          "    output { name: 'still' } output { name: 'more' } } } }" +
          stump_text({"last", "100", "200", "b"}) +
          "node { op_type: 'Add' input: 'a' input: 'b' output: 'y' }",
      kOpsets);
  EXPECT_THAT(rows_of(file, 3).weights, ElementsAre("inside/trees", "last/trees"));
  EXPECT_THAT(rows_of(file, 1).values, ElementsAre(101));
  EXPECT_THAT(rows_of(file, 2).values, ElementsAre(102, 204));
  EXPECT_THAT(rows_of(file, 3).values, ElementsAre(103, 206, 103));
}

// What the row check says of the model at one batch size: notes, warnings, then the error.
std::vector<std::string> row_check(const std::string& graph, std::int64_t batch_size) {
  const OnnxFile file(graph, kOpsets);
  const auto source = file.load().value();
  const auto lowering = source->lowering({}).value();
  RealFileSystem files;
  const auto store = WeightStore::create(files, file.folder(), lowering->weights()).value();
  std::vector<std::string> said;
  const auto say = [&said](const std::string& text) { said.push_back(text); };
  const auto lowered = lowering->lower(batch_size).value();
  const auto alone =
      check_rows_alone(*lowering, {&lowered, batch_size}, {batch_size}, store, {say, say});
  if (!alone) said.push_back(alone.error().text());
  return said;
}

TEST(OnnxMadeWeights, ABranchForARowAloneMixesRows) {
  EXPECT_THAT(
      row_check(kBySize, 4),
      ElementsAre(HasSubstr("row 0 gives another result in a batch of 5 than in one of 1")));
  // Without a weight, and equal only where no number is negative.
  EXPECT_THAT(
      row_check(
          kRowsOfTwo + if_one_row("node { op_type: 'ReduceSum' input: 'x' input: 'axes' output: "
                                  "'small' }",
                                  "node { op_type: 'Abs' input: 'x' output: 'abs' }"
                                  "node { op_type: 'ReduceSum' input: 'abs' input: 'axes' output: "
                                  "'large' }",
                                  "y"),
          4),
      ElementsAre(HasSubstr("row 0 gives another result in a batch of 5 than in one of 1")));
  // The same numbers in another way.
  EXPECT_THAT(
      row_check(
          kRowsOfTwo + if_one_row("node { op_type: 'ReduceSum' input: 'x' input: 'axes' output: "
                                  "'small' }",
                                  "node { op_type: 'Neg' input: 'x' output: 'minus' }"
                                  "node { op_type: 'ReduceSum' input: 'minus' input: 'axes' "
                                  "output: 'of_minus' }"
                                  "node { op_type: 'Neg' input: 'of_minus' output: 'large' }",
                                  "y"),
          4),
      ElementsAre(HasSubstr("is not proved to treat each row alone")));
}

// `n` is compared with 4: neither 5 nor 7 rows nor one take the first branch.
TEST(OnnxMadeWeights, ABranchForOneBatchSizeMixesRows) {
  const auto scaled_by = [](const std::string& of_four, const std::string& of_others) {
    const auto scaled = [](const std::string& factor, const std::string& made) {
      return "node { op_type: 'Constant' output: 'by_" + made +
             "' attribute { name: 'value' type: TENSOR t { data_type: 1 float_data: " + factor +
             " } } } node { op_type: 'Mul' input: 'sum' input: 'by_" + made + "' output: '" + made +
             "' }";
    };
    return kRowsOfTwo + "initializer { name: 'four' data_type: 7 int64_data: 4 }" +
           "node { op_type: 'ReduceSum' input: 'x' input: 'axes' output: 'sum' }"
           "node { op_type: 'Equal' input: 'n' input: 'four' output: 'is_four' }"
           "node { op_type: 'If' input: 'is_four' output: 'y'" +
           branch_text("then_branch", scaled(of_four, "small"), "small") +
           branch_text("else_branch", scaled(of_others, "large"), "large") + " }";
  };
  EXPECT_THAT(
      row_check(scaled_by("2", "3"), 4),
      ElementsAre(HasSubstr("row 0 gives another result in a batch of 5 than in one of 4")));
  EXPECT_THAT(row_check(scaled_by("2", "3"), 3), IsEmpty());
  EXPECT_THAT(row_check(scaled_by("3", "3"), 4), IsEmpty());
}

// A row alone needs no broadcast.
TEST(OnnxMadeWeights, ABroadcastOfAWeightDoesNotMixRows) {
  EXPECT_THAT(
      row_check(tensor_text("input", "x", {"N", "2"}) + tensor_text("output", "y", {"N", "2"}) +
                    "initializer { name: 'w' data_type: 1 dims: [1, 2] float_data: [1, 2] }"
                    "node { op_type: 'Add' input: 'x' input: 'w' output: 'y' }",
                4),
      IsEmpty());
}

}  // namespace
}  // namespace tfaot::toolkit::engine
