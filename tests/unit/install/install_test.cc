// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "install_samples.h"
#include "tests/support/memory_file_system.h"
#include "tfaot/records/manifest_json.h"

namespace tfaot::toolkit::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const InstallOptions kReplace{.area = "/area", .replace = true};
constexpr const char* kRuntimeTool = "/area/config/toolbox/tools/selected/tfaot-runtime.xml";

TEST(Install, LaysOutTheArea) {
  MemoryFileSystem fs;
  const auto receipt = install_sample(fs, {}, kOptions).value();
  EXPECT_EQ(receipt.destination, "/area/tfaot-model-test/1.0.0");
  EXPECT_EQ(receipt.tool_file, "/area/config/toolbox/tools/selected/tfaot-model-test.xml");
  EXPECT_EQ(receipt.tool_name, "tfaot-model-test");
  EXPECT_EQ(receipt.version, "1.0.0");
  EXPECT_FALSE(receipt.unchanged);

  EXPECT_THAT(list_files_recursively(fs, "/area/tfaot-model-test/1.0.0").value(),
              ElementsAre("etc/scram.d/tfaot-model-test.xml", "etc/scram.d/tfaot-runtime.xml",
                          "include/tfaot-model-test/model.h",
                          "lib/cmake/tfaot-model-test/tfaot-model-test-config.cmake", "lib/test.o",
                          "manifest.json", "tfaot-model-test.xml"));
  EXPECT_EQ(fs.read_symlink("/area/tfaot-model-test/current").value(), "1.0.0");
  EXPECT_EQ(fs.read_symlink("/area/lib/cmake/tfaot-model-test").value(),
            "../../tfaot-model-test/current/lib/cmake/tfaot-model-test");
  EXPECT_EQ(fs.kind(receipt.tool_file), FileKind::kFile);  // scram copies toolboxes
  EXPECT_EQ(view_of(fs, "/area"), expected_view({}, "/area"));
  EXPECT_THAT(fs.list("/area/.tfaot").value(), ElementsAre("history.jsonl"));
}

TEST(Install, NamesTheToolFileAsScramLooksForIt) {
  MemoryFileSystem fs;
  const auto receipt = install_sample(fs, {.tool_name = "tfaot-model-MixedNet"}, kOptions).value();
  EXPECT_EQ(receipt.tool_file, "/area/config/toolbox/tools/selected/tfaot-model-mixednet.xml");
}

TEST(Install, PutsTheToolFileBelowTheScramArch) {
  MemoryFileSystem fs;
  const auto receipt =
      install_sample(fs, {}, {.area = "/area", .scram_arch = "el9_amd64_gcc12"}).value();
  EXPECT_EQ(receipt.tool_file,
            "/area/config/toolbox/el9_amd64_gcc12/tools/selected/tfaot-model-test.xml");
  EXPECT_EQ(fs.read(receipt.tool_file).value(), expected_view({}, "/area").tool_file);
}

// The links are made by someone who may write into the area. What they lead to is not ours.
TEST(Install, WritesNothingThroughLinksInTheArea) {
  const Path tree = "/area/tfaot-model-test/1.0.0";
  for (const std::string folder : {"etc", "etc/scram.d", "lib"}) {
    MemoryFileSystem fs({{"/elsewhere/tfaot-model-test.xml", "foreign"},
                         {"/elsewhere/scram.d/tfaot-model-test.xml", "foreign"},
                         {"/elsewhere/test.o", "foreign"}});
    ASSERT_TRUE(install_sample(fs, {}, kOptions));
    const auto whole = list_files_recursively(fs, tree).value();
    ASSERT_TRUE(fs.remove_all(tree / folder));
    ASSERT_TRUE(fs.replace_symlink("/elsewhere", tree / folder));
    const auto before = everything_in(fs, "/elsewhere");
    EXPECT_FALSE(install_sample(fs, {}, kOptions).value().unchanged) << folder;
    EXPECT_EQ(everything_in(fs, "/elsewhere"), before) << folder;
    EXPECT_EQ(fs.kind(tree / folder), FileKind::kDirectory);
    EXPECT_EQ(list_files_recursively(fs, tree).value(), whole);
    EXPECT_EQ(view_of(fs, "/area"), expected_view({}, "/area"));
  }
}

TEST(Install, TouchesNoFileThatALinkLeadsTo) {
  MemoryFileSystem fs({{"/elsewhere/notes", "foreign"}});
  ASSERT_TRUE(install_sample(fs, {}, kOptions));
  ASSERT_TRUE(fs.replace_symlink("/elsewhere/notes", "/area/tfaot-model-test/1.0.0/notes"));
  ASSERT_TRUE(install_sample(fs, {.version = "2.0.0"}, kOptions));
  const auto before = everything_in(fs, "/elsewhere");
  EXPECT_TRUE(install_sample(fs, {}, kOptions).value().unchanged);
  EXPECT_EQ(everything_in(fs, "/elsewhere"), before);
}

TEST(Install, LeavesToolboxesThatLinksLeadTo) {
  for (const std::string link : {"two", "two/tools", "two/tools/selected"}) {
    const std::string toolbox = "/area/config/toolbox/";
    MemoryFileSystem fs;
    ASSERT_TRUE(install_sample(fs, {}, {.area = "/area", .scram_arch = "one"}));
    ASSERT_TRUE(install_sample(fs, {}, {.area = "/area", .scram_arch = "two"}));
    ASSERT_TRUE(fs.create_directories("/other"));
    ASSERT_TRUE(fs.rename(toolbox + link, "/other/moved"));
    ASSERT_TRUE(fs.replace_symlink("/other/moved", toolbox + link));
    const auto before = everything_in(fs, "/other");
    ASSERT_TRUE(install_sample(fs, {.version = "2.0.0"}, {.area = "/area", .scram_arch = "one"}));
    EXPECT_EQ(everything_in(fs, "/other"), before) << link;
  }
}

TEST(Install, MakesANewVersionCurrentAndKeepsTheOld) {
  MemoryFileSystem fs;
  ASSERT_TRUE(install_sample(fs, {}, kOptions));
  ASSERT_TRUE(install_sample(fs, {.version = "1.1.0", .object = "new"}, kOptions));
  EXPECT_EQ(view_of(fs, "/area"), expected_view({.version = "1.1.0", .object = "new"}, "/area"));
  EXPECT_EQ(fs.read("/area/tfaot-model-test/1.0.0/lib/test.o").value(), "code");
}

TEST(Install, LeavesTheCurrentVersionWhenAsked) {
  MemoryFileSystem fs;
  ASSERT_TRUE(install_sample(fs, {}, kOptions));
  const auto receipt =
      install_sample(fs, {.version = "2.0.0"}, {.area = "/area", .make_current = false}).value();
  EXPECT_EQ(receipt.tool_file, "/area/tfaot-model-test/2.0.0/etc/scram.d/tfaot-model-test.xml");
  EXPECT_EQ(fs.read(receipt.tool_file).value(),
            expected_view({.version = "2.0.0"}, "/area").tool_file);
  EXPECT_EQ(view_of(fs, "/area"), expected_view({}, "/area"));
  // It becomes current later without being unpacked again.
  EXPECT_TRUE(install_sample(fs, {.version = "2.0.0"}, kOptions).value().unchanged);
  EXPECT_EQ(view_of(fs, "/area"), expected_view({.version = "2.0.0"}, "/area"));
}

TEST(Install, GoesBackToAnOlderVersion) {
  MemoryFileSystem fs;
  ASSERT_TRUE(install_sample(fs, {}, kOptions));
  ASSERT_TRUE(install_sample(fs, {.version = "2.0.0"}, kOptions));
  ASSERT_TRUE(install_sample(fs, {}, kOptions));
  EXPECT_EQ(view_of(fs, "/area"), expected_view({}, "/area"));
}

TEST(Install, ChangesNothingTheSecondTime) {
  MemoryFileSystem fs;
  ASSERT_TRUE(install_sample(fs, {}, kOptions));
  fs.inject({.change = 1, .all_after = true});
  EXPECT_TRUE(install_sample(fs, {}, kOptions).value().unchanged);
  EXPECT_EQ(fs.changes(), 0U);
}

TEST(Install, RenewsLinksAndToolFile) {
  MemoryFileSystem fs;
  ASSERT_TRUE(install_sample(fs, {}, kOptions));
  ASSERT_TRUE(fs.remove_all("/area/lib"));
  ASSERT_TRUE(fs.replace_symlink("9.9.9", "/area/tfaot-model-test/current"));
  ASSERT_TRUE(fs.replace_atomically(kToolFile, "<!-- Made by tfaot. --><tool/>"));
  ASSERT_TRUE(fs.replace_atomically("/area/tfaot-model-test/1.0.0/etc/scram.d/tfaot-model-test.xml",
                                    "old"));
  EXPECT_TRUE(install_sample(fs, {}, kOptions).value().unchanged);
  EXPECT_EQ(view_of(fs, "/area"), expected_view({}, "/area"));
}

TEST(Install, ReplacesAVersionWhenAsked) {
  MemoryFileSystem fs;
  ASSERT_TRUE(install_sample(fs, {}, kOptions));
  ASSERT_TRUE(install_sample(fs, {.object = "other code"}, kReplace));
  EXPECT_EQ(view_of(fs, "/area"), expected_view({.object = "other code"}, "/area"));
  EXPECT_THAT(fs.list("/area/.tfaot").value(), ElementsAre("history.jsonl"));
}

TEST(Install, SaysWhatToDoWhereADiskCannotReplaceAFolder) {
  MemoryFileSystem fs;
  ASSERT_TRUE(install_sample(fs, {}, kOptions));
  // Five files are unpacked; four tool files and the history are written, with copies of three.
  fs.inject({.change = 14, .reason = EINVAL});
  EXPECT_EQ(install_sample(fs, {.object = "other code"}, kReplace).error().text(),
            "/area/.tfaot/staging-tfaot-model-test-1.0.0: cannot exchange with "
            "'/area/tfaot-model-test/1.0.0': Invalid argument\n"
            "  some disks (NFS) cannot replace a folder in one step: give the new package another "
            "version");
  EXPECT_EQ(view_of(fs, "/area"), expected_view({}, "/area"));
  EXPECT_THAT(fs.list("/area/.tfaot").value(), ElementsAre("history.jsonl"));
}

// At every failure the area is exactly as before, or the install is done.
TEST(Install, AFailureAtAnyChangeLeavesTheAreaAsItWas) {
  struct Change {
    std::vector<SamplePackage> before;
    SamplePackage after;
  };
  const SamplePackage first;
  const SamplePackage second{.version = "2.0.0"};
  std::vector<Change> changes(5);  // the first one: into an empty area
  changes[1] = {{first}, SamplePackage{.version = "1.1.0", .object = "new"}};
  changes[2] = {{first}, SamplePackage{.object = "other code"}};
  changes[3] = {{first, second}, SamplePackage{.object = "other code"}};
  changes[4] = {{first}, SamplePackage{.version = "1.1.0", .toolkit = "9.0.0"}};
  for (const Change& change : changes) {
    for (std::size_t n = 1;; ++n) {
      ASSERT_LT(n, 80U);
      MemoryFileSystem fs;
      ASSERT_TRUE(fs.create_directories("/area/.tfaot"));  // as the area's lock does
      for (const SamplePackage& package : change.before) {
        ASSERT_TRUE(install_sample(fs, package, kReplace));
      }
      const auto before = everything_in(fs, "/area");
      fs.inject({.change = n});
      const bool installed = install_sample(fs, change.after, kReplace).has_value();
      const bool ended = fs.changes() < n;
      fs.inject({.change = 1000});
      EXPECT_EQ(view_of(fs, "/area"), installed ? expected_view(change.after, "/area")
                                      : change.before.empty()
                                          ? AreaView()
                                          : expected_view(change.before.back(), "/area"));
      if (!installed) {
        ASSERT_TRUE(remove_leftovers(fs, "/area"));  // where it was a removal that failed
        EXPECT_EQ(everything_in(fs, "/area"), before) << n;
      }
      if (ended) break;
    }
  }
}

TEST(Install, DoesNotReplaceAFolderByALink) {
  MemoryFileSystem fs;
  ASSERT_TRUE(fs.create_directories("/area/lib/cmake/tfaot-model-test/of others"));
  EXPECT_EQ(install_sample(fs, {}, kOptions).error().text(),
            "/area/lib/cmake/tfaot-model-test: a folder that tfaot did not make is in the way\n"
            "  move it away, or give the package another tool name (--tool-name of 'tfaot "
            "compile')");
  EXPECT_EQ(fs.kind("/area/tfaot-model-test"), FileKind::kMissing);
  EXPECT_EQ(fs.kind("/area/.tfaot"), FileKind::kMissing);
}

TEST(Install, GivesTheAreaTheRuntimeOfTheNewestToolkit) {
  MemoryFileSystem fs;
  ASSERT_TRUE(install_sample(fs, {.toolkit = "0.9.0"}, kOptions));
  EXPECT_EQ(fs.read(kRuntimeTool).value(), runtime_tool_file({.toolkit = "0.9.0"}, "/area"));
  const SamplePackage newest{.version = "2.0.0", .toolkit = "0.10.0"};
  ASSERT_TRUE(install_sample(fs, newest, kOptions));
  EXPECT_EQ(fs.kind(kRuntimeTool), FileKind::kFile);
  EXPECT_EQ(fs.read(kRuntimeTool).value(), runtime_tool_file(newest, "/area"));
  ASSERT_TRUE(install_sample(fs, {.version = "3.0.0", .toolkit = "0.9.1"}, kOptions));
  EXPECT_EQ(fs.read(kRuntimeTool).value(), runtime_tool_file(newest, "/area"));
}

TEST(Install, RenewsTheRuntimeWhosePackageIsGone) {
  MemoryFileSystem fs;
  ASSERT_TRUE(install_sample(fs, {.version = "2.0.0", .toolkit = "0.10.0"}, kOptions));
  ASSERT_TRUE(fs.remove_all("/area/tfaot-model-test/2.0.0"));
  ASSERT_TRUE(install_sample(fs, {}, kOptions));
  EXPECT_EQ(fs.read(kRuntimeTool).value(), runtime_tool_file({}, "/area"));
}

// scram looks at the time of a toolbox's file.
TEST(Install, RenewsTheTimesOfToolFilesWithTheirPackage) {
  MemoryFileSystem fs;
  ASSERT_TRUE(install_sample(fs, {}, kOptions));
  const auto before = fs.last_used(kToolFile).value();
  const auto runtime_before = fs.last_used(kRuntimeTool).value();
  ASSERT_TRUE(install_sample(fs, {.object = "other code"}, kReplace));
  EXPECT_GT(fs.last_used(kToolFile).value(), before);
  EXPECT_GT(fs.last_used(kRuntimeTool).value(), runtime_before);
}

// An earlier tfaot made links, which are broken in the developer areas that scram makes from a
// release.
TEST(Install, MakesFilesOfLinks) {
  MemoryFileSystem fs;
  const SamplePackage newest{.toolkit = "0.2.0"};
  ASSERT_TRUE(install_sample(fs, newest, kOptions));
  const Path etc = "../../../../tfaot-model-test/current/etc/scram.d";
  ASSERT_TRUE(fs.replace_symlink(etc / "tfaot-model-test.xml", kToolFile));
  ASSERT_TRUE(fs.replace_symlink("../../../../tfaot-model-test/1.0.0/etc/scram.d/tfaot-runtime.xml",
                                 kRuntimeTool));
  ASSERT_TRUE(install_sample(fs, {.version = "2.0.0"}, kOptions));
  EXPECT_EQ(fs.kind(kToolFile), FileKind::kFile);
  EXPECT_EQ(fs.kind(kRuntimeTool), FileKind::kFile);
  EXPECT_EQ(fs.read(kRuntimeTool).value(), runtime_tool_file(newest, "/area"));
  EXPECT_EQ(view_of(fs, "/area"), expected_view({.version = "2.0.0"}, "/area"));
}

// All of them share one `current`.
TEST(Install, RenewsTheToolFileOfEveryToolboxThatHasOne) {
  MemoryFileSystem fs;
  const Path toolboxes = "/area/config/toolbox";
  const Path file = "tools/selected/tfaot-model-test.xml";
  const std::string developers = "<!-- Made by tfaot. --><tool name=\"tfaot-model-test\"/>";
  ASSERT_TRUE(fs.create_directories(toolboxes / "none/tools/selected"));
  ASSERT_TRUE(fs.replace_atomically(toolboxes / "set_up" / file, developers));
  for (const std::string arch : {"one", "two"}) {
    ASSERT_TRUE(install_sample(fs, {}, {.area = "/area", .scram_arch = arch}));
  }
  const SamplePackage second{.version = "2.0.0"};
  ASSERT_TRUE(install_sample(fs, second, {.area = "/area", .scram_arch = "one"}));
  for (const std::string arch : {"one", "two"}) {
    EXPECT_EQ(fs.read(toolboxes / arch / file).value(), expected_view(second, "/area").tool_file);
  }
  EXPECT_EQ(fs.kind(toolboxes / "none" / file), FileKind::kMissing);
  EXPECT_EQ(fs.read(toolboxes / "set_up" / file).value(), developers);
}

TEST(Install, RefusesAToolFileOfAnotherTool) {
  MemoryFileSystem fs;
  const auto plan = plan_install(fs, SamplePackage().manifest(), kOptions).value();
  const auto receipt = commit_installs(
      fs, {{.plan = plan, .tool_files = {"<tool name='gcc-cxxcompiler' version='1'/>"}}}, kActor);
  EXPECT_EQ(receipt.error().text(),
            "the package's tool file tfaot-model-test.xml is of a tool 'gcc-cxxcompiler'\n"
            "  compile the model again with 'tfaot compile'");
}

TEST(Install, TakesPackagesWithoutARuntimeTool) {
  MemoryFileSystem fs;
  ASSERT_TRUE(install_sample(fs, {.has_runtime_tool = false}, kOptions));
  EXPECT_EQ(fs.kind(kRuntimeTool), FileKind::kMissing);
  EXPECT_EQ(view_of(fs, "/area"), expected_view({}, "/area"));
}

TEST(Install, NeedsAnUnpackedPackage) {
  MemoryFileSystem fs;
  const auto plan = plan_install(fs, SamplePackage().manifest(), kOptions).value();
  const auto receipt = commit_installs(
      fs, {{.plan = plan, .tool_files = {"<tool name='tfaot-model-test' version='1.0.0'/>"}}},
      kActor);
  EXPECT_EQ(receipt.error().text(),
            "nothing was unpacked into /area/.tfaot/staging-tfaot-model-test-1.0.0");
  EXPECT_EQ(receipt.error().kind(), ErrorKind::kInternal);
  EXPECT_EQ(fs.kind("/area"), FileKind::kMissing);
}

TEST(RemoveLeftovers, RemovesTheStagingFolder) {
  MemoryFileSystem fs;
  const auto plan = plan_install(fs, SamplePackage().manifest(), kOptions).value();
  ASSERT_TRUE(fs.replace_atomically(plan.staging / "lib/test.o", "half"));
  ASSERT_TRUE(remove_leftovers(fs, plan.options.area));
  EXPECT_THAT(fs.list("/area/.tfaot").value(), IsEmpty());
}

TEST(RemoveLeftovers, KeepsTheLock) {
  MemoryFileSystem fs({{"/area/.tfaot/lock", ""},
                       {"/area/.tfaot/staging-tfaot-model-test-1.0.0/lib/test.o", "half"},
                       {"/area/.tfaot/staging-tool-file", ""}});
  ASSERT_TRUE(remove_leftovers(fs, "/area"));
  EXPECT_THAT(fs.list("/area/.tfaot").value(), ElementsAre("lock"));
  EXPECT_TRUE(remove_leftovers(fs, "/none"));
}

}  // namespace
}  // namespace tfaot::toolkit::testing
