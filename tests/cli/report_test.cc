// SPDX-License-Identifier: Apache-2.0
// `tfaot report` with an engine, a compiler, a linker and a measuring program of ours. Real models
// are in tests/e2e.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <regex>

#include "fake_runner.h"
#include "loaded_package_test.h"

namespace tfaot::toolkit::testing {
namespace {

using Json = nlohmann::json;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class ReportTest : public LoadedPackageTest {
 protected:
  ReportTest() {
    write_fake_runner(at("prefix"));
    write("cache/started", "");
    write_script("c++",
                 "while [ \"$1\" != -o ]; do shift; done\n"
                 "printf '#!/bin/sh\\necho 1 x86-64 2000\\necho 4 x86-64 5250.25\\n' > \"$2\"\n"
                 "chmod +x \"$2\"\n");
    write_script("bin/python3", "exit 0\n");  // has no framework
    write("net.onnx", "a net");
    write("ort.so", "a library");
    std::filesystem::create_directory(at("scratch"));
  }
  // Nothing is left in the scratch folder.
  void TearDown() override { EXPECT_TRUE(std::filesystem::is_empty(at("scratch"))); }

  void write_script(const std::string& path, const std::string& text) {
    write(path, "#!/bin/sh\n" + text);
    make_executable(at(path));
  }
  // A model that the fake engine knows by its word, with the config of model/.
  std::string config(const std::string& word) {
    write(word + "/saved_model/saved_model.pb", word + " a graph");
    write(word + "/saved_model/variables/variables.index", "an index");
    write(word + "/aot_config.yaml", read("model/aot_config.yaml"));
    return word + "/aot_config.yaml";
  }
  Outcome report(std::vector<std::string> arguments, Variables more = {}) const {
    arguments.insert(arguments.begin(), "report");
    arguments.insert(arguments.end(), {"--compiler", at("c++"), "--rounds", "2", "-q"});
    more["TMPDIR"] = at("scratch");
    Outcome outcome = run_loaded(arguments, more);
    outcome.out = std::regex_replace(outcome.out, std::regex("memory(  +)[^,\n]*,"), "memory$1#,");
    outcome.out = std::regex_replace(outcome.out, std::regex("it takes [^\n]*"), "it takes #");
    outcome.out = std::regex_replace(outcome.out, std::regex(" +[0-9]{4,5}  "), " BYTES ");
    return outcome;
  }
};

TEST_F(ReportTest, AnswersAllQuestions) {
  const Outcome outcome = report({"model/aot_config.yaml", "--beside", "onnxruntime=net.onnx",
                                  "--library", "onnxruntime=ort.so"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_TRUE(matches_golden(masked(outcome.text()), "cli/report.txt"));
}

TEST_F(ReportTest, AnUnsupportedModelNamesItsNodes) {
  const Outcome outcome = report({"model/aot_config.yaml"}, {{"FAKE_ENGINE", "refuse"}});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_TRUE(matches_golden(outcome.text(), "cli/report_unsupported.txt"));
  const Outcome json = report({"model/aot_config.yaml", "--json"}, {{"FAKE_ENGINE", "refuse"}});
  EXPECT_EQ(json.exit_code, 1);
  const Json found = Json::parse(json.out);
  EXPECT_EQ(found["answers"]["supported"], false);
  EXPECT_EQ(found["answers"]["right"], nullptr);
  EXPECT_EQ(found["check"]["signatures"][0]["problems"][0]["places"], Json({"bar"}));
  EXPECT_FALSE(found.contains("profile"));
}

TEST_F(ReportTest, OtherPredictionsAreWrong) {
  const Outcome outcome = report({config("off")});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.out, HasSubstr("config off/aot_config.yaml: supported, does not predict as "
                                     "the model does\n"));
  EXPECT_THAT(outcome.out, HasSubstr("\n  right        no, the largest difference from fake 1.0"));
  EXPECT_THAT(outcome.out, HasSubstr("DIFFER"));
  EXPECT_THAT(outcome.err, HasSubstr("its package's predictions are not those of the model"));
}

// What is missing on a machine is a sentence, and everything else is answered.
TEST_F(ReportTest, WhatIsNotInstalledIsLeftOut) {
  write("model.tflite", "a net");
  write("broken.onnx", "a net");
  std::string transcript;
  for (const std::vector<std::string>& beside : std::vector<std::vector<std::string>>{
           {"onnxruntime=net.onnx", "tensorflow", "litert=model.tflite"},
           {"onnxruntime", "litert"},
           {"onnxruntime=broken.onnx", "--library", "onnxruntime=ort.so"}}) {
    std::vector<std::string> arguments = {"model/aot_config.yaml", "--beside"};
    arguments.insert(arguments.end(), beside.begin(), beside.end());
    const Outcome outcome = report(arguments);
    EXPECT_EQ(outcome.exit_code, 0);
    transcript += masked(outcome.text()) + "\n";
  }
  EXPECT_TRUE(matches_golden(transcript, "cli/report_left_out.txt"));
}

TEST_F(ReportTest, AsksPythonForTheLibrary) {
  write_script("bin/python3",
               "echo \"$*\" | tail -n 1 >> " + at("asked") + "\necho " + at("ort.so") + "\n");
  const Outcome outcome =
      report({"model/aot_config.yaml", "--beside", "onnxruntime=net.onnx", "--json"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(read("asked"), HasSubstr("onnxruntime capi/libonnxruntime.so.*\n"));
  EXPECT_THAT(read("cache/started"), HasSubstr(" library=" + at("ort.so")));
  const Json answers = Json::parse(outcome.out)["answers"];
  EXPECT_EQ(answers["right"], true);
  EXPECT_EQ(answers["batch_sizes"], Json({4}));
  EXPECT_GE(answers["memory"], 0);
  const Json& beside = answers["beside"];
  ASSERT_EQ(beside.size(), 1U);
  EXPECT_EQ(beside[0]["engine"], "onnxruntime");
  EXPECT_EQ(beside[0]["times_as_fast"],
            Json({{{"rows", 1}, {"times", 3.0}}, {{"rows", 4}, {"times", 3.0}}}));
}

TEST_F(ReportTest, WithoutACompilerTheRestIsAnswered) {
  const Outcome outcome = run_loaded({"report", "model/aot_config.yaml", "--compiler",
                                      "/nowhere/c++", "--rounds", "2", "-q", "--json"},
                                     {{"TMPDIR", at("scratch")}});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  const Json found = Json::parse(outcome.out);
  EXPECT_EQ(found["answers"]["batch_sizes"], nullptr);
  EXPECT_THAT(found["suggestion"]["error"].get<std::string>(), HasSubstr("/nowhere/c++"));
  EXPECT_EQ(found["answers"]["right"], true);
  EXPECT_EQ(found["profile"]["curves"].size(), 1U);
  const Outcome text = run_loaded(
      {"report", "model/aot_config.yaml", "--compiler", "/nowhere/c++", "--rounds", "2", "-q"},
      {{"TMPDIR", at("scratch")}});
  EXPECT_THAT(text.out, HasSubstr("batch sizes  1, 4, not measured: the C++ compiler"));
}

TEST_F(ReportTest, FewerSizesMayBeAsFast) {
  write_script("c++",
               "while [ \"$1\" != -o ]; do shift; done\n"
               "printf '#!/bin/sh\\necho 1 x86-64 5200\\necho 4 x86-64 5250\\n' > \"$2\"\n"
               "chmod +x \"$2\"\n");
  EXPECT_THAT(report({"model/aot_config.yaml"}).out,
              HasSubstr("batch sizes  4, as fast on average as 1, 4, with 50 % of the code"));
}

TEST_F(ReportTest, WritesAPage) {
  const Outcome outcome =
      report({"model/aot_config.yaml", "--html", "r.html", "--beside", "litert"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  const std::string page = read("r.html");
  for (const char* text :
       {"supported, predicts as the model does", "Check: Signature", "Predictions", "Batch sizes",
        "Speed: test_net 1.0.0", "beside LiteRT"}) {
    EXPECT_THAT(page, HasSubstr(text));
  }
}

TEST_F(ReportTest, WrongArguments) {
  write("plain.txt", "words");
  write("in.npy", "words");
  std::string transcript;
  for (const std::vector<std::string>& arguments : std::vector<std::vector<std::string>>{
           {},
           {"nowhere"},
           {"out"},
           {"plain.txt"},
           {"model/aot_config.yaml", "--beside", "pytorch"},
           {"model/aot_config.yaml", "--beside", "tfaot"},
           {"model/aot_config.yaml", "--beside", "litert", "litert=model.tflite"},
           {"model/aot_config.yaml", "--beside", "onnxruntime=nowhere.onnx"},
           {"model/aot_config.yaml", "--beside", "tensorflow=net.onnx"},
           {"model/aot_config.yaml", "--library", "onnxruntime=nowhere.so"},
           {"model/aot_config.yaml", "--inputs", "ones"},
           {"model/aot_config.yaml", "--inputs", "in.npy"},
           {"model/aot_config.yaml", "--range", "5:1"}}) {
    const Outcome outcome = report(arguments);
    EXPECT_NE(outcome.exit_code, 0);
    EXPECT_THAT(outcome.out, IsEmpty());
    transcript += outcome.text() + "\n";
  }
  EXPECT_TRUE(matches_golden(transcript, "cli/report_errors.txt"));
}

}  // namespace
}  // namespace tfaot::toolkit::testing
