// SPDX-License-Identifier: Apache-2.0
// `tfaot compile --launcher`: a command that starts the engine.
#include <gmock/gmock.h>

#include <filesystem>

#include "cli_test.h"
#include "tests/support/executable_file.h"
#include "tfaot/base/text.h"

namespace tfaot::toolkit::testing {
namespace {

// A launcher that writes down what it starts.
class LauncherTest : public CliTest {
 protected:
  LauncherTest() {
    write_model();
    write("launch me", "#!/bin/sh\necho \"$*\" >>" + at("launched") + "\nshift\nexec \"$@\"\n");
    make_executable(root_ / "launch me");
    std::filesystem::create_symlink(root_ / "launch me", root_ / "launch");
  }
};

TEST_F(LauncherTest, StartsEveryEngineProcess) {
  const Outcome outcome = run({"compile", "-c", "model/aot_config.yaml", "-o", "out", "-j", "2",
                               "--launcher", at("launch") + " first"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  const std::vector<std::string> lines = split_lines(read("launched"));
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_THAT(lines[0], ::testing::MatchesRegex("first /.*tfaot-engine /.*[.]job any"));
}

TEST_F(LauncherTest, IsTakenFromTheEnvironmentUnlessGiven) {
  EXPECT_EQ(compile({}, {{"TFAOT_COMPILE_LAUNCHER", at("launch") + " of-environment"}}).exit_code,
            0);
  EXPECT_THAT(read("launched"), ::testing::StartsWith("of-environment /"));
  EXPECT_EQ(compile({"--launcher-word", at("launch me"), "--launcher-word", "two words"},
                    {{"TFAOT_COMPILE_LAUNCHER", "/no/such/program"}})
                .exit_code,
            0);
  EXPECT_THAT(split_lines(read("launched")).back(), ::testing::StartsWith("two words /"));
}

TEST_F(LauncherTest, ThatCannotBeStartedIsNamed) {
  const Outcome outcome = compile({"--launcher", "no-such-program -c 2"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_EQ(outcome.err,
            "tfaot: error: the launcher 'no-such-program' cannot be started\n"
            "  cannot start 'no-such-program': no such program in PATH\n"
            "  correct --launcher, TFAOT_COMPILE_LAUNCHER in the environment, or the property of "
            "the CMake target\n");
  EXPECT_FALSE(std::filesystem::exists(root_ / "out"));
}

TEST_F(LauncherTest, ThatFailsIsNamed) {
  const Outcome outcome = compile({"--launcher", "false --really"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, ::testing::HasSubstr("the compiler ended with exit code 1 (batch sizes "
                                                "1, 4)\n  started by: false --really\n"));
}

}  // namespace
}  // namespace tfaot::toolkit::testing
