// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "tests/support/memory_file_system.h"
#include "tfaot/base/real_file_system.h"
#include "tfaot/tune/tune.h"

namespace tfaot::toolkit {
namespace {

std::string name_of(const std::string& cpuinfo) {
  testing::MemoryFileSystem fs;
  EXPECT_TRUE(fs.replace_atomically("/proc/cpuinfo", cpuinfo));
  return cpu_name(fs);
}

TEST(CpuName, IsWhatTheMachineSays) {
  EXPECT_EQ(name_of("processor\t: 0\nmodel\t\t: 97\nmodel name\t: A CPU @ 2: GHz \n"),
            "A CPU @ 2: GHz");
  EXPECT_EQ(name_of("processor\t: 0\nCPU part\t: 0xd40\n"), "0xd40");
  EXPECT_EQ(name_of("nothing"), "unknown");
  EXPECT_EQ(cpu_name(testing::MemoryFileSystem()), "unknown");
}

TEST(CpuName, IsReadFromThisMachine) { EXPECT_NE(cpu_name(RealFileSystem()), ""); }

}  // namespace
}  // namespace tfaot::toolkit
