// SPDX-License-Identifier: Apache-2.0
// With an engine that predicts what the loaded code does, unless its model says otherwise. Real
// models are in tests/e2e.
#include <gmock/gmock.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "loaded_package_test.h"
#include "tests/support/executable_file.h"
#include "tfaot/base/text.h"
#include "tfaot/package/zip_file.h"

namespace tfaot::toolkit::testing {
namespace {

using Json = nlohmann::json;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

class ValidateTest : public LoadedPackageTest {
 protected:
  // Without the lines of its progress.
  Outcome validate(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), "validate");
    Outcome outcome = run_loaded(arguments, {{"TMPDIR", at("scratch")}});
    std::string kept;
    for (const std::string& line : split_lines(outcome.err)) {
      if (!line.starts_with("[")) kept += line + "\n";
    }
    outcome.err = std::move(kept);
    return outcome;
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

// A row of one number is where normalisations go wrong.
TEST_F(ValidateTest, RowsOfOneNumberCount) {
  const Outcome failed = validate({"out", "--model", model("flat"), "--json"});
  EXPECT_EQ(failed.exit_code, 1);
  std::map<std::string, bool> passed;
  const Json found = Json::parse(failed.out);
  for (const Json& one : found["outputs"]) passed[one["inputs"]] = one["passed"];
  EXPECT_TRUE(passed["random"]);
  EXPECT_TRUE(passed["zeros"]);
  for (const std::string kind : {"ones", "minus_ones", "padding", "million"}) {
    EXPECT_FALSE(passed[kind]) << kind;
  }
  EXPECT_EQ(validate({"out", "--model", "flat", "--only-these"}).exit_code, 0);
}

// A model that moves by 0.002 if its inputs move to their neighbours may differ by that, but not by
// a hundredth of the sums.
TEST_F(ValidateTest, TheModelsOwnRoundingIsAllowed) {
  const Outcome outcome = validate({"out", "--model", model("shaky"), "--only-these"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.text();
  EXPECT_THAT(
      outcome.out,
      HasSubstr("\n  note: y, random: the tolerance is too small, so the model's own rounding "
                "decides: it moves by 0.002 if it rounds"));
  const Outcome json = validate({"out", "--model", "shaky", "--only-these", "--json"});
  const Json found = Json::parse(json.out)["outputs"][0];
  EXPECT_NEAR(found["moved"].get<double>(), 0.002, 1e-6);
  EXPECT_NEAR(found["allowed"].get<double>(), 1e-6 + 1e-5 * 119 + 8 * 0.002, 1e-4);
  const Outcome off = validate({"out", "--model", model("shaky_off"), "--only-these"});
  EXPECT_EQ(off.exit_code, 1) << off.text();
  const Outcome strict =
      validate({"out", "--model", "model/saved_model", "--only-these", "--json"});
  EXPECT_EQ(Json::parse(strict.out)["outputs"][0]["moved"], 0.0) << "the tolerance was enough";
}

// In place of ONNX Runtime: a row is 10 and the letter 'w' in the model's optimised form, 10.002 as
// it is written. A model "off" is 10.002 in both.
constexpr const char* kOnnxRuntime = R"sh(#!/bin/sh
sum='\000\000\040\101'
case "$*" in *as_written=1* | *off.onnx*) sum='\061\010\040\101';; esac
echo ready 0
while read -r verb argument; do
  case $verb in
    version) echo 1.0;;
    prepare) rows=$argument; echo ok 0 1;;
    write) : >"${argument}0"
      for row in $(seq "$rows"); do printf "$sum"'\000\000\356\102' >>"${argument}0"; done
      echo ok;;
  esac
done
)sh";

// As quantised models do, whose numbers between two steps may become either.
TEST_F(ValidateTest, AnOnnxModelMayRoundAsItsOptimisedFormDoes) {
  for (const std::string file : {"net.onnx", "off.onnx", "ort.so"}) write(file, "onnx");
  const Outcome compiled = CliTest::run({"compile", "net.onnx", "-o", "onnx", "--cpu-levels",
                                         "x86-64", "--batch-sizes", "1,4", "-q"});
  ASSERT_EQ(compiled.exit_code, 0) << compiled.text();
  const Path runner = at("prefix/libexec/tfaot/tfaot-runner");
  write(runner.lexically_relative(root_).string(), kOnnxRuntime);
  make_executable(runner);
  write_fake_linker(at("bin"), read("onnx/record.json"), at("linked"));
  const std::vector<float> ones(10, 1);
  write("in.npy", npy_to_bytes(array_of<float>("x", DType::kFloat32, {1, 10}, ones)));
  const auto by = [&](const std::string& model) {
    return validate({"onnx", "--model", model, "--library", "ort.so", "--inputs", "in.npy",
                     "--only-these", "--json"});
  };
  const Outcome outcome = by("net.onnx");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.text();
  EXPECT_NEAR(Json::parse(outcome.out)["outputs"][0]["moved"].get<double>(), 0.002, 1e-6);
  const Outcome off = by("off.onnx");
  EXPECT_EQ(off.exit_code, 1) << off.text();
}

// Scores that were saved: ten ones a row, and the letter 'w'.
TEST_F(ValidateTest, SavedPredictionsTakeTheModelsPlace) {
  const auto save = [&](const std::string& path, double sum) {
    const Array y = array_of<double>("y", DType::kFloat64, {2, 1, 2}, {sum, 119, sum, 119});
    write(path, npy_to_bytes(y));
  };
  const std::vector<float> ones(20, 1);
  write("in.npy", npy_to_bytes(array_of<float>("x", DType::kFloat32, {2, 10}, ones)));
  save("y.npy", 10);
  save("other.npy", 10.1);
  const Outcome good = validate({"out", "-i", "in.npy", "--expected", "y.npy"});
  EXPECT_EQ(good.exit_code, 0) << good.text();
  EXPECT_THAT(good.out, HasSubstr("\n  reference   y.npy, saved predictions\n"));
  EXPECT_THAT(good.out, Not(HasSubstr("zeros")));
  const Outcome bad = validate({"out", "-i", "in.npy", "--expected", "other.npy", "--json"});
  EXPECT_EQ(bad.exit_code, 1);
  EXPECT_NEAR(Json::parse(bad.out)["outputs"][0]["largest"].get<double>(), 0.1, 1e-5);
  EXPECT_EQ(validate({"out", "-i", "in.npy", "--expected", "y.npy", "--record"}).exit_code, 0);
  EXPECT_THAT(CliTest::run({"info", "out"}).out, HasSubstr("predicts as y.npy does"));
}

TEST_F(ValidateTest, SavedPredictionsMustFit) {
  write_npy("in.npy", 3);
  write("three.npy", npy_to_bytes(array_of<float>("y", DType::kFloat32, {3, 1}, {1, 2, 3})));
  write("two.npy", npy_to_bytes(array_of<float>("y", DType::kFloat32, {2, 2}, {1, 2, 3, 4})));
  write("whole.npy",
        npy_to_bytes(array_of<std::int32_t>("y", DType::kInt32, {3, 2}, {1, 2, 3, 4, 5, 6})));
  write("named.csv", "z[0],z[1]\n1,2\n");
  const std::string both =
      npy_to_bytes(array_of<float>("y", DType::kFloat32, {3, 2}, {1, 2, 3, 4, 5, 6}));
  ASSERT_TRUE(write_zip(files_, at("more.npz"), {{"y.npy", both}, {"yy.npy", both}}));
  std::string transcript;
  for (const std::vector<std::string>& arguments : std::vector<std::vector<std::string>>{
           {"out", "--expected", "two.npy"},
           {"out", "--expected", "two.npy", "--model", "model/saved_model"},
           {"out", "--expected", "two.npy", "-i", "in.npy", "--library", "libonnxruntime.so"},
           {"out", "--expected", "two.npy", "-i", "in.npy"},
           {"out", "--expected", "three.npy", "-i", "in.npy"},
           {"out", "--expected", "whole.npy", "-i", "in.npy"},
           {"out", "--expected", "named.csv", "-i", "in.npy"},
           {"out", "--expected", "more.npz", "-i", "in.npy"}}) {
    transcript += validate(arguments).text() + "\n";
  }
  EXPECT_TRUE(matches_golden(transcript, "cli/validate_expected_errors.txt"));
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
  EXPECT_THAT(outcome.out,
              HasSubstr("note: Inputs 'nan' are left out: the model does not take them.\n"
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
    EXPECT_EQ(validation["outputs"].size(), 11U);
    EXPECT_THAT(
        CliTest::run({"info", package}).out,
        HasSubstr("\n  validated    predicts as fake 1.0 does\n"
                  "               worst difference: 0 % of what is allowed, 0 (relative 0), "
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

TEST_F(ValidateTest, BitsAreTheSameInEveryWay) {
  const std::string transcript =
      validate({"out", "--bits"}).text() + "\n" + validate({"out", "--bits", "--json"}).text();
  EXPECT_TRUE(matches_golden(transcript, "cli/validate_bits.txt"));
}

// Code for four rows that rounds row 2 in another way.
TEST_F(ValidateTest, BitsOfABatchThatDifferAreAnError) {
  write_fake_linker(at("bin"), read("out/record.json"), at("linked"), "tfaot_loaded_bs4_off");
  const Outcome outcome = validate({"out", "--bits"});
  EXPECT_TRUE(matches_golden(outcome.text(), "cli/validate_bits_differ.txt"));
  const Outcome quiet = validate({"out", "--bits", "-q"});
  EXPECT_EQ(quiet.exit_code, 1);
  EXPECT_EQ(quiet.out, "");
  EXPECT_EQ(quiet.err, "tfaot: error: out: a row's bits depend on how it is run\n");
  const Json found = Json::parse(validate({"out", "--bits", "--json"}).out);
  EXPECT_EQ(found["passed"], false);
  for (const Json& one : found["compared"]) {
    // Threads split batches in other places.
    const std::set<std::string> different = {"batches", "places", "threads"};
    EXPECT_EQ(one["unequal"] > 0, different.contains(one["changed"])) << one;
  }
  const Json& batches = found["differences"][0];
  EXPECT_EQ(batches["changed"], "batches");
  EXPECT_EQ(batches["output"], "y");
  EXPECT_EQ(batches["row"], 2);
  EXPECT_EQ(batches["ulps"], 1);
  const std::string before = read("out/manifest.json");
  EXPECT_EQ(validate({"out", "--bits", "--record"}).exit_code, 1);
  EXPECT_EQ(read("out/manifest.json"), before);
}

// Code that lets a row feel the NaN of the row before it.
TEST_F(ValidateTest, BitsThatDependOnOtherRowsAreAnError) {
  write_fake_linker(at("bin"), read("out/record.json"), at("linked"), "tfaot_loaded_bs4_mixed");
  const Json found = Json::parse(validate({"out", "--bits", "--json"}).out);
  ASSERT_EQ(found["differences"].size(), 1U) << found["differences"];
  EXPECT_EQ(found["differences"][0]["changed"], "other_rows");
}

TEST_F(ValidateTest, RecordsTheBits) {
  write_npy("in.npy", 7);
  const Outcome done = validate({"out", "--bits", "-i", "in.npy", "--record"});
  ASSERT_EQ(done.exit_code, 0) << done.text();
  const Json bits = Json::parse(CliTest::run({"info", "out", "--json"}).out)["manifest"]["bits"];
  EXPECT_EQ(bits["threads"], 4);
  EXPECT_EQ(bits["outputs"].size(), 1U);
  EXPECT_THAT(CliTest::run({"info", "out"}).out,
              HasSubstr("\n  bits         a row has the same bits in batches of 1 to 64 rows, in 1 "
                        "to 4 threads\n               sha256 "));
  ASSERT_EQ(CliTest::run({"update-weights", "out", "--model", model("off"), "-q"}).exit_code, 0);
  EXPECT_THAT(read("out/manifest.json"), Not(HasSubstr("\"bits\"")));
}

TEST_F(ValidateTest, QuietlyTheExitCodeIsTheVerdict) {
  for (const std::string& how : {std::string("--bits"), std::string("--model=model/saved_model")}) {
    const Outcome outcome = validate({"out", how, "-q"});
    EXPECT_EQ(outcome.exit_code, 0) << how;
    EXPECT_EQ(outcome.out + outcome.err, "") << how;
  }
  const Outcome outcome = validate({"out", "--model", model("off"), "-q"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(outcome.err, "tfaot: error: out: its predictions are not those of the model\n");
}

TEST_F(ValidateTest, BitsTakeNoTolerance) {
  const std::string transcript = validate({"out", "--bits", "--expected", "y.npy"}).text() + "\n" +
                                 validate({"out", "--bits", "--strict"}).text() + "\n" +
                                 validate({"out", "--bits", "--inputs", "zeros"}).text();
  EXPECT_TRUE(matches_golden(transcript, "cli/validate_bits_errors.txt"));
}

}  // namespace
}  // namespace tfaot::toolkit::testing
