// SPDX-License-Identifier: Apache-2.0
// Which models are built, with which release number, and what remains if one fails. Instead of
// rpmbuild, a stand-in packs a spec file into an "RPM".
#include <gmock/gmock.h>

#include <cstdlib>

#include "tests/support/executable_file.h"
#include "tests/support/temporary_folder.h"
#include "tfaot/base/hash.h"
#include "tfaot/base/real_file_system.h"
#include "tfaot/base/text.h"
#include "tfaot/records/rpm_record.h"
#include "tfaot/release/release.h"

namespace tfaot::toolkit::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Kind = ReleaseResult::Kind;

// Takes its definitions as rpmbuild does. "broken" in a spec file makes it fail after it has
// written something.
constexpr const char* kFakeRpmbuild = R"sh(#!/bin/sh -e
while [ $# -gt 1 ]; do
  case "$1" in
    --define) name=${2%% *}; eval "$name='${2#* }'"; shift;;
  esac
  shift
done
tool=$(basename "$1" .spec)
mkdir -p "$_topdir/RPMS"
cat "$1" "$_sourcedir/$tool.tar" > "$_topdir/RPMS/$tool-$tfaot_release.rpm"
if grep -q broken "$1"; then echo "tfaot: error: it is broken" >&2; exit 1; fi
)sh";

class BuildRelease : public ::testing::Test {
 protected:
  BuildRelease() {
    put("rpmbuild", kFakeRpmbuild);
    testing::make_executable(root_ / "rpmbuild");
    EXPECT_TRUE(files_.create_directories(root_ / "work"));
  }

  void put(const std::string& path, const std::string& text) {
    ASSERT_TRUE(files_.replace_atomically(root_ / path, text));
  }

  ReleaseJob job(const std::string& tool, const std::string& version = "1.0",
                 const std::string& model = "model") {
    put("SPECS/" + tool + ".spec", "spec of " + tool + "\n");
    put("SOURCES/" + tool + ".tar", model);
    ReleaseJob made;
    made.spec.tool_name = tool;
    made.spec.version = version;
    made.spec.processor = "x86_64";
    made.inputs = {sha256_of(model), "spec", "toolkit", "0.1"};
    return made;
  }

  std::vector<ReleaseResult> build(const std::vector<ReleaseJob>& jobs) {
    SilentDiagnostics silent;
    auto results = build_release(files_, jobs,
                                 {.directory = root_,
                                  .work_directory = root_ / "work",
                                  .tool = "/tfaot",
                                  .rpmbuild = root_ / "rpmbuild",
                                  .jobs = 3},
                                 silent);
    EXPECT_TRUE(results) << (results ? "" : results.error().text());
    EXPECT_THAT(files_.list(root_ / "work").value(), ::testing::IsEmpty());
    return results.value_or(std::vector<ReleaseResult>());
  }
  ReleaseResult build_one(const ReleaseJob& job) { return build({job}).at(0); }

  std::vector<std::string> rpms() const { return files_.list(root_ / "RPMS").value(); }

  RealFileSystem files_;
  TemporaryFolder scratch_{"tfaot-release-XXXXXX"};  // rpmbuild takes no blanks
  Path root_ = scratch_.path();
};

std::string outcome(const ReleaseResult& result) {
  return result.kind == Kind::kBuilt      ? "built " + result.why
         : result.kind == Kind::kUpToDate ? "up to date"
                                          : "failed " + result.error->text();
}

TEST_F(BuildRelease, BuildsWhatChanged) {
  const std::vector<ReleaseJob> jobs = {job("a"), job("b"), job("c"), job("d")};
  for (const ReleaseResult& result : build(jobs)) EXPECT_EQ(outcome(result), "built new");
  EXPECT_THAT(rpms(), ElementsAre("a-1.rpm", "a.json", "b-1.rpm", "b.json", "c-1.rpm", "c.json",
                                  "d-1.rpm", "d.json"));
  EXPECT_EQ(files_.read(root_ / "RPMS/c-1.rpm").value(), "spec of c\nmodel");
  for (const ReleaseResult& result : build(jobs)) EXPECT_EQ(outcome(result), "up to date");

  const auto results = build({jobs[0], job("b", "1.0", "retrained"), jobs[2], job("d", "1.1")});
  EXPECT_EQ(outcome(results.at(0)), "up to date");
  EXPECT_EQ(outcome(results.at(1)), "built its model or config changed");
  EXPECT_EQ(results.at(1).rpm.release, 2U);
  EXPECT_EQ(results.at(1).rpm.rpm, "b-2.rpm");
  EXPECT_EQ(outcome(results.at(2)), "up to date");
  EXPECT_EQ(outcome(results.at(3)), "built its version changed from 1.0");
  EXPECT_EQ(results.at(3).rpm.release, 1U);
}

TEST_F(BuildRelease, KnowsEachReason) {
  ReleaseJob a = job("a");
  build_one(a);
  a.inputs.toolkit_sha256 = "newer";
  EXPECT_EQ(outcome(build_one(a)), "built tfaot changed");
  a.inputs.spec_sha256 = "other";
  EXPECT_EQ(outcome(build_one(a)), "built its spec file changed");
  EXPECT_EQ(outcome(build_one(a)), "up to date");
  put("RPMS/a-3.rpm", "damage");
  EXPECT_EQ(outcome(build_one(a)), "built its RPM is damaged");
  ASSERT_TRUE(files_.remove_all(root_ / "RPMS/a-3.rpm"));
  EXPECT_EQ(outcome(build_one(a)), "built its RPM is missing");
  EXPECT_EQ(build_one(a).rpm.release, 3U);
  put("RPMS/a.json", "{");
  const ReleaseResult forgotten = build_one(a);
  EXPECT_EQ(outcome(forgotten), "built new");
  EXPECT_EQ(forgotten.rpm.release, 1U);
}

// For a version that was built before another one, the RPMs from then still exist.
TEST_F(BuildRelease, NumbersGoOnFromWhatLiesThere) {
  put("RPMS/a-1.0-4.x86_64.rpm", "of before");
  put("RPMS/a-1.0-2.x86_64.rpm", "of before");
  put("RPMS/a-1.0-9-more.rpm", "of another version");
  put("RPMS/a-1.0-rc1-9.x86_64.rpm", "of another version");
  build_one(job("a", "2.0"));
  const ReleaseResult result = build_one(job("a", "1.0"));
  EXPECT_EQ(outcome(result), "built its version changed from 2.0");
  EXPECT_EQ(result.rpm.release, 5U);
}

TEST_F(BuildRelease, AFailureLeavesTheOthersAndTheLastRpm) {
  const std::vector<ReleaseJob> jobs = {job("a"), job("b"), job("c")};
  build(jobs);
  const std::string record = files_.read(root_ / "RPMS/b.json").value();
  const std::vector<ReleaseJob> next = {job("a", "2"), job("b", "2"), job("c", "2")};
  put("SPECS/b.spec", "broken\n");
  const auto results = build(next);
  EXPECT_EQ(outcome(results.at(0)), "built its version changed from 1.0");
  EXPECT_EQ(outcome(results.at(1)), "failed b: it is broken");
  EXPECT_EQ(outcome(results.at(2)), "built its version changed from 1.0");
  EXPECT_EQ(files_.read(root_ / "RPMS/b.json").value(), record);
  EXPECT_EQ(files_.read(root_ / "RPMS/b-1.rpm").value(), "spec of b\nmodel");
}

TEST_F(BuildRelease, SaysWhatIsMissingWithoutRpmbuild) {
  ASSERT_TRUE(files_.remove_all(root_ / "rpmbuild"));
  SilentDiagnostics silent;
  const auto results = build_release(files_, {job("a"), job("b")},
                                     {.directory = root_,
                                      .work_directory = root_ / "work",
                                      .tool = "/tfaot",
                                      .rpmbuild = root_ / "rpmbuild"},
                                     silent);
  ASSERT_FALSE(results);
  EXPECT_THAT(results.error().text(), HasSubstr("install it (Debian: rpm)"));
}

}  // namespace
}  // namespace tfaot::toolkit::testing
