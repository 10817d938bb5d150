// SPDX-License-Identifier: Apache-2.0
// Signals while there is something to clean up: they are recorded, and then every change except
// cleaning up fails.
#include "tfaot/base/interrupts.h"

#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <optional>
#include <thread>

#include "tests/support/temporary_folder.h"
#include "tfaot/base/file_lock.h"
#include "tfaot/base/real_file_system.h"

namespace tfaot::toolkit::testing {
namespace {

constexpr const char* kInterrupted = "interrupted by signal 2 (Interrupt)";

class Interrupts : public ::testing::Test {
 protected:
  Interrupts() { forget_interrupts(); }
  ~Interrupts() override { forget_interrupts(); }

  const TemporaryFolder folder_;
  const Path file_ = folder_.path() / "file";
  RealFileSystem fs_;
};

TEST_F(Interrupts, EndTheProcessAtOnceWithoutAWatch) {
  const pid_t child = ::fork();
  if (child == 0) {
    { const InterruptWatch watch; }
    ::raise(SIGTERM);
    ::_exit(0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
}

TEST_F(Interrupts, AreNotedAsLongAsOneWatchLives) {
  std::optional<InterruptWatch> first(std::in_place);
  const InterruptWatch second;
  first.reset();
  EXPECT_TRUE(check_interrupts());
  ::raise(SIGHUP);
  ::raise(SIGINT);
  EXPECT_EQ(interrupting_signal(), SIGHUP);  // the first one
  EXPECT_EQ(check_interrupts().error().text(), "interrupted by signal 1 (Hangup)");
}

TEST_F(Interrupts, AreAllThatUsuallyEndAProcess) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE}) {
    forget_interrupts();
    const InterruptWatch watch;
    ::raise(signal);
    EXPECT_EQ(interrupting_signal(), signal);
    EXPECT_FALSE(check_interrupts());
  }
}

TEST_F(Interrupts, AreIgnoredWhereTheyWereIgnored) {
  std::signal(SIGHUP, SIG_IGN);
  const InterruptWatch watch;
  ::raise(SIGHUP);
  EXPECT_EQ(interrupting_signal(), 0);
}

TEST_F(Interrupts, StopEveryChangeButRemovals) {
  const InterruptWatch watch;
  ASSERT_TRUE(fs_.replace_atomically(file_, "old"));
  ::raise(SIGINT);
  const Path other = folder_.path() / "other";
  const auto produce = [](const ChunkSink& sink) { return sink("new"); };
  for (const Status& changed :
       {fs_.replace_atomically(file_, "new"), fs_.write_chunks(file_, produce),
        fs_.write_chunks(file_, produce, Durability::kScratch), fs_.copy_file(file_, other),
        fs_.move_file(file_, other), fs_.rename(file_, other), fs_.exchange(file_, file_),
        fs_.create_directories(other), fs_.replace_symlink("file", other), fs_.mark_used(file_)}) {
    ASSERT_FALSE(changed);
    EXPECT_EQ(changed.error().text(), kInterrupted);
  }
  EXPECT_FALSE(fs_.claim(other));
  EXPECT_FALSE(fs_.read(file_));
  EXPECT_THAT(fs_.list(folder_.path()).value(), ::testing::ElementsAre("file"));
  EXPECT_TRUE(fs_.remove_all(file_));
  EXPECT_FALSE(FileLock::acquire(folder_.path() / "a/lock", {}));
  EXPECT_THAT(fs_.list(folder_.path()).value(), ::testing::IsEmpty());
}

TEST_F(Interrupts, LeaveNoHalfWrittenFile) {
  const Status written = fs_.write_chunks(file_, [](const ChunkSink& sink) -> Status {
    TFAOT_TRY(sink("half"));
    ::raise(SIGINT);
    return sink("more");
  });
  EXPECT_EQ(written.error().text(), kInterrupted);
  EXPECT_THAT(fs_.list(folder_.path()).value(), ::testing::IsEmpty());
}

TEST_F(Interrupts, WaitUntilWhatIsShortIsDone) {
  const InterruptWatch watch;
  ::raise(SIGINT);
  {
    const DespiteInterrupts commit;
    EXPECT_TRUE(fs_.replace_atomically(file_, "new"));
    std::thread other([] { EXPECT_FALSE(check_interrupts()); });  // of this thread alone
    other.join();
  }
  EXPECT_FALSE(fs_.replace_atomically(file_, "newer"));
  EXPECT_EQ(interrupting_signal(), SIGINT);
}

TEST_F(Interrupts, EndTheWaitForALock) {
  const Path lock = folder_.path() / "work/lock";
  const auto held = FileLock::acquire(lock, {});
  ASSERT_TRUE(held);
  const auto interrupt = [](pid_t) { ::raise(SIGINT); };
  const auto waiting = FileLock::acquire(lock, {.on_wait = interrupt});
  ASSERT_FALSE(waiting);
  EXPECT_EQ(waiting.error().text(), kInterrupted);
  EXPECT_EQ(fs_.kind(lock), FileKind::kFile);
}

}  // namespace
}  // namespace tfaot::toolkit::testing
