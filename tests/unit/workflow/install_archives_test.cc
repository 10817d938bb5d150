// SPDX-License-Identifier: Apache-2.0
#include "tfaot/workflow/install_archives.h"

#include <gmock/gmock.h>

#include <map>

#include "tests/support/memory_file_system.h"
#include "tests/support/temporary_folder.h"
#include "tfaot/package/package.h"
#include "tfaot/workflow/package_archive.h"

namespace tfaot::toolkit::testing {
namespace {

using ::testing::ElementsAre;

// Packages and an area in memory; only the area's lock is on the disk.
class InstallArchivesTest : public ::testing::Test {
 protected:
  // An archive of version `version`, whose object has these contents.
  Path archive_of(const std::string& version, const std::string& object) {
    const Path tree = root_ / ("tree-" + version);
    const std::vector<StagedFile> staged = {
        {"lib/test_bs1.o", object, {}},
        {"tfaot-model-test.xml",
         "<tool name=\"tfaot-model-test\" version=\"" + version +
             "\">\n  <client>\n    <environment name=\"TFAOT_MODEL_TEST_BASE\" default=\"" +
             tree.string() + "\"/>\n  </client>\n</tool>\n",
         {}}};
    Manifest manifest;
    manifest.name = "test";
    manifest.version = version;
    manifest.cpp_class = "tfaot_model::test";
    manifest.tool_name = "tfaot-model-test";
    manifest.architecture = "x86_64-linux";
    manifest.target_triple = "x86_64-unknown-linux-gnu";
    manifest.toolkit_version = "0.1.0";
    manifest.signature = {"serving_default", {{"x", DType::kFloat32, {}}}, {}};
    manifest.batch_sizes = {1};
    manifest.cpu_levels = {"x86-64"};
    manifest.source_sha256 = std::string(64, 'c');
    manifest.files = hash_staged_files(files_, staged).value();
    EXPECT_TRUE(write_tree(files_, staged, manifest, tree));
    ArchiveRequest request;
    request.tree = tree;
    request.output_directory = root_ / "dist";
    // Its lock is on the disk, whatever the file system is.
    EXPECT_TRUE(files_.create_directories(root_ / "dist" / ".tfaot-work"));
    const auto made = pack_tree(context_, request);
    EXPECT_TRUE(made) << made.error().text();
    return made ? made->archive : Path();
  }

  Status install(const Path& archive) {
    InstallRequest request;
    request.archives = {archive};
    request.release_area = area_;
    return install_archives(context_, request, [&](const InstalledArchive& installed) {
      installed_.push_back(installed.receipt.version);
    });
  }

  // What users see.
  std::map<std::string, std::string> view() {
    std::map<std::string, std::string> view;
    const auto names = list_files_recursively(files_, area_);
    if (!names) return view;
    for (const std::string& name : *names) {
      if (!name.starts_with(".tfaot/")) view[name] = files_.read(area_ / name).value_or("a link");
    }
    view["current"] = files_.read_symlink(area_ / "tfaot-model-test/current").value_or("").string();
    return view;
  }

  TemporaryFolder scratch_;
  Path root_ = scratch_.path();
  Path area_ = root_ / "area";
  MemoryFileSystem files_;
  SilentDiagnostics diagnostics_;
  Environment environment_;
  Context context_{files_, diagnostics_, environment_};
  std::vector<std::string> installed_;
};

TEST_F(InstallArchivesTest, ToolFilesLoseTheBaseOfTheTreeAndGetThatOfTheArea) {
  ASSERT_TRUE(install(archive_of("1.0.0", "code")));
  EXPECT_THAT(installed_, ElementsAre("1.0.0"));
  const std::string text = view().at("tfaot-model-test/1.0.0/etc/scram.d/tfaot-model-test.xml");
  EXPECT_NE(text.find((area_ / "tfaot-model-test/1.0.0").string()), std::string::npos);
  EXPECT_EQ(text.find("tree-1.0.0"), std::string::npos);
}

// Each change of an install fails in turn.
TEST_F(InstallArchivesTest, AFailureAnywhereIsTakenBack) {
  const Path first = archive_of("1.0.0", "code");
  const Path second = archive_of("1.1.0", "better code");
  ASSERT_TRUE(install(first));
  const auto before = view();
  std::size_t change = 1;
  for (;; ++change) {
    files_.inject({.change = change});
    if (install(second)) break;
    ASSERT_EQ(view(), before) << "change " << change << " failed";
    ASSERT_LT(change, 1000U);
  }
  EXPECT_GT(change, 5U);
  EXPECT_EQ(view().at("current"), "1.1.0");
  EXPECT_THAT(installed_, ElementsAre("1.0.0", "1.1.0"));
}

TEST_F(InstallArchivesTest, WhatIsNoArchiveIsNamedBeforeAnythingIsDone) {
  ASSERT_TRUE(files_.replace_atomically(root_ / "notes.txt", "no archive"));
  const Status status = install(root_ / "notes.txt");
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().text(), ::testing::HasSubstr("'tfaot install' takes an archive"));
  EXPECT_EQ(files_.kind(area_), FileKind::kMissing);
}

}  // namespace
}  // namespace tfaot::toolkit::testing
