// SPDX-License-Identifier: Apache-2.0
// Only what the command line adds: tests/unit/load links, tests/cmake/models_at_run_time loads.
#include <gmock/gmock.h>

#include <filesystem>

#include "loaded_package_test.h"

namespace tfaot::toolkit::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class LinkTest : public LoadedPackageTest {
 protected:
  // Without the size and the hash, which are the linker's.
  static std::string plain(std::string text) {
    text = std::regex_replace(text, std::regex("[0-9]+ bytes"), "N bytes");
    text = std::regex_replace(text, std::regex("\"size\": [0-9]+"), "\"size\": N");
    return std::regex_replace(text, std::regex("[0-9a-f]{64}"), "SHA256");
  }
};

TEST_F(LinkTest, SaysWhatItMade) {
  const std::string transcript = run_loaded({"link", "out", "-o", "libmodels.so"}).text() + "\n" +
                                 run_loaded({"link", "out", "-o", "a/b.so", "--json"}).text();
  EXPECT_TRUE(matches_golden(plain(transcript), "cli/link.txt"));
  EXPECT_TRUE(std::filesystem::exists(at("libmodels.so")));
  EXPECT_TRUE(std::filesystem::exists(at("a/b.so")));
}

TEST_F(LinkTest, TakesArchivesAndInstalledModels) {
  ASSERT_EQ(CliTest::run({"package", "out", "-o", "dist", "-q"}).exit_code, 0);
  const std::string archive = "dist/tfaot-model-test-net-1.0.0-x86_64-linux.tar.zst";
  ASSERT_EQ(CliTest::run({"install", archive, "--release-area", "area", "-q"}).exit_code, 0);
  for (const std::string& package : {archive, std::string("area/test_net")}) {
    const Outcome outcome = run_loaded({"link", package, "-o", "models.so"});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.text();
  }
}

TEST_F(LinkTest, WritesNothingIfItFails) {
  const std::string object = "out/lib/test_net_bs1_x86-64.o";
  write(object, read(object) + "damage");
  const Outcome damaged = run_loaded({"link", "out", "-o", "models.so"});
  EXPECT_EQ(damaged.exit_code, 1);
  EXPECT_THAT(damaged.err, HasSubstr("test_net_bs1_x86-64.o"));
  EXPECT_EQ(run_loaded({"link", "out", "-o", "out/models.so"}).exit_code, 2);
  EXPECT_EQ(run_loaded({"link", "model", "-o", "models.so"}).err,
            "tfaot: error: ROOT/model: a folder that holds aot_config.yaml, saved_model; 'tfaot "
            "link' takes a package tree, an archive, or AREA/NAME[/VERSION] of an installed "
            "model\n");
  EXPECT_FALSE(std::filesystem::exists(at("models.so")));
}

// `tfaot install --link`.
class InstallLinkTest : public LinkTest {
 protected:
  InstallLinkTest() {
    EXPECT_EQ(CliTest::run({"package", "out", "-o", "dist", "-q"}).exit_code, 0);
  }
  Outcome install(std::vector<std::string> more = {"--link"}) const {
    more.insert(more.begin(), {"install", "dist/tfaot-model-test-net-1.0.0-x86_64-linux.tar.zst",
                               "--release-area", "area"});
    return run_loaded(more);
  }
  std::string verify() const { return CliTest::run({"verify", "area"}).text(); }

  const std::string tree_ = "area/tfaot-model-test-net/1.0.0/";
  const std::string library_ = tree_ + "lib/test_net.so";
};

TEST_F(InstallLinkTest, PutsTheLibraryIntoTheTree) {
  const Outcome installed = install();
  ASSERT_EQ(installed.exit_code, 0) << installed.text();
  EXPECT_THAT(
      files_in(tree_ + "lib"),
      ::testing::IsSupersetOf({std::string("test_net.so"), std::string("test_net.so.sha256")}));
  EXPECT_THAT(verify(), HasSubstr("[exit code 0]"));
  EXPECT_EQ(read(library_ + ".sha256").substr(64), "  test_net.so\n");
  const std::string linked = read("linked");
  ASSERT_EQ(install().exit_code, 0);  // it is there
  EXPECT_EQ(read("linked"), linked);
}

TEST_F(InstallLinkTest, AddsItToAnInstalledVersion) {
  ASSERT_EQ(install({}).exit_code, 0);
  EXPECT_FALSE(std::filesystem::exists(at(library_)));
  ASSERT_EQ(install({"--link", "--dry-run"}).exit_code, 0);
  EXPECT_FALSE(std::filesystem::exists(at(library_)));
  const Outcome again = install();
  ASSERT_EQ(again.exit_code, 0) << again.text();
  EXPECT_THAT(again.out, HasSubstr(", with its library\n"));
  EXPECT_TRUE(std::filesystem::exists(at(library_)));
  EXPECT_THAT(verify(), HasSubstr("[exit code 0]"));
  EXPECT_THAT(files_in("area/.tfaot"), ElementsAre("history.jsonl", "lock"));
}

TEST_F(InstallLinkTest, IsVerifiedAndMadeAgain) {
  ASSERT_EQ(install().exit_code, 0);
  write(library_, read(library_) + "damage");
  EXPECT_THAT(verify(), HasSubstr("lib/test_net.so: differs from the hash beside it\n"));
  EXPECT_THAT(verify(), HasSubstr("'tfaot install --link' makes it again"));
  ASSERT_EQ(install().exit_code, 0);
  EXPECT_THAT(verify(), HasSubstr("[exit code 0]"));
  std::filesystem::remove(at(library_));
  EXPECT_THAT(verify(), HasSubstr("lib/test_net.so: is missing, but its hash is there\n"));
}

TEST_F(InstallLinkTest, InstallsNothingIfItCannotBeLinked) {
  write("bin/ld", "#!/bin/sh\necho no >&2\nexit 1\n");
  const Outcome failed = install();
  EXPECT_EQ(failed.exit_code, 1);
  EXPECT_THAT(failed.err, HasSubstr("the packages' objects cannot be linked"));
  EXPECT_FALSE(std::filesystem::exists(at("area")));
}

TEST_F(InstallLinkTest, GoesWithItsVersion) {
  ASSERT_EQ(install().exit_code, 0);
  ASSERT_EQ(CliTest::run({"remove", "tfaot-model-test-net", "--release-area", "area"}).exit_code,
            0);
  EXPECT_FALSE(std::filesystem::exists(at(tree_)));
}

}  // namespace
}  // namespace tfaot::toolkit::testing
