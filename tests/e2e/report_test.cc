// SPDX-License-Identifier: Apache-2.0
// `tfaot report` with the real engine, and beside TensorFlow.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "tool.h"

namespace tfaot::toolkit::testing {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

class ReportTest : public ToolTest {
 protected:
  // Short measurements: nothing here is about how long something takes.
  ProcessResult report(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), "report");
    arguments.insert(arguments.end(), {"--rounds", "3", "--budget", "0.05"});
    return tool(arguments);
  }
};

TEST_F(ReportTest, OfARightModelBesideTensorFlow) {
  const ProcessResult result = report({model("keras_export") + "/saved_model", "--batch-sizes",
                                       "1,4", "--beside", "tensorflow", "--json"});
  ASSERT_TRUE(result.ok()) << result.standard_error;
  const json found = json::parse(result.standard_output);
  const json& answers = found["answers"];
  EXPECT_EQ(answers["supported"], true);
  EXPECT_EQ(answers["right"], true);
  EXPECT_LE(answers["share_of_allowed"], 1);
  EXPECT_FALSE(answers["batch_sizes"].empty());
  ASSERT_EQ(answers["beside"].size(), 1U);
  const json& beside = answers["beside"][0];
  EXPECT_EQ(beside["engine"], "tensorflow");
  EXPECT_GT(beside["memory"], answers["memory"]);
  ASSERT_EQ(beside["times_as_fast"].size(), 2U);
  EXPECT_GT(beside["times_as_fast"][0]["times"], 0);
  EXPECT_EQ(found["validation"]["same_model"], true);
  EXPECT_EQ(found["profile"]["curves"][0]["tuned"], true);
  EXPECT_TRUE(found["left_out"].empty());
}

TEST_F(ReportTest, OfAnUnsupportedModel) {
  const ProcessResult result = report({TFAOT_REFUSED_MODELS "/no_kernel/aot_config.yaml"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.standard_output, HasSubstr("/no_kernel/aot_config.yaml: not supported\n"));
  EXPECT_THAT(result.standard_output, HasSubstr("\n  problem: "));
  EXPECT_THAT(result.standard_output, HasSubstr("\n  supported  no, 1 problem"));
  EXPECT_THAT(result.standard_error, HasSubstr("aot_config.yaml: not supported\n"));
}

// Without ONNX Runtime, or beside a framework that does not run ONNX files, the rest is answered.
TEST_F(ReportTest, OfAnOnnxFile) {
  const ProcessResult result = report(
      {TFAOT_ONNX_MODELS "/dense/model.onnx", "--batch-sizes", "1,4", "--beside", "tensorflow"});
  EXPECT_TRUE(result.ok()) << result.standard_error;
  EXPECT_THAT(result.standard_output, HasSubstr("/dense/model.onnx: supported"));
  EXPECT_THAT(result.standard_output,
              HasSubstr("note: not beside TensorFlow: tensorflow does not run an ONNX model\n"
                        "    name the same model in its own form: --beside tensorflow=MODEL\n"));
}

}  // namespace
}  // namespace tfaot::toolkit::testing
