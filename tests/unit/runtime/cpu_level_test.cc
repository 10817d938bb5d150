// SPDX-License-Identifier: Apache-2.0
#include "tfaot/runtime/cpu_level.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "tests/unit/runtime/expect_error.h"
#include "tests/unit/runtime/fake_model.h"
#include "tfaot/runtime/detail/cpu_features.h"
#include "tfaot/runtime/detail/machine_ways.h"
#include "tfaot/runtime/detail/select_code.h"
#include "tfaot/runtime/record.h"

namespace {

using tfaot_test::error_of;

tfaot::CpuChoice of_features(std::vector<std::string> features) {
  return tfaot::CpuChoice::of_features(std::move(features));
}

constexpr tfaot::Code code(const char* level, const char* features) {
  return {level, features, nullptr, nullptr, 0, 0, 0};
}
constexpr tfaot::Code kCodes[] = {code("x86-64", ""), code("x86-64-v3", "avx2 fma"),
                                  code("znver4", "avx2 avx512f fma sse4a")};
constexpr tfaot::Program kProgram = {4, kCodes, 3};
const std::vector<std::string> kV3 = {"avx", "avx2", "fma"};
const std::vector<std::string> kZen4 = {"avx2", "avx512f", "avx512fp16", "fma", "sse4a"};

TEST(SelectCode, TakesTheLastWhoseFeaturesAreThere) {
  EXPECT_EQ(select_code("m", kProgram, of_features({})), 0U);
  EXPECT_EQ(select_code("m", kProgram, of_features({"avx2"})), 0U);
  EXPECT_EQ(select_code("m", kProgram, of_features(kV3)), 1U);
  EXPECT_EQ(select_code("m", kProgram, of_features(kZen4)), 2U);
}

TEST(SelectCode, TakesTheForcedLevel) {
  EXPECT_EQ(select_code("m", kProgram, of_features(kV3).at_level("x86-64")), 0U);
  EXPECT_EQ(select_code("m", kProgram, of_features(kV3).at_level("x86-64-v3")), 1U);
  EXPECT_EQ(select_code("m", kProgram, of_features(kZen4).at_level("x86-64-v3")), 1U);
}

TEST(SelectCode, RefusesAForcedLevelThatIsNotCompiled) {
  EXPECT_EQ(
      error_of([] { select_code("m", kProgram, of_features(kV3).at_level("x86-64-v2")); }),
      "UnsupportedCpu: TFAOT_CPU_LEVEL=x86-64-v2 is not a level of model 'm'; compiled levels: "
      "x86-64, x86-64-v3, znver4; this CPU can run: x86-64, x86-64-v3");
}

TEST(SelectCode, RefusesAForcedLevelThatTheCpuCannotRun) {
  EXPECT_EQ(
      error_of([] { select_code("m", kProgram, of_features(kV3).at_level("znver4")); }),
      "UnsupportedCpu: TFAOT_CPU_LEVEL=znver4, forced for model 'm', cannot run here: 'znver4' "
      "needs avx512f, sse4a, which this CPU lacks; compiled levels: x86-64, x86-64-v3, znver4; "
      "this CPU can run: x86-64, x86-64-v3");
}

TEST(SelectCode, SaysWhatTheLeastDemandingLevelLacks) {
  static constexpr tfaot::Program kDemanding = {4, kCodes + 1, 2};
  EXPECT_EQ(error_of([] { select_code("m", kDemanding, of_features({"avx2"})); }),
            "UnsupportedCpu: model 'm' has no code for this CPU: 'x86-64-v3' needs fma, which this "
            "CPU lacks; compiled levels: x86-64-v3, znver4; this CPU can run: none");
  static constexpr tfaot::Program kEmpty = {4, nullptr, 0};
  EXPECT_EQ(error_of([] { select_code("m", kEmpty, of_features(kV3)); }),
            "UnsupportedCpu: model 'm' has no code for this CPU; compiled levels: none; this CPU "
            "can run: none");
}

// this_cpu() looks once per process, so each of these tests needs its own process.
class ThisCpuDeathTest : public testing::Test {
 protected:
  ThisCpuDeathTest() { testing::FLAGS_gtest_death_test_style = "threadsafe"; }

  [[noreturn]] static void finish(bool good) { std::_Exit(good ? 0 : 1); }
};

TEST_F(ThisCpuDeathTest, ReadsTheForcedLevelOnce) {
  EXPECT_EXIT(
      {
        setenv("TFAOT_CPU_LEVEL", "some-level", 1);
        const bool first = tfaot::this_cpu().forced_level() == "some-level";
        setenv("TFAOT_CPU_LEVEL", "other", 1);
        finish(first && tfaot::this_cpu().forced_level() == "some-level" &&
               tfaot::this_cpu().features() == tfaot::detect_cpu_features());
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

// A CPU's name has the code of either level.
TEST(Instructions, AreThoseOfTheLevel) {
  const auto in_use = [](const char* level) {
    return std::string(tfaot::detail::instructions_in_use(level));
  };
  const char* const found[] = {tfaot_machine_instructions[0], tfaot_machine_instructions[1]};
  tfaot_machine_instructions[0] = "avx512vnni amx-int8";
  tfaot_machine_instructions[1] = "avxvnni";
  EXPECT_EQ(in_use("x86-64-v4"), "avx512vnni amx-int8");
  EXPECT_EQ(in_use("x86-64-v3"), "avxvnni");
  EXPECT_EQ(in_use("x86-64"), "");
  EXPECT_EQ(in_use("znver5"), "avx512vnni amx-int8");
  tfaot_machine_instructions[0] = "";
  EXPECT_EQ(in_use("alderlake"), "avxvnni");
  EXPECT_EQ(in_use("x86-64-v4"), "");
  std::copy_n(found, 2, tfaot_machine_instructions);
}

TEST_F(ThisCpuDeathTest, ForcesNothingWhenTheVariableIsEmpty) {
  EXPECT_EXIT(
      {
        setenv("TFAOT_CPU_LEVEL", "", 1);
        finish(tfaot::this_cpu().forced_level().empty() &&
               error_of([] { tfaot::Model<tfaot_model::fake> model; }) == "no error");
      },
      testing::ExitedWithCode(0), "");
}

}  // namespace
