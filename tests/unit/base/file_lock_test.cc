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

namespace tfaot::testing {
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

// The child of a killed process may still write where the lock is for.
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
                ": is no file of its own, so it cannot be the work folder's lock\n"
                "  it is a link or a folder, or another file has this name, too: remove it");
  EXPECT_EQ(fs.read(folder.path() / "precious").value(), "text");
  ASSERT_TRUE(fs.remove_all(file));
  ASSERT_EQ(::mkfifo(file.c_str(), 0666), 0);
  EXPECT_FALSE(FileLock::acquire(file, {}));
  ASSERT_TRUE(fs.remove_all(file));
  ASSERT_TRUE(fs.replace_symlink("precious", file));
  EXPECT_FALSE(FileLock::acquire(file, {}));
}

TEST(FileLock, SaysWhatToDoAboutTheVeryFailure) {
  const TemporaryFolder folder;
  const auto lock = FileLock::acquire(folder.path() / std::string(300, 'x'), {.name = "the lock"});
  ASSERT_FALSE(lock);
  EXPECT_THAT(lock.error().text(), ::testing::HasSubstr(": cannot open the lock: File name too long"
                                                        "\n  choose a folder with a shorter path"));
}

TEST(RemoveHalfWritten, KnowsItsOwnFiles) {
  const TemporaryFolder folder;
  RealFileSystem fs;
  const Status halfway = fs.write_chunks(folder.path() / "file", [&](const ChunkSink& sink) {
    EXPECT_TRUE(sink("half"));
    EXPECT_EQ(fs.list(folder.path()).value().size(), 1U);
    EXPECT_TRUE(remove_half_written(fs, folder.path()));
    EXPECT_THAT(fs.list(folder.path()).value(), ::testing::IsEmpty());
    return Status(fail(Error("enough")));
  });
  EXPECT_FALSE(halfway);
  ASSERT_TRUE(fs.replace_atomically(folder.path() / "file", "whole"));
  EXPECT_TRUE(remove_half_written(fs, folder.path()));
  EXPECT_TRUE(remove_half_written(fs, folder.path() / "missing"));
  EXPECT_THAT(fs.list(folder.path()).value(), ::testing::ElementsAre("file"));
}

}  // namespace
}  // namespace tfaot::testing
