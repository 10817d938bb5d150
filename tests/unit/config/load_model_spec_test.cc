// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "tests/unit/config/config_fixture.h"
#include "tfaot/records/cpu_levels.h"

namespace tfaot::toolkit {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using testing::error_of;
using ::testing::IsEmpty;
using testing::load_text;
using ::testing::Optional;

constexpr const char* kModel = "model: {name: test, version: '1'}\n";

std::string with_compilation(const std::string& keys) {
  return kModel + ("compilation: {batch_sizes: [1], " + keys + "}\n");
}

TEST(LoadModelSpec, FillsInEveryDefault) {
  const auto spec = load_text(
      "model:\n  name: test\n  version: 1.10\n"
      "compilation:\n  batch_sizes: [1]\n");
  ASSERT_TRUE(spec) << error_of(spec);
  EXPECT_EQ(spec->config_file, "/m/aot_config.yaml");
  EXPECT_EQ(spec->model.name, "test");
  EXPECT_EQ(spec->model.version, "1.10");
  EXPECT_EQ(spec->model.format, ModelFormat::kSavedModel);
  EXPECT_EQ(spec->model.source, "/m/saved_model");
  EXPECT_EQ(spec->model.serving_key, "serving_default");
  EXPECT_EQ(spec->model.author, "");
  EXPECT_EQ(spec->model.description, "");
  EXPECT_THAT(spec->compilation.batch_sizes, ElementsAre(1));
  EXPECT_EQ(spec->compilation.namespace_name, "tfaot_model");
  EXPECT_EQ(spec->compilation.target_triple, "x86_64-unknown-linux-gnu");
  EXPECT_THAT(spec->compilation.cpu_levels, ElementsAreArray(default_cpu_levels("x86_64")));
  EXPECT_EQ(spec->compilation.weights, WeightsMode::kShared);
  EXPECT_THAT(spec->compilation.tf_xla_flags, IsEmpty());
  EXPECT_THAT(spec->compilation.xla_flags, IsEmpty());
}

TEST(LoadModelSpec, ReadsEveryKey) {
  const auto spec = load_text(R"(
model:
  name: test
  version: "2.0-rc1"
  saved_model: saved_model/../saved_model/
  serving_key: "1"
  author: 42
  description: "two\nlines"
compilation:
  batch_sizes: [4, 1, 2]
  namespace: a::b
  target_triple: x86_64-pc-linux-musl
  cpu_levels: [native, x86-64-v4, x86-64-v2]
  weights: embedded
  weights_type: bfloat16
  compute: bfloat16
  optimize: size
  tf_xla_flags: [--a, "--b=1"]
  xla_flags: [--c=--d]
)");
  ASSERT_TRUE(spec) << error_of(spec);
  EXPECT_EQ(spec->model.version, "2.0-rc1");
  EXPECT_EQ(spec->model.source, "/m/saved_model");
  EXPECT_EQ(spec->model.serving_key, "1");
  EXPECT_EQ(spec->model.author, "42");
  EXPECT_EQ(spec->model.description, "two\nlines");
  EXPECT_THAT(spec->compilation.batch_sizes, ElementsAre(1, 2, 4));
  EXPECT_EQ(spec->compilation.namespace_name, "a::b");
  EXPECT_EQ(spec->compilation.target_triple, "x86_64-pc-linux-musl");
  EXPECT_THAT(spec->compilation.cpu_levels, ElementsAre("x86-64-v2", "x86-64-v4", "native"));
  EXPECT_EQ(spec->compilation.weights, WeightsMode::kEmbedded);
  EXPECT_EQ(spec->compilation.weights_type, WeightsType::kBfloat16);
  EXPECT_EQ(spec->compilation.compute, ComputeType::kBfloat16);
  EXPECT_EQ(spec->compilation.optimize, Optimization::kSize);
  EXPECT_THAT(spec->compilation.tf_xla_flags, ElementsAre("--a", "--b=1"));
  EXPECT_THAT(spec->compilation.xla_flags, ElementsAre("--c=--d"));
}

TEST(LoadModelSpec, ReadsAFrozenGraph) {
  const auto spec = load_text(R"(
model:
  name: test
  version: 1
  format: frozen_graph
  inputs: [{name: x, shape: [null, 10, 3], dtype: int64}, "y:0", {name: z, shape: [-1]}]
  outputs: ["b:1", a]
compilation: {batch_sizes: [1]}
)");
  ASSERT_TRUE(spec) << error_of(spec);
  EXPECT_EQ(spec->model.format, ModelFormat::kFrozenGraph);
  EXPECT_EQ(spec->model.source, "/m/frozen_graph.pb");
  EXPECT_EQ(spec->model.serving_key, "");
  ASSERT_EQ(spec->model.inputs.size(), 3U);
  EXPECT_EQ(spec->model.inputs[0].name, "x");
  EXPECT_EQ(spec->model.inputs[0].dtype, DType::kInt64);
  EXPECT_THAT(spec->model.inputs[0].row_shape, Optional(ElementsAre(10, 3)));
  EXPECT_EQ(spec->model.inputs[1].name, "y:0");
  EXPECT_EQ(spec->model.inputs[1].dtype, std::nullopt);
  EXPECT_EQ(spec->model.inputs[1].row_shape, std::nullopt);
  EXPECT_THAT(spec->model.inputs[2].row_shape, Optional(IsEmpty()));
  EXPECT_THAT(spec->model.outputs, ElementsAre("b:1", "a"));
}

TEST(LoadModelSpec, ReadsAnOnnxModel) {
  const auto spec = load_text(R"(
model:
  name: test
  version: 1
  format: onnx
  dimensions: {n_sv: 5, n_pf: 50}
compilation: {batch_sizes: [4, 1]}
)");
  ASSERT_TRUE(spec) << error_of(spec);
  EXPECT_EQ(spec->model.format, ModelFormat::kOnnx);
  EXPECT_EQ(spec->model.source, "/m/model.onnx");
  EXPECT_EQ(spec->model.serving_key, "");
  ASSERT_EQ(spec->model.dimensions.size(), 2U);
  EXPECT_EQ(spec->model.dimensions[0].name, "n_pf");
  EXPECT_EQ(spec->model.dimensions[0].size, 50);
  EXPECT_EQ(spec->model.dimensions[1].name, "n_sv");
  EXPECT_EQ(spec->compilation.batch, BatchMode::kFirst);
  EXPECT_THAT(spec->compilation.batch_sizes, ElementsAre(1, 4));
}

TEST(LoadModelSpec, FreeDimensionsStayInTheOrderOfTheConfig) {
  const auto spec = load_text(
      "model: {name: test, version: '1', format: onnx}\n"
      "compilation: {batch_sizes: [1], dimensions: {n: 1..9, m: 0..4}}\n");
  ASSERT_TRUE(spec) << error_of(spec);
  EXPECT_THAT(mapped(spec->compilation.dimensions, &FreeDimension::name), ElementsAre("n", "m"));
}

TEST(LoadModelSpec, ReadsConstants) {
  const auto spec = load_text(R"(
model:
  name: test
  version: 1
  constants:
    norm/keras_learning_phase: False
    "scale:0": [[1, -2.5, +3], [.inf, -.INF, .NaN]]
    large: 18446744073709551615
    none: []
compilation: {batch_sizes: [1]}
)");
  ASSERT_TRUE(spec) << error_of(spec);
  const auto& constants = spec->model.constants;
  ASSERT_EQ(constants.size(), 4U);
  EXPECT_EQ(constants[0].name, "norm/keras_learning_phase");
  EXPECT_THAT(constants[0].shape, IsEmpty());
  EXPECT_EQ(value_text(constants[0]), "false");
  EXPECT_EQ(constants[1].name, "scale:0");
  EXPECT_THAT(constants[1].shape, ElementsAre(2, 3));
  EXPECT_EQ(value_text(constants[1]), "[[1, -2.5, +3], [inf, -inf, nan]]");
  EXPECT_EQ(value_text(constants[2]), "18446744073709551615");
  EXPECT_THAT(constants[3].shape, ElementsAre(0));
  EXPECT_EQ(value_text(constants[3]), "[]");
}

TEST(LoadModelSpec, AModelWithoutABatchHasWholeShapes) {
  const auto spec = load_text(R"(
model:
  name: test
  version: 1
  format: frozen_graph
  inputs: [{name: x, shape: [3, 4]}, {name: s, shape: []}]
  outputs: [y]
compilation: {batch: none, batch_sizes: null}
)");
  ASSERT_TRUE(spec) << error_of(spec);
  EXPECT_EQ(spec->compilation.batch, BatchMode::kNone);
  EXPECT_THAT(spec->compilation.batch_sizes, ElementsAre(1));
  EXPECT_THAT(spec->model.inputs[0].row_shape, Optional(ElementsAre(3, 4)));
  EXPECT_THAT(spec->model.inputs[1].row_shape, Optional(IsEmpty()));
}

Result<ModelSpec> load_alone(const Path& model, ModelFormat format,
                             const ConfigOverrides& overrides = {}) {
  const testing::MemoryFileSystem fs(
      {{"/m/my-net.onnx", "onnx"}, {"/m/tagger/saved_model/saved_model.pb", "model"}});
  return spec_without_config(fs, model, format, overrides);
}

TEST(SpecWithoutConfig, IsNamedAfterTheModel) {
  const auto spec = load_alone("/m/my-net.onnx", ModelFormat::kOnnx,
                               {.batch_sizes = {"4", "1"}, .dimensions = {"n_pf=50", "a=b=2"}});
  ASSERT_TRUE(spec) << error_of(spec);
  EXPECT_EQ(spec->config_file, "");
  EXPECT_EQ(spec->model.name, "my_net");
  EXPECT_EQ(spec->model.version, "1.0.0");
  EXPECT_EQ(spec->model.source, "/m/my-net.onnx");
  EXPECT_EQ(spec->model.dimensions[0].name, "a=b");
  EXPECT_EQ(spec->model.dimensions[0].size, 2);
  EXPECT_EQ(spec->model.dimensions[1].size, 50);
  EXPECT_THAT(spec->compilation.batch_sizes, ElementsAre(1, 4));
  const auto saved = load_alone("/m/tagger/saved_model", ModelFormat::kSavedModel);
  ASSERT_TRUE(saved) << error_of(saved);
  EXPECT_EQ(saved->model.name, "tagger");
  EXPECT_EQ(saved->model.source, "/m/tagger/saved_model");
  EXPECT_EQ(saved->model.serving_key, "serving_default");
  EXPECT_THAT(saved->compilation.batch_sizes, ElementsAre(1));
}

TEST(SpecWithoutConfig, EveryFormatMayLeaveSizesOpen) {
  const auto spec =
      load_alone("/m/tagger/saved_model", ModelFormat::kSavedModel, {.dimensions = {"x:1=50"}});
  ASSERT_TRUE(spec) << error_of(spec);
  ASSERT_EQ(spec->model.dimensions.size(), 1U);
  EXPECT_EQ(spec->model.dimensions[0].name, "x:1");
  EXPECT_EQ(spec->model.dimensions[0].size, 50);
}

TEST(SpecWithoutConfig, NamesOptionsInErrors) {
  EXPECT_EQ(error_of(load_alone("/m/my-net.onnx", ModelFormat::kOnnx, {.dimensions = {"n=0"}})),
            "--dimension n: 0 is not allowed\n"
            "  allowed: 1 to 2147483647, in decimal digits");
  EXPECT_EQ(
      error_of(load_alone("/m/my-net.onnx", ModelFormat::kOnnx, {.dimensions = {"n=1", "n=2"}})),
      "--dimension: 'n' is given twice");
  EXPECT_EQ(error_of(load_alone("/m/my-net.onnx", ModelFormat::kOnnx,
                                {.batch_sizes = {"4"}, .batch = BatchMode::kNone})),
            "--batch-sizes cannot be used with 'batch: none'\n"
            "  without a batch, one run computes whole tensors");
}

TEST(LoadModelSpec, DefaultLevelsFollowTheTarget) {
  const auto spec = load_text(with_compilation("target_triple: aarch64-unknown-linux-gnu"));
  ASSERT_TRUE(spec) << error_of(spec);
  EXPECT_THAT(spec->compilation.cpu_levels, ElementsAre("generic"));
}

TEST(LoadModelSpec, ReadsJsonAsWrittenByMachines) {
  const auto spec =
      load_text(R"({"model":{"name":"test","version":1.0,"author":"J\u00e9r\u00f4me"},)"
                "\n\t"
                R"("compilation":{"batch_sizes":[1,2],"namespace":null}})");
  ASSERT_TRUE(spec) << error_of(spec);
  EXPECT_EQ(spec->model.version, "1.0");
  EXPECT_EQ(spec->model.author, "J\xC3\xA9r\xC3\xB4me");
  EXPECT_THAT(spec->compilation.batch_sizes, ElementsAre(1, 2));
}

TEST(LoadModelSpec, LinesCountInFilesOfOtherSystems) {
  EXPECT_EQ(error_of(load_text("\xEF\xBB\xBFmodel: {name: test, version: '1'}\r\n\r\nwrong: 1\r\n"
                               "compilation: {batch_sizes: [1]}\r\n")),
            "/m/aot_config.yaml:3:1: unknown key 'wrong' at the top level\n"
            "  allowed: model, compilation, $schema");
}

TEST(LoadModelSpec, RefusesWhatIsNoText) {
  EXPECT_EQ(error_of(load_text(std::string("\n\x0F\0model", 8))),
            "/m/aot_config.yaml: the config is not a text file\n"
            "  give the file that describes the model, usually aot_config.yaml");
}

TEST(LoadModelSpec, RefusesWhatIsNoUtf8) {
  EXPECT_EQ(error_of(load_text("model:\n  author: J\xe9r\xf4me\n")),
            "/m/aot_config.yaml:2: the config is not UTF-8 here\n"
            "  the byte is 0xE9\n"
            "  save the file as UTF-8");
}

TEST(LoadModelSpec, FindsOpenQuotesBehindAMarkAndInFilesOfOtherSystems) {
  EXPECT_EQ(
      error_of(load_text("\xEF\xBB\xBFmodel: {name: test,\r\n author: 'für', version: \"1}\r\n")),
      "/m/aot_config.yaml:2:27: not valid YAML: this quote is never closed\n"
      "  write the same quote at the end of the text");
}

TEST(LoadModelSpec, LimitsSizesAndCounts) {
  EXPECT_EQ(error_of(load_text(std::string((1 << 20) + 1, ' '))),
            "/m/aot_config.yaml: has 1048577 bytes, but a config has at most 1048576");
  std::string sizes = "1";
  for (int i = 2; i <= 1001; ++i) sizes += ", " + std::to_string(i);
  EXPECT_EQ(error_of(load_text(kModel + ("compilation: {batch_sizes: [" + sizes + "]}\n"))),
            "/m/aot_config.yaml:2:28: compilation.batch_sizes: the list has 1001 items\n"
            "  allowed: at most 1000");
  const std::string text = error_of(load_text("model: {name: " + std::string(100'000, '-') +
                                              "a, version: '1'}\ncompilation: {batch_sizes: [1]}"));
  EXPECT_LT(text.size(), 400U) << text;
}

TEST(LoadModelSpec, KeepsTheNotesShortWhenAllIsWrong) {
  std::string sizes = "0";
  for (int i = 1; i < 30; ++i) sizes += ", 0";
  const std::string text =
      error_of(load_text(kModel + ("compilation: {batch_sizes: [" + sizes + "]}\n")));
  EXPECT_TRUE(text.ends_with("\n  and 20 more")) << text;
}

TEST(LoadModelSpec, RefusesTagsItDoesNotKnow) {
  EXPECT_EQ(
      error_of(load_text(with_compilation("namespace: !include file"))),
      "/m/aot_config.yaml:2:44: compilation.namespace: expected a string, found a value with the "
      "tag '!include'");
}

TEST(LoadModelSpec, SurvivesALoopOfAliases) {
  EXPECT_EQ(error_of(load_text("model: &m {name: test, version: '1', author: *m}\n"
                               "compilation: {batch_sizes: [1]}\n")),
            "/m/aot_config.yaml:1:8: model.author: expected a string or a number, found a map");
}

TEST(LoadModelSpec, SurvivesLongTexts) {
  const std::string flag = "--a=" + std::string(4092, 'b');
  const auto spec = load_text(with_compilation("xla_flags: [" + flag + "]"));
  ASSERT_TRUE(spec) << error_of(spec);
  EXPECT_THAT(spec->compilation.xla_flags, ElementsAre(flag));
  EXPECT_EQ(error_of(load_text(with_compilation("xla_flags: [" + flag + "b]"))),
            "/m/aot_config.yaml:2:45: compilation.xla_flags: it has 4097 bytes\n"
            "  allowed: at most 4096");
  EXPECT_FALSE(load_text(with_compilation("xla_flags: '" + std::string(1000000, ' ') + "'")));
  EXPECT_FALSE(
      load_text(kModel + ("compilation: {batch_sizes: [" + std::string(1000000, '1') + "]}")));
}

TEST(LoadModelSpec, SurvivesDeepNesting) {
  const auto spec = load_text(std::string(100000, '['));
  ASSERT_FALSE(spec);
  EXPECT_EQ(spec.error().kind(), ErrorKind::kInput);
}

std::string identity_of_text(const std::string& text) {
  const testing::MemoryFileSystem fs({{testing::kConfigFile, text}});
  const auto identity = load_model_identity(fs, testing::kConfigFile);
  if (!identity) return identity.error().text();
  return identity->namespace_name + "::" + identity->name + " " + identity->version;
}

TEST(LoadModelIdentity, NeedsNoModelAndNoOtherKey) {
  EXPECT_EQ(identity_of_text("model: {name: test, version: 1.10}\n"), "tfaot_model::test 1.10");
  EXPECT_EQ(identity_of_text("{\"model\": {\"name\": \"test\", \"version\": 2, \"auhtor\": 3},"
                             " \"compilation\": {\"namespace\": \"a::b\"}}"),
            "a::b::test 2");
  EXPECT_EQ(identity_of_text("x: &m {name: test, version: 1}\nmodel: *m\n"), "tfaot_model::test 1");
}

TEST(LoadModelIdentity, RefusesAWrongName) {
  EXPECT_EQ(identity_of_text("model:\n  name: 9lives\n  version: 1\n"
                             "compilation: {batch_sizes: [1]}\n"),
            "/m/aot_config.yaml:2:9: model.name: '9lives' is not allowed\n"
            "  allowed: a C++ identifier: letters, digits and '_', not starting with a digit");
  EXPECT_THAT(identity_of_text("model: {version: 1}\n"),
              ::testing::HasSubstr("missing key 'name' in 'model'"));
}

}  // namespace
}  // namespace tfaot::toolkit
