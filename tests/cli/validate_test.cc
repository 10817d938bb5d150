// SPDX-License-Identifier: Apache-2.0
// With an engine that predicts what the loaded code does, unless its model says otherwise. Real
// models are in tests/e2e.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "loaded_package_test.h"

namespace tfaot::toolkit::testing {
namespace {

using Json = nlohmann::json;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

class ValidateTest : public LoadedPackageTest {
 protected:
  Outcome validate(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), "validate");
    arguments.insert(arguments.end(), "-q");
    return run_loaded(arguments, {{"TMPDIR", at("scratch")}});
  }
  // A model that the fake engine knows by its word.
  std::string model(const std::string& word) {
    write(word + "/saved_model.pb", word + " a graph");
    write(word + "/variables/variables.index", "an index");
    return word;
  }
  // The scratch folder, which must be empty afterwards.
  ValidateTest() { std::filesystem::create_directory(at("scratch")); }
  void TearDown() override { EXPECT_TRUE(std::filesystem::is_empty(at("scratch"))); }
};

TEST_F(ValidateTest, APackageOfTheModel) {
  const std::string transcript =
      validate({"out", "--model", "model/saved_model"}).text() + "\n" +
      validate({"out", "--model", "model/aot_config.yaml", "--only-these", "--json"}).text();
  EXPECT_TRUE(matches_golden(transcript, "cli/validate.txt"));
}

TEST_F(ValidateTest, OtherPredictionsFail) {
  write_npy("in.npy", 7);
  const std::string transcript =
      validate({"out", "--model", model("off"), "--inputs", "in.npy"}).text();
  EXPECT_TRUE(matches_golden(transcript, "cli/validate_differs.txt"));
  const Outcome lax = validate({"out", "--model", "off", "--only-these", "--tolerance", "0.02"});
  EXPECT_EQ(lax.exit_code, 0) << lax.text();
}

TEST_F(ValidateTest, TheFileIsRunWholeAndAgain) {
  write_npy("in.npy", 2);
  const Outcome outcome =
      validate({"out", "--model", "model/saved_model", "-i", "in.npy", "--only-these", "--json"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.text();
  const Json found = Json::parse(outcome.out);
  EXPECT_EQ(found["rows"], Json({1, 2, 3, 4, 5, 9}));
  for (const Json& batch : found["batches"]) EXPECT_EQ(batch["inputs"], "file");
  EXPECT_EQ(found["batches"].size(), 7U);  // 2 rows: stitched, and the file's
}

TEST_F(ValidateTest, InputsThatTheModelRefusesAreLeftOut) {
  const Outcome outcome = validate({"out", "--model", model("picky")});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.out, HasSubstr("left out: inputs 'nan', which the model does not take\n"
                                     "    TensorFlow: this is too much\n"));
  EXPECT_THAT(outcome.out, HasSubstr("zeros"));
  EXPECT_THAT(outcome.out, Not(HasSubstr("y       nan")));
  write("nan.csv", "x[0],x[1],x[2],x[3],x[4],x[5],x[6],x[7],x[8],x[9]\nnan,1,2,3,4,5,6,7,8,9\n");
  const Outcome of_user = validate({"out", "--model", "picky", "-i", "nan.csv"});
  EXPECT_EQ(of_user.exit_code, 1);
  EXPECT_THAT(of_user.err, HasSubstr("nan.csv: the model does not take these inputs\n"
                                     "  TensorFlow: this is too much\n"));
}

TEST_F(ValidateTest, SaysThatNothingWasCompared) {
  write("nan.csv", "x[0],x[1],x[2],x[3],x[4],x[5],x[6],x[7],x[8],x[9]\nnan,1,2,3,4,5,6,7,8,9\n");
  constexpr const char* kNothing =
      "tfaot: warning: output 'y': no number was compared, for the model predicts nan or infinity "
      "everywhere; give other inputs with --inputs FILE\n";
  EXPECT_THAT(validate({"out", "--model", model("nans"), "-i", "nan.csv", "--only-these"}).err,
              HasSubstr(kNothing));
  EXPECT_THAT(validate({"out", "--model", "nans", "-i", "nan.csv"}).err, Not(HasSubstr(kNothing)));
}

TEST_F(ValidateTest, RecordsInTreesAndArchives) {
  ASSERT_EQ(CliTest::run({"package", "out", "-o", "dist", "-q"}).exit_code, 0);
  const std::string archive = "dist/tfaot-model-test-net-1.0.0-x86_64-linux.tar.zst";
  for (const std::string& package : {std::string("out"), archive}) {
    const Outcome done = validate({package, "--model", "model/saved_model", "--record"});
    ASSERT_EQ(done.exit_code, 0) << done.text();
    const Json info = Json::parse(CliTest::run({"info", package, "--json"}).out);
    const Json& validation = info["manifest"]["validation"];
    EXPECT_EQ(validation["reference"], "fake 1.0");
    EXPECT_EQ(validation["rows"], Json({1, 2, 3, 4, 5, 9}));
    EXPECT_EQ(validation["outputs"].size(), 8U);
    EXPECT_THAT(CliTest::run({"info", package}).out,
                HasSubstr("\n  validated    predicts as fake 1.0 does\n"
                          "               worst difference, by the tolerance: 0 (relative 0), "
                          "output "));
    EXPECT_EQ(run_loaded({"run", package, "-i", "ones"}).exit_code, 0);
  }
  EXPECT_EQ(CliTest::run({"package", "out", "-o", "again", "-q"}).exit_code, 0);
  write_tree_at("other", {});
  const std::string different = CliTest::run({"diff", "out", "other"}).out;
  EXPECT_THAT(different, HasSubstr(" predicts as fake 1.0 does, worst differe"));
  EXPECT_THAT(different, Not(HasSubstr("u000a")));
  EXPECT_THAT(files_in("out"), Not(Contains(HasSubstr("tfaot-work"))));
}

TEST_F(ValidateTest, WhatFailsIsNotRecorded) {
  const std::string before = read("out/manifest.json");
  EXPECT_EQ(validate({"out", "--model", model("off"), "--record"}).exit_code, 1);
  EXPECT_EQ(read("out/manifest.json"), before);
}

TEST_F(ValidateTest, NewWeightsAreNotValidated) {
  ASSERT_EQ(validate({"out", "--model", "model/saved_model", "--record"}).exit_code, 0);
  EXPECT_THAT(read("out/manifest.json"), HasSubstr("\"validation\""));
  ASSERT_EQ(CliTest::run({"update-weights", "out", "--model", model("off"), "-q"}).exit_code, 0);
  EXPECT_THAT(read("out/manifest.json"), Not(HasSubstr("\"validation\"")));
}

TEST_F(ValidateTest, SaysWhatIsWrong) {
  ASSERT_EQ(CliTest::run({"package", "out", "-o", "dist", "-q"}).exit_code, 0);
  ASSERT_EQ(CliTest::run({"install", "dist/tfaot-model-test-net-1.0.0-x86_64-linux.tar.zst",
                          "--release-area", "area", "-q"})
                .exit_code,
            0);
  write("graph.pb", "a graph");
  model("wider");
  std::string transcript;
  for (const std::vector<std::string>& arguments : std::vector<std::vector<std::string>>{
           {"out"},
           {"model/saved_model", "--model", "out"},
           {"out", "--model", "nowhere"},
           {"out", "--model", "out"},
           {"out", "--model", "graph.pb"},
           {"out", "--model", "wider"},
           {"out", "--model", "model/saved_model", "--inputs", "zeros"},
           {"out", "--model", "model/saved_model", "--inputs", "in.npy"},
           {"out", "--model", "model/saved_model", "--tolerance", "-1"},
           {"area/test_net", "--model", "model/saved_model", "--only-these", "--record"}}) {
    transcript += validate(arguments).text() + "\n";
  }
  EXPECT_TRUE(matches_golden(transcript, "cli/validate_errors.txt"));
}

}  // namespace
}  // namespace tfaot::toolkit::testing
