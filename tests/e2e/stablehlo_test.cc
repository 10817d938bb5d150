// SPDX-License-Identifier: Apache-2.0
// StableHLO with the real engine: every command that takes a model, and docs/stablehlo.md.
#include <gmock/gmock.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "tfaot/base/text.h"
#include "tool.h"

namespace tfaot::toolkit::testing {
namespace {

namespace stdfs = std::filesystem;
using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class StableHloTest : public ToolTest {
 protected:
  static std::string stablehlo(const std::string& file) {
    return TFAOT_STABLEHLO_MODELS "/" + file;
  }
  // A model in the scratch folder.
  void copy(const std::string& name, const std::string& file) const {
    stdfs::copy_file(stablehlo(name), root_ / file);
  }
  json json_of(std::vector<std::string> arguments) const {
    arguments.emplace_back("--json");
    return json::parse(done(arguments), nullptr, false);
  }
  std::string error_of(const std::vector<std::string>& arguments) const {
    const ProcessResult result = tool(arguments);
    EXPECT_EQ(result.exit_code, 1) << result.standard_output;
    return result.standard_error;
  }
};

TEST_F(StableHloTest, CompilesWithoutAConfig) {
  copy("attention/model.stablehlo", "jet-tagger.stablehlo");
  done({"compile", "jet-tagger.stablehlo", "-o", "out", "--batch-sizes", "1,4", "--dimension",
        "n_tracks=5", "-q"});
  const json manifest = json_of({"info", "out"})["manifest"];
  EXPECT_EQ(manifest["name"], "jet_tagger");
  EXPECT_EQ(manifest["batch_sizes"], json::parse("[1, 4]"));
  EXPECT_EQ(manifest["signature"]["inputs"][0]["row_shape"], json::parse("[5, 4]"));
  EXPECT_EQ(manifest["weights"]["storage"], "shared");
}

// Three matrices of 4 x 8 floats: none of them is in the code.
TEST_F(StableHloTest, WeightsAreStoredOnce) {
  const std::string folder = stablehlo("attention");
  done({"compile", "-c", folder + "/aot_config.yaml", "-o", "out", "-q"});
  const json manifest = json_of({"info", "out"})["manifest"];
  EXPECT_GE(manifest["weights"]["size"].get<int>(), 3 * 4 * 8 * 4) << manifest["weights"];
}

// tfaot refuses code that calls Eigen's function, which asks for memory.
TEST_F(StableHloTest, AConvolutionOfGroupsOfImagesIsALoop) {
  ASSERT_TRUE(files_.replace_atomically(root_ / "groups.mlir", R"(module {
  func.func @main(%x: tensor<4x8x8x3xf32>, %w: tensor<3x3x3x4xf32>) -> tensor<2x6x6x4xf32> {
    %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f],
        window = {} {batch_group_count = 2 : i64, feature_group_count = 1 : i64}
        : (tensor<4x8x8x3xf32>, tensor<3x3x3x4xf32>) -> tensor<2x6x6x4xf32>
    return %0 : tensor<2x6x6x4xf32>
  }
})"));
  done({"compile", "groups.mlir", "--batch", "none", "-o", "out", "-q"});
  EXPECT_TRUE(json_of({"info", "out"})["manifest"]["imports"].is_null());
}

// Squares of whole numbers overflow, and are then negative: 0 and 1 cannot show that abs() is gone.
TEST_F(StableHloTest, ValidateSeesWhatOverflows) {
  const auto write = [&](const std::string& file, const std::string& last) {
    const std::string type = "tensor<?x4xi32>";
    ASSERT_TRUE(files_.replace_atomically(
        root_ / file, "module {\n  func.func @main(%x: " + type + ") -> " + type +
                          " {\n    %0 = stablehlo.multiply %x, %x : " + type + "\n" + last +
                          "  }\n}\n"));
  };
  write("square.mlir", "    return %0 : tensor<?x4xi32>\n");
  write("abs.mlir",
        "    %1 = stablehlo.abs %0 : tensor<?x4xi32>\n"
        "    return %1 : tensor<?x4xi32>\n");
  done({"compile", "square.mlir", "-o", "out", "--cpu-levels", "x86-64", "-q"});
  done({"validate", "out", "--model", "square.mlir", "-q"});
  const ProcessResult other = tool({"validate", "out", "--model", "abs.mlir", "--json", "-q"});
  EXPECT_EQ(other.exit_code, 1) << other.standard_output << other.standard_error;
  const json found = json::parse(other.standard_output);
  for (const json& one : found["outputs"]) {
    if (one["inputs"] == "wide" || one["inputs"] == "random") {
      EXPECT_EQ(one["passed"], one["inputs"] == "random") << one;
    }
  }
}

TEST_F(StableHloTest, AnOpenDimensionNeedsASize) {
  copy("attention/model.stablehlo", "net.stablehlo");
  EXPECT_THAT(error_of({"compile", "net.stablehlo", "-o", "out", "-q"}),
              AllOf(HasSubstr("the dimension 'n_tracks' of input 'tracks' has no size"),
                    HasSubstr("--dimension n_tracks=10")));
}

TEST_F(StableHloTest, AFixedBatchIsNamed) {
  copy("sort/model.mlir", "net.mlir");
  EXPECT_THAT(error_of({"compile", "net.mlir", "-o", "out", "--batch-sizes", "4", "-q"}),
              HasSubstr("only batch size 3 can"));
  done({"compile", "net.mlir", "-o", "out", "--batch", "none", "-q"});
  EXPECT_THAT(done({"info", "out"}), HasSubstr("none: one run computes whole tensors"));
}

TEST_F(StableHloTest, WhatIsNoStableHlo) {
  ASSERT_TRUE(files_.replace_atomically(root_ / "net.mlir", "not a model"));
  for (const std::string command : {"compile", "check", "info", "init", "inspect"}) {
    std::vector<std::string> arguments = {command, "net.mlir"};
    if (command == "compile") arguments.insert(arguments.end(), {"-o", "out"});
    const ProcessResult result = tool(arguments);
    EXPECT_EQ(result.exit_code, 1) << command;
    EXPECT_THAT(result.standard_output + result.standard_error,
                AllOf(HasSubstr("net.mlir"), HasSubstr("XLA cannot read it as StableHLO")))
        << command;
  }
}

TEST_F(StableHloTest, InitWritesAConfigWithTheOpenDimensions) {
  copy("attention/model.stablehlo", "net.stablehlo");
  done({"init", "net.stablehlo", "--batch-sizes", "1,4"});
  const std::string config = read("aot_config.yaml");
  EXPECT_THAT(
      config,
      AllOf(HasSubstr("\n  format: stablehlo\n"), HasSubstr("\n  stablehlo: net.stablehlo\n"),
            HasSubstr("\n  # dimensions: {n_tracks: 10}\n"), Not(HasSubstr("onnx:"))));
  ASSERT_TRUE(files_.replace_atomically(
      root_ / "aot_config.yaml",
      replace_all(config, "# dimensions: {n_tracks: 10}", "dimensions: {n_tracks: 10}")));
  done({"compile", "-c", "aot_config.yaml", "-o", "out", "-q"});
}

TEST_F(StableHloTest, InfoShowsTheModule) {
  EXPECT_THAT(done({"info", stablehlo("dense/model.jax")}),
              AllOf(HasSubstr("format   stablehlo\n"), HasSubstr("made by  StableHLO 1."),
                    HasSubstr("[b, 5]"), HasSubstr("The function 'main'"),
                    HasSubstr("2 stablehlo.dot_general"), HasSubstr("constant_1"),
                    HasSubstr("flops"), Not(HasSubstr("problem:"))));
}

TEST_F(StableHloTest, CheckNamesACallByName) {
  EXPECT_THAT(
      done({"check", stablehlo("dense/model.jax"), "--batch-sizes", "1", "--cpu-levels", "x86-64"}),
      HasSubstr("stablehlo.dot_general"));
  ASSERT_TRUE(files_.replace_atomically(
      root_ / "net.mlir",
      "module { func.func @main(%x: tensor<1x4xf32>) -> tensor<1x4xf32> {\n%y = "
      "stablehlo.custom_call @system(%x) : (tensor<1x4xf32>) -> tensor<1x4xf32>\nreturn %y : "
      "tensor<1x4xf32> } }\n"));
  const ProcessResult result = tool({"check", "net.mlir"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.standard_output, HasSubstr("calls the function 'system' by its name"));
  EXPECT_EQ(tool({"check", "--ops", "--format", "stablehlo"}).exit_code, 2);
}

TEST_F(StableHloTest, InspectAndProfileTakeTheFile) {
  const std::string model = stablehlo("attention/model.stablehlo");
  const json found = json_of({"inspect", model, "--dimension", "n_tracks=4", "-q"});
  EXPECT_EQ(found["name"], "attention 1.0.0");
  EXPECT_THAT(done({"profile", model, "--dimension", "n_tracks=4", "--batch-sizes", "1,4",
                    "--rounds", "1", "--round-ms", "0.1"}),
              HasSubstr("attention"));
}

// Names of weights are the same for all modules that one program makes.
TEST_F(StableHloTest, UpdateWeightsTakesARetrainedModel) {
  done({"compile", "-c", stablehlo("dense/aot_config.yaml"), "-o", "out", "-q"});
  const std::string retrained = stablehlo("dense_retrained/model.jax");
  done({"update-weights", "out", "--model", retrained, "--version", "2", "-q"});
  EXPECT_EQ(json_of({"info", "out"})["manifest"]["version"], "2");
  EXPECT_EQ(json_of({"validate", "out", "--model", retrained, "-q"})["same_model"], true);
  EXPECT_EQ(tool({"validate", "out", "--model", stablehlo("dense/model.jax"), "-q"}).exit_code, 1);
}

TEST_F(StableHloTest, ValidatesInTheInterpreter) {
  for (const std::string name : {"convolution", "scan", "sort"}) {
    done({"compile", "-c", stablehlo(name + "/aot_config.yaml"), "-o", name, "-q"});
    const json found =
        json_of({"validate", name, "--model", stablehlo(name + "/aot_config.yaml"), "-q"});
    EXPECT_EQ(found["same_model"], true) << name;
    EXPECT_THAT(found["reference"].get<std::string>(), HasSubstr("the interpreter of XLA")) << name;
  }
}

TEST_F(StableHloTest, TheCommandsOfThePageRun) {
  copy("attention/model.stablehlo", "tagger.stablehlo");
  EXPECT_GE(run_examples(files_.read(TFAOT_STABLEHLO_PAGE).value_or("")), 4U);
}

}  // namespace
}  // namespace tfaot::toolkit::testing
