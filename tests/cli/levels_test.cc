// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "cli_test.h"
#include "tfaot/records/cpu_levels.h"

namespace tfaot::toolkit::testing {
namespace {

using LevelsTest = CliTest;

// Which of them run depends on the machine.
TEST_F(LevelsTest, AreThoseOfThisMachinesArchitecture) {
  const auto levels = nlohmann::json::parse(run({"levels", "--json"}).out);
  std::vector<std::string> defaults;
  std::string highest;
  for (const auto& level : levels) {
    if (level["by_default"]) defaults.push_back(level["level"]);
    if (level["runs_here"]) highest = level["level"];
    EXPECT_EQ(level["kernels"], cpu_level(level["level"].get<std::string>()).kernels);
  }
  EXPECT_EQ(defaults, default_cpu_levels(cpu_level(highest).architecture));
  EXPECT_EQ(highest, native_cpu_level());
  const std::string text = run({"levels"}).out;
  EXPECT_EQ(std::ranges::count(text, '\n'), levels.size() + 1);
  EXPECT_THAT(text, ::testing::StartsWith("LEVEL"));
}

}  // namespace
}  // namespace tfaot::toolkit::testing
