// SPDX-License-Identifier: Apache-2.0
// What MemoryFileSystem has beyond the common guarantees of file_system_test.cc: its faults.
#include "tests/support/memory_file_system.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace tfaot::toolkit {
namespace {

std::string error_of(const Status& status) { return status ? "no error" : status.error().text(); }

TEST(MemoryFileSystem, StartsWithGivenFiles) {
  const testing::MemoryFileSystem fs{{"/a/b", "1"}, {"c", "2"}};
  EXPECT_EQ(fs.read("/a/b").value(), "1");
  EXPECT_EQ(fs.read("/c").value(), "2");
  EXPECT_EQ(fs.changes(), 0U);
  EXPECT_THROW((testing::MemoryFileSystem{{"/a", ""}, {"/a/b", ""}}), std::invalid_argument);
}

TEST(MemoryFileSystem, FailsTheChosenChangeAsAFullDiskDoes) {
  testing::MemoryFileSystem fs{{"/f", "old"}};
  fs.inject({.change = 2});
  EXPECT_TRUE(fs.create_directories("/d"));
  EXPECT_EQ(error_of(fs.replace_atomically("/f", "new")),
            "/f: cannot write: No space left on device\n"
            "  free some space on that disk, or choose a folder on another one, and run again");
  EXPECT_EQ(fs.read("/f").value(), "old");
  EXPECT_TRUE(fs.replace_atomically("/f", "new"));
  EXPECT_EQ(fs.changes(), 3U);
}

TEST(MemoryFileSystem, FailsEveryKindOfChangeAndAllAfter) {
  testing::MemoryFileSystem fs{{"/f", "old"}, {"/d/g", ""}};
  fs.inject({.change = 1, .all_after = true, .reason = EINVAL});
  EXPECT_EQ(error_of(fs.replace_atomically("/f", "x")), "/f: cannot write: Invalid argument");
  EXPECT_EQ(error_of(fs.copy_file("/f", "/h")), "/h: cannot write: Invalid argument");
  EXPECT_EQ(error_of(fs.create_directories("/e")), "/e: cannot make the folder: Invalid argument");
  EXPECT_EQ(error_of(fs.rename("/f", "/h")), "/f: cannot rename to '/h': Invalid argument");
  EXPECT_EQ(error_of(fs.replace_symlink("f", "/l")), "/l: cannot make the link: Invalid argument");
  EXPECT_EQ(error_of(fs.remove_all("/d")), "/d: cannot remove: Invalid argument");
  EXPECT_EQ(fs.changes(), 6U);
  EXPECT_EQ(list_files_recursively(fs, "/").value(), (std::vector<std::string>{"d/g", "f"}));
  EXPECT_EQ(fs.read("/f").value(), "old");
}

TEST(MemoryFileSystem, SaysWhatToDoWhereSomethingCanBeDone) {
  const auto note_for = [](int reason) {
    testing::MemoryFileSystem fs;
    fs.inject({.change = 1, .reason = reason});
    return error_of(fs.replace_atomically("/f", "x"));
  };
  EXPECT_EQ(note_for(EDQUOT),
            "/f: cannot write: Disk quota exceeded\n"
            "  your quota there is used up: remove files, or choose another folder, and run again");
  EXPECT_EQ(note_for(EACCES),
            "/f: cannot write: Permission denied\n"
            "  check the permissions and the owner of the path and of the folders above it");
  EXPECT_EQ(note_for(EPERM),
            "/f: cannot write: Operation not permitted\n"
            "  check the permissions and the owner of the path and of the folders above it");
  EXPECT_EQ(note_for(EROFS),
            "/f: cannot write: Read-only file system\n"
            "  that disk is mounted read-only: choose a folder on another one");
}

}  // namespace
}  // namespace tfaot::toolkit
