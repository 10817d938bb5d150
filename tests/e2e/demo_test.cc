// SPDX-License-Identifier: Apache-2.0
// `tfaot demo` with the real engine: each command that it shows runs when a user copies it.
#include <gmock/gmock.h>

#include "tests/support/executable_file.h"
#include "tool.h"

namespace tfaot::toolkit::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

using DemoTest = ToolTest;

TEST_F(DemoTest, EachCommandCanBeCopied) {
  const std::string text = done({"demo", "first folder"});
  EXPECT_THAT(text,
              HasSubstr("\n$ tfaot compile minimal/saved_model -o out --batch-sizes 1,2,4\n"));
  EXPECT_THAT(text, HasSubstr("package out: predicts as the model does"));
  EXPECT_THAT(text, HasSubstr("\nplugin y: "));
  EXPECT_THAT(text, HasSubstr("\n  tfaot report MODEL\n"));
  // The same commands in a shell, in another folder.
  std::string commands;
  for (const std::string& line : split_lines(text)) {
    if (line.starts_with("$ ")) commands += line.substr(2) + "\n";
  }
  commands = replace_all(commands, "first folder", "second folder");
  const auto copied = run_process(shell_with_tool(root_, commands));
  ASSERT_TRUE(copied);
  EXPECT_TRUE(copied->ok()) << commands << copied->standard_error;
  EXPECT_THAT(copied->standard_output, HasSubstr("\nplugin y: "));
  EXPECT_EQ(read("first folder/out/manifest.json"), read("second folder/out/manifest.json"));
}

// Where there is no compiler, the rest is done.
TEST_F(DemoTest, WithoutACompilerThereIsNoPlugin) {
  std::string links = "mkdir bin\n";
  for (const char* name : {"bash", "basename", "cp", "dirname", "env", "ld", "mkdir", "sed"}) {
    links += std::string("ln -s \"$(command -v ") + name + ")\" bin/\n";
  }
  const auto made = run_process(shell_with_tool(root_, links));
  ASSERT_TRUE(made && made->ok());
  ProcessSpec process;
  process.program = TFAOT_TOOL;
  process.arguments = {"demo", "folder"};
  process.working_directory = root_;
  process.environment["PATH"] = (root_ / "bin").string();
  const auto ended = run_process(process);
  ASSERT_TRUE(ended);
  EXPECT_TRUE(ended->ok()) << ended->standard_error;
  EXPECT_THAT(ended->standard_output, HasSubstr("left out, because it needs what is not installed: "
                                                "cmake c++ make (Debian: apt install cmake g++"));
  EXPECT_THAT(ended->standard_output, Not(HasSubstr("plugin y")));
}

}  // namespace
}  // namespace tfaot::toolkit::testing
