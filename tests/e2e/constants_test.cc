// SPDX-License-Identifier: Apache-2.0
// Placeholders that are no inputs, with the real engine: model.constants.
#include <gmock/gmock.h>

#include <filesystem>

#include "tfaot/base/text.h"
#include "tool.h"

namespace tfaot::toolkit::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class ConstantsTest : public ToolTest {
 protected:
  // The error of the model's config with `to` instead of `from`.
  std::string error_with(const std::string& name, const std::string& from, const std::string& to) {
    std::filesystem::copy(model(name), root_ / name, std::filesystem::copy_options::recursive);
    const std::string file = name + "/aot_config.yaml";
    const std::string text = read(file);
    EXPECT_THAT(text, HasSubstr(from));
    EXPECT_TRUE(files_.replace_atomically(root_ / file, replace_all(text, from, to)));
    const ProcessResult result = tool({"compile", "-c", file, "-o", "out", "-q"});
    EXPECT_EQ(result.exit_code, 1) << result.standard_output;
    return result.standard_error;
  }
};

TEST_F(ConstantsTest, AreShownAndChecked) {
  EXPECT_THAT(done({"info", config("learning_phase")}),
              HasSubstr("constants    norm/keras_learning_phase=false\n"));
  EXPECT_THAT(done({"info", config("tf1_constant_inputs"), "--json"}),
              AllOf(HasSubstr("\"training\": false"), HasSubstr("\"scale:0\": [\n")));
  done({"check", config("learning_phase"), "-q"});
}

TEST_F(ConstantsTest, InitProposesSwitches) {
  done({"init", model("learning_phase") + "/frozen_graph.pb", "-o", "frozen.yaml"});
  EXPECT_THAT(read("frozen.yaml"),
              AllOf(HasSubstr("\n  constants: {norm/keras_learning_phase: false}\n"),
                    HasSubstr("\n  inputs: [x]\n")));
  done({"init", model("tf1_constant_inputs") + "/saved_model", "-o", "saved.yaml"});
  EXPECT_THAT(read("saved.yaml"),
              AllOf(HasSubstr("\n  constants: {training: false}\n"), Not(HasSubstr("scale"))));
  EXPECT_THAT(done({"info", model("tf1_constant_inputs") + "/saved_model"}),
              HasSubstr("constant  training"));
}

TEST_F(ConstantsTest, OneThatIsMissingIsNamed) {
  EXPECT_THAT(
      error_with("learning_phase", "  constants: {norm/keras_learning_phase: false}\n", ""),
      AllOf(HasSubstr("depends on placeholder 'norm/keras_learning_phase', which is not one "
                      "of its inputs"),
            HasSubstr("model.constants: {\"norm/keras_learning_phase\": false}")));
}

TEST_F(ConstantsTest, OneThatIsWrongHasAPlace) {
  EXPECT_THAT(error_with("learning_phase", "{norm/keras_learning_phase", "{norm/keras_learning"),
              AllOf(HasSubstr("aot_config.yaml:6:15: model.constants: there is no placeholder "
                              "'norm/keras_learning'"),
                    HasSubstr("did you mean 'norm/keras_learning_phase'?")));
  EXPECT_THAT(
      error_with("tf1_constant_inputs", "-1.5", "-1.5, 4"),
      AllOf(HasSubstr("aot_config.yaml:5:32: model.constants: placeholder 'scale:0' has the "
                      "shape (3), but the value has (4)")));
}

}  // namespace
}  // namespace tfaot::toolkit::testing
