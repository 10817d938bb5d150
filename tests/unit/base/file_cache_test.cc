// SPDX-License-Identifier: Apache-2.0
#include "tfaot/base/file_cache.h"

#include <gtest/gtest.h>

#include "tests/support/memory_file_system.h"
#include "tests/support/temporary_folder.h"
#include "tfaot/base/hash.h"
#include "tfaot/base/real_file_system.h"

namespace tfaot::toolkit {
namespace {

const std::string kOne = sha256_of("one");
const std::string kTwo = sha256_of("two");
const std::string kThree = sha256_of("three");
constexpr std::uint64_t kEntrySize = 64 + 10;  // of ten bytes
const std::string kTenBytes(10, 'x');

TEST(FileCache, GivesBackWhatWasPut) {
  testing::MemoryFileSystem fs;
  FileCache cache(fs, "/cache");
  EXPECT_EQ(cache.get(kOne), std::nullopt);
  ASSERT_TRUE(cache.put(kOne, std::string("a\0b", 3)));
  ASSERT_TRUE(cache.put(kTwo, ""));
  EXPECT_EQ(cache.get(kOne), std::string("a\0b", 3));
  EXPECT_EQ(cache.get(kTwo), "");
  EXPECT_EQ(FileCache(fs, "/other").get(kOne), std::nullopt);
}

TEST(FileCache, ADamagedEntryIsAMissingOneAndIsReplaced) {
  testing::MemoryFileSystem fs;
  FileCache cache(fs, "/cache");
  ASSERT_TRUE(cache.put(kOne, "contents"));
  const std::string whole = *fs.read(cache.entry(kOne));
  for (const std::string& damaged :
       {std::string(), whole.substr(0, 63), whole.substr(0, whole.size() - 1), whole + "x",
        "0" + whole.substr(1)}) {
    ASSERT_TRUE(fs.replace_atomically(cache.entry(kOne), damaged));
    EXPECT_EQ(cache.get(kOne), std::nullopt) << damaged;
  }
  ASSERT_TRUE(cache.put(kOne, "contents"));
  EXPECT_EQ(cache.get(kOne), "contents");
}

TEST(FileCache, AReadOnlyFolderCanBeRead) {
  testing::MemoryFileSystem fs;
  FileCache cache(fs, "/cache");
  ASSERT_TRUE(cache.put(kOne, "contents"));
  fs.inject({.change = 1, .all_after = true, .reason = EROFS});
  EXPECT_EQ(cache.get(kOne), "contents");
  EXPECT_FALSE(cache.put(kTwo, "more"));
}

TEST(FileCache, TrimsWhatWasNotUsedForLongest) {
  testing::MemoryFileSystem fs;
  FileCache cache(fs, "/cache");
  for (const std::string& key : {kOne, kTwo, kThree}) ASSERT_TRUE(cache.put(key, kTenBytes));
  EXPECT_NE(cache.get(kOne), std::nullopt);  // used after the others
  ASSERT_TRUE(cache.trim(3 * kEntrySize));
  EXPECT_NE(fs.kind(cache.entry(kTwo)), FileKind::kMissing);
  ASSERT_TRUE(cache.trim(2 * kEntrySize));
  EXPECT_EQ(fs.kind(cache.entry(kTwo)), FileKind::kMissing);
  EXPECT_NE(fs.kind(cache.entry(kThree)), FileKind::kMissing);
  ASSERT_TRUE(cache.trim(2 * kEntrySize - 1));
  EXPECT_EQ(fs.kind(cache.entry(kThree)), FileKind::kMissing);
  EXPECT_EQ(cache.get(kOne), kTenBytes);
  ASSERT_TRUE(cache.trim(0));
  EXPECT_EQ(cache.get(kOne), std::nullopt);
}

TEST(FileCache, LooksAtItsEntriesAfterEachSixteenthOfTheLimit) {
  testing::MemoryFileSystem fs;
  FileCache cache(fs, "/cache");
  constexpr std::uint64_t kLimit = kEntrySize;  // one of the three
  for (const std::string& key : {kOne, kTwo, kThree}) ASSERT_TRUE(cache.put(key, kTenBytes));
  const auto kept = [&] {
    int count = 0;
    for (const std::string& key : {kOne, kTwo, kThree}) {
      count += fs.kind(cache.entry(key)) == FileKind::kMissing ? 0 : 1;
    }
    return count;
  };
  ASSERT_TRUE(cache.trim_after_adding(2, kLimit));
  EXPECT_EQ(kept(), 3);
  ASSERT_TRUE(FileCache(fs, "/cache").trim_after_adding(1, kLimit));
  EXPECT_EQ(kept(), 3);
  ASSERT_TRUE(cache.trim_after_adding(1, kLimit));
  EXPECT_EQ(kept(), 1);
  ASSERT_TRUE(cache.put(kTwo, kTenBytes));
  ASSERT_TRUE(cache.trim_after_adding(3, kLimit));
  EXPECT_EQ(kept(), 2) << "it counts from zero again";
  ASSERT_TRUE(fs.replace_atomically("/cache/.added", "no number"));
  ASSERT_TRUE(cache.trim_after_adding(4, kLimit));
  EXPECT_EQ(kept(), 1);
  ASSERT_TRUE(cache.trim_after_adding(0, 0));
  EXPECT_EQ(kept(), 0);
}

TEST(FileCache, TrimsNothingWhereNothingIs) {
  testing::MemoryFileSystem fs;
  EXPECT_TRUE(FileCache(fs, "/missing").trim(0));
  EXPECT_TRUE(FileCache(fs, "/missing").trim_after_adding(1, 0));
}

TEST(FileCache, OnADiskTheMarkCounts) {
  RealFileSystem fs;
  const testing::TemporaryFolder folder;
  FileCache cache(fs, folder.path());
  ASSERT_TRUE(cache.put(kOne, kTenBytes));
  ASSERT_TRUE(cache.put(kTwo, kTenBytes));
  const auto before = fs.last_used(cache.entry(kOne));
  ASSERT_TRUE(before);
  while (*fs.last_used(cache.entry(kOne)) <= *fs.last_used(cache.entry(kTwo))) {
    EXPECT_EQ(cache.get(kOne), kTenBytes);  // clocks of disks are coarse
  }
  ASSERT_TRUE(cache.trim(kEntrySize));
  EXPECT_EQ(cache.get(kOne), kTenBytes);
  EXPECT_EQ(cache.get(kTwo), std::nullopt);
}

}  // namespace
}  // namespace tfaot::toolkit
