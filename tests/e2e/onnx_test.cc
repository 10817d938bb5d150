// SPDX-License-Identifier: Apache-2.0
// ONNX models with the real engine: every command that takes one, and docs/onnx.md.
#include <gmock/gmock.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/support/executable_file.h"
#include "tests/support/golden.h"
#include "tfaot/base/text.h"
#include "tool.h"

namespace tfaot::toolkit::testing {
namespace {

namespace stdfs = std::filesystem;
using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

const std::vector<std::string> kOnnxModels = {
    "channels", "dense",         "events",     "fixed_inputs", "energy_sklearn", "flavour_lightgbm",
    "halves",   "higgs_xgboost", "normalised", "quantized",    "tracks",         "whole"};

class OnnxTest : public ToolTest {
 protected:
  static std::string onnx(const std::string& name) {
    return TFAOT_ONNX_MODELS "/" + name + "/model.onnx";
  }
  // A model in the scratch folder.
  void copy(const std::string& name, const std::string& file) const {
    stdfs::copy_file(onnx(name), root_ / file);
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

TEST_F(OnnxTest, CompilesWithoutAConfig) {
  copy("tracks", "jet-tagger.onnx");
  done({"compile", "jet-tagger.onnx", "-o", "out", "--batch-sizes", "1,4", "--dimension",
        "n_tracks=5", "-q"});
  const json manifest = json_of({"info", "out"})["manifest"];
  EXPECT_EQ(manifest["name"], "jet_tagger");
  EXPECT_EQ(manifest["version"], "1.0.0");
  EXPECT_EQ(manifest["batch_sizes"], json::parse("[1, 4]"));
  EXPECT_EQ(manifest["signature"]["inputs"][0]["row_shape"], json::parse("[5, 2]"));
  EXPECT_EQ(manifest["weights"]["storage"], "shared");
}

TEST_F(OnnxTest, SavedModelsCompileWithoutAConfigToo) {
  done({"compile", model("scalars") + "/saved_model", "-o", "out", "-q"});
  const json manifest = json_of({"info", "out"})["manifest"];
  EXPECT_EQ(manifest["name"], "scalars");
  EXPECT_EQ(manifest["batch_sizes"], json::parse("[1]"));
}

TEST_F(OnnxTest, AFrozenGraphNeedsAConfig) {
  EXPECT_THAT(error_of({"compile", model("frozen_graph") + "/frozen_graph.pb", "-o", "out"}),
              HasSubstr("a frozen graph needs a config"));
}

TEST_F(OnnxTest, AnOpenDimensionNeedsASize) {
  copy("tracks", "net.onnx");
  const std::string error = error_of({"compile", "net.onnx", "-o", "out", "-q"});
  EXPECT_THAT(error, AllOf(HasSubstr("the dimension 'n_tracks' of input 'tracks' has no size"),
                           HasSubstr("--dimension n_tracks=10")));
  EXPECT_FALSE(stdfs::exists(root_ / "out/manifest.json"));
}

TEST_F(OnnxTest, WhatIsNoOnnxModel) {
  ASSERT_TRUE(files_.replace_atomically(root_ / "net.onnx", "not a model"));
  for (const std::string command : {"compile", "check", "info", "init", "inspect"}) {
    std::vector<std::string> arguments = {command, "net.onnx"};
    if (command == "compile") arguments.insert(arguments.end(), {"-o", "out"});
    const ProcessResult result = tool(arguments);
    EXPECT_EQ(result.exit_code, 1) << command;
    EXPECT_THAT(result.standard_output + result.standard_error,
                AllOf(HasSubstr("net.onnx"), HasSubstr("not an ONNX model")))
        << command;
  }
}

TEST_F(OnnxTest, InitWritesAConfigWithTheOpenDimensions) {
  copy("tracks", "net.onnx");
  const std::string said = done({"init", "net.onnx", "--batch-sizes", "1,4"});
  EXPECT_THAT(said, HasSubstr("choose its batch sizes, and for n_tracks sizes in model.dimensions "
                              "or ranges in compilation.dimensions, then\n"));
  const std::string config = read("aot_config.yaml");
  EXPECT_THAT(config, AllOf(HasSubstr("\n  format: onnx\n"), HasSubstr("\n  onnx: net.onnx\n"),
                            HasSubstr("\n  # dimensions: {n_tracks: 10}\n"),
                            HasSubstr("\n  # dimensions: {n_tracks: 1..128}\n")));
  ASSERT_TRUE(files_.replace_atomically(
      root_ / "aot_config.yaml",
      replace_all(config, "# dimensions: {n_tracks: 10}", "dimensions: {n_tracks: 10}")));
  done({"compile", "-c", "aot_config.yaml", "-o", "out", "-q"});
  EXPECT_EQ(json_of({"info", "out"})["manifest"]["signature"]["inputs"][0]["row_shape"],
            json::parse("[10, 2]"));
}

TEST_F(OnnxTest, InitKnowsModelsThatCannotHaveABatch) {
  copy("whole", "net.onnx");
  done({"init", "net.onnx"});
  EXPECT_THAT(read("aot_config.yaml"), HasSubstr("\n  batch: none\n"));
  done({"compile", "-c", "aot_config.yaml", "-o", "out", "-q"});
  const std::string info = done({"info", "out"});
  EXPECT_THAT(info, AllOf(HasSubstr("none: one run computes whole tensors"), HasSubstr("[2, 3]")));
}

TEST_F(OnnxTest, InfoShowsTheGraph) {
  EXPECT_THAT(done({"info", onnx("dense")}),
              AllOf(HasSubstr("format   onnx\n"), HasSubstr("made by  tfaot tests"),
                    HasSubstr("[batch, 3]"), HasSubstr("1 Gemm, 1 Relu"), HasSubstr("flops"),
                    HasSubstr("no problem found")));
  EXPECT_THAT(done({"info", onnx("tracks")}), HasSubstr("[batch, n_tracks, 2]"));
  EXPECT_THAT(done({"info", onnx("whole")}), Not(HasSubstr("problem:")));
}

TEST_F(OnnxTest, CheckNamesAnUnknownOperator) {
  EXPECT_THAT(done({"check", onnx("dense"), "--batch-sizes", "1", "--cpu-levels", "x86-64"}),
              HasSubstr("Gemm"));
  const std::string model = files_.read(onnx("dense")).value();
  ASSERT_TRUE(files_.replace_atomically(root_ / "odd.onnx", replace_all(model, "Relu", "Zelu")));
  const ProcessResult result = tool({"check", "odd.onnx"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.standard_output, AllOf(HasSubstr("Zelu"), HasSubstr("activation")));
}

TEST_F(OnnxTest, InspectAndProfileTakeTheFile) {
  const json found = json_of({"inspect", onnx("tracks"), "--dimension", "n_tracks=4", "-q"});
  EXPECT_EQ(found["name"], "tracks 1.0.0") << found;
  const std::string profile = done({"profile", onnx("tracks"), "--dimension", "n_tracks=4",
                                    "--batch-sizes", "1,4", "--rounds", "1", "--round-ms", "0.1"});
  EXPECT_THAT(profile, HasSubstr("tracks"));
}

TEST_F(OnnxTest, ModelsOfOtherProgramsAreNamed) {
  const std::vector<std::pair<std::string, std::string>> files = {{"net.keras", "model.export("},
                                                                  {"net.h5", "model.export("},
                                                                  {"net.pt", "torch.onnx.export("}};
  for (const auto& [file, advice] : files) {
    ASSERT_TRUE(files_.replace_atomically(root_ / file, "zip"));
    for (const std::string command : {"check", "info", "init"}) {
      EXPECT_THAT(error_of({command, file}), HasSubstr(advice));
    }
    EXPECT_THAT(error_of({"compile", file, "-o", "out"}), HasSubstr(advice));
  }
}

// What they predict is in predictions_test: reference.json is PyTorch's.
TEST_F(OnnxTest, FilesOfARealPyTorch) {
  for (const std::string net : {"attention", "convolution", "dense", "graph", "recurrent"}) {
    for (const std::string file : {"model.onnx", "dynamo.onnx"}) {
      EXPECT_THAT(done({"info", TFAOT_PYTORCH_MODELS "/" + net + "/" + file}),
                  AllOf(HasSubstr("made by  pytorch 2.15.0"), HasSubstr("[batch"),
                        HasSubstr("no problem found")))
          << net << " " << file;
    }
  }
}

TEST_F(OnnxTest, UpdateWeightsKeepsTheDimensions) {
  copy("tracks", "net.onnx");
  done({"compile", "net.onnx", "-o", "out", "--dimension", "n_tracks=5", "-q"});
  std::string model = read("net.onnx");
  const std::string two("\0\0\0\x40", 4);  // a weight
  const std::size_t place = model.find(two);
  ASSERT_NE(place, std::string::npos);
  model.replace(place, 4, std::string("\0\0\x40\x40", 4));  // 3
  ASSERT_TRUE(files_.replace_atomically(root_ / "net.onnx", model));
  done({"update-weights", "out", "--model", "net.onnx", "--version", "1", "-q"});
  EXPECT_EQ(json_of({"info", "out"})["manifest"]["version"], "1");
}

// The library of ONNX Runtime, if packaging/bench.sh has fetched it.
std::string onnx_runtime() {
  if (const char* const named = std::getenv("TFAOT_ONNXRUNTIME")) return named;
  const char* const home = std::getenv("HOME");
  std::error_code none;
  for (const auto& peers :
       stdfs::directory_iterator(stdfs::path(home == nullptr ? "" : home) / ".cache/tfaot", none)) {
    for (const auto& file : stdfs::directory_iterator(peers.path() / "onnxruntime/capi", none)) {
      if (file.path().filename().string().starts_with("libonnxruntime.so.")) return file.path();
    }
  }
  return "";
}

TEST_F(OnnxTest, ValidateNeedsOnnxRuntime) {
  done({"compile", onnx("dense"), "-o", "out", "-q"});
  ASSERT_TRUE(files_.replace_atomically(root_ / "bin/python3", "#!/bin/sh\n"));  // has no wheel
  make_executable(root_ / "bin/python3");
  const auto result = run_process(
      shell_with_tool(root_, "PATH=bin:$PATH tfaot validate out --model " + onnx("dense")));
  ASSERT_TRUE(result);
  EXPECT_EQ(result->exit_code, 1);
  EXPECT_THAT(result->standard_error,
              AllOf(HasSubstr("onnxruntime is not installed: python3 in PATH has no package"),
                    HasSubstr("--library FILE.so")));
}

// Which outputs differ from ONNX Runtime's, and for what inputs. Its group normalisation subtracts
// the mean's square from the mean of squares: where all inputs are a million, that is below zero,
// and its results are NaN. The right ones, and ours, are the bias.
std::string wrong_numbers(const json& found) {
  std::string wrong;
  for (const json& output : found["outputs"]) {
    if (!output["counts"].get<bool>() || output["passed"].get<bool>()) continue;
    wrong +=
        output["output"].get<std::string>() + " of " + output["inputs"].get<std::string>() + "; ";
  }
  return wrong;
}

TEST_F(OnnxTest, PredictsAsOnnxRuntime) {
  const std::string library = onnx_runtime();
  if (library.empty()) GTEST_SKIP() << "ONNX Runtime is not there: packaging/bench.sh fetches it";
  for (const std::string& name : kOnnxModels) {
    const std::string folder = TFAOT_ONNX_MODELS "/" + name;
    done({"compile", "-c", folder + "/aot_config.yaml", "-o", name, "-q"});
    const json found = json::parse(tool({"validate", name, "--model", folder + "/model.onnx",
                                         "--library", library, "-q", "--json"})
                                       .standard_output);
    EXPECT_EQ(found["same_model"], true) << name;
    EXPECT_EQ(wrong_numbers(found), name == "normalised" ? "norm of million; " : "") << name;
    EXPECT_EQ(found.contains("sizes") ? found["sizes"].size() : 0U, name == "events" ? 7U : 0U);
    EXPECT_THAT(found["reference"].get<std::string>(), HasSubstr("onnxruntime 1.")) << name;
  }
  const std::string model = files_.read(onnx("dense")).value();
  ASSERT_TRUE(files_.replace_atomically(root_ / "odd.onnx", replace_all(model, "Relu", "Tanh")));
  EXPECT_EQ(tool({"validate", "dense", "--model", "odd.onnx", "--library", library}).exit_code, 1);
}

// ONNX Runtime takes no convolution over an empty axis.
TEST_F(OnnxTest, SizesThatOnnxRuntimeRefusesAreLeftOut) {
  const std::string library = onnx_runtime();
  if (library.empty()) GTEST_SKIP() << "ONNX Runtime is not there: packaging/bench.sh fetches it";
  done({"compile", onnx("convolved"), "-o", "out", "--dimension", "n_tracks=0..6", "-q"});
  const std::string said =
      done({"validate", "out", "--model", onnx("convolved"), "--library", library});
  EXPECT_THAT(said, AllOf(HasSubstr("Inputs 'random' at n_tracks=0 are left out: the model does "
                                    "not take them."),
                          HasSubstr("Conv"), Not(HasSubstr("u001b"))));
  EXPECT_THAT(said, AllOf(HasSubstr("n_tracks=2 "), HasSubstr("n_tracks=6 "),
                          Not(HasSubstr("  n_tracks=0 "))));
}

TEST_F(OnnxTest, EncodedModelsAreTheirTexts) {
  ProcessSpec process;
  process.program = "bash";
  process.arguments = {TFAOT_ONNX_MODELS "/make_models.sh", root_.string()};
  const auto made = run_process(process);
  ASSERT_TRUE(made && made->ok()) << (made ? made->standard_error : made.error().text());
  for (const std::string& name : kOnnxModels) {
    EXPECT_EQ(read(name + "/model.onnx"), files_.read(onnx(name)).value()) << name;
  }
}

std::string page() { return RealFileSystem().read(TFAOT_ONNX_PAGE).value_or(""); }

TEST_F(OnnxTest, TheCommandsOfThePageRun) {
  copy("tracks", "tagger.onnx");
  EXPECT_GE(run_examples(page()), 4U);
}

TEST_F(OnnxTest, ThePageListsTheOperators) {
  const std::string begin = "<!-- operators: begin -->\n";
  const std::string text = page();
  const std::size_t first = text.find(begin);
  const std::size_t end = text.find("<!-- operators: end -->");
  ASSERT_TRUE(first != std::string::npos && end != std::string::npos && first < end);
  EXPECT_TRUE(matches_golden(text.substr(0, first + begin.size()) + "\n" +
                                 done({"check", "--ops", "--format", "onnx"}) + "\n" +
                                 text.substr(end),
                             "../../docs/onnx.md"));
}

}  // namespace
}  // namespace tfaot::toolkit::testing
