// SPDX-License-Identifier: Apache-2.0
#include "tfaot/package/source_archive.h"

#include <gmock/gmock.h>

#include "archive_samples.h"
#include "tests/support/memory_file_system.h"
#include "tfaot/base/hash.h"

namespace tfaot::toolkit::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Result<std::vector<std::string>> unpack(MemoryFileSystem& fs, const std::string& archive) {
  EXPECT_TRUE(fs.replace_atomically("/in/source.tar.gz", archive));
  return unpack_source_archive(fs, "/in/source.tar.gz", "/out/source");
}

std::string refusal(const std::vector<Entry>& entries) {
  MemoryFileSystem fs;
  const auto unpacked = unpack(fs, make_tar_gz(entries));
  EXPECT_EQ(fs.kind("/out/source"), unpacked ? FileKind::kDirectory : FileKind::kMissing);
  return unpacked ? "taken" : unpacked.error().text();
}

TEST(SourceArchive, OursComeBackAndAreTheSameBytesEachTime) {
  MemoryFileSystem fs{{"/a/model/saved_model.pb", "graph"}, {"/a/config.yaml", "words"}};
  const SourceArchive source{"top-1.0",
                             {{"model/saved_model.pb", "", "/a/model/saved_model.pb"},
                              {"config.yaml", "", "/a/config.yaml"},
                              {"a.txt", "text", {}}}};
  ASSERT_TRUE(write_source_archive(fs, source, "/one/s.tar"));
  SourceArchive turned = source;
  std::swap(turned.files.front(), turned.files.back());
  ASSERT_TRUE(write_source_archive(fs, turned, "/two/t.tar"));
  EXPECT_EQ(fs.read("/one/s.tar").value(), fs.read("/two/t.tar").value());
  EXPECT_EQ(sha256_of_source_archive(fs, turned, "/three/u.tar").value(),
            sha256_of(fs.read("/one/s.tar").value()));

  const auto paths = unpack_source_archive(fs, "/one/s.tar", "/out").value();
  EXPECT_THAT(paths,
              ElementsAre("top-1.0/a.txt", "top-1.0/config.yaml", "top-1.0/model/saved_model.pb"));
  EXPECT_EQ(fs.read("/out/top-1.0/model/saved_model.pb").value(), "graph");
  EXPECT_EQ(fs.read("/out/top-1.0/a.txt").value(), "text");
}

TEST(SourceArchive, OursHoldNoNamesThatOtherMachinesDoNot) {
  MemoryFileSystem fs{{"/a/x", "1"}};
  const auto written = write_source_archive(fs, {"top", {{"b\nc", "", "/a/x"}}}, "/s.tar");
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().text(),
            "/a/x: the file's name cannot be used in an archive\n"
            "  names are printable ASCII without '\\'");
  EXPECT_EQ(fs.kind("/s.tar"), FileKind::kMissing);
}

TEST(SourceArchive, ThoseOfOthersHoldFoldersAndLinks) {
  MemoryFileSystem fs;
  const auto paths = unpack(fs, make_tar_gz({{"./", "", EntryKind::kFolder},
                                             {"./data/", "", EntryKind::kFolder},
                                             {"./data/m/saved_model.pb", "graph"},
                                             {"data/latest", "m", EntryKind::kSymlink},
                                             {"data/deep/l", "../m", EntryKind::kSymlink}}));
  ASSERT_TRUE(paths) << paths.error().text();
  EXPECT_THAT(*paths, ElementsAre("data/deep/l", "data/latest", "data/m/saved_model.pb"));
  EXPECT_EQ(fs.read("/out/source/data/latest/saved_model.pb").value(), "graph");
  EXPECT_EQ(fs.read("/out/source/data/deep/l/saved_model.pb").value(), "graph");
}

TEST(SourceArchive, NothingLeadsOut) {
  EXPECT_THAT(refusal({{"../x", "1"}}), HasSubstr("the path '../x', which may lead out"));
  EXPECT_THAT(refusal({{"/x", "1"}}), HasSubstr("the path '/x', which may lead out"));
  EXPECT_THAT(refusal({{"a/../../x", "1"}}), HasSubstr("may lead out"));
  for (const char* target : {"/etc", "../..", "b/../../..", "b/../c", ""}) {
    EXPECT_THAT(refusal({{"a/l", target, EntryKind::kSymlink}}), HasSubstr("leads out of it"))
        << target;
  }
  EXPECT_THAT(refusal({{"a/b/z", "../..", EntryKind::kSymlink}, {"a/b/z/x", "1"}}),
              HasSubstr("'a/b/z/x' below the link 'a/b/z'"));
  EXPECT_THAT(refusal({{"x", "1"}, {"y", "x", EntryKind::kHardlink}}), HasSubstr("a hard link"));
  EXPECT_THAT(refusal({{"x", "", EntryKind::kDevice}}), HasSubstr("a device"));
  EXPECT_EQ(refusal({{"a/x", "1"}}), "taken");
}

TEST(SourceArchive, IsNotTakenWhenItWouldFillADisk) {
  EXPECT_THAT(refusal({{"zeros", std::string(201'000'000, '\0')}}),
              HasSubstr("more than 200000000 bytes, which is not expected of its size"));
  EXPECT_THAT(refusal(std::vector<Entry>(50'001, {"again", ""})),
              HasSubstr("more than 50000 files"));
}

TEST(SourceArchive, DamageLeavesNothing) {
  MemoryFileSystem fs;
  const std::string whole = make_tar_gz({{"a/x", std::string(100000, 'x')}, {"a/y", "2"}});
  const auto cut = unpack(fs, whole.substr(0, whole.size() / 2));
  ASSERT_FALSE(cut);
  EXPECT_THAT(cut.error().text(), HasSubstr("not a source archive, or damaged"));
  EXPECT_EQ(fs.kind("/out/source"), FileKind::kMissing);
  EXPECT_FALSE(unpack(fs, "words"));
  EXPECT_FALSE(unpack_source_archive(fs, "/in/missing.tar", "/out/source"));
}

TEST(SourceArchive, TopFolderIsTheOneThatHoldsAll) {
  EXPECT_EQ(top_folder({"a/b", "a/c/d"}), "a");
  EXPECT_EQ(top_folder({"a/b", "ab/c"}), "");
  EXPECT_EQ(top_folder({"a", "a/b"}), "");
  EXPECT_EQ(top_folder({}), "");
}

}  // namespace
}  // namespace tfaot::toolkit::testing
