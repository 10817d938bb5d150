// SPDX-License-Identifier: Apache-2.0
// The compiler knows every CPU and every feature in config's table: it would ignore unknown ones,
// with a message on standard error.
#include <gtest/gtest.h>

#include "tests/support/temporary_folder.h"
#include "tfaot/base/process.h"
#include "tfaot/base/text.h"
#include "tfaot/records/cpu_levels.h"

namespace tfaot::toolkit::testing {
namespace {

class CpuNames : public ::testing::TestWithParam<const char*> {};

TEST_P(CpuNames, AreKnownToTheCompiler) {
  const std::string architecture = GetParam();
  const TemporaryFolder folder;
  std::vector<std::string> names = allowed_cpu_levels(architecture);
  std::erase(names, "native");
  ProcessSpec process;
  process.program = TFAOT_TOOL;
  process.arguments = {"compile",
                       "-c",
                       TFAOT_MODEL "/aot_config.yaml",
                       "-o",
                       (folder.path() / "out").string(),
                       "--target-triple=" + architecture + "-unknown-linux-gnu",
                       "--batch-sizes",
                       "1",
                       "--cpu-levels",
                       join(names, ","),
                       "--verbose",
                       "--no-cache"};
  const auto result = run_process(process);
  ASSERT_TRUE(result);
  const std::string said = result->standard_output + result->standard_error;
  EXPECT_TRUE(result->ok()) << said;
  EXPECT_NE(said.find("batch size 1, " + names.back()), std::string::npos) << said;
  EXPECT_EQ(said.find("is not a recognized"), std::string::npos) << said;
}

INSTANTIATE_TEST_SUITE_P(All, CpuNames, ::testing::Values("x86_64", "aarch64"),
                         [](const auto& value) { return std::string(value.param); });

}  // namespace
}  // namespace tfaot::toolkit::testing
