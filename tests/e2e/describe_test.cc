// SPDX-License-Identifier: Apache-2.0
// `tfaot info` and `tfaot init` of real models.
#include <gmock/gmock.h>

#include "tool.h"

namespace tfaot::toolkit::testing {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using DescribeTest = ToolTest;

TEST_F(DescribeTest, ASavedModel) {
  EXPECT_THAT(done({"info", model("keras_export") + "/saved_model"}),
              AllOf(HasSubstr("format   saved_model\n"), HasSubstr("\nSignature serving_default\n"),
                    HasSubstr("MatMul"), HasSubstr("parameters"), HasSubstr("flops")));
}

TEST_F(DescribeTest, AFrozenGraph) {
  EXPECT_THAT(
      done({"info", model("frozen_graph") + "/frozen_graph.pb"}),
      AllOf(HasSubstr("format  frozen_graph\n"), HasSubstr("  input"), HasSubstr("  output")));
}

TEST_F(DescribeTest, WhatIsNoModel) {
  ASSERT_TRUE(files_.replace_atomically(root_ / "wrong.pb", "not a graph"));
  const ProcessResult result = tool({"info", "wrong.pb"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.standard_error, HasSubstr("wrong.pb: not a frozen graph (GraphDef)"));
}

// Of a layer named "y", in a function that a function calls.
TEST_F(DescribeTest, InitSaysWhichNodeMakesOutput0) {
  done({"init", model("keras_export") + "/saved_model", "-o", "keras.yaml"});
  EXPECT_THAT(read("keras.yaml"), ContainsRegex("output_0 float32 [^.;]* from\\s*#? node"));
}

TEST_F(DescribeTest, TheConfigThatInitWritesCompiles) {
  for (const std::string name : {"keras_export", "fixed_batch", "frozen_graph", "signatures"}) {
    const std::string folder = model(name);
    const bool is_frozen = name == "frozen_graph";
    done(
        {"init", folder + (is_frozen ? "/frozen_graph.pb" : "/saved_model"), "-o", name + ".yaml"});
    const std::string said = done({"compile", "-c", name + ".yaml", "-o", name});
    EXPECT_THAT(said, HasSubstr("objects")) << name;
  }
}

}  // namespace
}  // namespace tfaot::toolkit::testing
