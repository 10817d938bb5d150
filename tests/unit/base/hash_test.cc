// SPDX-License-Identifier: Apache-2.0
#include "tfaot/base/hash.h"

#include <gtest/gtest.h>

#include "tests/support/memory_file_system.h"

namespace tfaot::toolkit {
namespace {

// FIPS 180 vectors.
constexpr char kOfNothing[] = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
constexpr char kOfAbc[] = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
constexpr char kOfMillionA[] = "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0";

TEST(Sha256, KnownVectors) {
  EXPECT_EQ(sha256_of(""), kOfNothing);
  EXPECT_EQ(sha256_of("abc"), kOfAbc);
  EXPECT_EQ(sha256_of(std::string(1'000'000, 'a')), kOfMillionA);
}

TEST(Sha256, PiecesGiveTheSameAndTheObjectStartsAnew) {
  Sha256 hash;
  hash.update("a");
  hash.update("");
  hash.update("bc");
  EXPECT_EQ(hash.hex_digest(), kOfAbc);
  EXPECT_EQ(hash.hex_digest(), kOfNothing);
  Sha256 moved = std::move(hash);
  moved.update("abc");
  EXPECT_EQ(moved.hex_digest(), kOfAbc);
}

TEST(Sha256OfFile, ReadsInPieces) {
  const testing::MemoryFileSystem fs{{"/big", std::string(3'000'000, 'b')}, {"/abc", "abc"}};
  EXPECT_EQ(sha256_of_file(fs, "/abc").value(), kOfAbc);
  EXPECT_EQ(sha256_of_file(fs, "/big").value(), sha256_of(std::string(3'000'000, 'b')));
}

TEST(Sha256OfFile, SaysWhichFileIsMissing) {
  EXPECT_EQ(sha256_of_file(testing::MemoryFileSystem(), "/abc").error().text(),
            "/abc: cannot read: No such file or directory");
}

TEST(Sha256OfTree, OfAFileIsTheFilesOwn) {
  testing::MemoryFileSystem fs{{"/abc", "abc"}};
  ASSERT_TRUE(fs.replace_symlink("abc", "/link"));
  EXPECT_EQ(sha256_of_tree(fs, "/abc").value(), kOfAbc);
  EXPECT_EQ(sha256_of_tree(fs, "/link").value(), kOfAbc);
}

TEST(Sha256OfTree, OfAFolderCoversNamesAndContentsInOrder) {
  const testing::MemoryFileSystem fs{{"/t/b/x", "abc"}, {"/t/a", ""}, {"/other", "abc"}};
  EXPECT_EQ(sha256_of_tree(fs, "/t").value(),
            sha256_of(std::string(kOfNothing) + "  a\n" + kOfAbc + "  b/x\n"));
}

TEST(Sha256OfTree, SeesARenamedFileAndAChangedByte) {
  const auto of = [](std::initializer_list<std::pair<const std::string, std::string>> files) {
    return sha256_of_tree(testing::MemoryFileSystem(files), "/t").value();
  };
  const std::string digest = of({{"/t/a", "1"}, {"/t/b", "2"}});
  EXPECT_EQ(of({{"/t/b", "2"}, {"/t/a", "1"}}), digest);
  EXPECT_NE(of({{"/t/a", "2"}, {"/t/b", "1"}}), digest);
  EXPECT_NE(of({{"/t/a", "1"}, {"/t/c", "2"}}), digest);
}

TEST(Sha256OfTree, MissingIsAnError) {
  EXPECT_EQ(sha256_of_tree(testing::MemoryFileSystem(), "/t").error().text(),
            "/t: cannot list the folder: No such file or directory");
}

}  // namespace
}  // namespace tfaot::toolkit
