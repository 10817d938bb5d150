// SPDX-License-Identifier: Apache-2.0
#include "tfaot/base/file_lock.h"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <thread>

#include "tests/support/temporary_folder.h"
#include "tfaot/base/real_file_system.h"

namespace tfaot::toolkit::testing {
namespace {

TEST(FileLock, RemovesWhatItMade) {
  const TemporaryFolder folder;
  const RealFileSystem fs;
  auto lock = FileLock::acquire(folder.path() / "a/b/work/lock", {});
  ASSERT_TRUE(lock) << lock.error().text();
  EXPECT_TRUE(lock->file_is_new());
  lock->remove();
  EXPECT_THAT(fs.list(folder.path()).value(), ::testing::IsEmpty());
}

TEST(FileLock, LeavesFoldersThatOthersUse) {
  const TemporaryFolder folder;
  RealFileSystem fs;
  auto lock = FileLock::acquire(folder.path() / "a/work/lock", {});
  ASSERT_TRUE(lock);
  ASSERT_TRUE(fs.replace_atomically(folder.path() / "a/result", ""));
  lock->remove();
  EXPECT_THAT(fs.list(folder.path() / "a").value(), ::testing::ElementsAre("result"));
}

// A process that dies leaves the file, but not the lock.
TEST(FileLock, IsReleasedByDeath) {
  const TemporaryFolder folder;
  const Path file = folder.path() / "lock";
  const pid_t child = ::fork();
  if (child == 0) {
    const auto lock = FileLock::acquire(file, {});
    ::raise(SIGKILL);
  }
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  bool waited = false;
  FileLock::Options options;
  options.on_wait = [&](pid_t) { waited = true; };
  auto lock = FileLock::acquire(file, options);
  ASSERT_TRUE(lock);
  EXPECT_FALSE(waited);
  EXPECT_FALSE(lock->file_is_new());
}

// The child of a killed process may still write in the folder that the lock protects.
bool is_held_by_child_of_dead_process(const FileLock::Options& options) {
  const TemporaryFolder folder;
  const Path file = folder.path() / "lock";
  std::array<int, 2> pipe{};
  if (::pipe(pipe.data()) != 0) return false;
  const pid_t holder = ::fork();
  if (holder == 0) {
    const auto lock = FileLock::acquire(file, options);
    if (::fork() == 0) {
      ::dup2(pipe[1], STDOUT_FILENO);
      ::execlp("sh", "sh", "-c", "echo $$; exec sleep 600", nullptr);
    }
    ::pause();
  }
  ::close(pipe[1]);
  std::array<char, 16> child{};
  EXPECT_GT(::read(pipe[0], child.data(), child.size() - 1), 0);
  ::kill(holder, SIGKILL);
  ::waitpid(holder, nullptr, 0);
  bool waited = false;
  FileLock::Options then;
  then.on_wait = [&](pid_t process) {
    EXPECT_EQ(process, holder);
    waited = true;
    ::kill(std::atoi(child.data()), SIGKILL);
  };
  EXPECT_TRUE(FileLock::acquire(file, then));
  if (!waited) ::kill(std::atoi(child.data()), SIGKILL);
  ::close(pipe[0]);
  return waited;
}

TEST(FileLock, LastsAsLongAsChildrenWhereThatIsWanted) {
  EXPECT_FALSE(is_held_by_child_of_dead_process({}));
  FileLock::Options options;
  options.outlived_by_children = true;
  EXPECT_TRUE(is_held_by_child_of_dead_process(options));
}

TEST(FileLock, SaysWhomItWaitsFor) {
  const TemporaryFolder folder;
  const Path file = folder.path() / "lock";
  auto first = FileLock::acquire(file, {});
  ASSERT_TRUE(first);
  std::atomic<pid_t> holder = -1;
  FileLock::Options options;
  options.on_wait = [&](pid_t process) { holder = process; };
  std::thread second([&] { ASSERT_TRUE(FileLock::acquire(file, options)); });
  while (holder == -1) std::this_thread::yield();
  EXPECT_EQ(holder, ::getpid());
  first->remove();
  second.join();
}

TEST(FileLock, RefusesASecondNameOfAnotherFile) {
  const TemporaryFolder folder;
  RealFileSystem fs;
  const Path file = folder.path() / "lock";
  ASSERT_TRUE(fs.replace_atomically(folder.path() / "precious", "text"));
  std::filesystem::create_hard_link(folder.path() / "precious", file);
  EXPECT_EQ(FileLock::acquire(file, {.name = "the work folder's lock"}).error().text(),
            file.string() +
                ": is not a separate file, so it cannot be the work folder's lock\n"
                "  it is a link or a folder, or it has a second name: remove it");
  EXPECT_EQ(fs.read(folder.path() / "precious").value(), "text");
  ASSERT_TRUE(fs.remove_all(file));
  ASSERT_EQ(::mkfifo(file.c_str(), 0666), 0);
  EXPECT_FALSE(FileLock::acquire(file, {}));
  ASSERT_TRUE(fs.remove_all(file));
  ASSERT_TRUE(fs.replace_symlink("precious", file));
  EXPECT_FALSE(FileLock::acquire(file, {}));
}

TEST(FileLock, AFailureLeavesNoFolder) {
  const TemporaryFolder folder;
  const RealFileSystem fs;
  const Path name(std::string(300, 'x'));
  const auto lock = FileLock::acquire(folder.path() / "a/b" / name, {.name = "the lock"});
  ASSERT_FALSE(lock);
  EXPECT_THAT(lock.error().text(), ::testing::HasSubstr(": cannot open the lock: File name too long"
                                                        "\n  choose a folder with a shorter path"));
  EXPECT_THAT(fs.list(folder.path()).value(), ::testing::IsEmpty());
}

// A writer that is killed, or a living one; its file exists when this returns.
pid_t start_writer(const Path& folder, bool killed) {
  std::array<int, 2> pipe{};
  if (::pipe(pipe.data()) != 0) return -1;
  const pid_t writer = ::fork();
  if (writer == 0) {
    RealFileSystem fs;
    static_cast<void>(fs.write_chunks(folder / "file", [&](const ChunkSink& sink) {
      static_cast<void>(sink("half"));
      if (killed) ::raise(SIGKILL);
      ::close(pipe[1]);
      ::sleep(600);
      return Status();
    }));
  }
  ::close(pipe[1]);
  char end = 0;
  EXPECT_EQ(::read(pipe[0], &end, 1), 0);
  ::close(pipe[0]);
  return writer;
}

TEST(RemoveHalfWritten, LeavesWhatALivingProcessWrites) {
  const TemporaryFolder folder;
  RealFileSystem fs;
  const pid_t dead = start_writer(folder.path(), true);
  const pid_t alive = start_writer(folder.path(), false);
  ASSERT_EQ(::waitpid(dead, nullptr, 0), dead);
  ASSERT_TRUE(fs.replace_atomically(folder.path() / "mine", "whole"));
  EXPECT_EQ(fs.list(folder.path()).value().size(), 3U);
  EXPECT_TRUE(fs.remove_half_written(folder.path()));
  EXPECT_EQ(fs.list(folder.path()).value().size(), 2U);
  ::kill(alive, SIGKILL);
  ASSERT_EQ(::waitpid(alive, nullptr, 0), alive);
  EXPECT_TRUE(fs.remove_half_written(folder.path()));
  EXPECT_THAT(fs.list(folder.path()).value(), ::testing::ElementsAre("mine"));
  EXPECT_TRUE(fs.remove_half_written(folder.path() / "missing"));
}

TEST(RemoveHalfWritten, LeavesWhatOthersMade) {
  const TemporaryFolder folder;
  RealFileSystem fs;
  const std::vector<std::string> names = {".tfaot-.tmp", ".tfaot-0123456789.tmp",
                                          ".tfaot-0123456G.tmp", ".tfaot-notes.tmp"};
  for (const std::string& name : names)
    ASSERT_TRUE(fs.replace_atomically(folder.path() / name, "x", Durability::kScratch));
  ASSERT_EQ(::mkfifo((folder.path() / ".tfaot-00000001.tmp").c_str(), 0666), 0);
  ASSERT_TRUE(fs.create_directories(folder.path() / ".tfaot-00000002.tmp"));
  ASSERT_TRUE(fs.replace_symlink("elsewhere", folder.path() / ".tfaot-00000003.tmp"));
  ASSERT_TRUE(
      fs.replace_atomically(folder.path() / ".tfaot-00000004.tmp", "ours", Durability::kScratch));
  EXPECT_TRUE(fs.remove_half_written(folder.path()));
  EXPECT_THAT(fs.list(folder.path()).value(),
              ::testing::ElementsAre(".tfaot-.tmp", ".tfaot-00000001.tmp", ".tfaot-00000002.tmp",
                                     ".tfaot-00000003.tmp", ".tfaot-0123456789.tmp",
                                     ".tfaot-0123456G.tmp", ".tfaot-notes.tmp"));
}

}  // namespace
}  // namespace tfaot::toolkit::testing
