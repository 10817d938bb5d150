// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "install_samples.h"
#include "tests/support/memory_file_system.h"
#include "tfaot/base/printable.h"

namespace tfaot::toolkit::testing {
namespace {

std::string refusal_of(const FileSystem& fs, const SamplePackage& package,
                       const InstallOptions& options = kOptions) {
  const auto plan = plan_install(fs, package.manifest(), options);
  return plan ? "no error" : plan.error().text();
}

TEST(PlanInstall, SaysWhereThingsGo) {
  const MemoryFileSystem fs;
  const auto plan = plan_install(fs, SamplePackage().manifest(),
                                 {.area = "/area", .scram_arch = "el9_amd64_gcc12"})
                        .value();
  EXPECT_EQ(plan.staging, "/area/.tfaot/staging-tfaot-model-test-1.0.0");
  EXPECT_EQ(plan.destination, "/area/tfaot-model-test/1.0.0");
  EXPECT_EQ(plan.tool_file,
            "/area/config/toolbox/el9_amd64_gcc12/tools/selected/tfaot-model-test.xml");
  EXPECT_FALSE(plan.already_installed);
  EXPECT_EQ(plan_install(fs, SamplePackage().manifest(), kOptions).value().tool_file,
            "/area/config/toolbox/tools/selected/tfaot-model-test.xml");
}

const std::vector<std::string> kNoFolders;
// A scram area with these folders.
struct ScramArea {
  explicit ScramArea(const std::vector<std::string>& folders) {
    for (const std::string& folder : folders) EXPECT_TRUE(fs.create_directories("/area/" + folder));
  }
  MemoryFileSystem fs{{{"/area/config/scram_version", "V3_00_78"}}};
};

struct ArchWords {
  std::string option{};
  std::string variable{};
};
// The folder of the tool file below config/toolbox, or the refusal.
std::string arch_or_refusal(const FileSystem& fs, const ArchWords& words,
                            const Path& area = "/area") {
  const auto plan = plan_install(
      fs, SamplePackage().manifest(),
      {.area = area, .scram_arch = words.option, .scram_arch_variable = words.variable});
  if (!plan) return plan.error().text();
  return plan->tool_file.lexically_relative(area / "config/toolbox").begin()->string();
}

// scram takes any folder of config/toolbox for an architecture.
TEST(PlanInstall, FindsTheArchitectureOfAScramArea) {
  const ScramArea one({"config/toolbox/one/tools", "config/toolbox/notes", ".SCRAM/two"});
  EXPECT_EQ(arch_or_refusal(one.fs, {}), "one");
  EXPECT_EQ(arch_or_refusal(one.fs, {.variable = "two"}), "one");  // as scram itself chooses
  EXPECT_EQ(arch_or_refusal(one.fs, {.option = "one", .variable = "two"}), "one");
  const ScramArea both({"config/toolbox/one/tools", "config/toolbox/two/tools"});
  EXPECT_EQ(arch_or_refusal(both.fs, {.variable = "two"}), "two");
  EXPECT_EQ(arch_or_refusal(both.fs, {.option = "one", .variable = "two"}), "one");
  EXPECT_EQ(arch_or_refusal(ScramArea({".SCRAM/two"}).fs, {}), "two");
  EXPECT_EQ(arch_or_refusal(ScramArea(kNoFolders).fs, {.variable = "two"}), "two");
  EXPECT_EQ(arch_or_refusal(ScramArea(kNoFolders).fs, {.option = "one", .variable = "two"}), "one");
  MemoryFileSystem by_folder;
  ASSERT_TRUE(by_folder.create_directories("/area/.SCRAM/two"));
  EXPECT_EQ(arch_or_refusal(by_folder, {}), "two");
  EXPECT_EQ(arch_or_refusal(MemoryFileSystem(), {.variable = "two"}), "tools");  // no scram area
}

TEST(PlanInstall, RefusesAScramAreaWithoutItsArchitecture) {
  const ScramArea both({"config/toolbox/one/tools", "config/toolbox/two/tools"});
  const std::string choice =
      "/area: in this scram area the tool file needs an architecture\n"
      "  the area has one, two\n"
      "  name it with --scram-arch";
  EXPECT_EQ(arch_or_refusal(both.fs, {}), choice);
  EXPECT_EQ(arch_or_refusal(both.fs, {.variable = "three"}), choice);
  EXPECT_EQ(arch_or_refusal(ScramArea(kNoFolders).fs, {}),
            "/area: in this scram area the tool file needs an architecture\n"
            "  no folder of /area/config/toolbox holds tools\n"
            "  name it with --scram-arch");
  EXPECT_EQ(
      arch_or_refusal(both.fs, {.option = "three"}),
      "/area: this scram area has no architecture 'three'\n"
      "  it has one, two\n"
      "  'scram project' adds one; an unknown folder in /area/config/toolbox would stop every "
      "command of scram");
  EXPECT_EQ(
      arch_or_refusal(ScramArea({"config/toolbox/one/tools", "config/toolbox/tools"}).fs, {}),
      "/area/config/toolbox/tools: scram takes this folder for an architecture, so no command "
      "of it works\n"
      "  remove it, then install again: the tool files go to "
      "config/toolbox/SCRAM_ARCH/tools");
  for (const std::string area : {"/area/config/toolbox", "/area/config/toolbox/one"}) {
    EXPECT_EQ(arch_or_refusal(both.fs, {}, area),
              area +
                  ": scram would take what is installed here for an architecture, and no command "
                  "of it would work\n  install into /area");
  }
  EXPECT_TRUE(plan_install(both.fs, SamplePackage().manifest(),
                           {.area = "/area", .make_current = false}));  // writes no tool file there
}

TEST(PlanInstall, NeedsAnAbsoluteArea) {
  const auto plan = plan_install(MemoryFileSystem(), SamplePackage().manifest(), {.area = "area"});
  EXPECT_EQ(plan.error().text(), "the release area 'area' is not an absolute path");
  EXPECT_EQ(plan.error().kind(), ErrorKind::kUsage);
}

TEST(PlanInstall, RefusesNamesThatLeaveTheAreaOrAreTaken) {
  const MemoryFileSystem fs;
  const std::string rest =
      "' cannot name a folder of a release area\n"
      "  use letters, digits, '.', '_', '+' and '-', and begin with a letter or digit\n"
      "  'lib' and 'config' as a tool and 'current' as a version are reserved";
  for (const std::string name :
       {"", ".", "..", ".tfaot", "-x", "a/b", "../x", "lib", "config", "a b"}) {
    EXPECT_EQ(refusal_of(fs, {.tool_name = name}), "the tool '" + name + rest);
  }
  for (const std::string name : {"", "..", ".hidden", "1/2", "current", "1.0\n"}) {
    EXPECT_EQ(refusal_of(fs, {.version = name}), "the version '" + printable_line(name) + rest);
  }
  for (const std::string name : {"..", "a/b"}) {
    EXPECT_EQ(refusal_of(fs, {}, {.area = "/area", .scram_arch = name}),
              "the SCRAM_ARCH '" + name + rest);
  }
  EXPECT_EQ(refusal_of(fs, {.version = "1.0.0-rc1+build_2"}), "no error");
}

TEST(PlanInstall, RefusesFoldersThatAreLinksOutOfTheArea) {
  for (const std::string folder : {"tfaot-model-test", ".tfaot", "lib", "lib/cmake", "config",
                                   "config/toolbox/tools/selected"}) {
    MemoryFileSystem fs;
    ASSERT_TRUE(fs.create_directories("/elsewhere"));
    ASSERT_TRUE(fs.replace_symlink("/elsewhere", "/area/" + folder));
    EXPECT_EQ(refusal_of(fs, {}), "/area/" + folder +
                                      ": not a folder, so nothing can be put below it\n"
                                      "  links out of /area are not followed\n"
                                      "  move it away, or choose another area");
  }
}

TEST(PlanInstall, FollowsAnAreaThatIsALink) {
  MemoryFileSystem fs;
  ASSERT_TRUE(fs.create_directories("/disk2/area"));
  ASSERT_TRUE(fs.replace_symlink("/disk2/area", "/area"));
  EXPECT_EQ(refusal_of(fs, {}), "no error");
}

TEST(PlanInstall, KnowsWhatIsInstalled) {
  MemoryFileSystem fs;
  ASSERT_TRUE(install_sample(fs, {}, kOptions));
  EXPECT_TRUE(plan_install(fs, SamplePackage().manifest(), kOptions).value().already_installed);
  EXPECT_FALSE(plan_install(fs, SamplePackage{.version = "2.0.0"}.manifest(), kOptions)
                   .value()
                   .already_installed);
}

TEST(PlanInstall, InstallsADamagedPackageAnew) {
  for (const std::string path : {"lib/test.o", "tfaot-model-test.xml"}) {
    MemoryFileSystem fs;
    ASSERT_TRUE(install_sample(fs, {}, kOptions));
    ASSERT_TRUE(fs.replace_atomically("/area/tfaot-model-test/1.0.0/" + path, "edoc"));
    EXPECT_FALSE(plan_install(fs, SamplePackage().manifest(), kOptions).value().already_installed);
  }
}

TEST(PlanInstall, AVersionWithALinkInItIsDamaged) {
  const Path tree = "/area/tfaot-model-test/1.0.0";
  for (const std::string moved : {"etc", "etc/scram.d", "lib", "lib/cmake", "manifest.json"}) {
    MemoryFileSystem fs;
    ASSERT_TRUE(install_sample(fs, {}, kOptions));
    ASSERT_TRUE(fs.create_directories("/elsewhere"));
    ASSERT_TRUE(fs.rename(tree / moved, "/elsewhere/moved"));
    ASSERT_TRUE(fs.replace_symlink("/elsewhere/moved", tree / moved));
    EXPECT_FALSE(plan_install(fs, SamplePackage().manifest(), kOptions).value().already_installed)
        << moved;
  }
}

TEST(PlanInstall, RefusesOtherContentsOfTheSameVersionUnlessAsked) {
  MemoryFileSystem fs;
  ASSERT_TRUE(install_sample(fs, {}, kOptions));
  const SamplePackage other{.object = "other code"};
  EXPECT_EQ(refusal_of(fs, other),
            "/area/tfaot-model-test/1.0.0: this version is already installed with other contents\n"
            "  they differ in: source model, 1 of 4 files: lib/test.o\n"
            "  give the new package another version, or replace the installed one (--replace)");
  EXPECT_EQ(refusal_of(fs, other, {.area = "/area", .replace = true}), "no error");
}

TEST(PlanInstall, SaysInWhatPackagesOfOneVersionDiffer) {
  MemoryFileSystem fs;
  ASSERT_TRUE(install_sample(fs, {}, kOptions));
  Manifest other = SamplePackage().manifest();
  other.architecture = "aarch64-linux";
  other.batch_sizes = {1, 4};
  other.cpu_levels = {"generic"};
  other.weights.storage = WeightsMode::kShared;
  other.compute = ComputeType::kBfloat16;
  other.engine = "another";
  other.toolkit_version = "9.9";
  EXPECT_EQ(plan_install(fs, other, kOptions).error().notes()[0],
            "they differ in: architecture, batch sizes, CPU levels, storage of the weights, "
            "compute, engine, tfaot version");
}

TEST(PlanInstall, RefusesWhatIsNoPackage) {
  MemoryFileSystem fs({{"/area/tfaot-model-test/1.0.0/manifest.json", "damaged"}});
  EXPECT_EQ(refusal_of(fs, {}),
            "/area/tfaot-model-test/1.0.0: this version is already installed with other contents\n"
            "  the folder holds no package that can be read\n"
            "  give the new package another version, or replace the installed one (--replace)");
  EXPECT_EQ(refusal_of(fs, {}, {.area = "/area", .replace = true}), "no error");
  ASSERT_TRUE(fs.remove_all("/area/tfaot-model-test"));
  ASSERT_TRUE(fs.replace_atomically("/area/tfaot-model-test/1.0.0/notes.txt", "mine"));
  EXPECT_EQ(
      refusal_of(fs, {}, {.area = "/area", .replace = true}),
      "/area/tfaot-model-test/1.0.0: a folder that tfaot did not make is in the way\n"
      "  move it away, or give the package another tool name (--tool-name of 'tfaot compile')");
  ASSERT_TRUE(fs.remove_all("/area/tfaot-model-test"));
  ASSERT_TRUE(fs.replace_atomically("/area/tfaot-model-test/1.0.0", "a file"));
  EXPECT_EQ(
      refusal_of(fs, {}, {.area = "/area", .replace = true}),
      "/area/tfaot-model-test/1.0.0: not a folder, so this version cannot be installed there\n"
      "  move it away, then install again");
}

TEST(PlanInstall, RefusesToReplaceWhatTfaotDidNotMake) {
  const std::string advice =
      " that tfaot did not make is in the way\n"
      "  move it away, or give the package another tool name (--tool-name of 'tfaot compile')";
  const std::string tool_file = "/area/config/toolbox/tools/selected/gcc-cxxcompiler.xml";
  for (const auto& [path, what] : std::vector<std::pair<std::string, std::string>>{
           {tool_file, "a tool file"},
           {"/area/config/toolbox/tools/selected/tfaot-runtime.xml", "a tool file"},
           {"/area/lib/cmake/gcc-cxxcompiler", "a file"},
           {"/area/gcc-cxxcompiler/current", "a file"}}) {
    MemoryFileSystem fs({{path, "<tool name='gcc-cxxcompiler' version='12'/>"}});
    ASSERT_TRUE(
        fs.replace_atomically("/area/gcc-cxxcompiler/0.9/etc/scram.d/gcc-cxxcompiler.xml", ""));
    EXPECT_EQ(refusal_of(fs, {.tool_name = "gcc-cxxcompiler"}), path + ": " + what + advice);
  }
  MemoryFileSystem fs;
  ASSERT_TRUE(fs.replace_symlink("/opt/gcc.xml", tool_file));
  EXPECT_EQ(refusal_of(fs, {.tool_name = "gcc-cxxcompiler"}), tool_file + ": a tool file" + advice);
  ASSERT_TRUE(fs.replace_symlink("/opt/gcc", "/area/lib/cmake/gcc"));
  EXPECT_EQ(refusal_of(fs, {.tool_name = "gcc"}), "/area/lib/cmake/gcc: a link" + advice);
}

TEST(PlanInstall, RefusesFoldersOfTheArea) {
  const MemoryFileSystem fs({{"/area/src/Sub/Pkg/BuildFile.xml", ""}});
  EXPECT_EQ(
      refusal_of(fs, {.tool_name = "src"}),
      "/area/src: a folder that tfaot did not make is in the way\n"
      "  move it away, or give the package another tool name (--tool-name of 'tfaot compile')");
}

TEST(PlanInstall, RefusesAToolThatDiffersInCapitalsAlone) {
  MemoryFileSystem fs;
  ASSERT_TRUE(install_sample(fs, {.tool_name = "tfaot-model-Foo"}, kOptions));
  EXPECT_EQ(refusal_of(fs, {.tool_name = "tfaot-model-foo"}),
            "/area/tfaot-model-Foo: a tool 'tfaot-model-Foo' is installed, and 'tfaot-model-foo' "
            "is the same name in lower case, the form that scram uses\n"
            "  give the package another tool name (--tool-name of 'tfaot compile')");
}

TEST(PlanInstall, RefusesPackagesOfANewerToolkit) {
  const InstallOptions options{.area = "/area", .toolkit = "0.10.0"};
  EXPECT_EQ(refusal_of(MemoryFileSystem(), {.toolkit = "0.9.9"}, options), "no error");
  EXPECT_EQ(refusal_of(MemoryFileSystem(), {.toolkit = "0.10.0"}, options), "no error");
  EXPECT_EQ(refusal_of(MemoryFileSystem(), {.toolkit = "999"}, options),
            "the package was made by tfaot 999, which is newer than this tfaot 0.10.0\n"
            "  install it with that tfaot, or a newer one");
}

}  // namespace
}  // namespace tfaot::toolkit::testing
