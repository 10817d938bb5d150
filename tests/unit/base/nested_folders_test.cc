// SPDX-License-Identifier: Apache-2.0
// How often a walk through folders asks the disk.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/forwarding_file_system.h"
#include "tests/support/temporary_folder.h"
#include "tfaot/base/file_system.h"
#include "tfaot/base/real_file_system.h"

namespace tfaot::toolkit {
namespace {

using ::testing::ElementsAre;

class CountingFileSystem final : public testing::ForwardingFileSystem {
 public:
  using ForwardingFileSystem::ForwardingFileSystem;
  Result<FileKind> look(const Path& path, Links links) const override {
    ++looks;
    return ForwardingFileSystem::look(path, links);
  }
  mutable std::size_t looks = 0;
};

// A folder's depth must not count twice: 1,000 nested folders took a minute.
TEST(FileSystem, NestedFoldersAreReadInTimeOfTheirNumber) {
  constexpr std::size_t kDepth = 300;
  const testing::TemporaryFolder folder;
  RealFileSystem disk;
  CountingFileSystem fs(disk);
  std::string deepest;
  for (std::size_t i = 0; i < kDepth; ++i) deepest += "a/";
  ASSERT_TRUE(fs.replace_atomically(folder.path() / deepest / "file", ""));
  for (const FolderLinks links : {FolderLinks::kSkip, FolderLinks::kFollow}) {
    fs.looks = 0;
    EXPECT_THAT(list_files_recursively(fs, folder.path(), links).value(),
                ElementsAre(deepest + "file"));
    EXPECT_LT(fs.looks, 3 * kDepth);
  }
}

}  // namespace
}  // namespace tfaot::toolkit
