// SPDX-License-Identifier: Apache-2.0
// Models that must be refused: `tfaot compile` exits with 1, says what is wrong, and writes no
// package.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "tests/support/golden.h"
#include "tests/support/temporary_folder.h"
#include "tfaot/base/process.h"
#include "tfaot/base/text.h"
#include "tool.h"

namespace tfaot::toolkit::testing {
namespace {

class Refused : public ::testing::TestWithParam<std::string> {};

TEST_P(Refused, SaysWhyAndLeavesNothing) {
  const std::filesystem::path models = TFAOT_REFUSED_MODELS;
  const TemporaryFolder folder;
  const std::filesystem::path out = folder.path() / "out";
  ProcessSpec process;
  process.program = TFAOT_TOOL;
  process.arguments = {"compile", "-c",         (models / GetParam() / "aot_config.yaml").string(),
                       "-o",      out.string(), "--cpu-levels",
                       "x86-64",  "-j",         "1"};
  const auto result = run_process(process);
  ASSERT_TRUE(result) << result.error().text();
  EXPECT_EQ(result->exit_code, 1) << result->standard_error;
  EXPECT_FALSE(std::filesystem::exists(out / "manifest.json"));
  EXPECT_FALSE(std::filesystem::exists(out / "lib"));
  const auto text = replace_all(result->standard_error, models.parent_path().string(), "MODELS");
  EXPECT_TRUE(matches_golden(text, "e2e/refused/" + GetParam() + ".txt"));
}

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const auto& entry : std::filesystem::directory_iterator(TFAOT_REFUSED_MODELS)) {
    all.push_back(entry.path().filename());
  }
  std::sort(all.begin(), all.end());
  return all;
}

INSTANTIATE_TEST_SUITE_P(Models, Refused, ::testing::ValuesIn(names()),
                         [](const auto& one) { return one.param; });

using RefusedRows = ToolTest;
using TriedRows = ToolTest;

// Code for another architecture cannot run here, but the operations can.
TEST_F(RefusedRows, ThatMixForAnyTarget) {
  const ProcessResult result =
      tool({"compile", "-c", TFAOT_REFUSED_MODELS "/rows_decide_together/aot_config.yaml", "-o",
            "out", "--target-triple", "aarch64-unknown-linux-gnu", "-q"});
  if (result.standard_error.find("this tfaot has no runtime") != std::string::npos) {
    GTEST_SKIP() << "this tfaot is built without TFAOT_RUNTIME_TARGETS=aarch64";
  }
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_NE(result.standard_error.find("output 'y' mixes the rows of a batch: op 'Mean'"),
            std::string::npos)
      << result.standard_error;
  EXPECT_NE(result.standard_error.find("seen in a trial run"), std::string::npos)
      << result.standard_error;
}

// A trial that does not end proves nothing, and blocks nothing.
TEST_F(TriedRows, NeedNotEnd) {
  const ProcessResult result = tool({"compile", "-c", TFAOT_ENDLESS_LOOP "/aot_config.yaml", "-o",
                                     "out", "--cpu-levels", "x86-64"});
  EXPECT_EQ(result.exit_code, 0) << result.standard_error;
  EXPECT_NE(result.standard_error.find(
                "and it could not be tried (a run with random numbers did not end within 10 s)"),
            std::string::npos)
      << result.standard_error;
}

}  // namespace
}  // namespace tfaot::toolkit::testing
