// SPDX-License-Identifier: Apache-2.0
#include "tfaot/runtime/cpu_level.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "tests/unit/runtime/expect_error.h"
#include "tests/unit/runtime/fake_model.h"

namespace {

using tfaot_test::error_of;

constexpr tfaot::Code code(const char* level) { return {level, nullptr, nullptr, 0, 0, 0}; }
constexpr tfaot::Code kCodes[] = {code("x86-64"), code("x86-64-v3"), code("znver4")};
constexpr tfaot::Program kProgram = {4, kCodes, 3};
const std::vector<std::string> kV3 = {"x86-64", "x86-64-v2", "x86-64-v3"};

TEST(SelectCode, TakesTheHighestSupported) {
  EXPECT_EQ(select_code("m", kProgram, {{"x86-64"}, ""}), 0U);
  EXPECT_EQ(select_code("m", kProgram, {{"x86-64", "x86-64-v2"}, ""}), 0U);
  EXPECT_EQ(select_code("m", kProgram, {kV3, ""}), 1U);
}

TEST(SelectCode, TakesTheForcedLevel) {
  EXPECT_EQ(select_code("m", kProgram, {kV3, "x86-64"}), 0U);
  EXPECT_EQ(select_code("m", kProgram, {kV3, "x86-64-v3"}), 1U);
}

TEST(SelectCode, RefusesAForcedLevelThatIsNotCompiled) {
  EXPECT_EQ(
      error_of([] {
        select_code("m", kProgram, {kV3, "x86-64-v2"});
      }),
      "UnsupportedCpu: TFAOT_CPU_LEVEL=x86-64-v2 is not a level of model 'm'; compiled levels: "
      "x86-64, x86-64-v3, znver4; this CPU supports: x86-64, x86-64-v2, x86-64-v3");
}

TEST(SelectCode, RefusesAForcedLevelThatTheCpuCannotRun) {
  EXPECT_EQ(
      error_of([] {
        select_code("m", kProgram, {{"x86-64"}, "x86-64-v3"});
      }),
      "UnsupportedCpu: TFAOT_CPU_LEVEL=x86-64-v3, forced for model 'm', cannot run here; compiled "
      "levels: x86-64, x86-64-v3, znver4; this CPU supports: x86-64");
}

TEST(SelectCode, TakesAnUnknownNameForUnsupported) {
  static constexpr tfaot::Program kAlien = {4, kCodes + 2, 1};
  EXPECT_EQ(error_of([] {
              select_code("m", kAlien, {kV3, ""});
            }),
            "UnsupportedCpu: model 'm' has no code for this CPU; compiled levels: znver4; this CPU "
            "supports: x86-64, x86-64-v2, x86-64-v3");
  static constexpr tfaot::Program kEmpty = {4, nullptr, 0};
  EXPECT_EQ(error_of([] {
              select_code("m", kEmpty, {kV3, ""});
            }),
            "UnsupportedCpu: model 'm' has no code for this CPU; compiled levels: none; this CPU "
            "supports: x86-64, x86-64-v2, x86-64-v3");
}

// The kernel's own list, made from CPUID and XCR0 too.
bool kernel_knows(const std::string& flag) {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("flags", 0) == 0)
      return (line + " ").find(" " + flag + " ") != std::string::npos;
  }
  return false;
}

TEST(DetectCpuLevels, AgreesWithTheKernel) {
  const std::vector<std::string> levels = tfaot::detect_cpu_levels();
  ASSERT_FALSE(levels.empty());
  EXPECT_EQ(levels.front(), tfaot_test::kBaseLevel);
#if defined(__x86_64__)
  const auto has = [&](const std::string& level) {
    return std::find(levels.begin(), levels.end(), level) != levels.end();
  };
  const bool v2 = kernel_knows("sse4_2") && kernel_knows("popcnt") && kernel_knows("cx16");
  const bool v3 = v2 && kernel_knows("avx2") && kernel_knows("fma") && kernel_knows("bmi2") &&
                  kernel_knows("f16c") && kernel_knows("movbe") && kernel_knows("abm");
  const bool v4 = v3 && kernel_knows("avx512f") && kernel_knows("avx512bw") &&
                  kernel_knows("avx512cd") && kernel_knows("avx512dq") && kernel_knows("avx512vl");
  EXPECT_EQ(has("x86-64-v2"), v2);
  EXPECT_EQ(has("x86-64-v3"), v3);
  EXPECT_EQ(has("x86-64-v4"), v4);
#endif
}

// this_cpu() looks once per process, so each of these needs one of its own.
class ThisCpuDeathTest : public testing::Test {
 protected:
  ThisCpuDeathTest() { testing::FLAGS_gtest_death_test_style = "threadsafe"; }

  [[noreturn]] static void finish(bool good) { std::_Exit(good ? 0 : 1); }
};

TEST_F(ThisCpuDeathTest, ReadsTheForcedLevelOnce) {
  EXPECT_EXIT(
      {
        setenv("TFAOT_CPU_LEVEL", "some-level", 1);
        const bool first = tfaot::this_cpu().forced == "some-level";
        setenv("TFAOT_CPU_LEVEL", "other", 1);
        finish(first && tfaot::this_cpu().forced == "some-level" &&
               tfaot::this_cpu().supported == tfaot::detect_cpu_levels());
      },
      testing::ExitedWithCode(0), "");
}

TEST_F(ThisCpuDeathTest, MakesEveryModelFollowTheForcedLevel) {
  EXPECT_EXIT(
      {
        setenv("TFAOT_CPU_LEVEL", "x86-64-v9", 1);
        const std::string error = error_of([] { tfaot::Model<tfaot_model::fake> model; });
        finish(error.find("TFAOT_CPU_LEVEL=x86-64-v9 is not a level of model 'fake'") !=
                   std::string::npos &&
               error == error_of([] { tfaot::native::Model<tfaot_model::fake> model; }));
      },
      testing::ExitedWithCode(0), "");
}

TEST_F(ThisCpuDeathTest, ForcesNothingWhenTheVariableIsEmpty) {
  EXPECT_EXIT(
      {
        setenv("TFAOT_CPU_LEVEL", "", 1);
        finish(tfaot::this_cpu().forced.empty() &&
               error_of([] { tfaot::Model<tfaot_model::fake> model; }) == "no error");
      },
      testing::ExitedWithCode(0), "");
}

}  // namespace
