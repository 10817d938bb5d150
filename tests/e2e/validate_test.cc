// SPDX-License-Identifier: Apache-2.0
// `tfaot validate` with the real engine: every model of the tests, in TensorFlow's session.
#include <gmock/gmock.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "running_engine.h"
#include "tfaot/base/text.h"
#include "tool.h"

namespace tfaot::toolkit::testing {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

class ValidateTest : public ToolTest {
 protected:
  void compile(const std::string& name, const std::string& output,
               const std::vector<std::string>& more = {}) const {
    std::vector<std::string> arguments = {"compile", "-c", config(name), "-o", output, "-q"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    done(arguments);
  }
  static json batches_of(const json& found, const std::string& inputs) {
    json batches = json::array();
    for (const json& one : found["batches"]) {
      if (one["inputs"] == inputs) batches.push_back(one);
    }
    return batches;
  }
};

struct TestPackage {
  std::string name;
  std::string tree;
  std::string config;
};

std::vector<TestPackage> test_packages() {
  std::vector<TestPackage> packages;
  const RealFileSystem files;
  for (const std::string& line : split_lines(files.read(TFAOT_VALIDATED).value_or(""))) {
    const std::vector<std::string> parts = split_lines(replace_all(line, "|", "\n"));
    if (parts.size() == 3) packages.push_back({parts[0], parts[1], parts[2]});
  }
  return packages;
}

TEST_F(ValidateTest, EveryModelPredictsAsTensorFlow) {
  const auto packages = test_packages();
  ASSERT_GT(packages.size(), 40U);
  const RunningEngine engine;
  for (const TestPackage& package : packages) {
    const ProcessResult result = tool({"validate", package.tree, "--model", package.config,
                                       "--json", "-q", "--launcher", engine.launcher()});
    EXPECT_TRUE(result.ok()) << package.name << "\n" << result.standard_error;
    const json found = json::parse(result.standard_output, nullptr, false);
    ASSERT_TRUE(found.is_object()) << package.name << "\n" << result.standard_error;
    EXPECT_EQ(found["same_model"], true) << package.name;
    EXPECT_GE(batches_of(found, "random").size(), found["cpu_levels"].size()) << package.name;
    EXPECT_FALSE(batches_of(found, "zeros").empty()) << package.name;
  }
}

TEST_F(ValidateTest, OtherWeightsFail) {
  compile("keras_export", "net", {"--batch-sizes", "1,4"});
  const std::string original = model("keras_export") + "/saved_model";
  const std::string retrained = model("keras_retrained") + "/saved_model";
  done({"update-weights", "net", "--model", retrained, "-o", "other", "-q"});
  EXPECT_TRUE(tool({"validate", "net", "--model", original}).ok());
  EXPECT_TRUE(tool({"validate", "other", "--model", retrained, "--only-these"}).ok());
  const ProcessResult failed = tool({"validate", "other", "--model", original, "--only-these"});
  EXPECT_EQ(failed.exit_code, 1);
  EXPECT_THAT(failed.standard_output,
              HasSubstr("package other: does not predict as the model does\n"));
  EXPECT_THAT(failed.standard_output, HasSubstr("DIFFER"));
  EXPECT_THAT(failed.standard_output, HasSubstr("another model than the package was made from"));
  EXPECT_THAT(failed.standard_error, HasSubstr("its predictions are not those of the model"));
}

TEST_F(ValidateTest, AModelWithAnotherSignatureIsAnError) {
  compile("keras_export", "net", {"--batch-sizes", "1", "--cpu-levels", "x86-64"});
  const auto error = [&](const std::string& path) {
    const ProcessResult result = tool({"validate", "net", "--model", path});
    EXPECT_EQ(result.exit_code, 1) << result.standard_output;
    EXPECT_EQ(result.standard_output, "");
    return replace_all(result.standard_error, TFAOT_WORKS, "WORKS");
  };
  EXPECT_THAT(error(model("ranks") + "/saved_model"),
              HasSubstr("the model has other inputs or outputs than the package\n  input '"));
  EXPECT_THAT(error(config("frozen_graph")),
              HasSubstr("this is a frozen graph, and the package was compiled from a SavedModel"));
}

// TensorFlow refuses an index that is out of range; compiled code takes the nearest row. So inputs
// that a Gather reads are drawn within its range, and none is left out.
TEST_F(ValidateTest, IndicesAreDrawnWithinTheirRange) {
  compile("gather_reduce", "net", {"--batch-sizes", "1,4", "--cpu-levels", "x86-64"});
  const json found =
      json::parse(done({"validate", "net", "--model", config("gather_reduce"), "--json", "-q"}));
  EXPECT_TRUE(found["refused"].empty()) << found["refused"];
  EXPECT_FALSE(batches_of(found, "largest").empty());
}

TEST_F(ValidateTest, CoupledRowsRunCompiledSizesAlone) {
  compile("coupled_rows", "net");
  const json found =
      json::parse(done({"validate", "net", "--model", config("coupled_rows"), "--json", "-q"}));
  for (const json& one : found["batches"]) EXPECT_EQ(one["composition"], "compiled");
  EXPECT_FALSE(batches_of(found, "random").empty());
}

TEST_F(ValidateTest, RefusesAModelThatWritesFiles) {
  compile("scalars", "net", {"--batch-sizes", "1", "--cpu-levels", "x86-64"});
  for (const std::string name : {"writes_file_for_debugging", "reads_file_when_loaded"}) {
    const ProcessResult result =
        tool({"validate", "net", "--model", TFAOT_REFUSED_MODELS "/" + name + "/saved_model"});
    EXPECT_EQ(result.exit_code, 1) << name;
    EXPECT_THAT(result.standard_error, HasSubstr("compute and do nothing else")) << name;
  }
}

TEST_F(ValidateTest, RecordsTheFigures) {
  compile("keras_export", "net", {"--batch-sizes", "1,4"});
  done({"validate", "net", "--model", config("keras_export"), "--record", "-q"});
  EXPECT_THAT(done({"info", "net"}), HasSubstr("predicts as tensorflow 2.18.1 does"));
  EXPECT_TRUE(tool({"package", "net", "-o", "dist"}).ok());
  EXPECT_TRUE(tool({"validate", "net", "--model", config("keras_export"), "--record"}).ok());
}

}  // namespace
}  // namespace tfaot::toolkit::testing
