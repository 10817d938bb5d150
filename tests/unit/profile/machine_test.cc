// SPDX-License-Identifier: Apache-2.0
#include "tfaot/profile/machine.h"

#include <gmock/gmock.h>

#include "tests/support/memory_file_system.h"

namespace tfaot::toolkit {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(ProfiledMachine, IsWhatTheKernelSays) {
  testing::MemoryFileSystem files;
  const Path clock = "/sys/devices/system/cpu/cpu3/cpufreq";
  ASSERT_TRUE(files.replace_atomically(clock / "scaling_governor", "powersave\n"));
  ASSERT_TRUE(files.replace_atomically(clock / "scaling_cur_freq", "2400000\n"));
  ASSERT_TRUE(files.replace_atomically("/proc/loadavg", "3.25 1 1 1/100 5\n"));
  const ProfiledMachine machine = describe_machine(files, 4, 3);
  EXPECT_EQ(machine.cores, 4);
  EXPECT_EQ(machine.core, 3);
  EXPECT_EQ(machine.governor, "powersave");
  EXPECT_EQ(machine.mhz, 2400);
  EXPECT_EQ(machine.load, 3.25);
}

TEST(ProfiledMachine, TakesTheClockOfTheCoreFromCpuinfo) {
  testing::MemoryFileSystem files;
  ASSERT_TRUE(files.replace_atomically(
      "/proc/cpuinfo",
      "processor\t: 0\ncpu MHz\t\t: 1000\n\nprocessor\t: 1\ncpu MHz\t\t: 2000.5\n"));
  EXPECT_EQ(describe_machine(files, 2, 1).mhz, 2000.5);
  EXPECT_EQ(describe_machine(files, 2, 1).governor, "");
  EXPECT_EQ(describe_machine(testing::MemoryFileSystem(), 2, 1).mhz, 0);
}

TEST(ProfiledMachine, WarnsOfDoubtfulTimes) {
  ProfiledMachine machine;
  machine.cores = 2;
  EXPECT_THAT(machine_warnings(machine), IsEmpty());
  machine.core = 1;
  machine.load = 2.5;
  machine.noise = 0.25;
  machine.governor = "powersave";
  EXPECT_THAT(
      machine_warnings(machine),
      ElementsAre("the machine is noisy: times of the same work are 25 % apart (16 % to 84 %), so "
                  "smaller differences mean nothing",
                  "the machine is busy: 2.5 processes wanted its 2 cores in the last minute",
                  "the clock of core 1 changes: its governor is 'powersave', not 'performance'"));
}

TEST(ProfiledMachine, WarnsIfOthersUsedTheCore) {
  ProfiledCurve curve;
  curve.sizes.resize(2);
  curve.sizes[0].busy = 0.99;
  curve.sizes[1].busy = 1;
  EXPECT_THAT(busy_warnings({curve}), IsEmpty());
  curve.sizes[1].busy = 0.5;
  EXPECT_THAT(busy_warnings({curve}),
              ElementsAre("other processes used the core: an engine had it for 50 % of its time "
                          "only, at worst"));
}

TEST(ProfiledMachine, HasACore) { EXPECT_FALSE(allowed_cores().empty()); }

}  // namespace
}  // namespace tfaot::toolkit
