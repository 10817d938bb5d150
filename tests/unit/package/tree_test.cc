// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "package_samples.h"
#include "tests/support/forwarding_file_system.h"
#include "tfaot/base/hash.h"
#include "tfaot/base/printable.h"
#include "tfaot/package/package.h"
#include "tfaot/records/manifest_json.h"

namespace tfaot::toolkit::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::Key;
using ::testing::UnorderedElementsAre;

TEST(HashStagedFiles, SortsByPathAndReadsSources) {
  const MemoryFileSystem fs({{"/build/b.o", "code"}});
  const auto files =
      hash_staged_files(fs, {{"lib/b.o", "", "/build/b.o"}, {"a.h", "text", {}}}).value();
  ASSERT_EQ(files.size(), 2U);
  EXPECT_EQ(files[0].path, "a.h");
  EXPECT_EQ(files[0].size, 4U);
  EXPECT_EQ(files[0].sha256, sha256_of("text"));
  EXPECT_EQ(files[1].path, "lib/b.o");
  EXPECT_EQ(files[1].size, 4U);
  EXPECT_EQ(files[1].sha256, sha256_of("code"));
}

TEST(HashStagedFiles, RefusesDoubledAndUnsafePaths) {
  const MemoryFileSystem fs;
  const auto doubled = hash_staged_files(fs, {{"a", "1", {}}, {"b", "", {}}, {"a", "2", {}}});
  EXPECT_EQ(doubled.error().text(), "two files of the package are called 'a'");
  EXPECT_EQ(doubled.error().kind(), ErrorKind::kInternal);
  for (const std::string path : {"", "/a", "../a", "a/../b", "a//b", "a/", "./a", "a\\b", "a\nb",
                                 "manifest.json", "h\xc3\xa4"}) {
    const auto refused = hash_staged_files(fs, {{path, "", {}}});
    ASSERT_FALSE(refused) << path;
    EXPECT_EQ(refused.error().text(),
              "'" + printable_line(path) + "' cannot be a file of a package");
  }
}

TEST(HashStagedFiles, SaysWhichSourceIsMissing) {
  EXPECT_EQ(hash_staged_files(MemoryFileSystem(), {{"a", "", "/build/a.o"}}).error().text(),
            "/build/a.o: cannot get the size: No such file or directory");
}

TEST(WriteTree, WritesFilesAndManifest) {
  MemoryFileSystem fs;
  write_sample(fs, "/out");
  EXPECT_THAT(contents_of(fs, "/out"),
              UnorderedElementsAre(Key("manifest.json"), Key("tfaot-model-test.xml"),
                                   Key("include/tfaot-model-test/model.h"),
                                   Key("lib/test_bs1_x86-64.o"), Key("lib/empty.o")));
  EXPECT_EQ(verify_tree(fs, "/out").value().name, "test");
}

TEST(WriteTree, MovesWhatNobodyElseNeeds) {
  MemoryFileSystem fs({{"/build/a.o", "a"}, {"/build/b.o", "b"}});
  const std::vector<StagedFile> files = {{"lib/a.o", "", "/build/a.o", true},
                                         {"lib/b.o", "", "/build/b.o"}};
  Manifest manifest;
  manifest.files = hash_staged_files(fs, files).value();
  ASSERT_TRUE(write_tree(fs, files, manifest, "/out"));
  EXPECT_EQ(fs.read("/out/lib/a.o").value(), "a");
  EXPECT_EQ(fs.read("/out/lib/b.o").value(), "b");
  EXPECT_EQ(fs.kind("/build/a.o"), FileKind::kMissing);
  EXPECT_EQ(fs.kind("/build/b.o"), FileKind::kFile);
}

TEST(WriteTree, LeavesAnEqualTreeAlone) {
  MemoryFileSystem fs;
  write_sample(fs, "/out");
  fs.inject({.change = 1, .all_after = true});
  write_sample(fs, "/out");
  EXPECT_EQ(fs.changes(), 0U);
}

// Two files of the sample: one is replaced, one is removed, one is new.
std::vector<StagedFile> other_files() {
  return {{"tfaot-model-test.xml", "<tool2/>\n", {}}, {"lib/new.o", "", "/build/new.o"}};
}

TEST(WriteTree, ReplacesWhatChangedAndRemovesWhatAnOlderManifestListed) {
  MemoryFileSystem fs({{"/build/new.o", "code"}, {"/out/mine.txt", "stays"}});
  write_sample(fs, "/out");
  Manifest manifest = sample_manifest({});
  manifest.files = hash_staged_files(fs, other_files()).value();
  ASSERT_TRUE(write_tree(fs, other_files(), manifest, "/out"));
  EXPECT_THAT(contents_of(fs, "/out"),
              UnorderedElementsAre(Key("manifest.json"), Key("tfaot-model-test.xml"),
                                   Key("lib/new.o"), Key("mine.txt")));
  EXPECT_TRUE(verify_tree(fs, "/out"));
}

TEST(WriteTree, KilledAtAnyChangeLeavesNoManifestOrAWholeTree) {
  bool finished = false;
  for (std::size_t change = 1; !finished; ++change) {
    MemoryFileSystem fs({{"/build/new.o", "code"}});
    write_sample(fs, "/out");
    Manifest manifest = sample_manifest({});
    manifest.files = hash_staged_files(fs, other_files()).value();
    fs.inject({.change = change, .all_after = true});
    finished = write_tree(fs, other_files(), manifest, "/out").has_value();
    if (fs.kind("/out/manifest.json") != FileKind::kMissing) {
      EXPECT_TRUE(verify_tree(fs, "/out")) << change;
    }
    fs.inject({.change = 1000});
    ASSERT_TRUE(write_tree(fs, other_files(), manifest, "/out")) << change;
    EXPECT_THAT(
        contents_of(fs, "/out"),
        UnorderedElementsAre(Key("manifest.json"), Key("tfaot-model-test.xml"), Key("lib/new.o")))
        << change;
    ASSERT_LT(change, 60U);
  }
}

// The next run of any command completes the tree, without the files of the killed run: the old tree
// if it was still complete, else the new one.
TEST(RepairTree, MakesAKilledChangeWhole) {
  bool finished = false;
  std::size_t old_trees = 0;
  std::size_t new_trees = 0;
  std::size_t torn = 0;
  for (std::size_t change = 1; !finished; ++change) {
    MemoryFileSystem fs({{"/build/new.o", "code"}});
    write_sample(fs, "/out");
    const Files before = contents_of(fs, "/out");
    Manifest manifest = sample_manifest({});
    manifest.files = hash_staged_files(fs, other_files()).value();
    fs.inject({.change = change, .all_after = true});
    finished = write_tree(fs, other_files(), manifest, "/out").has_value();
    fs.inject({.change = 1000});
    EXPECT_EQ(is_torn_tree(fs, "/out"), fs.kind("/out/manifest.json") == FileKind::kMissing);
    torn += is_torn_tree(fs, "/out") ? 1 : 0;

    // Also if it is killed at any change while it repairs.
    bool repaired = false;
    for (std::size_t again = 1; !repaired; ++again) {
      fs.inject({.change = again, .all_after = true});
      repaired = repair_tree(fs, "/out").has_value();
      ASSERT_LT(again, 30U);
    }
    fs.inject({.change = 1000});
    EXPECT_TRUE(verify_tree(fs, "/out")) << change;
    const Files after = contents_of(fs, "/out");
    (after == before ? old_trees : new_trees) += 1;
    if (after != before) {
      EXPECT_THAT(after, UnorderedElementsAre(Key("manifest.json"), Key("tfaot-model-test.xml"),
                                              Key("lib/new.o")));
    }
    ASSERT_LT(change, 60U);
  }
  EXPECT_GT(old_trees, 3U);
  EXPECT_GT(torn, 3U);
  EXPECT_GT(new_trees, torn);
}

TEST(RepairTree, LeavesNothingOfATreeThatWasNotWritten) {
  MemoryFileSystem fs({{"/out/.tfaot-aside/new/lib/new.o", "half"}, {"/out/mine.txt", "stays"}});
  ASSERT_TRUE(repair_tree(fs, "/out"));
  EXPECT_THAT(contents_of(fs, "/"), UnorderedElementsAre(Key("out/mine.txt")));
  ASSERT_TRUE(repair_tree(fs, "/nowhere"));
}

TEST(RepairTree, LeavesAWholeTreeAlone) {
  MemoryFileSystem fs;
  write_sample(fs, "/out");
  fs.inject({.change = 1, .all_after = true});
  EXPECT_TRUE(repair_tree(fs, "/out"));
  EXPECT_EQ(fs.changes(), 0U);
}

// If undoing a rename fails too, nothing that the next run needs may be removed.
TEST(WriteTree, WhatCannotBeTakenBackIsRepairedLater) {
  for (std::size_t change = 1; change < 30; ++change) {
    MemoryFileSystem fs({{"/build/new.o", "code"}});
    write_sample(fs, "/out");
    Manifest manifest = sample_manifest({});
    manifest.files = hash_staged_files(fs, other_files()).value();
    fs.inject({.change = change, .all_after = true, .reason = EIO});
    const Status written = write_tree(fs, other_files(), manifest, "/out");
    fs.inject({.change = 1000});
    ASSERT_TRUE(repair_tree(fs, "/out"));
    EXPECT_TRUE(verify_tree(fs, "/out")) << change;
    if (written) return;
  }
}

// A disk without space from the n-th write on; what needs none still succeeds.
class FullDisk final : public ForwardingFileSystem {
 public:
  FullDisk(FileSystem& target, std::size_t writes) : ForwardingFileSystem(target), left_(writes) {}

  Status write_chunks(const Path& path, const std::function<Status(const ChunkSink&)>& producer,
                      Durability durability) override {
    TFAOT_TRY(use());
    return target().write_chunks(path, producer, durability);
  }
  Status copy_file(const Path& from, const Path& to) override {
    TFAOT_TRY(use());
    return target().copy_file(from, to);
  }
  Status create_directories(const Path& path) override {
    TFAOT_TRY(use());
    return target().create_directories(path);
  }

 private:
  Status use() {
    if (left_ == 0) return fail(Error("the disk is full"));
    --left_;
    return {};
  }
  std::size_t left_;
};

// All entries, so that empty folders count too.
std::vector<std::string> entries_of(const FileSystem& fs, const Path& root) {
  std::vector<std::string> entries;
  for (const std::string& name : fs.list(root).value_or(std::vector<std::string>())) {
    entries.push_back((root / name).string());
    for (std::string& below : entries_of(fs, root / name)) entries.push_back(std::move(below));
  }
  return entries;
}

// Runs `attempt` with 1, 2, ... until it succeeds; each failure must leave `fs` as `make` made it.
void expect_all_or_nothing(
    const std::function<void(MemoryFileSystem&)>& make,
    const std::function<Status(MemoryFileSystem&, const Manifest&, std::size_t)>& attempt) {
  for (std::size_t n = 1;; ++n) {
    ASSERT_LT(n, 60U);
    MemoryFileSystem fs({{"/build/new.o", "code"}});
    make(fs);
    const Files before = contents_of(fs, "/");
    const std::vector<std::string> entries = entries_of(fs, "/");
    Manifest manifest = sample_manifest({});
    manifest.files = hash_staged_files(fs, other_files()).value();
    const Status status = attempt(fs, manifest, n);
    fs.inject({.change = 1000});
    if (status) {
      EXPECT_TRUE(verify_tree(fs, "/out"));
      EXPECT_GT(n, 5U);
      return;
    }
    EXPECT_EQ(contents_of(fs, "/"), before) << n;
    EXPECT_EQ(entries_of(fs, "/"), entries) << n;
  }
}

TEST(WriteTree, AFailureAtAnyChangeLeavesTheOldTreeOrNothing) {
  const auto attempt = [](MemoryFileSystem& fs, const Manifest& manifest, std::size_t change) {
    fs.inject({.change = change});
    return write_tree(fs, other_files(), manifest, "/out");
  };
  expect_all_or_nothing([](MemoryFileSystem& fs) { write_sample(fs, "/out"); }, attempt);
  expect_all_or_nothing([](MemoryFileSystem&) {}, attempt);
}

TEST(WriteTree, AFullDiskLeavesTheOldTreeOrNothing) {
  const auto attempt = [](MemoryFileSystem& fs, const Manifest& manifest, std::size_t writes) {
    FullDisk full(fs, writes - 1);
    return write_tree(full, other_files(), manifest, "/out");
  };
  expect_all_or_nothing([](MemoryFileSystem& fs) { write_sample(fs, "/out"); }, attempt);
  expect_all_or_nothing([](MemoryFileSystem&) {}, attempt);
}

TEST(WriteTree, RefusesToReplaceAFileOfOthers) {
  MemoryFileSystem fs({{"/out/tfaot-model-test.xml", "mine"}});
  const auto files = sample_files();
  EXPECT_EQ(write_tree(fs, files, sample_manifest(files), "/out").error().text(),
            "/out/tfaot-model-test.xml: does not belong to a package, but a file of the package "
            "would replace it\n  move it away, or choose another folder for the package");
  EXPECT_THAT(contents_of(fs, "/out"), UnorderedElementsAre(Key("tfaot-model-test.xml")));
  ASSERT_TRUE(fs.replace_atomically("/out/record.json", "{}"));  // another's
  EXPECT_FALSE(write_tree(fs, files, sample_manifest(files), "/out"));
  // tfaot made it: only the manifest is missing.
  ASSERT_TRUE(fs.replace_atomically("/out/record.json", R"({"format": "", "compiled": {}})"));
  EXPECT_TRUE(write_tree(fs, files, sample_manifest(files), "/out"));

  ASSERT_TRUE(fs.replace_atomically("/other/manifest.json", R"({"name": "webapp"})"));
  EXPECT_EQ(
      write_tree(fs, files, sample_manifest(files), "/other").error().text(),
      "/other/manifest.json: does not belong to a package, but a file of the package would replace "
      "it\n  move it away, or choose another folder for the package");
  EXPECT_THAT(contents_of(fs, "/other"), UnorderedElementsAre(Key("manifest.json")));
}

TEST(WriteTree, DoesNotLeaveTheTreeByALink) {
  MemoryFileSystem fs;
  write_sample(fs, "/out");
  ASSERT_TRUE(fs.rename("/out/lib", "/elsewhere"));
  ASSERT_TRUE(fs.replace_symlink("/elsewhere", "/out/lib"));
  const auto before = contents_of(fs, "/elsewhere");
  Manifest manifest;
  manifest.files = hash_staged_files(fs, {{"a.h", "1", {}}}).value();
  const auto written = write_tree(fs, {{"a.h", "1", {}}}, manifest, "/out");
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().text(),
            "/out/lib: not a folder, so nothing can be put below it\n"
            "  links out of /out are not followed\n"
            "  move it away, or choose another folder for the package");
  EXPECT_EQ(contents_of(fs, "/elsewhere"), before);
}

TEST(WriteTree, TakesNothingFromASideFolderThatIsALink) {
  for (const std::string link : {"/out/.tfaot-aside", "/out/.tfaot-aside/new"}) {
    MemoryFileSystem fs;
    write_sample(fs, "/elsewhere");
    write_sample(fs, "/elsewhere/new");
    ASSERT_TRUE(fs.replace_symlink("/elsewhere", link));
    const auto before = contents_of(fs, "/elsewhere");
    EXPECT_FALSE(is_torn_tree(fs, "/out")) << link;
    write_sample(fs, "/out");
    EXPECT_EQ(contents_of(fs, "/elsewhere"), before) << link;
    EXPECT_EQ(fs.kind("/out/.tfaot-aside"), FileKind::kMissing);
  }
}

TEST(WriteTree, LeavesNoEmptyFolders) {
  MemoryFileSystem fs({{"/build/new.o", "code"}});
  write_sample(fs, "/out");
  Manifest manifest = sample_manifest({});
  manifest.files = hash_staged_files(fs, other_files()).value();
  ASSERT_TRUE(write_tree(fs, other_files(), manifest, "/out"));
  EXPECT_THAT(
      entries_of(fs, "/out"),
      ElementsAre("/out/lib", "/out/lib/new.o", "/out/manifest.json", "/out/tfaot-model-test.xml"));
}

TEST(WriteTree, RefusesAManifestOfOtherFiles) {
  MemoryFileSystem fs;
  const Status status = write_tree(fs, {{"a", "1", {}}}, sample_manifest({{"b", "1", {}}}), "/out");
  EXPECT_EQ(status.error().text(), "the manifest does not list just the files of the package");
  EXPECT_EQ(status.error().kind(), ErrorKind::kInternal);
  EXPECT_EQ(fs.kind("/out"), FileKind::kMissing);
}

TEST(ReadTree, NeedsAManifest) {
  EXPECT_EQ(read_tree(MemoryFileSystem(), "/out").error().text(),
            "/out: not a model package: it holds no manifest.json\n"
            "  name the folder that 'tfaot compile' or 'tfaot install' wrote");
}

TEST(VerifyTree, NamesEveryFileThatDiffers) {
  MemoryFileSystem fs;
  write_sample(fs, "/out");
  ASSERT_TRUE(fs.replace_atomically("/out/tfaot-model-test.xml", "<tooI/>\n"));
  ASSERT_TRUE(fs.replace_atomically("/out/lib/test_bs1_x86-64.o", "short"));
  ASSERT_TRUE(fs.remove_all("/out/lib/empty.o"));
  ASSERT_TRUE(fs.replace_symlink("/etc/passwd", "/out/include/tfaot-model-test/model.h"));
  EXPECT_EQ(verify_tree(fs, "/out").error().text(),
            "/out: the package's files differ from its manifest\n"
            "  include/tfaot-model-test/model.h is not a regular file\n"
            "  lib/empty.o is missing\n"
            "  lib/test_bs1_x86-64.o has 5 bytes instead of 200000\n"
            "  tfaot-model-test.xml has other contents\n"
            "  compile or install the model again");
}

TEST(PackageStem, IsToolVersionArchitecture) {
  EXPECT_EQ(package_stem(sample_manifest({})), "tfaot-model-test-1.0.0-x86_64-linux");
}

}  // namespace
}  // namespace tfaot::toolkit::testing
