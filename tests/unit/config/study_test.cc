// SPDX-License-Identifier: Apache-2.0
#include "tfaot/config/study.h"

#include <gmock/gmock.h>

#include "tests/support/memory_file_system.h"

namespace tfaot::toolkit {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

Result<Study> study_of(const std::string& text) {
  testing::MemoryFileSystem files;
  EXPECT_TRUE(files.replace_atomically("/work/study/profile.yaml", text));
  return load_study(files, "/work/study/profile.yaml");
}

std::string study_error(const std::string& text) {
  const auto study = study_of(text);
  return study ? "no error" : study.error().text();
}

TEST(StudyFile, HoldsModelsAndOptions) {
  const auto study = study_of(R"(
output: results
models:
  - one.tfaot
  - package: ../two/aot_config.yaml
    peers: {onnxruntime: two.onnx, tensorflow: /models/two}
libraries: {onnxruntime: libonnxruntime.so}
batch_sizes: [1, 100]
cpu_levels: [all]
strategies: [normal, padding]
batch_rules: ["5:2,4"]
inputs: events.npz
rounds: 7
round_ms: 2.5
)");
  ASSERT_TRUE(study) << study.error().text();
  EXPECT_EQ(study->output, "/work/study/results");
  ASSERT_EQ(study->models.size(), 2U);
  EXPECT_EQ(study->models[0].package, "/work/study/one.tfaot");
  EXPECT_THAT(study->models[0].peers, IsEmpty());
  EXPECT_EQ(study->models[1].package, "/work/two/aot_config.yaml");
  EXPECT_THAT(study->models[1].peers, ElementsAre(Pair("onnxruntime", "/work/study/two.onnx"),
                                                  Pair("tensorflow", "/models/two")));
  EXPECT_THAT(study->libraries, ElementsAre(Pair("onnxruntime", "/work/study/libonnxruntime.so")));
  EXPECT_THAT(study->batch_sizes, ElementsAre(1, 100));
  EXPECT_THAT(study->cpu_levels, ElementsAre("all"));
  EXPECT_THAT(study->strategies, ElementsAre("normal", "padding"));
  EXPECT_THAT(study->batch_rules, ElementsAre("5:2,4"));
  EXPECT_EQ(study->inputs, "/work/study/events.npz");
  EXPECT_EQ(study->rounds, 7);
  EXPECT_EQ(study->round_ms, 2.5);
}

TEST(StudyFile, HasDefaults) {
  const auto study = study_of("models: [a]\ninputs: zeros\n");
  ASSERT_TRUE(study) << study.error().text();
  EXPECT_EQ(study->output, "/work/study/profile");
  EXPECT_EQ(study->inputs, "zeros");
  EXPECT_FALSE(study->rounds);
}

TEST(StudyFile, SaysWhereItIsWrong) {
  EXPECT_EQ(study_error("models: [a]\nround: 3\n"),
            "/work/study/profile.yaml:2:1: unknown key 'round' in the study\n"
            "  did you mean 'rounds'?\n"
            "  allowed: batch_rules, batch_sizes, cpu_levels, inputs, libraries, models, output, "
            "round_ms, rounds, strategies");
  EXPECT_EQ(study_error("models:\n  - peers: {}\nrounds: many\n"),
            "/work/study/profile.yaml:2:5: a model needs the key 'package'\n"
            "  also /work/study/profile.yaml:3:9: expected a whole number, not the string 'many'");
  EXPECT_EQ(study_error("models: a\n"),
            "/work/study/profile.yaml:1:9: expected a list, not the string 'a'");
  EXPECT_EQ(study_error("batch_sizes: [1]\n"),
            "/work/study/profile.yaml:1:1: the study has no 'models'");
  EXPECT_EQ(study_error("rounds: 1\nrounds: 2\nmodels: [a]\n"),
            "/work/study/profile.yaml:2:1: the key 'rounds' comes twice");
  EXPECT_EQ(study_error("[a]\n"),
            "/work/study/profile.yaml:1:1: the study is a list, but must be a map");
}

}  // namespace
}  // namespace tfaot::toolkit
