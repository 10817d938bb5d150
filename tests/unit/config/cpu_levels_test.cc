// SPDX-License-Identifier: Apache-2.0
#include "tfaot/config/cpu_levels.h"

#include <gmock/gmock.h>

namespace tfaot {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(CpuLevels, AscendPerArchitecture) {
  EXPECT_THAT(allowed_cpu_levels("x86_64"),
              ElementsAre("x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4", "native"));
  EXPECT_THAT(allowed_cpu_levels("aarch64"), ElementsAre("generic"));
  EXPECT_THAT(allowed_cpu_levels("riscv64"), IsEmpty());
}

TEST(CpuLevels, DefaultsSpanOldAndNewMachines) {
  EXPECT_THAT(default_cpu_levels("x86_64"), ElementsAre("x86-64", "x86-64-v3", "x86-64-v4"));
  EXPECT_THAT(default_cpu_levels("aarch64"), ElementsAre("generic"));
}

TEST(CpuLevels, ArchitectureIsTheFirstPartOfTheTriple) {
  EXPECT_EQ(target_machine("aarch64-unknown-linux-gnu"), "aarch64");
  EXPECT_EQ(target_machine("x86_64"), "x86_64");
}

}  // namespace
}  // namespace tfaot
