// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <chrono>
#include <filesystem>

#include "cli_test.h"

namespace tfaot::toolkit::testing {
namespace {

class InstallTest : public CliTest {
 protected:
  std::string archive(const std::string& version) {
    write_tree_at("tree-" + version, {version});
    const Outcome outcome = run({"package", "tree-" + version, "-o", "dist"});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.text();
    return "dist/tfaot-model-test-net-" + version + "-x86_64-linux.tar.zst";
  }
  std::string installed() { return run({"list", "--release-area", "area"}).out; }
};

TEST_F(InstallTest, InstallsAndListsVersions) {
  const std::string first = archive("1.0.0");
  const std::string second = archive("2.0.0");
  std::string transcript;
  for (const std::vector<std::string>& line : std::vector<std::vector<std::string>>{
           {"install", first, "--release-area", "area"},
           {"install", first, "--release-area", "area"},
           {"install", second, "--release-area", "area", "--no-current"},
           {"list", "--release-area", "area"},
           {"install", first, second, "--release-area", "area"},
           {"list", "--release-area", "area", "--json"}}) {
    transcript += run(line).text() + "\n";
  }
  EXPECT_TRUE(matches_golden(transcript, "cli/install_and_list.txt"));
}

TEST_F(InstallTest, ToolFileHasItsFinalBase) {
  const Outcome outcome = run(
      {"install", archive("1.0.0"), "--release-area", "area", "--scram-arch", "el9_amd64_gcc12"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.text();
  EXPECT_THAT(read("area/config/toolbox/el9_amd64_gcc12/tools/selected/tfaot-model-test-net.xml"),
              ::testing::HasSubstr("default=\"" + at("area/tfaot-model-test-net/1.0.0") + "\""));
}

// make, ninja, CMake and scram only look at times.
TEST_F(InstallTest, GoingBackMakesFilesNew) {
  const std::string first = archive("1.0.0");
  const std::string second = archive("2.0.0");
  const Path tree = at("area/tfaot-model-test-net/1.0.0");
  ASSERT_EQ(run({"install", first, "--release-area", "area"}).exit_code, 0);
  const auto files = list_files_recursively(files_, tree).value();
  const auto past = std::filesystem::last_write_time(tree) - std::chrono::hours(1);
  for (const auto& file : files) std::filesystem::last_write_time(tree / file, past);
  ASSERT_EQ(run({"install", first, "--release-area", "area"}).exit_code, 0);
  EXPECT_THAT(run({"install", second, "--release-area", "area"}).out,
              ::testing::HasSubstr("/2.0.0 (was 1.0.0)\n"));
  for (const auto& file : files) EXPECT_EQ(std::filesystem::last_write_time(tree / file), past);
  ASSERT_EQ(run({"install", first, "--release-area", "area"}).exit_code, 0);
  for (const auto& file : files) {
    EXPECT_GT(std::filesystem::last_write_time(tree / file), past) << file;
  }
  EXPECT_GT(files.size(), 2U);
}

TEST_F(InstallTest, RenewsTheLinkThatWasRemoved) {
  const std::string first = archive("1.0.0");
  ASSERT_EQ(run({"install", first, "--release-area", "area"}).exit_code, 0);
  ASSERT_TRUE(files_.remove_all(at("area/tfaot-model-test-net/current")));
  EXPECT_THAT(run({"install", first, "--release-area", "area"}).out,
              ::testing::StartsWith("made current tfaot-model-test-net 1.0.0 ROOT/area/"
                                    "tfaot-model-test-net/1.0.0\n"));
}

TEST_F(InstallTest, ACutArchiveIsRefusedWhereItsPackageIsInstalled) {
  const std::string whole = archive("1.0.0");
  ASSERT_EQ(run({"install", whole, "--release-area", "area"}).exit_code, 0);
  const std::string bytes = read(whole);
  for (const std::size_t size : {bytes.size() - 1, bytes.size() - 30}) {
    write("cut.tar.zst", bytes.substr(0, size));
    const Outcome outcome = run({"install", "cut.tar.zst", "--release-area", "area"});
    EXPECT_EQ(outcome.exit_code, 1) << outcome.text();
    EXPECT_THAT(outcome.err, ::testing::HasSubstr("ROOT/cut.tar.zst: the archive is damaged"));
  }
  EXPECT_THAT(run({"install", whole, "--release-area", "area"}).out,
              ::testing::StartsWith("unchanged"));
}

TEST_F(InstallTest, WhatCannotBeLookedAtIsNotMissing) {
  const std::string first = archive("1.0.0");
  ASSERT_TRUE(files_.replace_symlink("loop", at("loop")));
  for (const std::vector<std::string>& line :
       std::vector<std::vector<std::string>>{{"install", first, "--release-area", "loop/area"},
                                             {"list", "--release-area", "loop/area"},
                                             {"package", "loop/tree"},
                                             {"update-weights", "loop/tree", "--model", "model"}}) {
    const Outcome outcome = run(line);
    EXPECT_EQ(outcome.exit_code, 1) << outcome.text();
    EXPECT_THAT(outcome.err, ::testing::HasSubstr("Too many levels of symbolic links"));
  }
}

TEST_F(InstallTest, AnotherPackageOfThisVersionNeedsReplace) {
  const std::string first = archive("1.0.0");
  ASSERT_EQ(run({"install", first, "--release-area", "area"}).exit_code, 0);
  write_tree_at("other", {"1.0.0", "#pragma once  // other\n"});
  ASSERT_EQ(run({"package", "other", "-o", "other-dist"}).exit_code, 0);
  const std::string other = "other-dist/tfaot-model-test-net-1.0.0-x86_64-linux.tar.zst";
  std::string transcript = run({"install", other, "--release-area", "area"}).text() + "\n";
  transcript += run({"install", other, "--release-area", "area", "--replace"}).text();
  EXPECT_TRUE(matches_golden(transcript, "cli/install_replace.txt"));
}

// scram copies what it last read in a release to developer areas that are made later.
TEST_F(InstallTest, InAScramAreaItSaysWhatIsNext) {
  const std::string tool_file =
      "ROOT/area/config/toolbox/el9/tools/selected/tfaot-model-test-net.xml\n";
  const ::testing::Matcher<std::string> set_up = ::testing::HasSubstr(
      "  next, in ROOT/area:\n"
      "    scram setup tfaot-runtime\n"
      "    scram setup tfaot-model-test-net\n");
  const ::testing::Matcher<std::string> next = ::testing::HasSubstr(
      "  next: 'scram b' in ROOT/area, which reads the new tool file\n"
      "  in developer areas made before: scram setup " +
      tool_file);
  const ::testing::Matcher<std::string> nothing = ::testing::EndsWith("  tool file " + tool_file);
  write("area/config/scram_version", "V3_00_78\n");
  write("area/config/toolbox/el9/tools/selected/gcc.xml", "");
  const std::string first = archive("1.0.0");
  const std::string second = archive("2.0.0");
  EXPECT_THAT(run({"install", first, "--release-area", "area"}).out, set_up);
  EXPECT_THAT(run({"install", second, "--release-area", "area"}).out, next);
  EXPECT_THAT(run({"install", second, "--release-area", "area"}).out, nothing);
  EXPECT_THAT(run({"install", first, "--release-area", "area"}).out, next);
}

// Without --scram-arch, the environment chooses among those that the area has.
TEST_F(InstallTest, FindsTheArchitectureOfAScramArea) {
  write("area/config/scram_version", "V3_00_78\n");
  write("area/config/toolbox/el8/tools/selected/gcc.xml", "");
  write("area/config/toolbox/el9/tools/selected/gcc.xml", "");
  const std::vector<std::string> line = {"install", archive("1.0.0"), "--release-area", "area"};
  const Outcome refused = run(line);
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_THAT(refused.err,
              ::testing::HasSubstr("this scram area the tool file needs an architecture"));
  EXPECT_THAT(files_in("area"), ::testing::SizeIs(3));  // nothing was written
  EXPECT_EQ(run(line, {{"SCRAM_ARCH", "el9"}}).exit_code, 0);
  EXPECT_NE(read("area/config/toolbox/el9/tools/selected/tfaot-model-test-net.xml"), "");
}

// In verbs that read packages. Those that would change an installed one refuse it by its folder.
TEST_F(InstallTest, APackageIsNamedByModelAndVersion) {
  ASSERT_EQ(run({"install", archive("1.0.0"), "--release-area", "area"}).exit_code, 0);
  ASSERT_EQ(run({"install", archive("2.0.0"), "--release-area", "area"}).exit_code, 0);
  EXPECT_THAT(run({"info", "area/test_net"}).out, ::testing::HasSubstr("2.0.0"));
  EXPECT_THAT(run({"info", "area/test_net/1.0.0"}).out, ::testing::HasSubstr("1.0.0"));
  const std::string same = "no difference";
  EXPECT_THAT(run({"diff", "area/test_net/1.0.0", "tree-1.0.0"}).out, ::testing::HasSubstr(same));
  EXPECT_THAT(run({"diff", "area/test_net/1.0.0", "area/test_net"}).out,
              ::testing::HasSubstr("2.0.0"));
  EXPECT_EQ(run({"package", "area/test_net/1.0.0", "-o", "again"}).exit_code, 0);
  const std::string name = "/tfaot-model-test-net-1.0.0-x86_64-linux.tar.zst";
  EXPECT_EQ(read("again" + name), read("dist" + name));
  for (const std::vector<std::string>& line : std::vector<std::vector<std::string>>{
           {"tune", "area/test_net/1.0.0"},
           {"update-weights", "area/test_net/1.0.0", "--model", "model"}}) {
    EXPECT_THAT(run(line).err, ::testing::HasSubstr("ROOT/area/tfaot-model-test-net/1.0.0"));
  }
  EXPECT_THAT(run({"info", "area/test_net/3.0.0"}).err,
              ::testing::HasSubstr("ROOT/area/test_net/3.0.0: no such file or folder"));
}

TEST_F(InstallTest, ABrokenArchiveLeavesTheAreaAsItWas) {
  ASSERT_EQ(run({"install", archive("1.0.0"), "--release-area", "area"}).exit_code, 0);
  const std::string before = installed();
  const std::vector<std::string> files = files_in("area");
  const std::string second = archive("2.0.0");
  write("broken.tar.zst", read(second).substr(0, read(second).size() / 2));
  std::string transcript =
      run({"install", "broken.tar.zst", "--release-area", "area"}).text() + "\n";
  transcript += run({"install", "missing.tar.zst", "--release-area", "area"}).text();
  EXPECT_TRUE(matches_golden(transcript, "cli/install_broken.txt"));
  EXPECT_EQ(installed(), before);
  EXPECT_EQ(files_in("area"), files);
}

TEST_F(InstallTest, AFailureLeavesNoNewArea) {
  const std::string first = archive("1.0.0");
  write("broken.tar.zst", read(first).substr(0, read(first).size() / 2));
  EXPECT_EQ(run({"install", "broken.tar.zst", "--release-area", "new/area"}).exit_code, 1);
  EXPECT_EQ(files_.kind(at("new")), FileKind::kMissing);
  ASSERT_TRUE(files_.create_directories(at("empty")));
  EXPECT_EQ(run({"install", "broken.tar.zst", "--release-area", "empty"}).exit_code, 1);
  EXPECT_EQ(files_.list(at("empty")).value(), std::vector<std::string>());
}

TEST_F(InstallTest, ListSaysWhyItListsNothing) {
  ASSERT_EQ(run({"install", archive("1.0.0"), "--release-area", "area"}).exit_code, 0);
  ASSERT_TRUE(files_.remove_all(at("area/tfaot-model-test-net")));
  std::string transcript;
  for (const char* folder : {"area", "missing", "dist", "prefix/bin/tfaot"}) {
    transcript += run({"list", "--release-area", folder}).text() + "\n";
  }
  transcript += run({"list", "--release-area", "area", "--json"}).text();
  EXPECT_TRUE(matches_golden(transcript, "cli/list_nothing.txt"));
}

}  // namespace
}  // namespace tfaot::toolkit::testing
