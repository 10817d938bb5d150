// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "install_samples.h"
#include "tests/support/memory_file_system.h"
#include "tfaot/records/manifest_json.h"

namespace tfaot::toolkit::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const Path kTool = "/area/tfaot-model-test";

std::vector<std::string> listing(const FileSystem& fs) {
  const auto list = list_installed(fs, "/area");
  if (!list) return {list.error().text()};
  std::vector<std::string> lines;
  for (const Error& error : list->broken) lines.push_back(error.text());
  for (const InstalledModel& model : list->models) {
    lines.push_back(model.tool_name + " " + model.version + (model.current ? " *" : ""));
    EXPECT_EQ(model.manifest.version, model.version);
  }
  return lines;
}

TEST(ListInstalled, SortsToolsThenVersionsByTheirNumbers) {
  MemoryFileSystem fs;
  for (const std::string version : {"1.10.0", "1.9.0", "2.0.0", "1.9.0-rc1"}) {
    ASSERT_TRUE(install_sample(fs, {.version = version}, kOptions));
  }
  ASSERT_TRUE(
      install_sample(fs, {.tool_name = "a-tool"}, {.area = "/area", .make_current = false}));
  EXPECT_THAT(listing(fs),
              ElementsAre("a-tool 1.0.0", "tfaot-model-test 1.9.0", "tfaot-model-test 1.9.0-rc1 *",
                          "tfaot-model-test 1.10.0", "tfaot-model-test 2.0.0"));
}

TEST(ListInstalled, PassesOverWhatIsNotOurs) {
  MemoryFileSystem fs({{"/area/src/Sub/Pkg/BuildFile.xml", ""}, {"/area/notes.txt", ""}});
  EXPECT_THAT(listing(fs), IsEmpty());
  ASSERT_TRUE(install_sample(fs, {}, kOptions));
  ASSERT_TRUE(fs.replace_atomically(kTool / "README", ""));
  EXPECT_THAT(listing(fs), ElementsAre("tfaot-model-test 1.0.0 *"));
}

// What 'tfaot compile --dev' writes to the folder that its help names.
TEST(ListInstalled, PassesOverTreesThatAreNotInstalled) {
  MemoryFileSystem fs;
  for (const auto& [path, contents] : SamplePackage().files()) {
    ASSERT_TRUE(fs.replace_atomically("/area/tfaot/minimal" / Path(path), contents));
  }
  ASSERT_TRUE(fs.replace_atomically("/area/tfaot/minimal/manifest.json",
                                    manifest_to_json(SamplePackage().manifest())));
  EXPECT_THAT(listing(fs), IsEmpty());
}

TEST(ListInstalled, PassesOverToolFilesThatScramSetUp) {
  MemoryFileSystem fs;
  ASSERT_TRUE(install_sample(fs, {}, kOptions));
  ASSERT_TRUE(fs.replace_atomically(
      kToolFile,
      "<!-- Made by tfaot. --><tool name='tfaot-model-test' version='3'><client><environment "
      "name='TFAOT_MODEL_TEST_BASE' default='$CMSSW_BASE/tfaot/minimal'/></client></tool>"));
  EXPECT_THAT(listing(fs), ElementsAre("tfaot-model-test 1.0.0 *"));
}

TEST(ListInstalled, SaysWhichToolFileIsOfAnotherVersion) {
  MemoryFileSystem fs;
  ASSERT_TRUE(install_sample(fs, {}, kOptions));
  const std::string older = fs.read(kToolFile).value();
  ASSERT_TRUE(install_sample(fs, {.version = "2.0.0"}, kOptions));
  ASSERT_TRUE(fs.replace_atomically(kToolFile, older));
  EXPECT_THAT(listing(fs),
              ElementsAre(std::string(kToolFile) +
                              ": the tool file is for version 1.0.0, but 2.0.0 is current\n"
                              "  install the version that you want again",
                          "tfaot-model-test 1.0.0", "tfaot-model-test 2.0.0 *"));
}

TEST(ListInstalled, NeedsAFolder) {
  EXPECT_THAT(listing(MemoryFileSystem()),
              ElementsAre("/area: cannot list the folder: No such file or directory"));
}

class BrokenTree : public ::testing::Test {
 protected:
  BrokenTree() { EXPECT_TRUE(install_sample(fs_, {}, kOptions)); }
  // Following the advice in the list repairs it.
  void expect(const std::string& reason, const std::string& option = "") {
    EXPECT_THAT(listing(fs_),
                ElementsAre("/area/tfaot-model-test/1.0.0: the installed package is broken: " +
                            reason + "\n  install it again" + option + ", or remove the folder"));
    EXPECT_EQ(install_sample(fs_, {}, kOptions).has_value(), option.empty());
    EXPECT_TRUE(install_sample(fs_, {}, {.area = "/area", .replace = !option.empty()}));
    EXPECT_THAT(listing(fs_), ElementsAre("tfaot-model-test 1.0.0 *"));
  }
  MemoryFileSystem fs_;
};

TEST_F(BrokenTree, HasNoManifest) {
  ASSERT_TRUE(fs_.remove_all(kTool / "1.0.0/manifest.json"));
  expect("it holds no manifest.json", " with --replace");
}

TEST_F(BrokenTree, LacksAFile) {
  ASSERT_TRUE(fs_.remove_all(kTool / "1.0.0/lib/test.o"));
  expect("it lacks lib/test.o");
}

TEST_F(BrokenTree, HasAFileOfAnotherSize) {
  ASSERT_TRUE(fs_.replace_atomically(kTool / "1.0.0/lib/test.o", ""));
  expect("lib/test.o has the wrong size");
}

TEST_F(BrokenTree, HasAnotherPackagesManifest) {
  ASSERT_TRUE(fs_.replace_atomically(kTool / "1.0.0/manifest.json",
                                     manifest_to_json(SamplePackage{.version = "3"}.manifest())));
  expect("its manifest.json is for tfaot-model-test 3", " with --replace");
}

TEST_F(BrokenTree, HasAManifestThatIsNoJson) {
  ASSERT_TRUE(fs_.replace_atomically(kTool / "1.0.0/manifest.json", "[]"));
  expect(
      "its manifest is not valid: /area/tfaot-model-test/1.0.0/manifest.json: expected an object",
      " with --replace");
}

TEST_F(BrokenTree, IsWhereCurrentLeadsNowhere) {
  ASSERT_TRUE(fs_.replace_symlink("9.9", kTool / "current"));
  EXPECT_THAT(
      listing(fs_),
      ElementsAre(
          "/area/tfaot-model-test/current: leads to '9.9', which is not an installed version\n"
          "  install a version again to renew the link",
          "tfaot-model-test 1.0.0"));
}

TEST_F(BrokenTree, IsWhereCurrentIsNoLink) {
  ASSERT_TRUE(fs_.remove_all(kTool / "current"));
  ASSERT_TRUE(fs_.create_directories(kTool / "current"));
  EXPECT_THAT(
      listing(fs_),
      ElementsAre("/area/tfaot-model-test/current: should be a link to an installed version\n"
                  "  move it away, then install a version again",
                  "tfaot-model-test 1.0.0"));
  EXPECT_FALSE(install_sample(fs_, {}, kOptions));
  ASSERT_TRUE(fs_.rename(kTool / "current", "/away"));
  ASSERT_TRUE(install_sample(fs_, {}, kOptions));
  EXPECT_THAT(listing(fs_), ElementsAre("tfaot-model-test 1.0.0 *"));
}

TEST_F(BrokenTree, IsNotSaidOfWhatCannotBeRead) {
  ASSERT_TRUE(fs_.rename(kTool / "1.0.0/lib", "/lib"));
  ASSERT_TRUE(fs_.replace_symlink("lib", kTool / "1.0.0/lib"));
  EXPECT_THAT(
      listing(fs_),
      ElementsAre(::testing::HasSubstr("cannot look at it: Too many levels of symbolic links")));
}

TEST_F(BrokenTree, IsNoReasonToLeaveTheOthersOut) {
  ASSERT_TRUE(install_sample(fs_, {.version = "2.0.0"}, kOptions));
  ASSERT_TRUE(fs_.remove_all(kTool / "1.0.0/lib/test.o"));
  EXPECT_THAT(listing(fs_),
              ElementsAre(::testing::HasSubstr("it lacks lib/test.o"), "tfaot-model-test 2.0.0 *"));
}

// A model's name stands for its tool's folder.
TEST(InstalledTree, IsNamedByModelAndVersion) {
  MemoryFileSystem fs;
  ASSERT_TRUE(install_sample(fs, {.version = "1.4.2"}, kOptions));
  ASSERT_TRUE(install_sample(fs, {.version = "2.0.0"}, kOptions));
  const Path tool = "/area/tfaot-model-test";
  EXPECT_EQ(installed_tree(fs, "/area/test"), tool / "2.0.0");
  EXPECT_EQ(installed_tree(fs, tool), tool / "2.0.0");
  EXPECT_EQ(installed_tree(fs, "/area/test/1.4.2"), tool / "1.4.2");
  EXPECT_EQ(installed_tree(fs, tool / "1.4.2"), std::nullopt);  // is the tree itself
  for (const char* path :
       {"/area", "/area/test/1.0.0", "/area/other", "/area/test/1.4.2/lib", "/"}) {
    EXPECT_EQ(installed_tree(fs, path), std::nullopt) << path;
  }
}

TEST(InstalledNames, BeginWithTheWord) {
  using ::testing::ElementsAre;
  using ::testing::IsEmpty;
  MemoryFileSystem fs;
  ASSERT_TRUE(install_sample(fs, {.version = "1.4.2"}, kOptions));
  ASSERT_TRUE(install_sample(fs, {.version = "2.0.0"}, kOptions));
  ASSERT_TRUE(install_sample(fs, {.tool_name = "tfaot-model-test-2"}, kOptions));
  ASSERT_TRUE(fs.create_directories("/area/tfaot-model-tests"));  // no installed tool
  const auto names = [&fs](const char* folder, const char* word) {
    return installed_names(fs, folder, word);
  };
  EXPECT_THAT(names("/", "area/te"), ElementsAre("area/test", "area/test-2"));
  EXPECT_THAT(names("/", "area/test_"), ElementsAre("area/test-2"));
  EXPECT_THAT(names("/", "/area/test"), ElementsAre("/area/test", "/area/test-2"));
  EXPECT_THAT(names("/area", ""), ElementsAre("test", "test-2"));
  EXPECT_THAT(names("/area", "test/"), ElementsAre("test/1.4.2", "test/2.0.0"));
  EXPECT_THAT(names("/", "area/test/2"), ElementsAre("area/test/2.0.0"));
  EXPECT_THAT(names("/", "area/other"), IsEmpty());
  EXPECT_THAT(names("/nowhere", "te"), IsEmpty());
}

}  // namespace
}  // namespace tfaot::toolkit::testing
