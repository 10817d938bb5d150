// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <filesystem>

#include "cli_test.h"

namespace tfaot::toolkit::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using CheckTest = CliTest;

TEST_F(CheckTest, AConfigThatCompiles) {
  write_model();
  const std::string transcript = run({"check", "model/aot_config.yaml", "-q"}).text() + "\n" +
                                 run({"check", "model/aot_config.yaml", "-q", "--json"}).text();
  EXPECT_TRUE(matches_golden(transcript, "cli/check_config.txt"));
}

TEST_F(CheckTest, AllProblemsAtOnce) {
  write_model();
  const Variables refusing = {{"FAKE_ENGINE", "refuse"}};
  const std::string transcript =
      run({"check", "model/aot_config.yaml", "-q"}, refusing).text() + "\n" +
      run({"check", "model/aot_config.yaml", "-q", "--json"}, refusing).text();
  EXPECT_TRUE(matches_golden(transcript, "cli/check_problems.txt"));
}

TEST_F(CheckTest, AllSignaturesOfAModelOrOne) {
  write("net/saved_model.pb", "a graph");
  const Outcome all =
      run({"check", "net", "-q", "--batch-sizes", "2,4", "--cpu-levels", "x86-64-v3"});
  EXPECT_EQ(all.exit_code, 0) << all.text();
  EXPECT_TRUE(matches_golden(all.text(), "cli/check_model.txt"));
  const Outcome one = run({"check", "net", "-q", "--signature", "other"});
  EXPECT_THAT(one.out, HasSubstr("\nSignature other: compiles\n"));
  EXPECT_THAT(one.out, Not(HasSubstr("serving_default")));
  EXPECT_THAT(one.out, HasSubstr("code for batch sizes 1, 2, 4, 8, 16, 32\n"));
}

TEST_F(CheckTest, SaysWhichBitsAreTheSame) {
  write("net/saved_model.pb", "a graph");
  const std::vector<std::string> all = {"check",
                                        "net",
                                        "-q",
                                        "--signature",
                                        "serving_default",
                                        "--cpu-levels",
                                        "x86-64,x86-64-v3,x86-64-v4"};
  EXPECT_THAT(run(all).out, HasSubstr("\n  same bits  a row in any batch and thread, on any "
                                      "machine; at x86-64-v3, x86-64-v4 alike\n"));
  std::vector<std::string> coupled = all;
  coupled.insert(coupled.end(), {"--rows", "coupled"});
  EXPECT_THAT(run(coupled).out, HasSubstr("\n  same bits  a batch in any number of threads, on any "
                                          "machine; at x86-64-v3, x86-64-v4 alike\n"));
}

TEST_F(CheckTest, ModesOfTheModelChangeTheVerdict) {
  write("net/saved_model.pb", "a graph");
  const auto checked = [this](const std::string& option, const std::string& word) {
    return run({"check", "net", "-q", "--signature", "serving_default", option, word, "--json"})
        .out;
  };
  EXPECT_THAT(checked("--rows", "coupled"), HasSubstr("\"rows\": \"coupled\""));
  EXPECT_THAT(checked("--batch", "none"), HasSubstr("\"batch_sizes\": [\n        1\n      ]"));
}

TEST_F(CheckTest, ACrashIsTheModelsProblem) {
  write_model();
  const Outcome outcome =
      run({"check", "model/aot_config.yaml", "--json"}, {{"FAKE_ENGINE", "crash"}});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.out, HasSubstr("\"kind\": \"compiler\""));
  EXPECT_THAT(outcome.out, HasSubstr("the fake engine was told to crash"));
}

TEST_F(CheckTest, WhatIsNotTheModelsFaultIsAnError) {
  write_model();
  const Outcome outcome =
      run({"check", "model/aot_config.yaml"}, {{"TFAOT_ENGINE", TFAOT_LOST_ENGINE}});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.out, IsEmpty());
  EXPECT_THAT(outcome.err, HasSubstr("TensorFlow"));
}

TEST_F(CheckTest, LeavesNothing) {
  write_model();
  std::filesystem::create_directory(at("scratch"));
  const auto before = files_in("model");
  for (const char* how : {"", "refuse", "crash"}) {
    run({"check", "model/aot_config.yaml"}, {{"TMPDIR", at("scratch")}, {"FAKE_ENGINE", how}});
    EXPECT_TRUE(std::filesystem::is_empty(at("scratch"))) << how;
  }
  EXPECT_EQ(files_in("model"), before);
}

TEST_F(CheckTest, KnownOperations) {
  const std::string transcript =
      run({"check", "--ops"}).text() + "\n" + run({"check", "--ops", "--json"}).text();
  EXPECT_TRUE(matches_golden(transcript, "cli/check_operations.txt"));
}

TEST_F(CheckTest, WrongArguments) {
  write_model();
  write("net/saved_model.pb", "a graph");
  write_tree_at("tree", {});
  std::string transcript;
  for (const std::vector<std::string>& arguments : std::vector<std::vector<std::string>>{
           {"check"},
           {"check", "nowhere"},
           {"check", "tree"},
           {"check", "net", "--ops"},
           {"check", "net", "--signature", "serving_defualt"},
           {"check", "net", "--batch-sizes", "0"},
           {"check", "model/aot_config.yaml", "--signature", "other"}}) {
    transcript += run(arguments).text() + "\n";
  }
  EXPECT_TRUE(matches_golden(transcript, "cli/check_errors.txt"));
}

}  // namespace
}  // namespace tfaot::toolkit::testing
