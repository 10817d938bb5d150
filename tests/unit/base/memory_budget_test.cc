// SPDX-License-Identifier: Apache-2.0
#include "tfaot/base/memory_budget.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <memory>
#include <string>

#include "shell.h"

namespace tfaot::toolkit {
namespace {

constexpr std::uint64_t kMegabyte = 1'000'000;

TEST(MemoryBudget, TheLargestOfTheProcessesMustEnd) {
  MemoryBudget budget(100);
  EXPECT_FALSE(budget.is_exceeded_by(1, 60));
  EXPECT_FALSE(budget.is_exceeded_by(2, 40));
  EXPECT_FALSE(budget.is_exceeded_by(2, 50)) << "the other one is larger";
  EXPECT_TRUE(budget.is_exceeded_by(1, 60));
  budget.forget(1);
  EXPECT_FALSE(budget.is_exceeded_by(2, 100));
  EXPECT_TRUE(budget.is_exceeded_by(2, 101));
}

TEST(MemoryBudget, ZeroIsNoLimit) {
  MemoryBudget budget(0);
  EXPECT_FALSE(budget.is_exceeded_by(1, ~std::uint64_t{0}));
}

TEST(MemoryBudget, CountsWhatWasWritten) {
  const std::uint64_t before = memory_of(::getpid());
  EXPECT_GT(before, 0U);
  const std::string much(100 * kMegabyte, 'x');
  const std::uint64_t after = memory_of(::getpid());
  EXPECT_GE(after, before + 99 * kMegabyte);
  EXPECT_LE(after, before + 110 * kMegabyte);
  EXPECT_EQ(much.back(), 'x');
  EXPECT_EQ(memory_of(0), 0U);
}

TEST(MemoryBudget, TheMachineHasSome) {
  EXPECT_GT(machine_memory(), 100 * kMegabyte);
  EXPECT_LE(machine_memory(), static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES)) *
                                  static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)));
}

TEST(MemoryBudget, AChildWithMoreIsStopped) {
  ProcessSpec spec = shell("much=$(head -c 200000000 /dev/zero | tr '\\0' x); exec sleep 60");
  spec.memory = std::make_shared<MemoryBudget>(50 * kMegabyte);
  const ProcessResult result = run_process(spec).value();
  EXPECT_TRUE(result.over_memory);
  EXPECT_EQ(result.signal, SIGKILL);
  EXPECT_FALSE(result.ok());
  EXPECT_FALSE(spec.memory->is_exceeded_by(0, 50 * kMegabyte)) << "it is forgotten";

  ProcessSpec small = shell("sleep 0.2");
  small.memory = spec.memory;
  EXPECT_TRUE(run_process(small).value().ok());
}

TEST(MemoryBudget, AProcessKeepsToItByItself) {
  const auto work = [] {
    end_above_memory(memory_of(::getpid()) + 50 * kMegabyte, [] { std::_Exit(1); });
    const std::string much(100 * kMegabyte, 'x');
    for (;;) ::pause();
  };
  EXPECT_EXIT(work(), ::testing::ExitedWithCode(1), "it needed too much memory: raise the limit");
}

}  // namespace
}  // namespace tfaot::toolkit
