// SPDX-License-Identifier: Apache-2.0
// After a kill at any change, users see the old state or the new one: CMake's users through
// `current`, scram's through the tool file. The next install repairs the rest. Tested in memory for
// every change, and on the disk with real processes and SIGKILL.
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "install_samples.h"
#include "tests/support/forwarding_file_system.h"
#include "tests/support/memory_file_system.h"
#include "tests/support/temporary_folder.h"
#include "tfaot/base/real_file_system.h"
#include "tfaot/base/text.h"

namespace tfaot::toolkit::testing {
namespace {

using ::testing::AnyOf;

struct KilledChange {
  std::string name;
  std::vector<SamplePackage> before;  // installed, the last one is current
  SamplePackage after;
};

const std::vector<KilledChange> kKilledChanges = {
    {"first install", {}, {}},
    {"new version", {{}}, {.version = "1.1.0", .object = "new"}},
    {"replaced version", {{}}, {.object = "other code"}},
    {"replaced and made current", {{}, {.version = "2.0.0"}}, {.object = "other code"}},
    {"back to an older version", {{}, {.version = "2.0.0"}}, {}},
};

AreaView old_view(const KilledChange& change, const Path& area) {
  return change.before.empty() ? AreaView() : expected_view(change.before.back(), area);
}

// scram's users see the change with the last step.
void expect_old_or_new(const FileSystem& fs, const KilledChange& change, const Path& area,
                       std::size_t kill_at) {
  const AreaView before = old_view(change, area);
  const AreaView after = expected_view(change.after, area);
  AreaView between = after;
  between.tool_file = before.tool_file;
  EXPECT_THAT(view_of(fs, area), AnyOf(before, between, after))
      << change.name << ", killed at change " << kill_at;
}

void expect_whole(const FileSystem& fs, const KilledChange& change, const Path& area) {
  EXPECT_EQ(view_of(fs, area), expected_view(change.after, area)) << change.name;
  const auto list = list_installed(fs, area);
  ASSERT_TRUE(list) << list.error().text();
  for (const Error& broken : list->broken) ADD_FAILURE() << broken.text();
}

TEST(Kill, InMemoryAtEveryChange) {
  const InstallOptions options{.area = "/area", .replace = true};
  for (const KilledChange& change : kKilledChanges) {
    bool finished = false;
    for (std::size_t kill_at = 1; !finished; ++kill_at) {
      MemoryFileSystem fs;
      for (const SamplePackage& package : change.before) {
        ASSERT_TRUE(install_sample(fs, package, options));
      }
      fs.inject({.change = kill_at, .all_after = true});
      finished = install_sample(fs, change.after, options).has_value() && fs.changes() < kill_at;
      expect_old_or_new(fs, change, "/area", kill_at);

      fs.inject({.change = 1000});
      ASSERT_TRUE(remove_leftovers(fs, "/area"));  // as AreaLock::acquire() does
      const auto repaired = install_sample(fs, change.after, options);
      ASSERT_TRUE(repaired) << repaired.error().text();
      expect_whole(fs, change, "/area");
      ASSERT_LT(kill_at, 80U);
    }
  }
}

// Kills its own process before the chosen change.
class SuicidalFileSystem final : public ForwardingFileSystem {
 public:
  SuicidalFileSystem(FileSystem& target, std::size_t kill_at)
      : ForwardingFileSystem(target), left_(kill_at) {}

  Status write_chunks(const Path& path, const std::function<Status(const ChunkSink&)>& producer,
                      Durability durability) override {
    count();
    return ForwardingFileSystem::write_chunks(path, producer, durability);
  }
  Status create_directories(const Path& path) override {
    count();
    return ForwardingFileSystem::create_directories(path);
  }
  Status rename(const Path& from, const Path& to) override {
    count();
    return ForwardingFileSystem::rename(from, to);
  }
  Status exchange(const Path& first, const Path& second) override {
    count();
    return ForwardingFileSystem::exchange(first, second);
  }
  Status replace_symlink(const Path& link_target, const Path& link) override {
    count();
    return ForwardingFileSystem::replace_symlink(link_target, link);
  }
  Status remove_all(const Path& path) override {
    count();
    // Writes half of it, like a kill in the middle.
    if (left_ == 1) static_cast<void>(ForwardingFileSystem::remove_all(path / "lib"));
    return ForwardingFileSystem::remove_all(path);
  }

 private:
  void count() {
    if (--left_ == 0) ::raise(SIGKILL);
  }
  std::size_t left_;
};

// Exit code of a child that installs with the lock held: 0 done, 1 failed, -1 killed.
int install_in_child(const SamplePackage& package, const InstallOptions& options,
                     std::size_t kill_at) {
  const pid_t child = ::fork();
  if (child == 0) {
    RealFileSystem real;
    SuicidalFileSystem fs(real, kill_at);
    const auto lock = AreaLock::acquire(options.area);
    ::_exit(lock && install_sample(fs, package, options) ? 0 : 1);
  }
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

class KillOnTheDisk : public ::testing::TestWithParam<KilledChange> {};
INSTANTIATE_TEST_SUITE_P(Changes, KillOnTheDisk,
                         ::testing::Values(kKilledChanges[0], kKilledChanges[2]),
                         [](const auto& test) { return replace_all(test.param.name, " ", "_"); });

TEST_P(KillOnTheDisk, LeavesOldOrNew) {
  const KilledChange& change = GetParam();
  const TemporaryFolder folder;
  const Path area = folder.path() / "area";
  const Path before = folder.path() / "before";
  const InstallOptions options{.area = area, .replace = true};
  RealFileSystem fs;
  ASSERT_TRUE(fs.create_directories(area));
  for (const SamplePackage& package : change.before) {
    ASSERT_TRUE(install_sample(fs, package, options));
  }
  ASSERT_TRUE(fs.rename(area, before));

  int exit_code = -1;
  for (std::size_t kill_at = 1; exit_code != 0; ++kill_at) {
    std::filesystem::remove_all(area);
    using Copy = std::filesystem::copy_options;
    std::filesystem::copy(before, area, Copy::recursive | Copy::copy_symlinks);
    exit_code = install_in_child(change.after, options, kill_at);
    ASSERT_NE(exit_code, 1) << kill_at;
    expect_old_or_new(fs, change, area, kill_at);

    ASSERT_EQ(install_in_child(change.after, options, 1000), 0);  // the kernel freed the lock
    expect_whole(fs, change, area);
    EXPECT_THAT(fs.list(area / ".tfaot").value(), ::testing::ElementsAre("history.jsonl", "lock"));
    ASSERT_LT(kill_at, 80U);
  }
}

}  // namespace
}  // namespace tfaot::toolkit::testing
