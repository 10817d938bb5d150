// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>

#include "archive_samples.h"
#include "package_samples.h"
#include "tests/support/executable_file.h"
#include "tests/support/forwarding_file_system.h"
#include "tests/support/temporary_folder.h"
#include "tfaot/base/hash.h"
#include "tfaot/base/real_file_system.h"

namespace tfaot::toolkit::testing {
namespace {

using ::testing::ElementsAre;

class MakeArchiveIn : public ::testing::TestWithParam<ArchiveFormat> {
 protected:
  ArchiveOptions options() const { return {.format = GetParam()}; }
  std::string extension() const {
    return GetParam() == ArchiveFormat::kTarGz ? ".tar.gz" : ".tar.zst";
  }
};
INSTANTIATE_TEST_SUITE_P(Formats, MakeArchiveIn,
                         ::testing::Values(ArchiveFormat::kTarZst, ArchiveFormat::kTarGz),
                         [](const auto& test) {
                           return test.param == ArchiveFormat::kTarGz ? "TarGz" : "TarZst";
                         });

TEST_P(MakeArchiveIn, TellsWhatItWrote) {
  MemoryFileSystem fs;
  write_sample(fs, "/out");
  const Package package = make_archive(fs, "/out", "/dist", options()).value();
  EXPECT_EQ(package.archive, Path("/dist/" + kStem + extension()));
  const std::string bytes = fs.read(package.archive).value();
  EXPECT_EQ(package.sha256, sha256_of(bytes));
  EXPECT_EQ(package.size, bytes.size());
  EXPECT_EQ(package.manifest.name, "test");
  EXPECT_THAT(contents_of(fs, "/dist"), ::testing::SizeIs(1));
}

TEST_P(MakeArchiveIn, PutsTheManifestFirstAndTheListedFilesSorted) {
  MemoryFileSystem fs;
  write_sample(fs, "/out");
  ASSERT_TRUE(fs.replace_atomically("/out/notes.txt", "not listed"));
  const Package package = make_archive(fs, "/out", "/dist", options()).value();
  const auto headers = list_archive(fs.read(package.archive).value());
  std::vector<std::string> paths;
  for (const EntryHeader& header : headers) {
    paths.push_back(header.path);
    EXPECT_EQ(header.mode, S_IFREG | 0644U);
    EXPECT_EQ(header.mtime, 315532800);
    EXPECT_EQ(header.uid, 0);
    EXPECT_EQ(header.gid, 0);
    EXPECT_EQ(header.owner, ":");
  }
  EXPECT_THAT(paths,
              ElementsAre(kStem + "/manifest.json", kStem + "/include/tfaot-model-test/model.h",
                          kStem + "/lib/empty.o", kStem + "/lib/test_bs1_x86-64.o",
                          kStem + "/tfaot-model-test.xml"));
  EXPECT_EQ(headers[3].size, 200'000U);
}

TEST(MakeArchive, WritesAGzipHeaderWithoutTimeAndName) {
  MemoryFileSystem fs;
  write_sample(fs, "/out");
  const Package package =
      make_archive(fs, "/out", "/dist", {.format = ArchiveFormat::kTarGz}).value();
  const std::string expected("\x1f\x8b\x08\x00\x00\x00\x00\x00",
                             8);  // magic, deflate, no flags, time 0
  EXPECT_EQ(fs.read(package.archive).value().substr(0, 8), expected);
}

TEST_P(MakeArchiveIn, GivesTheSameBytesFromAnyFolderTimeUmaskAndRoot) {
  RealFileSystem fs;
  const TemporaryFolder first;
  const TemporaryFolder second;
  const mode_t old_umask = ::umask(0077);
  write_sample(fs, first.path() / "tree");
  ::umask(0002);
  write_sample(fs, second.path() / "some where" / "else");
  const Path object = second.path() / "some where/else/lib/test_bs1_x86-64.o";
  std::filesystem::last_write_time(object,
                                   std::filesystem::file_time_type() - std::chrono::hours(1));
  testing::make_executable(object);
  const auto a = make_archive(fs, first.path() / "tree", first.path() / "dist", options()).value();
  const auto b =
      make_archive(fs, second.path() / "some where/else", second.path() / "dist", options())
          .value();
  ::umask(old_umask);
  EXPECT_EQ(fs.read(a.archive).value(), fs.read(b.archive).value());
  EXPECT_EQ(a.sha256, b.sha256);
}

// Returns files in other pieces than the machine does.
class PiecewiseFileSystem final : public ForwardingFileSystem {
 public:
  using ForwardingFileSystem::ForwardingFileSystem;
  Status read_chunks(const Path& path, const ChunkSink& sink) const override {
    return target().read_chunks(path, [&sink](std::string_view chunk) -> Status {
      for (std::size_t at = 0; at < chunk.size(); at += 777) TFAOT_TRY(sink(chunk.substr(at, 777)));
      return {};
    });
  }
};

TEST_P(MakeArchiveIn, GivesTheSameBytesHoweverTheFilesAreRead) {
  MemoryFileSystem fs;
  write_sample(fs, "/out");
  PiecewiseFileSystem piecewise(fs);
  EXPECT_EQ(make_archive(fs, "/out", "/a", options()).value().sha256,
            make_archive(piecewise, "/out", "/b", options()).value().sha256);
}

TEST_P(MakeArchiveIn, PacksLongPathsAndReadsThemBack) {
  MemoryFileSystem fs;
  const std::string name(200, 'n');
  const std::vector<StagedFile> files = {{name + "/" + name + "/" + name, "deep", {}}};
  ASSERT_TRUE(write_tree(fs, files, sample_manifest(files), "/out"));
  const Package package = make_archive(fs, "/out", "/dist", options()).value();
  ASSERT_TRUE(extract_archive(fs, package.archive, "/back"));
  EXPECT_EQ(contents_of(fs, "/back"), contents_of(fs, "/out"));
}

TEST_P(MakeArchiveIn, TakesTheLevelAndRefusesOneThatDoesNotExist) {
  MemoryFileSystem fs;
  write_sample(fs, "/out");
  const auto fast = make_archive(fs, "/out", "/dist", {.format = GetParam(), .level = 1}).value();
  const auto small = make_archive(fs, "/out", "/dist", {.format = GetParam(), .level = 9}).value();
  EXPECT_LT(small.size, fast.size);
  ASSERT_TRUE(fs.remove_all("/dist"));
  const auto refused = make_archive(fs, "/out", "/dist", {.format = GetParam(), .level = 99});
  EXPECT_EQ(refused.error().text(),
            std::string(GetParam() == ArchiveFormat::kTarGz ? "gzip" : "zstd") +
                " has no compression level 99");
  EXPECT_EQ(refused.error().kind(), ErrorKind::kUsage);
  EXPECT_EQ(fs.kind("/dist"), FileKind::kMissing);
}

TEST(MakeArchive, RefusesADamagedTree) {
  MemoryFileSystem fs;
  write_sample(fs, "/out");
  ASSERT_TRUE(fs.remove_all("/out/lib/empty.o"));
  EXPECT_EQ(make_archive(fs, "/out", "/dist", {}).error().text(),
            "/out: the package's files differ from its manifest\n"
            "  lib/empty.o is missing\n"
            "  compile or install the model again");
  EXPECT_EQ(fs.kind("/dist"), FileKind::kMissing);
}

// Another process that writes the object between the check and the packing.
class ChangingFileSystem final : public ForwardingFileSystem {
 public:
  using ForwardingFileSystem::ForwardingFileSystem;
  Status read_chunks(const Path& path, const ChunkSink& sink) const override {
    const bool changes = path.filename() == "test_bs1_x86-64.o" && ++reads_ > 1;
    return changes ? sink(std::string(200'000, '!')) : target().read_chunks(path, sink);
  }

 private:
  mutable int reads_ = 0;
};

TEST(MakeArchive, RefusesAFileThatChangesMeanwhile) {
  MemoryFileSystem fs;
  write_sample(fs, "/out");
  ChangingFileSystem changing(fs);
  EXPECT_EQ(make_archive(changing, "/out", "/dist", {}).error().text(),
            "/out/lib/test_bs1_x86-64.o: the file changed while it was packed\n"
            "  let the build finish, then package the model again");
  EXPECT_EQ(fs.kind("/dist"), FileKind::kMissing);
}

TEST(MakeArchive, SaysThatTheDiskIsFullAndLeavesNothing) {
  MemoryFileSystem fs;
  write_sample(fs, "/out");
  fs.inject({.change = 1});
  EXPECT_EQ(make_archive(fs, "/out", "/dist", {}).error().text(),
            "/dist/" + kStem +
                ".tar.zst: cannot write: No space left on device\n"
                "  free some space on that disk, or choose a folder on another one, and run again");
  EXPECT_EQ(fs.kind("/dist"), FileKind::kMissing);
}

// A limit on file sizes stands in for a full disk.
TEST(MakeArchive, LeavesNothingOnARealDiskWhenAWriteFailsHalfWay) {
  RealFileSystem fs;
  const TemporaryFolder folder;
  write_sample(fs, folder.path() / "tree");
  rlimit old_limit{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &old_limit), 0);
  auto* const old_handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit limit{50'000, old_limit.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
  const auto package = make_archive(fs, folder.path() / "tree", folder.path() / "dist", {});
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &old_limit), 0);
  std::signal(SIGXFSZ, old_handler);
  ASSERT_FALSE(package);
  EXPECT_EQ(package.error().text(),
            (folder.path() / "dist" / kStem).string() + ".tar.zst: cannot write: File too large");
  EXPECT_EQ(fs.kind(folder.path() / "dist"), FileKind::kMissing);
}

}  // namespace
}  // namespace tfaot::toolkit::testing
