// SPDX-License-Identifier: Apache-2.0
#include "tfaot/base/time_limit.h"

#include <gtest/gtest.h>

#include <thread>

#include "shell.h"
#include "tests/support/temporary_folder.h"
#include "tfaot/base/conversation.h"
#include "tfaot/base/file_lock.h"
#include "tfaot/base/interrupts.h"
#include "tfaot/base/real_file_system.h"

namespace tfaot::toolkit {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// The text of the error, once there is one.
std::string text_of_interrupt(milliseconds within) {
  const auto end = std::chrono::steady_clock::now() + within;
  while (std::chrono::steady_clock::now() < end) {
    const Status status = check_interrupts();
    if (!status) return status.error().text();
    std::this_thread::sleep_for(milliseconds(1));
  }
  return "no error";
}

class TimeLimitTest : public ::testing::Test {
 protected:
  ~TimeLimitTest() override { forget_interrupts(); }
};

TEST_F(TimeLimitTest, InterruptsTheWork) {
  const testing::TemporaryFolder folder;
  const TimeLimit limit(seconds(1));
  RealFileSystem files;
  EXPECT_TRUE(files.replace_atomically(folder.path() / "before", ""));
  EXPECT_EQ(text_of_interrupt(seconds(60)),
            "the time limit of 1 s is over\n  raise the limit with --timeout SECONDS (0: none)");
  EXPECT_FALSE(files.replace_atomically(folder.path() / "after", ""));
  const DespiteInterrupts cleaning;
  EXPECT_TRUE(files.remove_all(folder.path() / "before"));
}

TEST_F(TimeLimitTest, ZeroAndTheEndOfTheWorkAreNoLimit) {
  { const TimeLimit over(seconds(1)); }
  const TimeLimit none(seconds(0));
  EXPECT_EQ(text_of_interrupt(milliseconds(1200)), "no error");
}

TEST_F(TimeLimitTest, StandsWhileAnotherProcessWorks) {
  const testing::TemporaryFolder folder;
  const Path file = folder.path() / "lock";
  auto held = std::make_optional(FileLock::acquire(file, {.name = "a lock"}).value());
  const TimeLimit limit(seconds(1));
  ProcessSpec limited = shell("sleep 1.2");
  limited.timeout = seconds(60);
  EXPECT_TRUE(run_process(limited).value().ok());
  ConversationSpec asked;
  asked.program = "sh";
  asked.arguments = {"-c", "sleep 1.2; echo yes"};
  asked.timeout = seconds(60);
  EXPECT_EQ(Conversation::start(asked).value().hear().value(), "yes");
  std::thread owner([&held] {
    std::this_thread::sleep_for(milliseconds(1200));
    held.reset();
  });
  EXPECT_TRUE(FileLock::acquire(file, {.name = "a lock"}));
  owner.join();
  EXPECT_TRUE(check_interrupts());
  EXPECT_NE(text_of_interrupt(seconds(60)), "no error");
}

TEST_F(TimeLimitTest, CountsAChildWithoutALimitOfItsOwn) {
  const TimeLimit limit(seconds(1));
  const auto ended = run_process(shell("trap '' TERM; while :; do sleep 1; done"));
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().text(), "the time limit of 1 s is over; 'sh' was stopped");
}

TEST_F(TimeLimitTest, EndsWhatDoesNotListen) {
  const auto work = [] {
    const TimeLimit limit(seconds(1));
    for (;;) std::this_thread::sleep_for(seconds(1));
  };
  EXPECT_EXIT(work(), ::testing::ExitedWithCode(1),
              "tfaot: error: the time limit of 1 s is over\n  raise the limit with --timeout");
}

TEST(IsDoneInTime, KnowsWorkThatDoesNotEnd) {
  int changed = 0;
  EXPECT_TRUE(is_done_in_time([&] { changed = 1; }, seconds(100)));
  EXPECT_EQ(changed, 0) << "it ran in this process";
  EXPECT_FALSE(is_done_in_time([] { std::this_thread::sleep_for(seconds(100)); }, seconds(1)));
  EXPECT_FALSE(is_done_in_time([] { ::raise(SIGKILL); }, seconds(100)));
}

}  // namespace
}  // namespace tfaot::toolkit
