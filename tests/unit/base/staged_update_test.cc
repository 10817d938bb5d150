// SPDX-License-Identifier: Apache-2.0
// Renames and the updates made from them: all or nothing, whichever change of the disk fails.
#include "tfaot/base/staged_update.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/memory_file_system.h"

namespace tfaot::toolkit {
namespace {

using ::testing::ElementsAre;

// Replaces a file and a link, makes a file in a new folder, exchanges a folder, removes a file.
Status update_all(FileSystem& fs) {
  StagedUpdate update(fs, "/work");
  TFAOT_TRY(update.put_file("new", "/area/file"));
  TFAOT_TRY(update.put_link("2", "/area/current"));
  TFAOT_TRY(update.put_file("new", "/area/deep/er/file"));
  TFAOT_TRY(update.put_folder("/staging", "/area/folder", "choose another folder"));
  TFAOT_TRY(update.take_out("/area/gone"));
  return update.commit();
}

class StagedUpdateTest : public ::testing::Test {
 protected:
  static void fill(FileSystem& fs) {
    for (const char* old : {"/area/file", "/area/gone", "/area/folder/a"}) {
      ASSERT_TRUE(fs.replace_atomically(old, "old"));
    }
    ASSERT_TRUE(fs.replace_atomically("/staging/b", "new"));
    ASSERT_TRUE(fs.replace_symlink("1", "/area/current"));
  }
  void SetUp() override { fill(fs); }

  testing::MemoryFileSystem fs;
};

// Everything that users see: path, then contents or a link's target.
std::vector<std::string> state(const FileSystem& fs) {
  std::vector<std::string> lines = {fs.read_symlink("/area/current").value().string()};
  const auto files = list_files_recursively(fs, "/").value();
  for (const std::string& file : files) {
    lines.push_back(file + " " + fs.read("/" + file).value());
  }
  if (fs.kind("/area/deep") != FileKind::kMissing) lines.push_back("deep");
  return lines;
}

const std::vector<std::string> kOld = {"1", "area/file old", "area/folder/a old", "area/gone old",
                                       "staging/b new"};

TEST_F(StagedUpdateTest, RenamesAllAndLeavesNoWorkFolder) {
  ASSERT_TRUE(update_all(fs));
  EXPECT_THAT(state(fs), ElementsAre("2", "area/deep/er/file new", "area/file new",
                                     "area/folder/b new", "staging/a old", "deep"));
  EXPECT_EQ(fs.kind("/work"), FileKind::kMissing);
}

TEST_F(StagedUpdateTest, TakesAllBackWhicheverChangeFails) {
  for (std::size_t change = 1;; ++change) {
    testing::MemoryFileSystem disk;
    fill(disk);
    disk.inject({.change = change});
    const Status updated = update_all(disk);
    if (updated && disk.changes() < change) break;
    ASSERT_LT(change, 60U);
    if (updated) continue;  // what failed was removing the work folder
    EXPECT_EQ(state(disk), kOld) << change << ": " << updated.error().text();
  }
}

TEST_F(StagedUpdateTest, LeavesAloneWhatIsAsItShouldBe) {
  fs.inject({.change = 1});
  StagedUpdate update(fs, "/work");
  ASSERT_TRUE(update.put_file("old", "/area/file"));
  ASSERT_TRUE(update.put_link("1", "/area/current"));
  ASSERT_TRUE(update.commit());
  EXPECT_EQ(fs.changes(), 0U);
}

TEST_F(StagedUpdateTest, ReplacesNoFolderByAFile) {
  StagedUpdate update(fs, "/work");
  const Status put = update.put_file("new", "/area/folder");
  ASSERT_FALSE(put);
  EXPECT_EQ(put.error().text(),
            "/area/folder: neither a file nor a link, so it is not replaced\n"
            "  move it away, then run this again");
}

TEST_F(StagedUpdateTest, SaysWhatToDoWhereFoldersCannotBeExchanged) {
  StagedUpdate update(fs, "/work");
  ASSERT_TRUE(update.put_folder("/staging", "/area/folder", "choose another folder"));
  fs.inject({.change = 1, .reason = EINVAL});
  const Status committed = update.commit();
  ASSERT_FALSE(committed);
  EXPECT_EQ(committed.error().text(),
            "/staging: cannot exchange with '/area/folder': Invalid argument\n"
            "  choose another folder");
}

TEST(Renames, StayWhereTheyCannotBeTakenBack) {
  testing::MemoryFileSystem fs{{"/a", "1"}, {"/b", "2"}};
  Renames renames(fs);
  ASSERT_TRUE(renames.rename("/a", "/x"));
  ASSERT_TRUE(renames.rename("/b", "/y"));
  fs.inject({.change = 1});
  EXPECT_FALSE(renames.take_back());
  renames.keep();
  EXPECT_EQ(list_files_recursively(fs, "/").value(), (std::vector<std::string>{"x", "y"}));
}

}  // namespace
}  // namespace tfaot::toolkit
