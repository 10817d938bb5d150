// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "cli_test.h"

namespace tfaot::toolkit::testing {
namespace {

using ::testing::HasSubstr;

class InitTest : public CliTest {
 protected:
  void SetUp() override { write("my-net/saved_model/saved_model.pb", "a graph"); }
};

TEST_F(InitTest, WritesAConfigThatCompiles) {
  std::string transcript = run({"init", "my-net/saved_model"}).text();
  EXPECT_TRUE(matches_golden(transcript, "cli/init.txt"));
  EXPECT_TRUE(matches_golden(read("aot_config.yaml"), "cli/init_config.yaml"));
  EXPECT_EQ(run({"compile", "-c", "aot_config.yaml", "-o", "out"}).exit_code, 0);
}

TEST_F(InitTest, OptionsSetValues) {
  const Outcome outcome = run({"init", "my-net/saved_model", "-o", "configs/a b.yaml", "--name",
                               "tagger", "--version", "2.1", "--batch-sizes", "1,8"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.text();
  EXPECT_THAT(outcome.out, HasSubstr("tfaot compile -c \"configs/a b.yaml\" -o tagger\n"));
  const std::string config = read("configs/a b.yaml");
  EXPECT_THAT(config, HasSubstr("\n  name: tagger\n"));
  EXPECT_THAT(config, HasSubstr("\n  version: \"2.1\"\n"));
  EXPECT_THAT(config, HasSubstr("\n  saved_model: ../my-net/saved_model\n"));
  EXPECT_THAT(config, HasSubstr("\n  batch_sizes: [1, 8]\n"));
}

TEST_F(InitTest, TheNextCommandDoesNotWriteIntoTheModel) {
  write("ksm/saved_model.pb", "a graph");
  const Outcome outcome = run({"init", "ksm", "-o", "ksm.yaml"});
  EXPECT_THAT(outcome.out, HasSubstr("tfaot compile -c ksm.yaml -o ksm_package\n"));
  EXPECT_EQ(run({"compile", "-c", "ksm.yaml", "-o", "ksm_package"}).exit_code, 0);
}

TEST_F(InitTest, WarnsOfAnOpsetThatIsNotKnown) {
  write("net.onnx", "a model of opset 99");
  const Outcome outcome = run({"init", "net.onnx"}, {{"FAKE_ENGINE", "newer_opset"}});
  EXPECT_THAT(
      outcome.err,
      HasSubstr("tfaot: warning: the model has opset 99, and the newest that tfaot knows is "
                "27: the config says 'opset: any'; compare the package by 'tfaot "
                "validate'\n"));
  EXPECT_THAT(read("aot_config.yaml"), HasSubstr("\n  opset: any\n"));
}

TEST_F(InitTest, SaysWhyASignatureCannotBeCompiled) {
  const Outcome outcome = run({"init", "my-net/saved_model", "--signature", "other"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.err, HasSubstr("cannot be compiled as it is: input 'odd' has dtype string"));
}

TEST_F(InitTest, RefusalsWriteNothing) {
  std::string transcript;
  const auto refused = [&](const std::vector<std::string>& arguments) {
    transcript += run(arguments).text() + "\n";
  };
  refused({"init", "nowhere"});
  refused({"init", "my-net"});
  refused({"init", "my-net/saved_model", "--signature", "serving_defualt"});
  refused({"init", "my-net/saved_model", "--name", "9lives"});
  EXPECT_EQ(files_in(".").size(), files_in("prefix").size() + 1) << "only the model was there";
  write("aot_config.yaml", "mine");
  refused({"init", "my-net/saved_model"});
  EXPECT_EQ(read("aot_config.yaml"), "mine");
  EXPECT_TRUE(matches_golden(transcript, "cli/init_errors.txt"));
}

}  // namespace
}  // namespace tfaot::toolkit::testing
