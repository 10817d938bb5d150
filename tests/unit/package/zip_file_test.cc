// SPDX-License-Identifier: Apache-2.0
#include "tfaot/package/zip_file.h"

#include <gmock/gmock.h>

#include "tests/support/memory_file_system.h"

namespace tfaot::toolkit {
namespace {

using ::testing::HasSubstr;

constexpr std::uint64_t kEnough = 1 << 20;

std::string zip_error(const FileSystem& files, std::uint64_t most = kEnough) {
  const auto entries = read_zip(files, "/x.npz", most);
  return entries ? "" : entries.error().text();
}

TEST(ZipFile, ReadsWhatItWrites) {
  testing::MemoryFileSystem files;
  const std::vector<ZipEntry> entries = {
      {"x.npy", "bytes"}, {"serving/y:0.npy", std::string(100'000, 'y')}, {"empty.npy", ""}};
  ASSERT_TRUE(write_zip(files, "/x.npz", entries));
  const auto read = read_zip(files, "/x.npz", kEnough);
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
  ASSERT_TRUE(write_zip(files, "/x.npz", {{"x.npy", "1"}, {"x.npy", "2"}}));
  EXPECT_EQ(zip_error(files), "/x.npz: the zip file is refused: it holds two files 'x.npy'");
}

}  // namespace
}  // namespace tfaot::toolkit
