// SPDX-License-Identifier: Apache-2.0
#include "cli_test.h"
#include "tfaot/base/process.h"
#include "tfaot/base/text.h"

namespace tfaot::toolkit::testing {
namespace {

using UsageTest = CliTest;

TEST_F(UsageTest, WrongCommandLinesSayWhatIsRight) {
  const std::vector<std::vector<std::string>> lines = {
      {},
      {"compil"},
      {"frobnicate"},
      {"uninstall"},
      {"--frob"},
      {"help", "compil"},
      {"help", "compile", "package"},
      {"help", "--all", "compile"},
      {"compile", "--help-all"},
      {"compile"},
      {"compile", "-c", "x"},
      {"compile", "-c", "x", "-o", "y", "--batch-size", "3"},
      {"compile", "-c", "model/aot_config.yaml", "-o", "y", "--batch-sizes", "1,z"},
      {"compile", "-c", "model/aot_config.yaml", "-o", "file"},
      {"compile", "-c", "model/aot_config.yaml", "-o", "file/below"},
      {"compile", "-c", "model/aot_config.yaml", "-o", "y", "--depfile", "file/below/dep.d"},
      {"compile", "-c", "model/aot_config.yaml", "-o", "y", "--depfile", "tree"},
      {"compile", "-c", "model/aot_config.yaml", "-o", "y", "--tool-name", "../up"},
      {"package", "tree", "-o", "file"},
      {"install", "file.tar", "--release-area", "dangling"},
      {"compile", "-c", "x", "-o", "y", "--weights", "none"},
      {"compile", "-c", "x", "-o", "y", "-j", "0"},
      {"compile", "-c", "x", "-o", "y", "--timeout", "-1"},
      {"compile", "-c", "x", "-o"},
      {"compile", "-c", "x", "-o", "y", "-o", "z"},
      {"compile", "-c", "x", "-o", ""},
      {"list", "--release-area", ""},
      {"list"},
      {"list", "area", "--release-area", "area"},
      {"compile", "-c", "x", "-o", "y", "-q", "-v"},
      {"compile", "-c", "x", "-o", "y", "z"},
      {"compile", "-c", "x", "-o", "y", "--additional-flags", "--graph=z"},
      {"compile", "-c", "x", "-o", "y", "--cpu-levels", "x86-64", "--additional-flags",
       "--target_cpu=x86-64-v3"},
      {"package", "tree", "--format", "zip"},
      {"install", "--release-area", "area"},
      {"list", "--jsn"},
      {"info"},
      {"run", "tree", "-i", "random", "--seed", "99999999999999999999"},
      {"run", "tree", "-i", "random", "--rows", "99999999999999999999"},
  };
  write_model();
  write("file", "");
  write_tree_at("tree", {});
  ASSERT_TRUE(files_.replace_symlink("nowhere", at("dangling")));
  std::string transcript;
  for (const auto& line : lines) {
    const Outcome outcome = run(line);
    EXPECT_EQ(outcome.exit_code, 2) << outcome.text();
    EXPECT_EQ(outcome.out, "") << outcome.text();
    transcript += replace_all(outcome.text(), join(verbs(), ", "), "<verbs>") + "\n";
  }
  EXPECT_TRUE(matches_golden(transcript, "cli/usage_errors.txt"));
}

TEST_F(UsageTest, HelpIsAVerb) {
  EXPECT_EQ(run({"help"}).out, run({"--help"}).out);
  EXPECT_EQ(run({"help"}).exit_code, 0);
  EXPECT_EQ(run({"help", "help"}).out, run({"help"}).out);
  EXPECT_EQ(run({"help", "compile"}).out, run({"compile", "--help"}).out);
  EXPECT_NE(run({"help", "compile"}).out, run({"help"}).out);
}

TEST_F(UsageTest, HelpListsTheVerbsThatMostPeopleNeedOrAll) {
  const std::string few = run({"--help"}).out;
  const std::string all = run({"--help-all"}).out;
  EXPECT_EQ(run({"help", "--all"}).out, all);
  std::size_t listed = 0;
  for (const std::string& verb : verbs()) {
    const std::string line = "\n  " + verb + " ";
    EXPECT_NE(all.find(line), std::string::npos) << verb;
    listed += few.find(line) == std::string::npos ? 0 : 1;
  }
  EXPECT_LE(listed, 13U);
  EXPECT_GE(listed, 12U);
  EXPECT_NE(few.find("'tfaot help --all' lists all verbs"), std::string::npos);
}

TEST_F(UsageTest, HelpFitsTheTerminal) {
  for (const std::string verb : {"compile", "install", "scram-hook", "spec"}) {
    const std::string text = run({verb, "--help"}, {{"COLUMNS", "72"}}).out;
    for (const std::string& line : split_lines(text)) EXPECT_LE(line.size(), 72U) << line;
    EXPECT_NE(text, run({verb, "--help"}).out);
  }
}

TEST_F(UsageTest, ListTakesTheAreaWithAndWithoutTheOption) {
  ASSERT_TRUE(files_.create_directories(at("area/.tfaot")));
  EXPECT_EQ(run({"list", "area"}).out, run({"list", "--release-area", "area"}).out);
  EXPECT_EQ(run({"list", "area"}).exit_code, 0);
}

TEST_F(UsageTest, AClosedStandardOutputIsAnError) {
  ProcessSpec shell;
  shell.program = "sh";
  shell.arguments = {"-c", at("prefix/bin/tfaot") + " --version >&-"};
  const auto ended = run_process(shell);
  ASSERT_TRUE(ended);
  EXPECT_EQ(ended->exit_code, 1);
  EXPECT_EQ(ended->standard_error, "tfaot: error: the standard output cannot be written\n");
}

TEST_F(UsageTest, VersionIsOnTheStandardOutput) {
  const Outcome outcome = run({"--version"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.out, "tfaot " TFAOT_VERSION "\n");
  EXPECT_EQ(outcome.err, "");
}

}  // namespace
}  // namespace tfaot::toolkit::testing
