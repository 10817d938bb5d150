// SPDX-License-Identifier: Apache-2.0
// Files on their way into a tree: scratch files, and files that are moved or copied.
#include <chrono>
#include <thread>

#include "any_file_system.h"

namespace tfaot::toolkit {
namespace {

using ::testing::ElementsAre;

template <class Side>
class FileMoves : public AnyFileSystem<Side> {};
TYPED_TEST_SUITE(FileMoves, Sides, SideNames);

TYPED_TEST(FileMoves, WritesScratchLikeAnyOtherFile) {
  ASSERT_TRUE(this->fs.replace_atomically(this->at("new/file"), "text", Durability::kScratch));
  EXPECT_EQ(this->read("new/file"), "text");
  const auto produce = [](const ChunkSink&) -> Status { return fail(Error("enough")); };
  EXPECT_EQ(
      this->error_of(this->fs.write_chunks(this->at("new/file"), produce, Durability::kScratch)),
      "enough");
  EXPECT_EQ(this->read("new/file"), "text");
  EXPECT_THAT(this->list("new"), ElementsAre("file"));
}

TYPED_TEST(FileMoves, ClaimsAFileOnce) {
  EXPECT_TRUE(this->fs.claim(this->at("new/file")).value());
  EXPECT_EQ(this->read("new/file"), "");
  this->write("new/file", "text");
  EXPECT_FALSE(this->fs.claim(this->at("new/file")).value());
  EXPECT_FALSE(this->fs.claim(this->at("new")).value());
  EXPECT_EQ(this->read("new/file"), "text");
  EXPECT_FALSE(this->fs.claim(this->at("new/file/below")));
}

TYPED_TEST(FileMoves, MovesFiles) {
  this->write("from", "text");
  this->write("there", "old");
  ASSERT_TRUE(this->fs.move_file(this->at("from"), this->at("new/file")));
  EXPECT_EQ(this->read("new/file"), "text");
  EXPECT_EQ(this->kind("from"), FileKind::kMissing);
  ASSERT_TRUE(this->fs.move_file(this->at("new/file"), this->at("there")));
  EXPECT_EQ(this->read("there"), "text");
  EXPECT_EQ(this->error_of(this->fs.move_file(this->at("no"), this->at("x"))),
            "ROOT/no: cannot read: No such file or directory");
  EXPECT_EQ(this->kind("x"), FileKind::kMissing);
}

TYPED_TEST(FileMoves, MovesWhatALinkLeadsToAsACopy) {
  this->write("file", "text");
  this->link("file", "link");
  ASSERT_TRUE(this->fs.move_file(this->at("link"), this->at("moved")));
  EXPECT_EQ(this->kind("moved"), FileKind::kFile);
  EXPECT_EQ(this->kind("link"), FileKind::kMissing);
  EXPECT_EQ(this->read("file"), "text");
}

TYPED_TEST(FileMoves, CopiesEntriesAsTheyAre) {
  this->write("file", "x");
  this->link("file", "link");
  this->side.make_executable(this->at("file"));
  const std::int64_t time = this->fs.last_used(this->at("file")).value();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));  // more than a tick of a disk's clock
  ASSERT_TRUE(this->fs.copy_entry(this->at("file"), this->at("new/file")));
  EXPECT_EQ(this->read("new/file"), "x");
  EXPECT_EQ(this->fs.last_used(this->at("new/file")).value(), time);
  EXPECT_TRUE(this->side.is_executable(this->at("new/file")));
  ASSERT_TRUE(this->fs.copy_entry(this->at("link"), this->at("file")));
  EXPECT_EQ(this->fs.read_symlink(this->at("file")).value(), "file");
  EXPECT_EQ(this->error_of(this->fs.copy_entry(this->at("no"), this->at("file"))),
            "ROOT/no: cannot read: No such file or directory");
}

TYPED_TEST(FileMoves, KnowsTheFoldersOnTheWay) {
  this->write("root/a/file", "x");
  this->make_folder("elsewhere");
  this->link("../elsewhere", "root/link");
  this->link("root", "also");
  const auto check = [this](const std::string& root, const std::string& path) {
    return this->error_of(check_own_folders(this->fs, this->at(root), this->at(path)));
  };
  EXPECT_EQ(check("root", "root/a/file"), "no error");
  EXPECT_EQ(check("root", "root/new/b/file"), "no error");
  EXPECT_EQ(check("root", "root/link"), "no error");  // the entry itself
  EXPECT_EQ(check("also", "also/a/file"), "no error");
  EXPECT_EQ(check("root", "root/link/file"),
            "ROOT/root/link: not a folder, so nothing can be put below it\n"
            "  links out of ROOT/root are not followed");
  EXPECT_EQ(check("root", "root/a/file/b"),
            "ROOT/root/a/file: not a folder, so nothing can be put below it\n"
            "  links out of ROOT/root are not followed");
}

}  // namespace
}  // namespace tfaot::toolkit
