// SPDX-License-Identifier: Apache-2.0
// Nothing hangs and nothing keeps running: timeouts, interrupts, grandchildren.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>

#include "shell.h"
#include "tests/support/temporary_folder.h"
#include "tfaot/base/process.h"
#include "tfaot/base/real_file_system.h"
#include "tfaot/base/text.h"

namespace tfaot::toolkit {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;

// A pipe that every descendant inherits. It ends when, and only when, all of them are dead.
class Tripwire {
 public:
  Tripwire() {
    if (::pipe(ends_.data()) != 0) throw std::runtime_error("pipe failed");
  }
  Tripwire(const Tripwire&) = delete;
  Tripwire& operator=(const Tripwire&) = delete;
  ~Tripwire() {
    ::close(ends_[0]);
    if (ends_[1] >= 0) ::close(ends_[1]);
  }

  bool all_descendants_end() {
    ::close(ends_[1]);
    ends_[1] = -1;
    pollfd waited{ends_[0], 0, 0};
    return ::poll(&waited, 1, 60'000) == 1;
  }

 private:
  std::array<int, 2> ends_{-1, -1};
};

// On a busy machine the child may not get the time to say "ready" before it is killed; then it gets
// more.
ProcessResult run_until_ready(ProcessSpec spec) {
  for (spec.timeout = milliseconds(100);; spec.timeout *= 2) {
    ProcessResult result = run_process(spec).value();
    if (result.standard_output.find("ready") != std::string::npos) return result;
  }
}

TEST(ProcessTimeout, KillsTheChildAndKeepsWhatItSaid) {
  const ProcessResult result = run_until_ready(shell("echo ready; exec sleep 1000"));
  EXPECT_TRUE(result.timed_out);
  EXPECT_EQ(result.signal, SIGKILL);
  EXPECT_FALSE(result.ok());
  EXPECT_EQ(result.standard_output, "ready\n");
}

TEST(ProcessTimeout, KillsGrandchildrenToo) {
  Tripwire tripwire;
  const ProcessResult result =
      run_until_ready(shell("sh -c 'echo ready; sleep 1000; true' & wait; true"));
  EXPECT_TRUE(result.timed_out);
  EXPECT_TRUE(tripwire.all_descendants_end());
}

TEST(ProcessTimeout, KillsAChildThatIgnoresSignals) {
  const ProcessResult result =
      run_until_ready(shell("trap '' TERM INT HUP; echo ready; while :; do sleep 1000; done"));
  EXPECT_TRUE(result.timed_out);
}

TEST(ProcessTimeout, DoesNotTouchAChildThatIsInTime) {
  ProcessSpec spec = shell("exit 4");
  spec.timeout = std::chrono::hours(1);
  const ProcessResult result = run_process(spec).value();
  EXPECT_FALSE(result.timed_out);
  EXPECT_EQ(result.exit_code, 4);
}

TEST(ProcessEnd, LeavesNoGrandchildBehind) {
  Tripwire tripwire;
  const ProcessResult result = run_process(shell("sleep 1000 & echo started; exit 5")).value();
  EXPECT_EQ(result.exit_code, 5);
  EXPECT_EQ(result.standard_output, "started\n");
  EXPECT_TRUE(tripwire.all_descendants_end());
}

TEST(ProcessEnd, DoesNotWaitForADaemonThatHoldsThePipes) {
  const testing::TemporaryFolder folder;
  ProcessSpec spec = shell(
      "mkfifo fifo; setsid sh -c 'echo $$ > fifo; exec sleep 1000' & read pid < fifo; echo $pid");
  spec.working_directory = folder.path();
  const ProcessResult result = run_process(spec).value();
  EXPECT_TRUE(result.ok()) << result.standard_error;
  const int daemon = std::atoi(result.standard_output.c_str());
  ASSERT_GT(daemon, 1);
  EXPECT_EQ(::kill(daemon, SIGKILL), 0);  // 0: it was alive, so it had left the group
}

// A shell starts background jobs with SIGINT ignored, and these tests may have been started like
// that.
class ProcessInterrupt : public ::testing::Test {
 protected:
  ProcessInterrupt() { forget_interrupts(); }
  ~ProcessInterrupt() override { forget_interrupts(); }
};

TEST_F(ProcessInterrupt, StopsTheGroupAndReturnsAnError) {
  for (const char* signal : {"INT", "TERM", "HUP"}) {
    forget_interrupts();
    Tripwire tripwire;
    const auto result =
        run_process(shell("sleep 1000 & kill -" + std::string(signal) + " $PPID; wait; true"));
    ASSERT_FALSE(result);
    EXPECT_THAT(result.error().text(), HasSubstr("'sh' was stopped"));
    EXPECT_TRUE(tripwire.all_descendants_end());
  }
}

TEST_F(ProcessInterrupt, SaysWhichSignalItWas) {
  EXPECT_EQ(run_process(shell("kill -TERM $PPID; exec sleep 1000")).error().text(),
            "interrupted by signal 15 (Terminated); 'sh' was stopped");
}

TEST_F(ProcessInterrupt, IsToldToWhoEndsTheProcess) {
  ASSERT_FALSE(run_process(shell("kill -HUP $PPID; exec sleep 1000")));
  EXPECT_EQ(interrupting_signal(), SIGHUP);
}

TEST_F(ProcessInterrupt, StartsNothingMore) {
  ASSERT_FALSE(run_process(shell("kill -HUP $PPID; exec sleep 1000")));
  const testing::TemporaryFolder folder;
  ProcessSpec spec = shell("touch started");
  spec.working_directory = folder.path();
  EXPECT_EQ(run_process(spec).error().text(), "interrupted by signal 1 (Hangup)");
  EXPECT_EQ(RealFileSystem().kind(folder.path() / "started"), FileKind::kMissing);
}

// Like an interrupted rpmbuild whose tfaot has started an engine in another group.
TEST_F(ProcessInterrupt, WaitsForWhatTheGroupStopsItself) {
  const testing::TemporaryFolder folder;
  ProcessSpec spec = shell(
      "setsid sh -c 'touch ready; while [ ! -e told ]; do sleep 0.05; done; sleep 0.3; touch late' "
      "& trap 'touch told; exit 1' TERM; while [ ! -e ready ]; do sleep 0.05; done; "
      "kill -INT $PPID; while :; do sleep 0.05; done");
  spec.working_directory = folder.path();
  ASSERT_FALSE(run_process(spec));
  EXPECT_EQ(RealFileSystem().kind(folder.path() / "late"), FileKind::kFile);
}

TEST_F(ProcessInterrupt, KillsWhatDoesNotEndByItself) {
  Tripwire tripwire;
  const auto result = run_process(shell("trap '' TERM; kill -INT $PPID; sleep 1000; sleep 1000"));
  ASSERT_FALSE(result);
  EXPECT_TRUE(tripwire.all_descendants_end());
}

TEST_F(ProcessInterrupt, LeavesTheHandlersAsTheyWere) {
  ASSERT_TRUE(run_process(shell("true")).value().ok());
  struct sigaction now {};
  ASSERT_EQ(::sigaction(SIGINT, nullptr, &now), 0);
  EXPECT_EQ(now.sa_handler, SIG_DFL);
}

TEST_F(ProcessInterrupt, ObeysNohup) {
  std::signal(SIGHUP, SIG_IGN);
  const auto result = run_process(shell("kill -HUP $PPID; echo still here"));
  EXPECT_EQ(result.value().standard_output, "still here\n");
  struct sigaction now {};
  ASSERT_EQ(::sigaction(SIGHUP, nullptr, &now), 0);
  EXPECT_EQ(now.sa_handler, SIG_IGN);
}

}  // namespace
}  // namespace tfaot::toolkit
