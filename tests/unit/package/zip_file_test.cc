// SPDX-License-Identifier: Apache-2.0
#include "tfaot/package/zip_file.h"

#include <gmock/gmock.h>

#include <filesystem>

#include "tests/support/memory_file_system.h"
#include "tests/support/temporary_folder.h"
#include "tfaot/base/text.h"

namespace tfaot::toolkit {
namespace {

using ::testing::HasSubstr;

constexpr std::uint64_t kEnough = 1 << 20;

ZipRequest all_up_to(std::uint64_t most) {
  return {most, [](const std::string&) { return true; }};
}

std::string zip_error(const FileSystem& files, std::uint64_t most = kEnough) {
  const auto entries = read_zip(files, "/x.npz", all_up_to(most));
  return entries ? "" : entries.error().text();
}

std::string write_error(const std::vector<ZipEntry>& entries) {
  testing::MemoryFileSystem files;
  const Status written = write_zip(files, "/x.npz", entries);
  EXPECT_EQ(files.kind("/x.npz"), written ? FileKind::kFile : FileKind::kMissing);
  return written ? "" : written.error().text();
}

TEST(ZipFile, ReadsWhatItWrites) {
  testing::MemoryFileSystem files;
  const std::vector<ZipEntry> entries = {
      {"x.npy", "bytes"}, {"serving/y:0.npy", std::string(100'000, 'y')}, {"empty.npy", ""}};
  ASSERT_TRUE(write_zip(files, "/x.npz", entries));
  const auto read = read_zip(files, "/x.npz", all_up_to(kEnough));
  ASSERT_TRUE(read) << read.error().text();
  ASSERT_EQ(read->size(), 3U);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    EXPECT_EQ((*read)[i].name, entries[i].name);
    EXPECT_EQ((*read)[i].bytes, entries[i].bytes);
  }
  const std::string first = files.read("/x.npz").value();
  ASSERT_TRUE(write_zip(files, "/x.npz", entries));
  EXPECT_EQ(files.read("/x.npz").value(), first);
}

TEST(ZipFile, RefusesWhatIsNoneOrDamaged) {
  testing::MemoryFileSystem files;
  EXPECT_THAT(zip_error(files), HasSubstr("/x.npz"));
  ASSERT_TRUE(files.replace_atomically("/x.npz", "no zip at all"));
  EXPECT_THAT(zip_error(files), HasSubstr("/x.npz: not a zip file, or damaged: "));
  ASSERT_TRUE(write_zip(files, "/x.npz", {{"x.npy", "bytes of x"}}));
  std::string bytes = files.read("/x.npz").value();
  bytes[bytes.find("bytes of x")] = 'B';
  ASSERT_TRUE(files.replace_atomically("/x.npz", bytes));
  EXPECT_THAT(zip_error(files), HasSubstr("damaged"));
}

TEST(ZipFile, RefusesTooMuchAndTwice) {
  testing::MemoryFileSystem files;
  ASSERT_TRUE(write_zip(files, "/x.npz", {{"x.npy", std::string(100, 'x')}, {"y.npy", "y"}}));
  EXPECT_EQ(zip_error(files, 101), "");
  EXPECT_EQ(zip_error(files, 100), "/x.npz: the zip file is refused: it holds more than 100 bytes");
  ASSERT_TRUE(write_zip(files, "/x.npz", {{"x.npy", "1"}, {"y.npy", "2"}}));
  const std::string bytes = replace_all(files.read("/x.npz").value(), "y.npy", "x.npy");
  ASSERT_TRUE(files.replace_atomically("/x.npz", bytes));
  EXPECT_EQ(zip_error(files), "/x.npz: the zip file is refused: it holds two files 'x.npy'");
}

// libarchive writes beyond its memory for a name of 64 KiB, and cuts one at a byte 0.
TEST(ZipFile, WritesNoNameThatAZipCannotHold) {
  const std::string longest(65'535, 'n');
  EXPECT_EQ(write_error({{longest, "x"}}), "");
  const std::string fault = "/x.npz: a zip file cannot hold the name '";
  EXPECT_THAT(write_error({{longest + "n", "x"}}), HasSubstr("' of 65536 bytes: it is too long"));
  EXPECT_THAT(write_error({{std::string(70'000, 'n'), "x"}}), HasSubstr("it is too long"));
  EXPECT_EQ(write_error({{"", "x"}}), fault + "' of 0 bytes: it is empty");
  EXPECT_EQ(write_error({{std::string("x\0y", 3), "x"}}),
            fault + "x\\u0000y' of 3 bytes: it holds a byte 0");
  EXPECT_EQ(write_error({{"x/", "x"}}), fault + "x/' of 2 bytes: it is that of a folder");
  EXPECT_EQ(write_error({{"x", "1"}, {"x", "2"}}), fault + "x' of 1 bytes: it is there twice");
}

TEST(ZipFile, UnpacksOnlyWhatIsWanted) {
  testing::MemoryFileSystem files;
  ASSERT_TRUE(write_zip(files, "/x.npz",
                        {{"large.npy", std::string(100'000, 'l')},
                         {"x.npy", "bytes of x"},
                         {"last.npy", std::string(2'000'000, 'l')}}));
  const auto read = read_zip(
      files, "/x.npz",
      {.most_bytes = 10, .wants = [](const std::string& name) { return name == "x.npy"; }});
  ASSERT_TRUE(read) << read.error().text();
  ASSERT_EQ(read->size(), 3U);
  EXPECT_EQ((*read)[0].bytes.capacity(), std::string().capacity());
  EXPECT_EQ((*read)[1].bytes, "bytes of x");
  EXPECT_EQ((*read)[2].name, "last.npy");
}

// 49,000 empty arrays took 1 MiB each.
TEST(ZipFile, AnEmptyFileTakesNoMemory) {
  testing::MemoryFileSystem files;
  std::vector<ZipEntry> entries;
  for (int i = 0; i < 1000; ++i) entries.push_back({std::to_string(i), ""});
  ASSERT_TRUE(write_zip(files, "/x.npz", entries));
  const auto read = read_zip(files, "/x.npz", all_up_to(kEnough));
  ASSERT_TRUE(read) << read.error().text();
  ASSERT_EQ(read->size(), 1000U);
  for (const ZipEntry& entry : *read) ASSERT_LT(entry.bytes.capacity(), 100U);
}

// A zip ends with its list of files, so nothing else of one that has none is read.
TEST(ZipFile, AHugeFileThatIsNoneIsNotRead) {
  const testing::TemporaryFolder folder;
  RealFileSystem files;
  const Path file = folder.path() / "x.npz";
  ASSERT_TRUE(files.replace_atomically(file, "PK"));
  std::filesystem::resize_file(file, 100'000'000'000);
  const auto read = read_zip(files, file, all_up_to(kEnough));
  ASSERT_FALSE(read);
  EXPECT_THAT(read.error().text(), HasSubstr("not a zip file, or damaged: "));
}

}  // namespace
}  // namespace tfaot::toolkit
