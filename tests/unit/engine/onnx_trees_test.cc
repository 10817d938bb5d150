// SPDX-License-Identifier: Apache-2.0
// Decision trees of ai.onnx.ml: what they compute, what is refused, and what becomes a kernel call.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "compiler/kernels/kernel_call.h"
#include "tests/unit/engine/onnx_models.h"
#include "tests/unit/engine/run_pass.h"

namespace tfaot::toolkit::engine {
namespace {

using ::testing::ElementsAre;
using ::testing::FloatNear;
using ::testing::HasSubstr;
using testing::OnnxFile;
using ::testing::Pointwise;
using testing::tensor_text;

const std::string kMlOpsets =
    "opset_import { version: 17 } opset_import { domain: 'ai.onnx.ml' version: 3 }";
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

std::string ints(const std::string& name, const std::string& values) {
  return "attribute { name: '" + name + "' type: INTS ints: [" + values + "] }";
}
std::string floats(const std::string& name, const std::string& values) {
  return "attribute { name: '" + name + "' type: FLOATS floats: [" + values + "] }";
}
std::string text(const std::string& name, const std::string& value) {
  return "attribute { name: '" + name + "' type: STRING s: '" + value + "' }";
}

// One branch on feature 1 with two leaves, 10 and 20, of one target.
struct OneBranch {
  std::string mode = "BRANCH_LEQ";
  std::string threshold = "0.5";
  std::string missing = "0";
  std::string feature = "1";
  std::string if_false = "2";
  std::string rest = "";
};
std::string regressor(const OneBranch& one) {
  return tensor_text("input", "x", {"batch", "2"}) + tensor_text("output", "y", {"batch", "1"}) +
         "node { name: 'forest' domain: 'ai.onnx.ml' op_type: 'TreeEnsembleRegressor' input: 'x'"
         " output: 'y' attribute { name: 'n_targets' type: INT i: 1 }"
         "attribute { name: 'nodes_modes' type: STRINGS strings: ['" +
         one.mode + "', 'LEAF', 'LEAF'] }" + ints("nodes_treeids", "0, 0, 0") +
         ints("nodes_nodeids", "0, 1, 2") + ints("nodes_featureids", one.feature + ", 0, 0") +
         floats("nodes_values", one.threshold + ", 0, 0") + ints("nodes_truenodeids", "1, 0, 0") +
         ints("nodes_falsenodeids", one.if_false + ", 0, 0") +
         ints("nodes_missing_value_tracks_true", one.missing + ", 0, 0") +
         ints("target_treeids", "0, 0") + ints("target_nodeids", "1, 2") +
         ints("target_ids", "0, 0") + floats("target_weights", "10, 20") + one.rest + " }";
}

struct TreesLowered {
  std::unique_ptr<SourceModel> source;
  std::unique_ptr<Lowering> lowering;
};
Result<TreesLowered> trees_lowered(const OnnxFile& file, bool embed_weights = false) {
  TreesLowered made;
  TFAOT_ASSIGN(made.source, file.load());
  TFAOT_ASSIGN(made.lowering, made.source->lowering({embed_weights, false}));
  return made;
}

// The last output for these values of feature 1.
std::vector<float> of_feature(const std::string& graph, const std::vector<float>& values,
                              bool embed_weights = false) {
  const OnnxFile file(graph, kMlOpsets);
  const auto made = trees_lowered(file, embed_weights);
  if (!made) {
    ADD_FAILURE() << made.error().text();
    return {};
  }
  xla::Literal x(shape_of(xla::F32, {std::ssize(values), 2}));
  for (std::int64_t i = 0; i < std::ssize(values); ++i) {
    x.Set<float>({i, 0}, 99);
    x.Set<float>({i, 1}, values[static_cast<std::size_t>(i)]);
  }
  std::vector<xla::Literal> inputs;
  inputs.push_back(std::move(x));
  const auto outputs = testing::evaluate(*made->lowering, inputs, std::ssize(values));
  if (!outputs) {
    ADD_FAILURE() << outputs.error().text();
    return {};
  }
  const auto data = outputs->back().data<float>();
  return {data.begin(), data.end()};
}

std::string trees_error(const std::string& graph) {
  const OnnxFile file(graph, kMlOpsets);
  const auto made = trees_lowered(file);
  if (!made) return made.error().text();
  const auto computation = made->lowering->lower(2);
  return computation ? "no error" : computation.error().text();
}

TEST(OnnxTreesTest, EachModeComparesAsItsNameSays) {
  const std::vector<float> values = {0.25F, 0.5F, 0.75F};
  const auto of = [&](const std::string& mode) {
    return of_feature(regressor({.mode = "BRANCH_" + mode}), values);
  };
  EXPECT_THAT(of("LEQ"), ElementsAre(10, 10, 20));
  EXPECT_THAT(of("LT"), ElementsAre(10, 20, 20));
  EXPECT_THAT(of("GTE"), ElementsAre(20, 10, 10));
  EXPECT_THAT(of("GT"), ElementsAre(20, 20, 10));
  EXPECT_THAT(of("EQ"), ElementsAre(20, 10, 20));
  EXPECT_THAT(of("NEQ"), ElementsAre(10, 20, 10));
}

// Keys are integers: zeros of both signs are equal, and infinities are numbers.
TEST(OnnxTreesTest, ZerosAndInfinities) {
  const float infinity = std::numeric_limits<float>::infinity();
  const std::vector<float> values = {-infinity, -1e-45F, -0.0F, 0.0F, 1e-45F, infinity};
  for (const std::string zero : {"0", "-0"}) {
    const auto of = [&](const std::string& mode) {
      return of_feature(regressor({.mode = "BRANCH_" + mode, .threshold = zero}), values);
    };
    EXPECT_THAT(of("LEQ"), ElementsAre(10, 10, 10, 10, 20, 20));
    EXPECT_THAT(of("LT"), ElementsAre(10, 10, 20, 20, 20, 20));
    EXPECT_THAT(of("EQ"), ElementsAre(20, 20, 10, 10, 20, 20));
  }
  const auto at = [&](const std::string& mode, const std::string& threshold) {
    return of_feature(regressor({.mode = "BRANCH_" + mode, .threshold = threshold}),
                      {-infinity, 1, infinity});
  };
  EXPECT_THAT(at("LEQ", "inf"), ElementsAre(10, 10, 10));
  EXPECT_THAT(at("LT", "-inf"), ElementsAre(20, 20, 20));
  EXPECT_THAT(at("LEQ", "nan"), ElementsAre(20, 20, 20));
  EXPECT_THAT(at("NEQ", "nan"), ElementsAre(10, 10, 10));
}

TEST(OnnxTreesTest, MissingValuesGoWhereTheNodeSays) {
  for (const std::string mode : {"LEQ", "LT", "GTE", "GT", "EQ", "NEQ"}) {
    const auto with = [&](const std::string& missing, const std::string& threshold) {
      return of_feature(
          regressor({.mode = "BRANCH_" + mode, .threshold = threshold, .missing = missing}),
          {kNaN});
    };
    EXPECT_THAT(with("0", "0.5"), ElementsAre(20)) << mode;
    EXPECT_THAT(with("1", "0.5"), ElementsAre(10)) << mode;
    EXPECT_THAT(with("1", "nan"), ElementsAre(10)) << mode;
  }
}

// Three branches, nodes 0 to 2, and leaves of 10, 20 and 30.
std::string three_branches(const std::string& if_true, const std::string& if_false) {
  return tensor_text("input", "x", {"batch", "2"}) + tensor_text("output", "y", {"batch", "1"}) +
         "node { name: 'forest' domain: 'ai.onnx.ml' op_type: 'TreeEnsembleRegressor' input: 'x'"
         " output: 'y' attribute { name: 'n_targets' type: INT i: 1 }"
         "attribute { name: 'nodes_modes' type: STRINGS strings: ['BRANCH_EQ', 'BRANCH_EQ', "
         "'BRANCH_LEQ', 'LEAF', 'LEAF', 'LEAF'] }" +
         ints("nodes_treeids", "0, 0, 0, 0, 0, 0") + ints("nodes_nodeids", "0, 1, 2, 3, 4, 5") +
         ints("nodes_featureids", "1, 1, 0, 0, 0, 0") +
         floats("nodes_values", "1, 4, 50, 0, 0, 0") +
         ints("nodes_truenodeids", if_true + ", 0, 0, 0") +
         ints("nodes_falsenodeids", if_false + ", 0, 0, 0") + ints("target_treeids", "0, 0, 0") +
         ints("target_nodeids", "3, 4, 5") + ints("target_ids", "0, 0, 0") +
         floats("target_weights", "10, 20, 30") + " }";
}

// LightGBM's sets of categories: several branches lead to one node.
TEST(OnnxTreesTest, BranchesMayMeetButNotLeadBack) {
  EXPECT_THAT(of_feature(three_branches("2, 2, 3", "1, 5, 4"), {1, 2, 4, 5}),
              ElementsAre(20, 30, 20, 30));
  EXPECT_THAT(trees_error(three_branches("1, 2, 1", "3, 4, 5")),
              HasSubstr("leads back to node 1 of tree 0"));
}

TEST(OnnxTreesTest, BaseValuesAndTransformsComeAfterTheSum) {
  const OneBranch one = {.rest = floats("base_values", "-12") + text("post_transform", "LOGISTIC")};
  EXPECT_THAT(of_feature(regressor(one), {0, 1}),
              Pointwise(FloatNear(1e-6F), {1 / (1 + std::exp(2.0F)), 1 / (1 + std::exp(-8.0F))}));
}

// A leaf without a vote says nothing, and a target without votes is zero, not the largest number.
TEST(OnnxTreesTest, TargetsWithoutVotesAreZero) {
  std::string graph = regressor({.rest = text("aggregate_function", "MIN")});
  const auto replace = [&](const std::string& before, const std::string& after) {
    graph.replace(graph.find(before), before.size(), after);
  };
  replace(ints("target_treeids", "0, 0"), ints("target_treeids", "0"));
  replace(ints("target_nodeids", "1, 2"), ints("target_nodeids", "1"));
  replace(ints("target_ids", "0, 0"), ints("target_ids", "0"));
  replace(floats("target_weights", "10, 20"), floats("target_weights", "10"));
  EXPECT_THAT(of_feature(graph, {0, 1}), ElementsAre(10, 0));
  replace("MIN", "MAX");
  EXPECT_THAT(of_feature(graph, {0, 1}), ElementsAre(10, 0));
}

// Votes of two trees for the classes.
std::string classifier(const std::string& class_ids, const std::string& weights,
                       const std::string& rest) {
  return tensor_text("input", "x", {"batch", "2"}) +
         tensor_text("output", "scores", {"batch", "2"}) +
         "node { name: 'forest' domain: 'ai.onnx.ml' op_type: 'TreeEnsembleClassifier' input: 'x'"
         " output: 'label' output: 'scores'"
         "attribute { name: 'nodes_modes' type: STRINGS strings: ['BRANCH_LT', 'LEAF', 'LEAF', "
         "'LEAF'] }" +
         ints("nodes_treeids", "0, 0, 0, 1") + ints("nodes_nodeids", "0, 1, 2, 0") +
         ints("nodes_featureids", "1, 0, 0, 0") + floats("nodes_values", "0.5, 0, 0, 0") +
         ints("nodes_truenodeids", "1, 0, 0, 0") + ints("nodes_falsenodeids", "2, 0, 0, 0") +
         ints("class_treeids", "0, 0, 1") + ints("class_nodeids", "1, 2, 0") +
         ints("class_ids", class_ids) + floats("class_weights", weights) + rest + " }";
}
const std::string kLabels = ints("classlabels_int64s", "3, 7");

TEST(OnnxTreesTest, AClassifierOfTwoClassesMayHaveVotesOfOne) {
  // Probabilities.
  EXPECT_THAT(of_feature(classifier("0, 0, 0", "0.25, 0.5, 0.125", kLabels), {0, 1}),
              ElementsAre(0.625F, 0.375F, 0.375F, 0.625F));
  // Signed scores.
  EXPECT_THAT(of_feature(classifier("0, 0, 0", "-2, 1, 0.5", kLabels), {0, 1}),
              ElementsAre(1.5F, -1.5F, -1.5F, 1.5F));
  const std::string logistic = text("post_transform", "LOGISTIC") + floats("base_values", "0.5");
  const float high = 1 / (1 + std::exp(-2.0F));
  EXPECT_THAT(of_feature(classifier("0, 0, 0", "-2, 1, 0.5", kLabels + logistic), {1}),
              Pointwise(FloatNear(1e-6F), {1 - high, high}));
  // Votes for both are scores of both.
  EXPECT_THAT(of_feature(classifier("0, 1, 1", "2, 1, 0.5", kLabels), {0, 1}),
              ElementsAre(2, 0.5F, 0, 1.5F));
}

TEST(OnnxTreesTest, LabelsThatAreStringsMatterOnlyIfTheyAreWanted) {
  const std::string strings =
      "attribute { name: 'classlabels_strings' type: STRINGS strings: ['b', 'c'] }";
  const std::string graph = classifier("0, 0, 0", "0.25, 0.5, 0.125", strings);
  EXPECT_THAT(of_feature(graph, {0}), ElementsAre(0.625F, 0.375F));
  const std::string reader = "node { op_type: 'Identity' input: 'label' output: 'same' }" +
                             tensor_text("output", "same", {"batch"});
  EXPECT_EQ(trees_error(graph + reader),
            "node 'forest' (operator ai.onnx.ml.TreeEnsembleClassifier, opset 3) has labels that "
            "are strings, which compiled models cannot have: train with integer labels, or remove "
            "this output from the model");
}

TEST(OnnxTreesTest, ErrorsNameTheNodeOfTheTree) {
  const auto error = [](const OneBranch& one) { return trees_error(regressor(one)); };
  const std::string who = "node 'forest' (operator ai.onnx.ml.TreeEnsembleRegressor, opset 3) ";
  EXPECT_EQ(error({.if_false = "9"}),
            who + "leads from node 0 of tree 0 to node 9, which is not there");
  EXPECT_EQ(error({.if_false = "1"}),
            who + "has two roots in one tree: node 0 of tree 0 and node 2 of tree 0");
  EXPECT_EQ(error({.if_false = "0"}), who + "reaches node 0 of tree 0 from no root");
  EXPECT_EQ(error({.feature = "2"}),
            who + "compares feature 2 in node 0 of tree 0, but its input has 2");
  EXPECT_EQ(error({.mode = "BRANCH_MEMBER"}),
            who + "has the mode 'BRANCH_MEMBER' in node 0 of tree 0");
  EXPECT_EQ(error({.rest = floats("base_values", "1, 2")}), who + "has 2 base_values for 1 scores");
  EXPECT_EQ(trees_error(classifier("0, 0, 0", "1, 2, 3", ints("classlabels_int64s", "5"))),
            "node 'forest' (operator ai.onnx.ml.TreeEnsembleClassifier, opset 3) has 1 labels in "
            "'classlabels_int64s' and 'classlabels_strings'; a classifier needs two or more");
}

// Tables are weights, which all batch sizes share; embedded ones are constants. Here, three nodes,
// and from the next line on the top of one block.
TEST(OnnxTreesTest, TablesAreWeights) {
  const OnnxFile file(regressor({}), kMlOpsets);
  const auto made = trees_lowered(file);
  ASSERT_TRUE(made) << made.error().text();
  ASSERT_EQ(made->lowering->weights().size(), 1U);
  EXPECT_EQ(made->lowering->weights().front().name, "forest/trees");
  constexpr auto kNodes = static_cast<std::int64_t>(8 + sizeof(kernels::ForestTop) / 8);
  EXPECT_EQ(made->lowering->weights().front().shape, shape_of(xla::S32, {kNodes, 2}));
  EXPECT_THAT(of_feature(regressor({}), {0, 1}, true), ElementsAre(10, 20));
}

// What `tfaot update-weights` asks: the same computation for other thresholds.
TEST(OnnxTreesTest, OtherThresholdsAreOtherWeightsOfTheSameComputation) {
  const auto computation = [](const OneBranch& one) {
    const OnnxFile file(regressor(one), kMlOpsets);
    const auto made = trees_lowered(file);
    if (!made) return made.error().text();
    const auto lowered = made->lowering->lower(3);
    if (!lowered) return lowered.error().text();
    const auto module = make_module(lowered->computation.proto());
    return module ? (*module)->ToString() : module.error().text();
  };
  EXPECT_THAT(computation({}), HasSubstr("while("));
  EXPECT_EQ(computation({.threshold = "7"}), computation({}));
  EXPECT_EQ(computation({.mode = "BRANCH_LT", .feature = "0"}), computation({}));
  EXPECT_NE(computation({.mode = "BRANCH_EQ"}), computation({})) << "more nodes";
}

TEST(OnnxTreesTest, AKernelTakesThePlaceOfTheWalk) {
  const OnnxFile file(regressor({}), kMlOpsets);
  const auto made = trees_lowered(file);
  ASSERT_TRUE(made) << made.error().text();
  const auto lowered = made->lowering->lower(3);
  ASSERT_TRUE(lowered) << lowered.error().text();
  const auto module = make_module(lowered->computation.proto());
  ASSERT_TRUE(module) << module.error().text();
  ASSERT_TRUE(testing::run_pass("choose_composite", **module, 1));
  int calls = 0;
  for (const auto* one : (*module)->entry_computation()->instructions()) {
    if (!is_call_of(*one, Kernel::kForest)) continue;
    ++calls;
    EXPECT_EQ(kernel_name(*one), "forest_f32");
    EXPECT_EQ(call_of<kernels::ForestCall>(*one).rows, 3);
    EXPECT_EQ(forest_size(*one).trees, 1);
    EXPECT_EQ(forest_size(*one).steps, 3);
  }
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace tfaot::toolkit::engine
