// SPDX-License-Identifier: Apache-2.0
// New weights without compiling give the same package as compiling, to the byte. Another
// architecture is refused, with the difference.
#include <gmock/gmock.h>

#include "tool.h"

namespace tfaot::toolkit::testing {
namespace {

using ::testing::HasSubstr;

class UpdateWeightsTest : public ToolTest {
 protected:
  void write(const std::string& path, const std::string& text) {
    ASSERT_TRUE(files_.replace_atomically(root_ / path, text));
  }
  // keras_export's config with another model and version.
  void write_config(const std::string& path, const std::string& saved_model,
                    const std::string& version) {
    write(path, "model:\n  name: net\n  version: \"" + version + "\"\n  saved_model: " +
                    saved_model + "\ncompilation:\n  batch_sizes: [1, 2, 3, 4, 8]\n");
  }
};

TEST_F(UpdateWeightsTest, GivesWhatCompilingGives) {
  write_config("old.yaml", model("keras_export") + "/saved_model", "1.0");
  write_config("new.yaml", model("keras_retrained") + "/saved_model", "1.1");
  done({"compile", "-c", "old.yaml", "-o", "old"});
  done({"compile", "-c", "new.yaml", "-o", "new"});
  done({"update-weights", "old", "--model", model("keras_retrained") + "/saved_model", "--version",
        "1.1", "-o", "updated"});
  EXPECT_EQ(read("updated/manifest.json"), read("new/manifest.json"));
  EXPECT_NE(read("updated/manifest.json"), read("old/manifest.json"));
  done({"update-weights", "updated", "--model", model("keras_export") + "/saved_model", "--version",
        "1.0"});
  EXPECT_EQ(read("updated/manifest.json"), read("old/manifest.json"));
}

// A frozen graph does not show what was a variable. predictions_test shows that both predict the
// same as TensorFlow.
TEST_F(UpdateWeightsTest, TakesARetrainedFrozenGraph) {
  const auto config_of = [](const std::string& name, const std::string& version) {
    return "model:\n  name: net\n  version: \"" + version +
           "\"\n  format: frozen_graph\n  frozen_graph: " + model(name) +
           "/frozen_graph.pb\n  inputs: [x]\n  outputs: [y]\ncompilation:\n"
           "  batch_sizes: [1, 4]\n";
  };
  write("old.yaml", config_of("frozen_trained", "1.0"));
  write("new.yaml", config_of("frozen_retrained", "1.1"));
  done({"compile", "-c", "old.yaml", "-o", "old"});
  done({"compile", "-c", "new.yaml", "-o", "new"});
  done({"update-weights", "old", "--model", model("frozen_retrained") + "/frozen_graph.pb",
        "--version", "1.1", "-o", "updated"});
  EXPECT_EQ(read("updated/manifest.json"), read("new/manifest.json"));
  EXPECT_NE(read("updated/manifest.json"), read("old/manifest.json"));
}

TEST_F(UpdateWeightsTest, RefusesAnotherArchitectureByWhatDiffers) {
  write_config("old.yaml", model("keras_export") + "/saved_model", "1.0");
  done({"compile", "-c", "old.yaml", "-o", "old"});
  const auto wider =
      tool({"update-weights", "old", "--model", model("keras_wider") + "/saved_model"});
  EXPECT_EQ(wider.exit_code, 1);
  EXPECT_THAT(wider.standard_error,
              HasSubstr("the model's architecture differs from that of the package's code"));
  EXPECT_THAT(wider.standard_error, HasSubstr("[4, 8] in the package"));
  EXPECT_THAT(wider.standard_error, HasSubstr("[4, 9] in the model"));
  const auto other =
      tool({"update-weights", "old", "--model", model("convolution") + "/saved_model"});
  EXPECT_EQ(other.exit_code, 1);
  EXPECT_THAT(other.standard_error, HasSubstr("input 'values' is missing in the model"));
}

}  // namespace
}  // namespace tfaot::toolkit::testing
