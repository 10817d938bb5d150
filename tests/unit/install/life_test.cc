// SPDX-License-Identifier: Apache-2.0
// What happens to a package after its install: use, rollback, removal, history, verification.
#include <gmock/gmock.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "install_samples.h"
#include "tests/support/forwarding_file_system.h"
#include "tests/support/memory_file_system.h"
#include "tfaot/base/hash.h"
#include "tfaot/base/text.h"
#include "tfaot/records/area_history.h"
#include "tfaot/records/file_names.h"

namespace tfaot::toolkit::testing {
namespace {

using ::testing::AnyOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

constexpr const char* kToolName = "tfaot-model-test";
constexpr const char* kHistory = "/area/.tfaot/history.jsonl";
constexpr const char* kRuntimeToolFile = "/area/config/toolbox/tools/selected/tfaot-runtime.xml";

AreaActor actor(AreaAction action) {
  AreaActor actor = kActor;
  actor.action = action;
  return actor;
}

Status use(FileSystem& fs, const SamplePackage& package, AreaAction action = AreaAction::kUse) {
  TFAOT_ASSIGN(const InstallPlan plan, plan_use(fs, kOptions, package.tool_name, package.version));
  const auto receipts = commit_installs(
      fs,
      {{.plan = plan,
        .tool_files = {rebased_tool_file(package, "/area"), runtime_tool_file(package, "/area")}}},
      actor(action));
  if (!receipts) return fail(receipts.error());
  return {};
}

Status remove(FileSystem& fs, const std::string& version, const std::string& tool = kToolName) {
  TFAOT_ASSIGN(const RemovalPlan plan, plan_removal(fs, "/area", tool, version));
  return commit_removal(fs, plan, actor(AreaAction::kRemove));
}

// "install 1.0.0: 1.0.0", "remove 1.0.0 gone: none"
std::vector<std::string> history_of(const FileSystem& fs) {
  std::vector<std::string> lines;
  const auto history = read_history(fs, "/area", "now").value();
  for (const AreaEvent& event : history) {
    lines.push_back(std::string(word_of(event.action)) + " " + event.version +
                    (event.is_present ? "" : " gone") + ": " +
                    (event.current.empty() ? "none" : event.current));
  }
  return lines;
}

std::string rolled_back_to(const FileSystem& fs) {
  return version_before(read_history(fs, "/area", "now").value(), kToolName).value_or("nothing");
}

std::vector<std::string> faults_in(const FileSystem& fs, const Path& area = "/area") {
  std::vector<std::string> texts;
  for (const Error& fault : verify_area(fs, area)) texts.push_back(fault.text());
  const auto versions = installed_versions(fs, area).value();
  for (const InstalledVersion& one : versions) {
    for (const Error& fault : verify_version(fs, area, one)) texts.push_back(fault.text());
  }
  return texts;
}

class LifeTest : public ::testing::Test {
 protected:
  LifeTest() {
    EXPECT_TRUE(install_sample(fs_, old_, kOptions));
    EXPECT_TRUE(install_sample(fs_, new_, kOptions));
  }

  MemoryFileSystem fs_;
  const SamplePackage old_{};
  const SamplePackage new_{.version = "1.1.0", .object = "new", .toolkit = "0.2.0"};
};

TEST_F(LifeTest, HistorySaysWhoInstalledWhatFromWhich) {
  const auto lines = split_lines(fs_.read(kHistory).value());
  ASSERT_THAT(lines, SizeIs(2));
  const std::string own =
      R"({"time":"2026-01-02T03:04:05Z","user":"jane","host":"node1","action":"install",)"
      R"("tool_name":"tfaot-model-test","version":"1.1.0","is_present":true,)"
      R"("current_before":"1.0.0","current":"1.1.0","archive":"test.tar.zst",)"
      R"("archive_sha256":"0123")";
  const std::string before = lines[0].substr(lines[0].size() - 66, 64);
  EXPECT_EQ(lines[1], own + ",\"sha256\":\"" + sha256_of(before + own) + "\"}");
}

TEST_F(LifeTest, HistoryHasNoLineForAnInstallThatChangesNothing) {
  ASSERT_TRUE(install_sample(fs_, new_, kOptions));
  EXPECT_THAT(history_of(fs_), ElementsAre("install 1.0.0: 1.0.0", "install 1.1.0: 1.1.0"));
}

TEST_F(LifeTest, UseSwitchesAllThatUsersLookThrough) {
  ASSERT_TRUE(use(fs_, old_));
  EXPECT_EQ(view_of(fs_, "/area"), expected_view(old_, "/area"));
  EXPECT_THAT(history_of(fs_),
              ElementsAre("install 1.0.0: 1.0.0", "install 1.1.0: 1.1.0", "use 1.0.0: 1.0.0"));
}

TEST_F(LifeTest, UseRefusesWhatIsNotThereOrDamaged) {
  EXPECT_EQ(use(fs_, {.version = "3.0.0"}).error().text(),
            "/area/tfaot-model-test: version 3.0.0 is not installed\n  installed: 1.0.0, 1.1.0");
  EXPECT_EQ(use(fs_, {.tool_name = "tfaot-model-other"}).error().text(),
            "/area: no tool 'tfaot-model-other' is installed\n  'tfaot list' shows what is");
  ASSERT_TRUE(fs_.replace_atomically("/area/tfaot-model-test/1.0.0/lib/test.o", "broken"));
  EXPECT_EQ(use(fs_, old_).error().text(),
            "/area/tfaot-model-test/1.0.0: the installed package is damaged\n"
            "  'tfaot verify' says where; install it again");
}

TEST_F(LifeTest, RollbackGoesToTheVersionBeforeAndBack) {
  EXPECT_EQ(rolled_back_to(fs_), "1.0.0");
  ASSERT_TRUE(use(fs_, old_, AreaAction::kRollback));
  EXPECT_EQ(rolled_back_to(fs_), "1.1.0");
}

TEST_F(LifeTest, RollbackSkipsVersionsThatAreGone) {
  ASSERT_TRUE(install_sample(fs_, {.version = "2.0.0"}, kOptions));
  ASSERT_TRUE(remove(fs_, "1.1.0"));
  EXPECT_EQ(rolled_back_to(fs_), "1.0.0");
  ASSERT_TRUE(remove(fs_, "1.0.0"));
  EXPECT_EQ(rolled_back_to(fs_), "nothing");
}

TEST_F(LifeTest, RollbackIsNeverToTheCurrentVersion) {
  ASSERT_TRUE(use(fs_, old_));
  ASSERT_TRUE(use(fs_, new_));
  ASSERT_TRUE(remove(fs_, "1.0.0"));
  EXPECT_EQ(rolled_back_to(fs_), "nothing");
}

TEST_F(LifeTest, HistoryNoticesChangesThatNoVerbMade) {
  ASSERT_TRUE(fs_.replace_symlink("1.0.0", "/area/tfaot-model-test/current"));
  EXPECT_THAT(history_of(fs_),
              ElementsAre("install 1.0.0: 1.0.0", "install 1.1.0: 1.1.0", "found 1.0.0: 1.0.0"));
  EXPECT_EQ(rolled_back_to(fs_), "1.1.0");
  ASSERT_TRUE(fs_.remove_all("/area/tfaot-model-test/1.1.0"));
  ASSERT_TRUE(record_found(fs_, "/area", kActor));
  EXPECT_THAT(split_lines(fs_.read(kHistory).value()), SizeIs(4));
}

TEST_F(LifeTest, HistoryOfAnOlderAreaBeginsWithWhatIsThere) {
  ASSERT_TRUE(fs_.remove_all(kHistory));
  EXPECT_THAT(history_of(fs_), ElementsAre("found 1.0.0: 1.1.0", "found 1.1.0: 1.1.0"));
}

TEST_F(LifeTest, HistoryDropsALineThatACrashCut) {
  const std::string text = fs_.read(kHistory).value();
  ASSERT_TRUE(fs_.replace_atomically(kHistory, text.substr(0, text.size() - 9)));
  EXPECT_THAT(history_of(fs_), ElementsAre("install 1.0.0: 1.0.0", "found 1.1.0: 1.1.0"));
}

TEST_F(LifeTest, DamagedHistoryStopsChangesWithAPlace) {
  ASSERT_TRUE(fs_.replace_atomically(kHistory, "{}\n"));
  EXPECT_EQ(use(fs_, old_).error().text(),
            "/area/.tfaot/history.jsonl:1: not a line of an area's history\n"
            "  the key 'time' is missing\n"
            "  move the file away: a new history begins then");
  EXPECT_EQ(view_of(fs_, "/area"), expected_view(new_, "/area"));
}

TEST_F(LifeTest, RemovesAnOldVersion) {
  ASSERT_TRUE(remove(fs_, "1.0.0"));
  EXPECT_THAT(fs_.list("/area/tfaot-model-test").value(), ElementsAre("1.1.0", "current"));
  EXPECT_EQ(view_of(fs_, "/area"), expected_view(new_, "/area"));
  EXPECT_THAT(fs_.list("/area/.tfaot").value(), ElementsAre("history.jsonl"));
  EXPECT_EQ(history_of(fs_).back(), "remove 1.0.0 gone: 1.1.0");
}

TEST_F(LifeTest, RefusesToRemoveTheVersionThatUsersGet) {
  EXPECT_EQ(remove(fs_, "1.1.0").error().text(),
            "/area/tfaot-model-test/1.1.0: users get this version, and others are installed\n"
            "  choose another first: tfaot use tfaot-model-test VERSION\n"
            "  or remove all versions: tfaot remove tfaot-model-test");
}

TEST_F(LifeTest, RemovesAModelWithAllThatLedToIt) {
  ASSERT_TRUE(remove(fs_, ""));
  EXPECT_EQ(fs_.kind("/area/tfaot-model-test"), FileKind::kMissing);
  EXPECT_EQ(fs_.kind("/area/lib/cmake/tfaot-model-test", Links::kKeep), FileKind::kMissing);
  EXPECT_EQ(fs_.kind(kToolFile), FileKind::kMissing);
  EXPECT_EQ(fs_.kind(kRuntimeToolFile), FileKind::kMissing);
  EXPECT_EQ(view_of(fs_, "/area"), AreaView());
  EXPECT_EQ(history_of(fs_).back(), "remove 1.1.0 gone: none");
}

TEST_F(LifeTest, KeepsFilesThatNoInstallMade) {
  ASSERT_TRUE(fs_.replace_atomically("/area/tfaot-model-test/notes.txt", "mine"));
  ASSERT_TRUE(remove(fs_, ""));
  EXPECT_THAT(fs_.list("/area/tfaot-model-test").value(), ElementsAre("notes.txt"));
}

TEST_F(LifeTest, GivesTheOtherModelsAnotherRuntime) {
  const SamplePackage other{.tool_name = "tfaot-model-other"};
  ASSERT_TRUE(install_sample(fs_, other, kOptions));
  EXPECT_EQ(fs_.read(kRuntimeToolFile).value(), runtime_tool_file(new_, "/area"));
  ASSERT_TRUE(remove(fs_, ""));
  EXPECT_EQ(fs_.read(kRuntimeToolFile).value(), runtime_tool_file(other, "/area"));
}

TEST_F(LifeTest, RefusesToRemoveTheOnlyRuntime) {
  ASSERT_TRUE(
      install_sample(fs_, {.tool_name = "tfaot-model-other", .has_runtime_tool = false}, kOptions));
  EXPECT_EQ(remove(fs_, "").error().text(),
            std::string(kRuntimeToolFile) +
                ": the other models of the area use the runtime of tfaot-model-test 1.0.0, 1.1.0\n"
                "  install a package that a newer tfaot made, then remove this one");
}

TEST_F(LifeTest, SeveralPackagesAreInstalledTogetherOrNotAtAll) {
  const auto together = [](FileSystem& fs) -> Status {
    std::vector<PreparedInstall> installs;
    for (const std::string name : {"tfaot-model-a", "tfaot-model-b"}) {
      const SamplePackage package{.tool_name = name};
      TFAOT_ASSIGN(const auto prepared, prepare_sample(fs, package, kOptions));
      installs.push_back(prepared);
    }
    const auto receipts = commit_installs(fs, installs, kActor);
    if (receipts) return {};
    static_cast<void>(remove_leftovers(fs, "/area"));
    return fail(receipts.error());
  };
  const auto names = [](const FileSystem& fs) {
    std::vector<std::string> found;
    const auto versions = installed_versions(fs, "/area").value();
    for (const auto& one : versions) found.push_back(one.tool_name);
    return found;
  };
  bool finished = false;
  for (std::size_t failing = 1; !finished; ++failing) {
    MemoryFileSystem fs;
    ASSERT_TRUE(install_sample(fs, {}, kOptions));
    const auto before = everything_in(fs, "/area");
    fs.inject({.change = failing});
    const bool is_installed = together(fs).has_value();
    finished = fs.changes() < failing;
    fs.inject({.change = 1000});
    static_cast<void>(remove_leftovers(fs, "/area"));  // as the next verb does
    ASSERT_LT(failing, 120U);
    if (is_installed) {
      EXPECT_THAT(names(fs), ElementsAre("tfaot-model-a", "tfaot-model-b", kToolName));
    } else {
      EXPECT_EQ(everything_in(fs, "/area"), before) << failing;
    }
  }
}

// A kill during a removal leaves users the model, or nothing; the next removal completes it.
TEST_F(LifeTest, RemovalMayBeKilledAnywhere) {
  for (const std::string version : {"1.0.0", ""}) {
    bool finished = false;
    for (std::size_t kill_at = 1; !finished; ++kill_at) {
      MemoryFileSystem fs;
      ASSERT_TRUE(install_sample(fs, old_, kOptions));
      ASSERT_TRUE(install_sample(fs, new_, kOptions));
      fs.inject({.change = kill_at, .all_after = true});
      finished = remove(fs, version).has_value() && fs.changes() < kill_at;
      AreaView cmake_only = expected_view(new_, "/area");
      cmake_only.tool_file.clear();
      AreaView without_link = cmake_only;
      without_link.cmake.clear();
      EXPECT_THAT(view_of(fs, "/area"),
                  AnyOf(expected_view(new_, "/area"), cmake_only, without_link, AreaView()))
          << kill_at;
      fs.inject({.change = 1000});
      ASSERT_TRUE(remove_leftovers(fs, "/area"));
      const auto versions = installed_versions(fs, "/area").value();
      const bool is_left = std::ranges::any_of(versions, [&](const InstalledVersion& one) {
        return version.empty() || one.version == version;
      });
      if (is_left) {
        ASSERT_TRUE(remove(fs, version)) << kill_at;
      }
      EXPECT_THAT(installed_versions(fs, "/area").value(), SizeIs(version.empty() ? 0 : 1));
      EXPECT_THAT(faults_in(fs), IsEmpty());
      ASSERT_LT(kill_at, 80U);
    }
  }
}

TEST_F(LifeTest, VerifyFindsNothingInAnAreaThatVerbsMade) {
  EXPECT_THAT(faults_in(fs_), IsEmpty());
  ASSERT_TRUE(use(fs_, old_));
  ASSERT_TRUE(remove(fs_, "1.1.0"));
  EXPECT_THAT(faults_in(fs_), IsEmpty());
}

// Another process makes the new version current and removes the old one, right after somebody read
// which one is current.
class ChangedMeanwhile : public ForwardingFileSystem {
 public:
  ChangedMeanwhile(FileSystem& files, std::function<void()> change)
      : ForwardingFileSystem(files), change_(std::move(change)) {}
  Result<Path> read_symlink(const Path& link) const override {
    auto target = ForwardingFileSystem::read_symlink(link);
    if (target && change_) std::exchange(change_, nullptr)();
    return target;
  }

 private:
  mutable std::function<void()> change_;
};

TEST_F(LifeTest, FindsTheCurrentVersionWhileItIsSwitched) {
  const auto change = [&] {
    EXPECT_TRUE(use(fs_, old_));
    EXPECT_TRUE(remove(fs_, "1.1.0"));
  };
  const ChangedMeanwhile files(fs_, change);
  EXPECT_EQ(installed_tree(files, "/area/test"), "/area/tfaot-model-test/1.0.0");
}

// A copy of an area has a runtime's tool file that leads to the first one.
TEST_F(LifeTest, UseRenewsTheRuntimeOfACopiedArea) {
  const std::string text = fs_.read(kRuntimeToolFile).value();
  ASSERT_TRUE(install_sample(fs_, new_, {.area = "/first"}));
  ASSERT_TRUE(fs_.replace_atomically(kRuntimeToolFile, replace_all(text, "/area/", "/first/")));
  EXPECT_THAT(faults_in(fs_), Not(IsEmpty()));
  ASSERT_TRUE(use(fs_, new_));
  EXPECT_THAT(faults_in(fs_), IsEmpty());
}

TEST_F(LifeTest, VerifyFindsNothingByAnotherPathOfTheArea) {
  ASSERT_TRUE(fs_.replace_symlink("/area", "/link"));
  EXPECT_THAT(faults_in(fs_, "/link"), IsEmpty());
  ASSERT_TRUE(fs_.rename("/area", "/moved"));
  EXPECT_THAT(faults_in(fs_, "/moved"), ::testing::Contains(HasSubstr("the area was moved")));
}

TEST_F(LifeTest, VerifyNamesEachDamage) {
  const Path tree = "/area/tfaot-model-test/1.1.0";
  const auto expect = [&](const std::function<void(FileSystem&)>& damage, const std::string& text) {
    MemoryFileSystem fs;
    ASSERT_TRUE(install_sample(fs, old_, kOptions));
    ASSERT_TRUE(install_sample(fs, new_, kOptions));
    damage(fs);
    const auto faults = faults_in(fs);
    EXPECT_THAT(faults, ::testing::Contains(::testing::StartsWith(text)));
  };
  const auto write = [](const Path& file, const std::string& text) {
    return [=](FileSystem& fs) { ASSERT_TRUE(fs.replace_atomically(file, text)); };
  };
  const auto link = [](const Path& place, const std::string& target) {
    return [=](FileSystem& fs) {
      ASSERT_TRUE(fs.remove_all(place));
      ASSERT_TRUE(fs.replace_symlink(target, place));
    };
  };
  const auto gone = [](const Path& place) {
    return [=](FileSystem& fs) { ASSERT_TRUE(fs.remove_all(place)); };
  };
  const std::string current = "/area/tfaot-model-test/current";
  expect(write(tree / "lib/stray.o", ""), (tree / "lib/stray.o").string() + ": belongs to no");
  expect(write(tree / "etc/scram.d/tfaot-model-test.xml", "<tool/>"),
         (tree / "etc/scram.d/tfaot-model-test.xml").string() + ": differs from");
  expect(write(kToolFile, "<tool/>"), std::string(kToolFile) + ": is not the tool file of");
  expect(gone(kToolFile), "/area/config/toolbox: holds no tool file of tfaot-model-test");
  expect(write(kRuntimeToolFile, "<tool/>"),
         std::string(kRuntimeToolFile) + ": leads to no package");
  expect(gone(kRuntimeToolFile), "/area/config/toolbox: holds no tool file of tfaot-runtime");
  const auto move_out = [](const Path& place) {
    return [=](FileSystem& fs) {
      ASSERT_TRUE(fs.create_directories("/elsewhere"));
      ASSERT_TRUE(fs.rename(place, "/elsewhere/moved"));
      ASSERT_TRUE(fs.replace_symlink("/elsewhere/moved", place));
    };
  };
  for (const Path& file : {Path(kToolFile), Path(kRuntimeToolFile)}) {
    expect(move_out(file), file.string() + ": is not the tool file of");
  }
  expect(move_out(tree / "manifest.json"),
         (tree / "manifest.json").string() + ": is not a regular");
  expect(move_out("/area/lib"), "/area/lib: not a folder");
  expect(move_out("/area/.tfaot"), "/area/.tfaot: not a folder");
  expect(link(tree / "lib/stray", "/elsewhere"), (tree / "lib/stray").string() + ": belongs to no");
  expect(
      [&](FileSystem& fs) {
        const Path library = tree / models_library_name("test");
        ASSERT_TRUE(fs.replace_atomically(library, "code"));
        const std::string hash = library_hash_text(fs, library, "test").value();
        ASSERT_TRUE(fs.replace_atomically(tree / library_hash_name("test"), hash));
        move_out(library)(fs);
      },
      (tree / models_library_name("test")).string() + ": differs from");
  expect(link(current, "9.9"), current + ": leads to '9.9'");
  expect(link("/area/lib/cmake/tfaot-model-test", "/elsewhere"),
         "/area/lib/cmake/tfaot-model-test: should be a link to");
  expect(link(tree / "lib", "/elsewhere"), (tree / "lib").string());
  expect(gone("/area/tfaot-model-test/1.0.0"),
         "/area/tfaot-model-test/1.0.0: is gone, and no verb removed it");
  expect(link(current, "1.0.0"), current + ": the last verb made 1.1.0 current, and not 1.0.0");
  expect(write(kHistory, "[]\n"), std::string(kHistory) + ":1: the line, or one before it");
  expect(
      [&](FileSystem& fs) {
        const std::string text = fs.read(kHistory).value();
        ASSERT_TRUE(fs.replace_atomically(kHistory, text.substr(text.find('\n') + 1)));
      },
      std::string(kHistory) + ":1: the line, or one before it");
}

}  // namespace
}  // namespace tfaot::toolkit::testing
