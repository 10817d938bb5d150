// SPDX-License-Identifier: Apache-2.0
#include "tfaot/config/initial_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config_fixture.h"
#include "tests/support/golden.h"

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

std::string text_of(const ModelDescription& model, const InitialConfig& values) {
  return initial_config(model, model.signatures.front(), values);
}

TEST(InitialConfig, OfASavedModel) {
  EXPECT_TRUE(testing::matches_golden(text_of(saved_model(), {"net", "1.0.0", "saved model"}),
                                      "initial_config/saved_model.yaml"));
}

TEST(InitialConfig, OfAFrozenGraph) {
  EXPECT_TRUE(testing::matches_golden(text_of(frozen_graph(), {"net", "1", "../graph.pb"}),
                                      "initial_config/frozen_graph.yaml"));
}

TEST(InitialConfig, ValuesAreQuotedWhereYamlNeedsIt) {
  const std::string text = text_of(saved_model(), {"net", "1.10", "-x #1: y"});
  EXPECT_THAT(text, HasSubstr("\n  version: \"1.10\"\n"));
  EXPECT_THAT(text, HasSubstr("\n  saved_model: \"-x #1: y\"\n"));
  EXPECT_THAT(text_of(saved_model(), {"net", "v1", "m"}), HasSubstr("\n  version: v1\n"));
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
