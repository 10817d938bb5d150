// SPDX-License-Identifier: Apache-2.0
// Models that are compiled without a config, and files that are no models. Real ONNX models are in
// tests/e2e.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "cli_test.h"

namespace tfaot::toolkit::testing {
namespace {

using Json = nlohmann::json;
using ::testing::HasSubstr;

class OnnxTest : public CliTest {
 protected:
  OnnxTest() {
    write("my-net.onnx", "onnx");
    write("net/saved_model.pb", "a graph");
    write("graph.pb", "a graph");
    write("net.keras", "zip");
    write("net.h5", "hdf");
    write("net.pt", "zip");
    write("net.txt", "text");
    write("bdt.json", "{\"learner\":{\"attributes\":{}},\"version\":[3,2,0]}");
  }
  // The transcript of command lines that fail.
  std::string transcript(const std::vector<std::vector<std::string>>& commands) const {
    std::string text;
    for (const auto& command : commands) {
      const Outcome outcome = run(command);
      EXPECT_NE(outcome.exit_code, 0) << outcome.text();
      text += outcome.text() + "\n";
    }
    return text;
  }
};

TEST_F(OnnxTest, CompilesWithoutAConfig) {
  const Outcome compiled = run({"compile", "my-net.onnx", "-o", "out", "--dimension", "n=4",
                                "--dimension", "m=5", "--batch-sizes", "1,4", "-q"});
  ASSERT_EQ(compiled.exit_code, 0) << compiled.text();
  const Json manifest = Json::parse(read("out/manifest.json"));
  EXPECT_EQ(manifest["name"], "my_net");
  EXPECT_EQ(manifest["version"], "1.0.0");
  EXPECT_EQ(manifest["batch_sizes"], Json::parse("[1, 4]"));
  EXPECT_THAT(read("out/record.json"),
              HasSubstr(R"("dimensions":[{"name":"m","size":5},{"name":"n","size":4}])"));
}

TEST_F(OnnxTest, AModelIsNoConfig) {
  for (const auto& [name, advice] : std::vector<std::pair<std::string, std::string>>{
           {"net.onnx", "this is a model, which needs no config"},
           {"net.pb", "give the file that describes the model"}}) {
    write(name, std::string("\x08\0", 2));
    const Outcome outcome = run({"compile", "-c", name, "-o", "out"});
    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_THAT(outcome.err, HasSubstr(": the config is not a text file\n  " + advice));
  }
}

TEST_F(OnnxTest, SaysWhatItChoseWithoutAConfig) {
  const std::string transcript =
      run({"compile", "my-net.onnx", "-o", "out", "--dimension", "n=4", "-j", "1"}).text() + "\n" +
      run({"compile", "net", "-o", "a folder", "--model-name", "tagger", "--model-version", "2.5",
           "--batch-sizes", "1,4", "--cpu-levels", "x86-64", "-j", "1"})
          .text();
  EXPECT_TRUE(matches_golden(transcript, "cli/compile_chosen.txt"));
}

TEST_F(OnnxTest, ASavedModelOrAConfigInPlaceOfTheOption) {
  EXPECT_EQ(run({"compile", "net", "-o", "out", "-q"}).exit_code, 0);
  EXPECT_EQ(Json::parse(read("out/manifest.json"))["batch_sizes"], Json::parse("[1]"));
  write_model();
  EXPECT_EQ(run({"compile", "model/aot_config.yaml", "-o", "other", "-q"}).exit_code, 0);
  EXPECT_EQ(Json::parse(read("other/manifest.json"))["name"], "test_net");
  EXPECT_EQ(run({"compile", "model/aot_config.yaml", "-o", "other", "--model-name", "x"}).exit_code,
            2);
}

TEST_F(OnnxTest, WithoutABatchThereIsOneSize) {
  const Outcome compiled = run({"compile", "my-net.onnx", "-o", "out", "--batch", "none", "-q"});
  ASSERT_EQ(compiled.exit_code, 0) << compiled.text();
  const Json manifest = Json::parse(read("out/manifest.json"));
  EXPECT_EQ(manifest["batch"], "none");
  EXPECT_EQ(manifest["batch_sizes"], Json::parse("[1]"));
  EXPECT_THAT(read("out/include/tfaot-model-my-net/model.h"),
              HasSubstr("static constexpr bool kHasBatch = false;"));
  EXPECT_THAT(run({"info", "out"}).out, HasSubstr("none: one run computes whole tensors"));
}

TEST_F(OnnxTest, ErrorsOfCompiling) {
  EXPECT_TRUE(matches_golden(
      transcript({{"compile", "-o", "out"},
                  {"compile", "my-net.onnx", "-c", "aot_config.yaml", "-o", "out"},
                  {"compile", "graph.pb", "-o", "out"},
                  {"compile", "nowhere.onnx", "-o", "out"},
                  {"compile", "net.txt", "-o", "out"},
                  {"compile", "net/saved_model.pb", "-o", "out"},
                  {"compile", "my-net.onnx", "-o", "out", "--dimension", "n"},
                  {"compile", "my-net.onnx", "-o", "out", "--dimension", "n=0"},
                  {"compile", "my-net.onnx", "-o", "out", "--batch", "none", "--batch-sizes", "2"},
                  {"compile", "my-net.onnx", "-o", "out", "--model-name", "9lives"},
                  {"compile", "my-net.onnx", "-o", "out", "--model-version", "-"},
                  {"compile", "-c", "aot_config.yaml", "-o", "out", "--model-version", "2"},
                  {"check", "my-net.onnx", "--format", "onnx"}}),
      "cli/onnx_errors.txt"));
}

TEST_F(OnnxTest, ModelsOfOtherProgramsAreNamed) {
  EXPECT_TRUE(matches_golden(transcript({{"compile", "net.keras", "-o", "out"},
                                         {"init", "net.pt"},
                                         {"check", "net.h5"},
                                         {"info", "net.keras"},
                                         {"inspect", "net.pt"},
                                         {"compile", "bdt.json", "-o", "out"},
                                         {"check", "bdt.json"},
                                         {"package", "bdt.json", "-o", "out"}}),
                             "cli/foreign_models.txt"));
}

TEST_F(OnnxTest, ChecksAConfigWithDimensions) {
  write("aot_config.yaml",
        "model: {name: net, version: '1', format: onnx, onnx: my-net.onnx, dimensions: {n: 4}}\n"
        "compilation: {batch: none}\n");
  EXPECT_THAT(run({"info", "aot_config.yaml"}).out,
              AllOf(HasSubstr("dimensions   n=4"), HasSubstr("none: one run")));
  EXPECT_EQ(run({"check", "aot_config.yaml", "-q"}).exit_code, 0);
  EXPECT_EQ(run({"check", "aot_config.yaml", "-q", "--opset", "any"}).exit_code, 0);
  EXPECT_THAT(run({"check", "--ops", "--format", "onnx"}).out, HasSubstr("| `MatMul` | ai.onnx |"));
}

}  // namespace
}  // namespace tfaot::toolkit::testing
