// SPDX-License-Identifier: Apache-2.0
// `tfaot update-weights` with a fake engine; with the real one: tests/e2e.
#include <gmock/gmock.h>

#include <cstdlib>

#include "cli_test.h"

namespace tfaot::toolkit::testing {
namespace {

using ::testing::HasSubstr;

class UpdateWeightsTest : public CliTest {
 protected:
  UpdateWeightsTest() {
    write_model();
    EXPECT_EQ(run({"compile", "-c", "model/aot_config.yaml", "-o", "out", "-q"}).exit_code, 0);
    EXPECT_EQ(run({"package", "out", "-o", "dist", "-q"}).exit_code, 0);
    write("new/saved_model.pb", "the same with weights n");
  }

  // What `tfaot compile` makes from the new model.
  std::string compiled_manifest(const std::string& version) {
    write("again/aot_config.yaml",
          "model: {name: test_net, version: " + version +
              ", saved_model: ../new}\n"
              "compilation: {batch_sizes: [1, 4], cpu_levels: [x86-64]}\n");
    EXPECT_EQ(run({"compile", "-c", "again/aot_config.yaml", "-o", "again/out", "-q"}).exit_code,
              0);
    return read("again/out/manifest.json");
  }

  static constexpr const char* kArchive = "dist/tfaot-model-test-net-1.0.0-x86_64-linux.tar.zst";
};

TEST_F(UpdateWeightsTest, MakesWhatCompilingMakes) {
  const std::string old = read("out/manifest.json");
  const Outcome outcome =
      run({"update-weights", "out", "--model", "new", "-o", "out2", "--version", "1.1.0"});
  EXPECT_TRUE(matches_golden(outcome.text(), "cli/update_weights.txt"));
  EXPECT_EQ(read("out2/manifest.json"), compiled_manifest("1.1.0"));
  EXPECT_EQ(files_in("out2"), files_in("again/out"));
  EXPECT_EQ(read("out/manifest.json"), old);
  EXPECT_EQ(run({"package", "out2", "-o", "dist"}).exit_code, 0);
  EXPECT_THAT(run({"diff", "out", "out2"}).out,
              ::testing::StartsWith("out and out2: same code, other weights\n"));
  EXPECT_THAT(run({"diff", "again/out", "out2"}).out, "again/out and out2: no difference\n");
}

TEST_F(UpdateWeightsTest, ATreeIsUpdatedInItsPlace) {
  const std::string code = read("out/lib/test_net_bs1_x86-64.o");
  ASSERT_EQ(run({"update-weights", "out", "--model", "new"}).exit_code, 0);
  EXPECT_EQ(read("out/manifest.json"), compiled_manifest("1.0.0"));
  EXPECT_EQ(read("out/lib/test_net_bs1_x86-64.o"), code);
  EXPECT_THAT(read("out/lib/test_net_weights.o"), HasSubstr(std::string(64, 'n')));
  EXPECT_EQ(files_.kind(at("out/.tfaot-work")), FileKind::kMissing);
}

TEST_F(UpdateWeightsTest, AnArchiveBecomesAnother) {
  const Outcome outcome =
      run({"update-weights", kArchive, "--model", "new", "--version", "1.1.0", "-q"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.text();
  EXPECT_THAT(files_in("dist"), ::testing::ElementsAre(
                                    "SHA256SUMS", "tfaot-model-test-net-1.0.0-x86_64-linux.tar.zst",
                                    "tfaot-model-test-net-1.1.0-x86_64-linux.tar.zst"));
  EXPECT_EQ(std::system(("cd " + at("dist") + " && sha256sum --quiet -c SHA256SUMS").c_str()), 0);
  ASSERT_EQ(run({"update-weights", kArchive, "--model", "new", "-o", "elsewhere"}).exit_code, 0);
  EXPECT_EQ(files_in("elsewhere").size(), 1U);
  compiled_manifest("1.1.0");
  ASSERT_EQ(run({"package", "again/out", "-o", "again"}).exit_code, 0);
  EXPECT_EQ(read("again/tfaot-model-test-net-1.1.0-x86_64-linux.tar.zst"),
            read("dist/tfaot-model-test-net-1.1.0-x86_64-linux.tar.zst"));
}

TEST_F(UpdateWeightsTest, TheToolFileKeepsItsBase) {
  ASSERT_EQ(run({"compile", "-c", "model/aot_config.yaml", "-o", "dev", "--dev", "-q"}).exit_code,
            0);
  ASSERT_EQ(run({"update-weights", "dev", "--model", "new"}).exit_code, 0);
  EXPECT_THAT(read("dev/tfaot-model-test-net.xml"), HasSubstr("default=\"" + at("dev") + "\""));
}

TEST_F(UpdateWeightsTest, ErrorsSayWhatToDo) {
  std::string transcript;
  const auto refuse = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "update-weights");
    const Outcome outcome = run(arguments);
    EXPECT_NE(outcome.exit_code, 0);
    transcript += outcome.text() + "\n";
  };
  write("wider/saved_model.pb", "a wider one with weights n");
  refuse({"out", "--model", "wider"});
  refuse({"out", "--model", "nowhere"});
  refuse({"nowhere", "--model", "new"});
  refuse({kArchive, "--model", "new"});
  refuse({"out", "--model", "new", "--version", "../1"});
  refuse({"out"});
  ASSERT_EQ(run({"compile", "-c", "model/aot_config.yaml", "-o", "embedded", "--weights",
                 "embedded", "-q"})
                .exit_code,
            0);
  refuse({"embedded", "--model", "new"});
  write_tree_at("older", {});
  refuse({"older", "--model", "new"});
  EXPECT_TRUE(matches_golden(transcript, "cli/update_weights_errors.txt"));
}

TEST_F(UpdateWeightsTest, AFailureLeavesThePackageAsItWas) {
  const std::string manifest = read("out/manifest.json");
  const Variables refuse = {{"FAKE_ENGINE", "refuse"}};
  EXPECT_EQ(run({"update-weights", "out", "--model", "new"}, refuse).exit_code, 1);
  EXPECT_EQ(run({"update-weights", "out", "--model", "new", "-o", "o2"}, refuse).exit_code, 1);
  EXPECT_EQ(read("out/manifest.json"), manifest);
  EXPECT_EQ(files_.kind(at("o2")), FileKind::kMissing);
  EXPECT_EQ(run({"package", "out", "-o", "dist2"}).exit_code, 0);
}

}  // namespace
}  // namespace tfaot::toolkit::testing
