// SPDX-License-Identifier: Apache-2.0
#include "tfaot/scram/scram_hook.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/memory_file_system.h"

namespace tfaot::toolkit {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::string kScram = "/area/config/SCRAM/";
const std::string kRules =
    "class BuildRules(object):\n    def dnn_template(self):\n        pass\n"
    "    def isPublictype(self):\n        return True\n"
    "    def dump(self):\n        self.dnn_template()";  // no line end
const std::string kMakefile =
    "define CommonBinaryTail\n$(eval $($(1)_PRE_INIT_FUNC))\n$($(1)_precompile)\nendef\n"
    "$($(1)_LOC_USE_ALL)\ndefine AutoCleanFile\nendef\n";
const HookOptions kOptions{"/area", "/opt/tfaot/bin/tfaot"};

constexpr std::size_t kNever = 1'000'000;

class ScramHook : public ::testing::Test {
 protected:
  std::string rules() { return fs_.read(kScram + "Plugins/BuildRules.py").value(); }
  HookState state() { return hook_status(fs_, kOptions).value().state; }
  void write(const std::string& path, const std::string& text) {
    ASSERT_TRUE(fs_.replace_atomically(path, text));
  }
  std::string refusal() { return install_hook(fs_, kOptions).error().text(); }

  testing::MemoryFileSystem fs_ =
      testing::MemoryFileSystem({{"/area/config/scram_version", "V3_00_78\n"},
                                 {"/area/config/config_tag", "V09-05-02\n"},
                                 {kScram + "Plugins/BuildRules.py", kRules},
                                 {kScram + "GMake/Makefile.rules", kMakefile}});
};

TEST_F(ScramHook, InstallsOnceAndIsRemovedToTheByte) {
  EXPECT_EQ(state(), HookState::kAbsent);
  EXPECT_TRUE(install_hook(fs_, kOptions).value());
  EXPECT_EQ(state(), HookState::kInstalled);
  EXPECT_EQ(rules().substr(0, kRules.size()), kRules);
  EXPECT_THAT(rules(), HasSubstr("\ntfaot_hook.add_to(BuildRules)\n"));
  EXPECT_THAT(fs_.read(kScram + "GMake/Makefile.aot").value(),
              HasSubstr("TFAOT := /opt/tfaot/bin/tfaot\n"));

  const std::string before = rules();
  EXPECT_FALSE(install_hook(fs_, kOptions).value());
  EXPECT_EQ(rules(), before);

  ASSERT_TRUE(fs_.replace_atomically(kScram + "Plugins/.tfaot-0123abcd.tmp", "of a killed run"));
  EXPECT_TRUE(remove_hook(fs_, kOptions).value());
  EXPECT_EQ(rules(), kRules);
  EXPECT_THAT(list_files_recursively(fs_, "/area").value(),
              ElementsAre("config/SCRAM/GMake/Makefile.rules", "config/SCRAM/Plugins/BuildRules.py",
                          "config/config_tag", "config/scram_version"));
  EXPECT_FALSE(remove_hook(fs_, kOptions).value());
}

TEST_F(ScramHook, WritesNothingThroughLinks) {
  ASSERT_TRUE(fs_.create_directories("/release"));
  for (const std::string folder : {"Plugins", "GMake"}) {
    ASSERT_TRUE(fs_.rename(kScram + folder, "/release/" + folder));
    ASSERT_TRUE(fs_.replace_symlink("/release/" + folder, kScram + folder));
    const auto before = list_files_recursively(fs_, "/release").value();
    EXPECT_EQ(refusal(), kScram + folder +
                             ": not a folder, so nothing can be put below it\n"
                             "  links out of /area are not followed");
    EXPECT_EQ(list_files_recursively(fs_, "/release").value(), before);
    EXPECT_EQ(rules(), kRules);
    ASSERT_TRUE(fs_.remove_all(kScram + folder));
    ASSERT_TRUE(fs_.rename("/release/" + folder, kScram + folder));
  }
}

TEST_F(ScramHook, KeepsWhatOthersAddedBehindIt) {
  ASSERT_TRUE(install_hook(fs_, kOptions));
  write(kScram + "Plugins/BuildRules.py", rules() + "# mine\n");
  ASSERT_TRUE(remove_hook(fs_, kOptions));
  EXPECT_EQ(rules(), kRules + "# mine\n");
}

TEST_F(ScramHook, RenewsTheHookOfAnotherTfaot) {
  ASSERT_TRUE(install_hook(fs_, {"/area", "/old/tfaot"}));
  EXPECT_EQ(state(), HookState::kOther);
  EXPECT_TRUE(install_hook(fs_, kOptions).value());
  EXPECT_EQ(state(), HookState::kInstalled);
  std::string older = rules();
  older.replace(older.find("scram-hook ") + 11, 1, "999.");
  write(kScram + "Plugins/BuildRules.py", older);
  EXPECT_EQ(state(), HookState::kOther);
  EXPECT_TRUE(install_hook(fs_, kOptions).value());
  EXPECT_TRUE(remove_hook(fs_, kOptions).value());
  EXPECT_EQ(rules(), kRules);
}

TEST_F(ScramHook, AKillLeavesScramAsItWasOrAsItWillBe) {
  for (const std::size_t change : {1, 2, 3}) {
    fs_.inject({.change = change, .all_after = true});
    EXPECT_FALSE(install_hook(fs_, kOptions));
    EXPECT_EQ(rules(), kRules) << change;
    fs_.inject({.change = kNever});
    EXPECT_TRUE(install_hook(fs_, kOptions).value());
    EXPECT_EQ(state(), HookState::kInstalled);
    fs_.inject({.change = change, .all_after = true});
    EXPECT_FALSE(remove_hook(fs_, kOptions));
    fs_.inject({.change = kNever});
    EXPECT_EQ(state(), change == 1 ? HookState::kInstalled : HookState::kDamaged);
    EXPECT_TRUE(remove_hook(fs_, kOptions).value());
    EXPECT_EQ(state(), HookState::kAbsent);
    EXPECT_EQ(rules(), kRules);
  }
}

TEST_F(ScramHook, SaysWhatIsDamaged) {
  ASSERT_TRUE(install_hook(fs_, kOptions));
  ASSERT_TRUE(fs_.remove_all(kScram + "GMake/Makefile.aot"));
  EXPECT_EQ(state(), HookState::kDamaged);
  EXPECT_THAT(hook_status(fs_, kOptions).value().problems,
              ElementsAre("/area/config/SCRAM/GMake/Makefile.aot is missing"));
  const std::string whole = rules();
  write(kScram + "Plugins/BuildRules.py", whole.substr(0, whole.find("# <<<")));
  EXPECT_EQ(state(), HookState::kDamaged);
  EXPECT_THAT(refusal(), HasSubstr("the file has only part of the hook's lines"));
  EXPECT_FALSE(remove_hook(fs_, kOptions));
}

TEST_F(ScramHook, RefusesWhatItDoesNotFit) {
  write("/area/config/scram_version", "V2_99_99\n");
  EXPECT_EQ(
      refusal(),
      "/area/config/scram_version: scram V2_99_99 is not known\n  the hook is for scram V3_*");
  write("/area/config/scram_version", "V3_00_78\n");
  write(kScram + "GMake/Makefile.rules", "all:\n");
  EXPECT_EQ(refusal(),
            "/area/config/SCRAM/GMake/Makefile.rules: it has no 'define CommonBinaryTail'\n"
            "  the hook does not fit this cmssw-config V09-05-02");
  write(kScram + "GMake/Makefile.rules", kMakefile);
  write(kScram + "GMake/Makefile.aot", "# upstream's\n");
  EXPECT_THAT(refusal(), HasSubstr("tfaot did not write this file, so it is not changed"));
  EXPECT_EQ(rules(), kRules);
  EXPECT_THAT(install_hook(fs_, {"/area", "/a b/tfaot"}).error().text(),
              HasSubstr("make cannot use the path of this tfaot"));
  EXPECT_THAT(install_hook(fs_, {"/elsewhere", "/tfaot"}).error().text(),
              HasSubstr("not the top of a scram area"));
}

TEST_F(ScramHook, TellsOfAMissingFileAfterTheVersion) {
  ASSERT_TRUE(fs_.remove_all(kScram + "Plugins/BuildRules.py"));
  EXPECT_EQ(refusal(),
            kScram +
                "Plugins/BuildRules.py: this file of the area is missing\n"
                "  scram b needs it too: create the area again, for example with scram project");
  write("/area/config/scram_version", "V2_99_99\n");
  EXPECT_THAT(refusal(), HasSubstr("scram V2_99_99 is not known"));
}

TEST_F(ScramHook, LeavesTheFilesOfAReleaseAlone) {
  write("/release/BuildRules.py", kRules);
  ASSERT_TRUE(fs_.remove_all(kScram + "Plugins/BuildRules.py"));
  ASSERT_TRUE(fs_.replace_symlink("/release/BuildRules.py", kScram + "Plugins/BuildRules.py"));
  EXPECT_THAT(refusal(), HasSubstr("not a file of this area"));
}

}  // namespace
}  // namespace tfaot::toolkit
