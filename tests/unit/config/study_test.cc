// SPDX-License-Identifier: Apache-2.0
#include "tfaot/config/study.h"

#include <gmock/gmock.h>

#include "tests/support/memory_file_system.h"

namespace tfaot::toolkit {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Result<Study> study_of(const std::string& text) {
  testing::MemoryFileSystem files;
  for (const char* file : {"/work/study/two.onnx", "/models/two", "/work/study/libort.so"}) {
    EXPECT_TRUE(files.replace_atomically(file, "a file"));
  }
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
libraries: {onnxruntime: libort.so}
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
  EXPECT_EQ(study->models[1].where.line, 5);
  const std::vector<StudyPeer>& peers = study->models[1].peers;
  ASSERT_EQ(peers.size(), 2U);
  EXPECT_EQ(peers[0].engine, ProfiledEngine::kOnnxRuntime);
  EXPECT_EQ(peers[0].model, "/work/study/two.onnx");
  EXPECT_EQ(peers[0].library, "/work/study/libort.so");
  EXPECT_EQ(peers[0].where.line, 6);
  EXPECT_EQ(peers[1].engine, ProfiledEngine::kTensorFlow);
  EXPECT_EQ(peers[1].model, "/models/two");
  EXPECT_EQ(peers[1].library, "");
  EXPECT_THAT(study->batch_sizes, ElementsAre(1, 100));
  EXPECT_THAT(study->cpu_levels, ElementsAre("all"));
  EXPECT_THAT(study->strategies, ElementsAre(ComposeStrategy::kNormal, ComposeStrategy::kPadding));
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
  EXPECT_EQ(study_error("# nothing yet\n"),
            "/work/study/profile.yaml:1:1: the study is empty\n  it needs the key 'models'");
  EXPECT_EQ(study_error("models: [a]\nstrategies:\n  - normal\n  - rules\n"),
            "/work/study/profile.yaml:4:5: unknown strategy 'rules'\n"
            "  strategies: normal, stitching, padding");
  EXPECT_EQ(study_error("models: [a]\nbatch_sizes: [1,\n  0]\nrounds: 0\nround_ms: 60001\n"),
            "/work/study/profile.yaml:3:3: a batch has at least one row\n"
            "  also /work/study/profile.yaml:4:9: there are 1 to 100000 rounds\n"
            "  also /work/study/profile.yaml:5:11: a round has more than 0 and at most 60000 ms");
  EXPECT_EQ(study_error("models:\n  - package: a\n    peers: {steam: a, onnxruntime: nothing}\n"
                        "libraries: {litert: nothing.so}\n"),
            "/work/study/profile.yaml:3:13: unknown engine 'steam'\n"
            "  engines: onnxruntime, litert, tensorflow\n"
            "  also /work/study/profile.yaml:3:36: there is no file '/work/study/nothing'\n"
            "  also /work/study/profile.yaml:3:36: the peer 'onnxruntime' needs its library: "
            "'libraries: {onnxruntime: FILE.so}'\n"
            "  also /work/study/profile.yaml:4:21: there is no file '/work/study/nothing.so'");
  EXPECT_EQ(study_error("[a]\n"),
            "/work/study/profile.yaml:1:1: the study is a list, but must be a map");
}

}  // namespace
}  // namespace tfaot::toolkit
