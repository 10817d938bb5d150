// SPDX-License-Identifier: Apache-2.0
// The built tool with the real engine, in a scratch folder that is removed with the test.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "shell_with_tool.h"
#include "tests/support/temporary_folder.h"
#include "tfaot/base/process.h"
#include "tfaot/base/real_file_system.h"
#include "tfaot/base/text.h"

namespace tfaot::toolkit::testing {

class ToolTest : public ::testing::Test {
 protected:
  ProcessResult tool(const std::vector<std::string>& arguments) const {
    ProcessSpec process;
    process.program = TFAOT_TOOL;
    process.arguments = arguments;
    process.working_directory = root_;
    auto result = run_process(process);
    EXPECT_TRUE(result) << (result ? "" : result.error().text());
    return result ? *result : ProcessResult();
  }
  // The tool's output; the test fails if the tool fails.
  std::string done(const std::vector<std::string>& arguments) const {
    const ProcessResult result = tool(arguments);
    EXPECT_TRUE(result.ok()) << result.standard_error;
    return result.standard_output;
  }
  // Runs every command of a page's examples, from top to bottom, up to one that fails; returns how
  // many ran.
  std::size_t run_examples(const std::string& page) const {
    std::size_t commands = 0;
    bool is_inside = false;
    for (const std::string& line : split_lines(page)) {
      if (line.starts_with("```")) is_inside = line == "```sh";
      if (!is_inside || !line.starts_with("tfaot ")) continue;
      const auto result = run_process(shell_with_tool(root_, line));
      const bool works = result && result->ok();
      EXPECT_TRUE(works) << line << "\n" << (result ? result->standard_error : "");
      if (!works) break;
      ++commands;
    }
    return commands;
  }
  std::string read(const std::string& path) const {
    return files_.read(root_ / path).value_or("no file " + path);
  }
  // A folder of models/works.
  static std::string model(const std::string& name) { return TFAOT_WORKS "/" + name; }
  static std::string config(const std::string& name) { return model(name) + "/aot_config.yaml"; }

  RealFileSystem files_;
  TemporaryFolder scratch_;
  Path root_ = scratch_.path();
};

}  // namespace tfaot::toolkit::testing
