// SPDX-License-Identifier: Apache-2.0
// Files on their way into a tree: scratch files, and files that are moved.
#include "any_file_system.h"

namespace tfaot {
namespace {

using ::testing::ElementsAre;

template <class Side>
class FileMoves : public AnyFileSystem<Side> {};
TYPED_TEST_SUITE(FileMoves, Sides, SideNames);

TYPED_TEST(FileMoves, WritesScratchLikeAnyOtherFile) {
  ASSERT_TRUE(write_scratch(this->fs, this->at("new/file"), "text"));
  EXPECT_EQ(this->read("new/file"), "text");
  const auto produce = [](const ChunkSink&) -> Status { return fail(Error("enough")); };
  EXPECT_EQ(this->error_of(this->fs.write_scratch(this->at("new/file"), produce)), "enough");
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

}  // namespace
}  // namespace tfaot
