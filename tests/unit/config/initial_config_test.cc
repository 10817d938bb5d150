// SPDX-License-Identifier: Apache-2.0
#include "tfaot/config/initial_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config_fixture.h"
#include "tests/support/golden.h"
#include "tfaot/base/text.h"

namespace tfaot::toolkit {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

ModelDescription saved_model() {
  ModelDescription model;
  model.signatures = {{"serving_default",
                       {{"x", "x:0", "float32", true, {-1, 10}}},
                       {{"y", "y:0", "float32", true, {-1, 2}}},
                       {},
                       {},
                       -1,
                       "",
                       {}},
                      {"train", {}, {}, {}, {}, -1, "", {}}};
  return model;
}

ModelDescription frozen_graph() {
  ModelDescription model;
  model.format = ModelFormat::kFrozenGraph;
  model.signatures = {{"",
                       {{"x", "x:0", "float32", false, {}}, {"n/b", "n/b:0", "int32", true, {4}}},
                       {{"out/y", "out/y:0", "float32", false, {}}},
                       {},
                       {},
                       -1,
                       "",
                       {}}};
  return model;
}

ModelDescription onnx_model() {
  ModelDescription model;
  model.format = ModelFormat::kOnnx;
  model.signatures = {{"",
                       {{"pf", "pf", "float32", true, {-1, 15, -1}, {"batch", "", "n_pf"}},
                        {"sv", "sv", "float32", true, {-1, -1, 3}, {"batch", "n sv", ""}}},
                       {{"y", "y", "float32", true, {-1, 2}, {"batch", ""}}},
                       {},
                       {},
                       -1,
                       "",
                       {}}};
  return model;
}

std::string text_of(const ModelDescription& model, const InitialConfig& values) {
  return initial_config(model, model.signatures.front(), values);
}

TEST(InitialConfig, OfASavedModel) {
  EXPECT_TRUE(testing::matches_golden(text_of(saved_model(), {"net", "1.0.0", "saved model"}),
                                      "initial_config/saved_model.yaml"));
}

TEST(InitialConfig, SaysWhichNamesKerasMadeUp) {
  const InitialConfig values{"net", "1", "m", {}};
  const auto remark = [](const std::string& name) {
    return HasSubstr("'" + name + "' is a name that Keras made up");
  };
  ModelDescription model = saved_model();
  const auto said = [&] { return replace_all(text_of(model, values), "\n  #", ""); };  // unwrapped
  EXPECT_THAT(said(), Not(HasSubstr("Keras made up")));
  for (const char* name : {"output_", "output", "my_output_1"}) {
    model.signatures[0].outputs[0].name = name;
    EXPECT_THAT(said(), Not(remark(name)));
  }
  model.signatures[0].outputs[0].name = "output_0";
  EXPECT_THAT(said(), remark("output_0"));
  model = saved_model();
  for (const char* name : {"keras_tensor", "keras_tensor_12"}) {
    model.signatures[0].inputs[0].name = name;
    EXPECT_THAT(said(), remark(name));
  }
}

TEST(InitialConfig, SaysWhichNodeMakesAnOutputWithoutAName) {
  ModelDescription model = saved_model();
  DescribedTensor& output = model.signatures[0].outputs[0];
  output.origin = "net/scores/Softmax";
  const auto said = [&] {
    return replace_all(text_of(model, {"net", "1", "m", {}}), "\n  #", "");  // unwrapped
  };
  for (const char* name :
       {"output_0", "output1", "Identity", "Identity_2:0", "42", "StatefulPartitionedCall:1"}) {
    output.name = name;
    EXPECT_THAT(said(), HasSubstr(" from node net/scores/Softmax")) << name;
  }
  for (const char* name : {"scores", "my_output_0", "net/scores/Softmax"}) {
    output.name = name;
    EXPECT_THAT(said(), Not(HasSubstr("from node"))) << name;
  }
}

TEST(InitialConfig, OfAFrozenGraph) {
  EXPECT_TRUE(testing::matches_golden(text_of(frozen_graph(), {"net", "1", "../graph.pb"}),
                                      "initial_config/frozen_graph.yaml"));
}

TEST(InitialConfig, OfAModelThatNeedsConstants) {
  ModelDescription model = frozen_graph();
  model.signatures.front().constants = {{"norm/keras_learning_phase", {}, {"false"}},
                                        {"a b", {}, {"0"}}};
  EXPECT_THAT(
      text_of(model, {"net", "1", "graph.pb"}),
      HasSubstr("  # This model needs the value of each of these; false and 0 are guesses.\n"
                "  constants: {norm/keras_learning_phase: false, \"a b\": 0}\n"));
}

TEST(InitialConfig, OfAnOnnxModel) {
  EXPECT_TRUE(testing::matches_golden(text_of(onnx_model(), {"net", "1.0.0", "net.onnx"}),
                                      "initial_config/onnx.yaml"));
}

TEST(InitialConfig, OfAModelThatCannotHaveABatch) {
  ModelDescription model = onnx_model();
  EXPECT_THAT(text_of(model, {"net", "1", "m"}), Not(HasSubstr("batch: none\n")));
  model.signatures.front().inputs = {{"a", "a", "float32", true, {3, 4}, {"", ""}},
                                     {"b", "b", "float32", true, {4, 5}, {"", ""}}};
  const std::string text = text_of(model, {"net", "1", "m"});
  EXPECT_THAT(text, HasSubstr("\n  batch: none\n"));
  EXPECT_THAT(text, HasSubstr("\n  # batch_sizes: ...\n"));
  model.signatures.front().inputs = {{"s", "s", "float32", true, {}, {}}};
  EXPECT_THAT(text_of(model, {"net", "1", "m"}), HasSubstr("\n  batch: none\n"));
}

TEST(InitialConfig, WithoutABatchOnRequest) {
  InitialConfig values{"net", "1", "m"};
  values.no_batch = true;
  EXPECT_THAT(text_of(onnx_model(), values), HasSubstr("\n  batch: none\n"));
}

TEST(InitialConfig, OfAnOpsetThatIsNotKnown) {
  InitialConfig values{"net", "1", "m"};
  EXPECT_THAT(text_of(onnx_model(), values), HasSubstr("\n  # opset: known\n"));
  values.any_opset = true;
  EXPECT_THAT(text_of(onnx_model(), values), HasSubstr("\n  opset: any\n"));
}

TEST(InitialConfig, ValuesAreQuotedWhereYamlNeedsIt) {
  const std::string text = text_of(saved_model(), {"net", "1.10", "-x #1: y"});
  EXPECT_THAT(text, HasSubstr("\n  version: \"1.10\"\n"));
  EXPECT_THAT(text, HasSubstr("\n  saved_model: \"-x #1: y\"\n"));
  EXPECT_THAT(text_of(saved_model(), {"net", "v1", "m"}), HasSubstr("\n  version: v1\n"));
}

TEST(InitialConfig, NamesInCommentsMayHoldAnything) {
  ModelDescription model = onnx_model();
  DescribedSignature& signature = model.signatures.front();
  signature.inputs = {{"a\x01 b", "", "float32", true, {-1, 4}, {"N\n", ""}}};
  signature.outputs = {{"y\n- z: \x1b[31m", "", "float32", true, {-1, 4}, {"N\n", ""}}};
  const auto spec = testing::load_text(text_of(model, {"net", "1", "model.onnx"}));
  EXPECT_TRUE(spec) << spec.error().text();
}

TEST(InitialConfig, LinesAreShort) {
  std::string line;
  for (const char c : text_of(frozen_graph(), {"net", "1", "graph.pb"})) {
    line = c == '\n' ? "" : line + c;
    EXPECT_LE(line.size(), 100U) << line;
  }
}

TEST(InitialConfig, TheSignature) {
  EXPECT_EQ((*initial_signature(saved_model(), "train"))->key, "train");
  ModelDescription other = saved_model();
  other.signatures.erase(other.signatures.begin());
  EXPECT_EQ((*initial_signature(other, ""))->key, "train");
  const auto missing = initial_signature(saved_model(), "serve");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().text(),
            "there is no signature 'serve'\n  the model's signatures: serving_default, train");
}

TEST(InitialConfig, SuggestedNames) {
  EXPECT_EQ(suggested_model_name("/a/my-tagger/saved_model"), "my_tagger");
  EXPECT_EQ(suggested_model_name("/a/my.tagger/"), "my");
  EXPECT_EQ(suggested_model_name("/a/net.pb"), "net");
  EXPECT_EQ(suggested_model_name("/a/2024/model"), "model_2024");
  EXPECT_EQ(suggested_model_name("/a/class"), "class_model");
  EXPECT_EQ(suggested_model_name("/saved_model"), "saved_model");
}

}  // namespace
}  // namespace tfaot::toolkit
