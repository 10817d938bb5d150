// SPDX-License-Identifier: Apache-2.0
// What only a disk can show, beyond the common guarantees of file_system_test.cc.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>

#include "tests/support/executable_file.h"
#include "tests/support/temporary_folder.h"
#include "tfaot/base/real_file_system.h"

namespace tfaot::toolkit {
namespace {

using ::testing::ElementsAre;

// Within a scope, makes writes beyond `bytes` of a file fail (with EFBIG).
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    rlimit limited = before_;
    limited.rlim_cur = bytes;
    ::setrlimit(RLIMIT_FSIZE, &limited);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  void (*handler_)(int);
  rlimit before_{};
};

class RealFiles : public ::testing::Test {
 protected:
  Path at(const std::string& name) const { return folder_.path() / name; }
  mode_t mode(const std::string& name) const {
    struct stat status {};
    EXPECT_EQ(::stat(at(name).c_str(), &status), 0);
    return status.st_mode & 07777;
  }

  testing::TemporaryFolder folder_;
  RealFileSystem fs_;
};

TEST_F(RealFiles, AReplacedFileKeepsItsMode) {
  ASSERT_TRUE(fs_.replace_atomically(at("file"), "old"));
  for (const mode_t expected : {0640U, 0755U, 0444U, 0666U}) {
    ASSERT_EQ(::chmod(at("file").c_str(), expected), 0);
    ASSERT_TRUE(fs_.replace_atomically(at("file"), "new"));
    EXPECT_EQ(mode("file"), expected);
  }
}

TEST_F(RealFiles, AFailedReplacementLeavesTheOldFileAndNothingElse) {
  ASSERT_TRUE(fs_.replace_atomically(at("file"), "old"));
  Status status;
  {
    const FileSizeLimit limit(1000);
    status = fs_.replace_atomically(at("file"), std::string(100'000, 'x'));
  }
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().text(), at("file").string() + ": cannot write: File too large");
  EXPECT_EQ(fs_.read(at("file")).value(), "old");
  EXPECT_THAT(fs_.list(folder_.path()).value(), ElementsAre("file"));
}

TEST_F(RealFiles, AFailedCopyLeavesTheOldFileAndNothingElse) {
  ASSERT_TRUE(fs_.replace_atomically(at("from"), std::string(100'000, 'x')));
  ASSERT_TRUE(fs_.replace_atomically(at("to"), "old"));
  Status status;
  {
    const FileSizeLimit limit(1000);
    status = fs_.copy_file(at("from"), at("to"));
  }
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().text(), at("to").string() + ": cannot write: File too large");
  EXPECT_EQ(fs_.read(at("to")).value(), "old");
  EXPECT_THAT(fs_.list(folder_.path()).value(), ElementsAre("from", "to"));
}

TEST_F(RealFiles, ReplacingGivesANewFileSoThatOpenReadersKeepTheOld) {
  ASSERT_TRUE(fs_.replace_atomically(at("file"), "old"));
  std::filesystem::create_hard_link(at("file"), at("reader"));
  ASSERT_TRUE(fs_.replace_atomically(at("file"), "new"));
  EXPECT_EQ(fs_.read(at("reader")).value(), "old");
}

TEST_F(RealFiles, ModesObeyTheUmask) {
  const mode_t before = ::umask(027);
  ASSERT_TRUE(fs_.replace_atomically(at("file"), "x"));
  testing::make_executable(at("file"));
  ASSERT_TRUE(fs_.copy_file(at("file"), at("copy")));
  ::umask(before);
  EXPECT_EQ(mode("file"), 0750U);
  EXPECT_EQ(mode("copy"), 0750U);
}

TEST_F(RealFiles, APipeIsRefusedInsteadOfWaitedFor) {
  ASSERT_EQ(::mkfifo(at("pipe").c_str(), 0600), 0);
  EXPECT_EQ(fs_.kind(at("pipe")), FileKind::kOther);
  EXPECT_EQ(fs_.read(at("pipe")).error().text(),
            at("pipe").string() + ": cannot read: Invalid argument");
}

TEST_F(RealFiles, ReadsFilesWhoseSizeIsNotKnownBefore) {
  EXPECT_GT(fs_.read("/proc/self/status").value().size(), 100U);
}

TEST_F(RealFiles, TakesBareNames) {
  const std::string name = "tfaot_real_file_system_test.tmp";
  ASSERT_TRUE(fs_.replace_atomically(name, "x"));
  EXPECT_EQ(fs_.read(name).value(), "x");
  ASSERT_TRUE(fs_.remove_all(name));
  EXPECT_EQ(fs_.kind(name), FileKind::kMissing);
}

}  // namespace
}  // namespace tfaot::toolkit
