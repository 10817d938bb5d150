// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/file.h>
#include <unistd.h>

#include <atomic>
#include <thread>
#include <vector>

#include "tests/support/temporary_folder.h"
#include "tfaot/base/real_file_system.h"
#include "tfaot/install/install.h"

namespace tfaot::toolkit::testing {
namespace {

// Whether somebody holds the lock exclusively, checked through a separate open file.
bool is_held(const Path& area) {
  const int descriptor = ::open((area / ".tfaot/lock").c_str(), O_RDWR | O_CLOEXEC);
  EXPECT_GE(descriptor, 0);
  const bool held = ::flock(descriptor, LOCK_SH | LOCK_NB) != 0;
  ::close(descriptor);
  return held;
}

TEST(AreaLock, MakesTheAreaAndIsHeldUntilItsEnd) {
  const TemporaryFolder folder;
  const Path area = folder.path() / "new/area";
  {
    auto lock = AreaLock::acquire(area);
    ASSERT_TRUE(lock) << lock.error().text();
    EXPECT_TRUE(is_held(area));
    lock->keep();
  }
  EXPECT_FALSE(is_held(area));
}

TEST(AreaLock, RemovesWhatItMadeUnlessSomethingWasInstalled) {
  const TemporaryFolder folder;
  const RealFileSystem fs;
  ASSERT_TRUE(AreaLock::acquire(folder.path() / "new/area"));
  EXPECT_EQ(fs.kind(folder.path() / "new"), FileKind::kMissing);
  ASSERT_TRUE(AreaLock::acquire(folder.path()));
  EXPECT_THAT(fs.list(folder.path()).value(), ::testing::IsEmpty());
  AreaLock::acquire(folder.path())->keep();
  ASSERT_TRUE(AreaLock::acquire(folder.path()));
  EXPECT_EQ(fs.kind(folder.path() / ".tfaot/lock"), FileKind::kFile);
}

// The first install into an area fails while others wait for it: each of them must still get the
// lock.
TEST(AreaLock, IsHeldByOneThoughTheAreaComesAndGoes) {
  const TemporaryFolder folder;
  std::atomic<int> holders = 0;
  const auto install_in_vain = [&] {
    for (int i = 0; i < 200; ++i) {
      const auto lock = AreaLock::acquire(folder.path() / "new/area");
      ASSERT_TRUE(lock) << lock.error().text();
      EXPECT_EQ(++holders, 1);
      std::this_thread::yield();
      --holders;
    }
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back(install_in_vain);
  for (std::thread& thread : threads) thread.join();
}

TEST(AreaLock, MovesWithItsOwner) {
  const TemporaryFolder folder;
  auto first = AreaLock::acquire(folder.path() / "a").value();
  auto second = AreaLock::acquire(folder.path() / "b").value();
  first.keep();
  second.keep();
  {
    AreaLock third = std::move(first);
    EXPECT_TRUE(is_held(folder.path() / "a"));
    second = std::move(third);
  }
  EXPECT_TRUE(is_held(folder.path() / "a"));
  EXPECT_FALSE(is_held(folder.path() / "b"));
}

TEST(AreaLock, RemovesLeftovers) {
  const TemporaryFolder folder;
  RealFileSystem fs;
  ASSERT_TRUE(fs.replace_atomically(folder.path() / ".tfaot/staging-x-1/lib/a.o", "half"));
  const auto lock = AreaLock::acquire(folder.path());
  ASSERT_TRUE(lock);
  EXPECT_THAT(fs.list(folder.path() / ".tfaot").value(), ::testing::ElementsAre("lock"));
}

TEST(AreaLock, SaysWhyItCannotBeMade) {
  const TemporaryFolder folder;
  RealFileSystem fs;
  const std::string area = folder.path().string();
  ASSERT_TRUE(fs.create_directories(folder.path() / "a/.tfaot/lock"));
  EXPECT_EQ(AreaLock::acquire(folder.path() / "a").error().text(),
            area +
                "/a/.tfaot/lock: is not a separate file, so it cannot be the release area's lock\n"
                "  it is a link or a folder, or it has a second name: remove it");
  ASSERT_TRUE(fs.replace_symlink("/tmp", folder.path() / "b/.tfaot"));
  EXPECT_EQ(AreaLock::acquire(folder.path() / "b").error().text(),
            area +
                "/b/.tfaot: not a folder, so nothing can be put below it\n"
                "  links out of " +
                area +
                "/b are not followed\n"
                "  move it away, or choose another area");
  ASSERT_TRUE(fs.replace_atomically(folder.path() / "c", "a file"));
  EXPECT_EQ(AreaLock::acquire(folder.path() / "c").error().text(),
            area + "/c/.tfaot: cannot make the folder: Not a directory");
}

}  // namespace
}  // namespace tfaot::toolkit::testing
