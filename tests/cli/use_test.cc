// SPDX-License-Identifier: Apache-2.0
// The verbs for packages that are installed: use, rollback, remove, gc, history.
#include <gmock/gmock.h>

#include <filesystem>
#include <regex>

#include "cli_test.h"

namespace tfaot::toolkit::testing {
namespace {

class AreaVerbsTest : public CliTest {
 protected:
  AreaVerbsTest() {
    for (const std::string version : {"1.0.0", "1.1.0"}) {
      write_tree_at("tree" + version, {.version = version});
      EXPECT_EQ(run({"package", "tree" + version, "-o", "dist"}).exit_code, 0);
    }
    EXPECT_EQ(run({"install", "dist/tfaot-model-test-net-1.0.0-x86_64-linux.tar.zst",
                   "--release-area", "area"})
                  .exit_code,
              0);
    EXPECT_EQ(run({"install", "dist/tfaot-model-test-net-1.1.0-x86_64-linux.tar.zst",
                   "--release-area", "area"})
                  .exit_code,
              0);
  }

  // What a verb prints, without times, users and hashes.
  std::string text_of(std::vector<std::string> command) const {
    command.insert(command.end(), {"--release-area", "area"});
    std::string text = run(command).text();
    text = std::regex_replace(text, std::regex("[0-9-]+T[0-9:]+Z"), "TIME");
    text = std::regex_replace(text, std::regex("[0-9a-f]{64}"), "HASH");
    text = std::regex_replace(text, std::regex("\"(user|host)\": \"[^\"]*\""), "\"$1\": \"X\"");
    return std::regex_replace(text, std::regex("TIME( *)[^ ]+@[^ ]+ +"), "TIME$1USER  ");
  }
};

TEST_F(AreaVerbsTest, SayWhatTheyDid) {
  std::string texts;
  const std::vector<std::vector<std::string>> commands = {
      {"use", "test_net", "1.0.0", "--dry-run"},
      {"use", "test_net", "1.0.0"},
      {"use", "tfaot-model-test-net", "1.0.0"},
      {"use", "test_net", "2.0.0"},
      {"use", "other", "1.0.0"},
      {"rollback", "test_net", "--json"},
      {"remove", "test_net", "1.1.0"},
      {"remove", "test_net", "1.0.0", "--dry-run"},
      {"gc"},
      {"gc", "--older-than", "0", "--dry-run", "--json"},
      {"gc", "--older-than", "0"},
      {"gc", "--older-than", "1.5"},
      {"rollback", "test_net"},
      {"remove", "test_net", "--json"},
      {"history", "test_net"},
      {"history", "--json"},
      {"history", "other"}};
  for (const auto& command : commands) texts += text_of(command);
  EXPECT_TRUE(matches_golden(texts, "cli/area_verbs.txt"));
}

TEST_F(AreaVerbsTest, NeedAReleaseArea) {
  for (const std::string verb : {"gc", "history"}) {
    const Outcome outcome = run({verb, "--release-area", "dist"});
    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_EQ(outcome.err,
              "tfaot: error: ROOT/dist: not a release area\n"
              "  'tfaot install' makes one; name it with --release-area\n");
  }
  EXPECT_FALSE(std::filesystem::exists(at("dist/.tfaot")));
}

}  // namespace
}  // namespace tfaot::toolkit::testing
