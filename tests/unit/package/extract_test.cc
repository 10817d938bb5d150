// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "archive_samples.h"
#include "package_samples.h"
#include "tests/support/forwarding_file_system.h"
#include "tests/support/temporary_folder.h"
#include "tfaot/base/limits.h"
#include "tfaot/base/real_file_system.h"
#include "tfaot/base/text.h"
#include "tfaot/records/manifest_json.h"

namespace tfaot::toolkit::testing {
namespace {

const std::string kWhatToDo = "\n  get the archive again, or make it again with 'tfaot package'";

// The text of the error from unpacking these bytes; checks that nothing is left of the destination.
std::string refusal_of(const std::string& bytes) {
  MemoryFileSystem fs({{"/a.tar.zst", bytes}});
  const auto manifest = extract_archive(fs, "/a.tar.zst", "/area/new");
  EXPECT_EQ(fs.kind("/area/new"), FileKind::kMissing);
  return manifest ? "no error" : manifest.error().text();
}

std::string refusal_of(const std::vector<Entry>& entries) {
  return refusal_of(make_tar_zst(entries));
}

// refusal_of() a good archive with one more entry.
std::string refusal_with(const Entry& entry) {
  auto entries = sample_entries();
  entries.insert(entries.begin() + 2, entry);
  return refusal_of(entries);
}

std::string damaged(const std::string& reason) {
  return "/a.tar.zst: the archive is damaged: " + reason + kWhatToDo;
}

std::string foreign(const std::string& reason) {
  return "/a.tar.zst: not a model package: " + reason +
         "\n  'tfaot package' makes one from a package tree";
}

class ExtractFrom : public ::testing::TestWithParam<ArchiveFormat> {};
INSTANTIATE_TEST_SUITE_P(Formats, ExtractFrom,
                         ::testing::Values(ArchiveFormat::kTarZst, ArchiveFormat::kTarGz),
                         [](const auto& test) {
                           return test.param == ArchiveFormat::kTarGz ? "TarGz" : "TarZst";
                         });

TEST_P(ExtractFrom, GivesBackTheTree) {
  MemoryFileSystem fs;
  write_sample(fs, "/out");
  const Package package = make_archive(fs, "/out", "/dist", {.format = GetParam()}).value();
  const auto manifest = extract_archive(fs, package.archive, "/back");
  ASSERT_TRUE(manifest) << manifest.error().text();
  EXPECT_EQ(manifest_to_json(*manifest), manifest_to_json(package.manifest));
  EXPECT_EQ(contents_of(fs, "/back"), contents_of(fs, "/out"));
}

TEST_P(ExtractFrom, GivesBackTheTreeOnARealDisk) {
  RealFileSystem fs;
  const TemporaryFolder folder;
  write_sample(fs, folder.path() / "out");
  const auto package =
      make_archive(fs, folder.path() / "out", folder.path(), {.format = GetParam()}).value();
  ASSERT_TRUE(fs.create_directories(folder.path() / "back"));  // empty: allowed
  ASSERT_TRUE(extract_archive(fs, package.archive, folder.path() / "back"));
  EXPECT_EQ(contents_of(fs, folder.path() / "back"), contents_of(fs, folder.path() / "out"));
}

TEST_P(ExtractFrom, ReadsTheManifestAlone) {
  MemoryFileSystem fs;
  write_sample(fs, "/out");
  const Package package = make_archive(fs, "/out", "/dist", {.format = GetParam()}).value();
  // The manifest must come first: the rest is not read.
  const std::string bytes = fs.read(package.archive).value();
  ASSERT_TRUE(fs.replace_atomically("/half.tar", bytes.substr(0, bytes.size() - 1000)));
  EXPECT_EQ(manifest_to_json(read_archive_manifest(fs, "/half.tar").value()),
            manifest_to_json(package.manifest));
}

TEST_P(ExtractFrom, RefusesAnArchiveCutAnywhere) {
  MemoryFileSystem fs;
  const std::vector<StagedFile> files = {{"a.h", "text", {}}};
  ASSERT_TRUE(write_tree(fs, files, sample_manifest(files), "/out"));
  const Package package = make_archive(fs, "/out", "/dist", {.format = GetParam()}).value();
  const std::string bytes = fs.read(package.archive).value();
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    ASSERT_NE(refusal_of(bytes.substr(0, size)), "no error") << size << " of " << bytes.size();
  }
}

// A flipped bit may hit what the compressor does not use. Otherwise the archive is refused.
TEST_P(ExtractFrom, NeverGivesFilesThatDifferFromTheManifest) {
  MemoryFileSystem fs;
  const std::vector<StagedFile> files = {{"a.h", "text", {}}};
  ASSERT_TRUE(write_tree(fs, files, sample_manifest(files), "/out"));
  const Package package = make_archive(fs, "/out", "/dist", {.format = GetParam()}).value();
  const std::string bytes = fs.read(package.archive).value();
  std::size_t refused = 0;
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    std::string flipped = bytes;
    flipped[at] = static_cast<char>(flipped[at] ^ 0x10);
    MemoryFileSystem target({{"/a.tar", flipped}});
    if (extract_archive(target, "/a.tar", "/back")) {
      EXPECT_TRUE(verify_tree(target, "/back")) << at;
    } else {
      EXPECT_EQ(target.kind("/back"), FileKind::kMissing) << at;
      ++refused;
    }
  }
  EXPECT_GT(refused, bytes.size() * 9 / 10);
}

TEST(ExtractRefuses, AFileThatIsMissing) {
  MemoryFileSystem fs;
  EXPECT_EQ(extract_archive(fs, "/a.tar.zst", "/new").error().text(),
            "/a.tar.zst: cannot read: No such file or directory");
  EXPECT_EQ(read_archive_manifest(fs, "/a.tar.zst").error().text(),
            "/a.tar.zst: cannot read: No such file or directory");
}

TEST(ExtractRefuses, WhatIsNoArchive) {
  EXPECT_EQ(refusal_of(std::string()), foreign("Unrecognized archive format"));
  EXPECT_EQ(refusal_of(std::string("<html>not found</html>")),
            foreign("Unrecognized archive format"));
}

TEST(ExtractRefuses, AFolderThatIsNotEmpty) {
  MemoryFileSystem fs({{"/a.tar.zst", make_tar_zst(sample_entries())}, {"/new/mine.txt", "stays"}});
  EXPECT_EQ(extract_archive(fs, "/a.tar.zst", "/new").error().text(),
            "/new: cannot unpack into a folder that is not empty\n"
            "  remove the folder, or name another one");
  EXPECT_EQ(fs.read("/new/mine.txt").value(), "stays");
}

TEST(ExtractRefuses, AnArchiveWithoutTheManifestFirst) {
  auto entries = sample_entries();
  std::swap(entries[0], entries[1]);
  EXPECT_EQ(refusal_of(entries), foreign("it does not begin with manifest.json"));
  EXPECT_EQ(refusal_of({{"manifest.json", "{}"}}), foreign("it does not begin with manifest.json"));
}

TEST(ExtractRefuses, ArchivesOfOtherThings) {
  EXPECT_EQ(refusal_of({{"src", "", EntryKind::kFolder}}),
            foreign("'src/' is a folder, a package holds regular files only"));
}

TEST(ExtractRefuses, ArchivesThatAreCut) {
  const std::string zst = make_tar_zst(sample_entries());
  EXPECT_EQ(refusal_of(zst.substr(0, zst.size() / 2)), damaged("Truncated zstd input"));
  const std::string gz = make_tar_gz(sample_entries());
  EXPECT_EQ(refusal_of(gz.substr(0, gz.size() / 2)), damaged("truncated gzip input"));
}

TEST(ExtractRefuses, AManifestThatCannotBeRead) {
  auto entries = sample_entries();
  entries[0].contents = "{";
  EXPECT_THAT(refusal_of(entries),
              ::testing::StartsWith("/a.tar.zst/" + kStem + "/manifest.json:"));
}

TEST(ExtractRefuses, AManifestWithoutEnd) {
  auto entries = sample_entries();
  entries[0].contents.assign((16 << 20) + 1, ' ');
  EXPECT_EQ(refusal_of(entries),
            foreign("its manifest.json has 16777217 bytes, but a manifest has at most 16777216"));
}

TEST(ExtractRefuses, AnotherFolder) {
  auto entries = sample_entries();
  for (Entry& entry : entries) entry.path = "evil" + entry.path.substr(kStem.size());
  EXPECT_EQ(refusal_of(entries),
            damaged("its folder is 'evil', its manifest says '" + kStem + "'"));
  EXPECT_EQ(refusal_with({"evil/lib/a.o", ""}),
            damaged("'evil/lib/a.o' is outside the package's folder '" + kStem + "'"));
}

TEST(ExtractRefuses, PathsThatLeaveTheFolder) {
  const std::vector<std::string> paths = {
      "../evil",           "/etc/passwd",   kStem + "/../../evil",
      kStem + "//lib/a.o", kStem + "/a\\b", kStem + "/./a"};
  for (const std::string& path : paths) {
    EXPECT_EQ(refusal_with({path, ""}), damaged("it holds the path '" + path +
                                                "', which may lead out of the package's folder"));
  }
}

TEST(ExtractRefuses, LinksFoldersAndDevices) {
  const std::string path = kStem + "/lib/empty.o";
  EXPECT_EQ(refusal_with({path, "/etc/passwd", EntryKind::kSymlink}),
            damaged("'" + path + "' is a symbolic link, a package holds regular files only"));
  EXPECT_EQ(refusal_with({path, kStem + "/manifest.json", EntryKind::kHardlink}),
            damaged("'" + path + "' is a hard link, a package holds regular files only"));
  EXPECT_EQ(refusal_with({kStem + "/lib", "", EntryKind::kFolder}),
            damaged("'" + kStem + "/lib/' is a folder, a package holds regular files only"));
  EXPECT_EQ(refusal_with({path, "", EntryKind::kDevice}),
            damaged("'" + path +
                    "' is a device or another special file, a package holds regular files only"));
}

TEST(ExtractRefuses, FilesTheManifestDoesNotList) {
  EXPECT_EQ(refusal_with({kStem + "/lib/evil.o", ""}),
            damaged("it holds 'lib/evil.o', which its manifest does not list"));
}

TEST(ExtractRefuses, FilesThatComeTwice) {
  auto entries = sample_entries();
  entries.push_back(entries[1]);
  EXPECT_EQ(refusal_of(entries), damaged("it holds 'tfaot-model-test.xml' twice"));
  entries.back() = entries[0];
  EXPECT_EQ(refusal_of(entries), damaged("it holds 'manifest.json' twice"));
}

TEST(ExtractRefuses, MissingFiles) {
  auto entries = sample_entries();
  entries.pop_back();
  EXPECT_EQ(refusal_of(entries), damaged("it lacks 'lib/empty.o'"));
}

TEST(ExtractRefuses, OtherContents) {
  auto entries = sample_entries();
  entries[1].contents[0] = '!';
  EXPECT_EQ(refusal_of(entries),
            damaged("'tfaot-model-test.xml' differs from its SHA-256 in the manifest"));
}

// Counts what is written, because a bomb would fill the disk before its end is reached.
class CountingFileSystem final : public ForwardingFileSystem {
 public:
  using ForwardingFileSystem::ForwardingFileSystem;
  Status write_chunks(const Path& path, const std::function<Status(const ChunkSink&)>& producer,
                      Durability durability) override {
    const auto counted = [&](const ChunkSink& sink) {
      return producer([&](std::string_view chunk) {
        written += chunk.size();
        return sink(chunk);
      });
    };
    return target().write_chunks(path, counted, durability);
  }
  std::size_t written = 0;
};

TEST(ExtractRefuses, FilesLongerThanTheManifestSaysBeforeWritingThem) {
  auto entries = sample_entries();
  entries[1].contents.assign(50'000'000, '\0');
  MemoryFileSystem memory({{"/a.tar.zst", make_tar_zst(entries)}});
  CountingFileSystem fs(memory);
  EXPECT_EQ(extract_archive(fs, "/a.tar.zst", "/new").error().text(),
            damaged("'tfaot-model-test.xml' has 50000000 bytes, its manifest says 8"));
  EXPECT_EQ(fs.written, 0U);
}

TEST(ExtractRefuses, WhatWouldFillADiskBeforeWritingAnything) {
  Manifest manifest = sample_manifest(sample_files());
  manifest.files[0].size = 3'000'000'000;
  auto entries = sample_entries();
  entries[0].contents = manifest_to_json(manifest);
  const std::string archive = make_tar_zst(entries);
  MemoryFileSystem memory({{"/a.tar.zst", archive}});
  CountingFileSystem fs(memory);
  const std::string text = extract_archive(fs, "/a.tar.zst", "/new").error().text();
  EXPECT_THAT(text, ::testing::HasSubstr(" bytes and would unpack to 3000"));
  EXPECT_THAT(text, ::testing::EndsWith("if you trust it, add --allow-large"));
  EXPECT_EQ(fs.written, 0U);
  // On request it continues, and finds that the file is shorter.
  EXPECT_THAT(extract_archive(fs, "/a.tar.zst", "/new", {.allow_large = true}).error().text(),
              ::testing::HasSubstr("its manifest says 3000000000"));
  for (ManifestFile& file : manifest.files)
    file.size = ~std::uint64_t{0} >> 1U;  // the sum overflows
  entries[0].contents = manifest_to_json(manifest);
  EXPECT_THAT(refusal_of(entries), ::testing::HasSubstr("and would unpack to"));
}

TEST(ExtractRefuses, BytesBehindTheEnd) {
  EXPECT_EQ(refusal_of(make_tar_gz(sample_entries()) + "tail"), damaged("4 bytes follow its end"));
  EXPECT_EQ(refusal_of(make_tar_zst(sample_entries()) + "tail"),
            damaged("Zstd decompression failed: Unknown frame descriptor"));
  EXPECT_EQ(refusal_of(make_tar(sample_entries()) + "tail"), damaged("Truncated tar archive"));
  // A second archive after the first, as one stream.
  EXPECT_EQ(refusal_of(make_tar_zst(sample_entries()) + make_tar_zst({{kStem + "/evil", ""}})),
            damaged("it holds 'evil', which its manifest does not list"));
  EXPECT_EQ(refusal_of(make_tar_gz(sample_entries()) + make_tar_gz({{kStem + "/evil", ""}})),
            damaged("it holds 'evil', which its manifest does not list"));
}

// Each is a few kilobytes, however many zeros it expands to.
TEST(ExtractRefuses, EndlessZerosAndWhatIsCompressedTwice) {
  const std::string zeros(kStrayBytes + (1 << 20), '\0');
  const std::string many = "more than 16777216 bytes in it belong to no file";
  EXPECT_EQ(refusal_of(make_tar_zst(sample_entries()) + zstd_of(zeros)), damaged(many));
  EXPECT_THAT(refusal_of(zstd_of(zeros) + make_tar_zst(sample_entries())),
              ::testing::HasSubstr(many));
  EXPECT_THAT(refusal_of(zstd_of(make_tar_zst(sample_entries()))),
              ::testing::HasSubstr("it is compressed more than once"));
  // The padding that tar adds to its archives is not a fault.
  MemoryFileSystem fs(
      {{"/a.tar.zst", make_tar_zst(sample_entries()) + zstd_of(zeros.substr(0, 10240))}});
  EXPECT_TRUE(extract_archive(fs, "/a.tar.zst", "/new"));
}

TEST(ExtractFails, WithTheDisksReasonAndLeavesNothing) {
  for (std::size_t change = 1; change <= 5; ++change) {
    MemoryFileSystem fs({{"/a.tar.zst", make_tar_zst(sample_entries())}});
    fs.inject({.change = change});
    const auto manifest = extract_archive(fs, "/a.tar.zst", "/new");
    ASSERT_FALSE(manifest) << change;
    EXPECT_THAT(
        manifest.error().text(),
        ::testing::EndsWith(": cannot write: No space left on device\n"
                            "  free some space on that disk, or choose a folder on another one, "
                            "and run again"));
    EXPECT_EQ(fs.kind("/new"), FileKind::kMissing);
  }
}

// Another archive that replaces the opened one.
TEST(PackageArchive, IsReadOnce) {
  MemoryFileSystem fs;
  write_sample(fs, "/tree");
  const Path archive = make_archive(fs, "/tree", "/dist", {}).value().archive;
  auto opened = PackageArchive::open(fs, archive);
  ASSERT_TRUE(opened);
  ASSERT_TRUE(fs.replace_atomically(archive, "another"));
  EXPECT_EQ(opened->manifest().name, "test");
  ASSERT_TRUE(opened->unpack(fs, "/there"));
  EXPECT_EQ(contents_of(fs, "/there"), contents_of(fs, "/tree"));
}

TEST(PackageArchive, IsCheckedToItsEndWithoutBeingUnpacked) {
  MemoryFileSystem fs;
  write_sample(fs, "/tree");
  const Path archive = make_archive(fs, "/tree", "/dist", {}).value().archive;
  const std::string bytes = fs.read(archive).value();
  fs.inject({.change = 1000});
  EXPECT_TRUE(PackageArchive::open(fs, archive)->check());
  EXPECT_EQ(fs.changes(), 0U);
  ASSERT_TRUE(fs.replace_atomically(archive, bytes.substr(0, bytes.size() - 20)));
  auto cut = PackageArchive::open(fs, archive);
  ASSERT_TRUE(cut) << cut.error().text();
  EXPECT_FALSE(cut->check());
}

}  // namespace
}  // namespace tfaot::toolkit::testing
