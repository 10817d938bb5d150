// SPDX-License-Identifier: Apache-2.0
// The config file itself, and the model it leads to.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/config/config_fixture.h"

namespace tfaot::toolkit {
namespace {

using testing::error_of;

std::string config_with(const std::string& model_keys) {
  return "model: {name: test, version: '1'" + model_keys + "}\ncompilation: {batch_sizes: [1]}\n";
}

const std::string kFrozen = ", format: frozen_graph, inputs: [x], outputs: [y]";

TEST(ConfigFile, Missing) {
  const testing::MemoryFileSystem fs;
  EXPECT_EQ(error_of(load_model_spec(fs, "/m/aot_config.yaml")),
            "/m/aot_config.yaml: the config file is missing\n"
            "  it is usually called aot_config.yaml; see docs/config.md");
}

TEST(ConfigFile, IsAFolder) {
  const testing::MemoryFileSystem fs({{"/m/aot_config.yaml", ""}});
  EXPECT_EQ(error_of(load_model_spec(fs, "/m")),
            "/m: the config is a folder, not a file\n"
            "  give the file in it, usually aot_config.yaml");
}

TEST(Source, IsRelativeToTheFolderOfTheConfig) {
  const testing::MemoryFileSystem fs(
      {{"/a/b/c.yaml", config_with(", saved_model: ../models/./one/")},
       {"/a/models/one/saved_model.pbtxt", ""}});
  const auto spec = load_model_spec(fs, "/a/b/c.yaml");
  ASSERT_TRUE(spec) << error_of(spec);
  EXPECT_EQ(spec->model.source, "/a/models/one");
}

TEST(Source, MayBeAbsoluteOrTheFolderOfTheConfig) {
  const testing::MemoryFileSystem fs({{"/a/absolute.yaml", config_with(", saved_model: /m")},
                                      {"/m/saved_model.pb", ""},
                                      {"/m/here.yaml", config_with(", saved_model: .")}});
  const auto absolute = load_model_spec(fs, "/a/absolute.yaml");
  ASSERT_TRUE(absolute) << error_of(absolute);
  EXPECT_EQ(absolute->model.source, "/m");
  const auto here = load_model_spec(fs, "/m/here.yaml");
  ASSERT_TRUE(here) << error_of(here);
  EXPECT_EQ(here->model.source, "/m");
}

TEST(Source, MayBeALink) {
  testing::MemoryFileSystem fs(
      {{"/m/c.yaml", config_with("")}, {"/data/model/saved_model.pb", ""}});
  ASSERT_TRUE(fs.replace_symlink("/data/model", "/m/saved_model"));
  const auto spec = load_model_spec(fs, "/m/c.yaml");
  EXPECT_TRUE(spec) << error_of(spec);
}

TEST(Source, DefaultIsMissing) {
  const testing::MemoryFileSystem fs(
      {{"/m/c.yaml", config_with("")}, {"/m/saved_model_1/saved_model.pb", ""}});
  EXPECT_EQ(error_of(load_model_spec(fs, "/m/c.yaml")),
            "/m/c.yaml:1:1: model.saved_model (default): './saved_model' is missing\n"
            "  it leads to /m/saved_model\n"
            "  did you mean 'saved_model_1' in the same folder?");
}

TEST(Source, VariablesAreNotExpanded) {
  const testing::MemoryFileSystem fs(
      {{"/m/c.yaml", config_with(", saved_model: '${HOME}/model'")}});
  EXPECT_EQ(error_of(load_model_spec(fs, "/m/c.yaml")),
            "/m/c.yaml:1:48: model.saved_model: '${HOME}/model' is missing\n"
            "  it leads to /m/${HOME}/model\n"
            "  variables such as '$HOME' are not expanded; write the whole path\n"
            "  the folder /m/${HOME} is missing, too");
}

TEST(Source, TildeIsNotExpanded) {
  const testing::MemoryFileSystem fs({{"/m/c.yaml", config_with(", saved_model: ~/model")}});
  EXPECT_EQ(error_of(load_model_spec(fs, "/m/c.yaml")),
            "/m/c.yaml:1:48: model.saved_model: '~/model' is missing\n"
            "  it leads to /m/~/model\n"
            "  '~' is not expanded; write the whole path\n"
            "  the folder /m/~ is missing, too");
}

TEST(Source, LinkToNothing) {
  testing::MemoryFileSystem fs({{"/m/c.yaml", config_with(", saved_model: link")}});
  ASSERT_TRUE(fs.replace_symlink("/data/model", "/m/link"));
  EXPECT_EQ(
      error_of(load_model_spec(fs, "/m/c.yaml")),
      "/m/c.yaml:1:48: model.saved_model: 'link' is a link to '/data/model', which is missing\n"
      "  it leads to /m/link");
}

TEST(Source, FolderWithoutASavedModel) {
  const testing::MemoryFileSystem fs(
      {{"/m/c.yaml", config_with("")}, {"/m/saved_model/variables/variables.index", ""}});
  EXPECT_EQ(error_of(load_model_spec(fs, "/m/c.yaml")),
            "/m/c.yaml:1:1: model.saved_model (default): './saved_model' holds neither "
            "saved_model.pb nor saved_model.pbtxt\n"
            "  it leads to /m/saved_model\n"
            "  the folder holds: variables");
}

TEST(Source, SavedModelIsAFile) {
  const testing::MemoryFileSystem fs(
      {{"/m/c.yaml", config_with(", saved_model: graph.pb")}, {"/m/graph.pb", ""}});
  EXPECT_EQ(error_of(load_model_spec(fs, "/m/c.yaml")),
            "/m/c.yaml:1:48: model.saved_model: 'graph.pb' is not a folder\n"
            "  it leads to /m/graph.pb\n"
            "  give the folder that holds saved_model.pb; for a frozen graph write 'format: "
            "frozen_graph' and 'frozen_graph: PATH'");
}

TEST(Source, FrozenGraphIsAFolder) {
  const testing::MemoryFileSystem fs(
      {{"/m/c.yaml", config_with(kFrozen + ", frozen_graph: saved_model")},
       {"/m/saved_model/saved_model.pb", ""}});
  EXPECT_EQ(error_of(load_model_spec(fs, "/m/c.yaml")),
            "/m/c.yaml:1:98: model.frozen_graph: 'saved_model' is not a file\n"
            "  it leads to /m/saved_model\n"
            "  give the file of the frozen graph; for a SavedModel write 'format: saved_model' "
            "and 'saved_model: PATH'");
}

TEST(Source, SavedModelIsAnOnnxFile) {
  const testing::MemoryFileSystem fs(
      {{"/m/c.yaml", config_with(", saved_model: net.onnx")}, {"/m/net.onnx", ""}});
  EXPECT_EQ(error_of(load_model_spec(fs, "/m/c.yaml")),
            "/m/c.yaml:1:48: model.saved_model: 'net.onnx' is not a folder\n"
            "  it leads to /m/net.onnx\n"
            "  give the folder that holds saved_model.pb; for an ONNX model write 'format: onnx' "
            "and 'onnx: PATH'");
}

TEST(Source, OnnxIsAFolder) {
  const testing::MemoryFileSystem fs(
      {{"/m/c.yaml", config_with(", format: onnx, onnx: saved_model")},
       {"/m/saved_model/saved_model.pb", ""}});
  EXPECT_EQ(error_of(load_model_spec(fs, "/m/c.yaml")),
            "/m/c.yaml:1:55: model.onnx: 'saved_model' is not a file\n"
            "  it leads to /m/saved_model\n"
            "  give the file of the ONNX model; for a SavedModel write 'format: saved_model' and "
            "'saved_model: PATH'");
}

// XGBoost's JSON has the name of a config.
TEST(Source, AnXgboostFileIsNoConfig) {
  const std::string json = "{\"learner\": {\"attributes\": {}}, \"version\": [3, 2, 0]}";
  const testing::MemoryFileSystem fs(
      {{"/m/c.yaml", config_with(", format: onnx, onnx: bdt.json")}, {"/m/bdt.json", json}});
  EXPECT_EQ(error_of(load_model_spec(fs, "/m/bdt.json")),
            "/m/bdt.json: this is an XGBoost file, not a config\n"
            "  only XGBoost reads it: onnxmltools.convert_xgboost(...) makes an ONNX model "
            "(docs/onnx.md)");
  EXPECT_THAT(error_of(load_model_spec(fs, "/m/c.yaml")),
              ::testing::HasSubstr("'bdt.json' is an XGBoost file"));
}

TEST(Source, ModelsOfOtherProgramsAreNamed) {
  const auto error_for = [](const std::string& file) {
    const testing::MemoryFileSystem fs(
        {{"/m/c.yaml", config_with(", saved_model: " + file)}, {"/m/" + file, ""}});
    return error_of(load_model_spec(fs, "/m/c.yaml"));
  };
  EXPECT_EQ(error_for("net.keras"),
            "/m/c.yaml:1:48: model.saved_model: 'net.keras' is a Keras file\n"
            "  it leads to /m/net.keras\n"
            "  only Keras reads it: model.export('saved_model') makes a SavedModel "
            "(docs/models.md)");
  EXPECT_THAT(error_for("net.h5"), ::testing::HasSubstr("is a Keras file"));
  EXPECT_THAT(error_for("net.pt"), ::testing::HasSubstr("torch.onnx.export"));
  EXPECT_THAT(error_for("net.pth"), ::testing::HasSubstr("is a PyTorch file"));
  EXPECT_THAT(error_for("net.pt2"), ::testing::HasSubstr("is a PyTorch file"));
  EXPECT_THAT(error_for("bdt.ubj"), ::testing::HasSubstr("onnxmltools.convert_xgboost"));
  EXPECT_THAT(error_for("bdt.pkl"), ::testing::HasSubstr("export the model to ONNX"));
  EXPECT_THAT(error_for("bdt.joblib"), ::testing::HasSubstr("a file of Python objects"));
  EXPECT_THAT(error_for("net.tflite"), ::testing::HasSubstr("a LiteRT"));
  EXPECT_THAT(error_for("net.mlir"),
              ::testing::HasSubstr(
                  "for a StableHLO module write 'format: stablehlo' and 'stablehlo: PATH'"));
}

TEST(Source, FrozenGraphIsMissing) {
  const testing::MemoryFileSystem fs(
      {{"/m/c.yaml", config_with(kFrozen)}, {"/m/frozen-graph.pb", ""}});
  EXPECT_EQ(error_of(load_model_spec(fs, "/m/c.yaml")),
            "/m/c.yaml:1:1: model.frozen_graph (default): './frozen_graph.pb' is missing\n"
            "  it leads to /m/frozen_graph.pb\n"
            "  did you mean 'frozen-graph.pb' in the same folder?");
}

}  // namespace
}  // namespace tfaot::toolkit
