// SPDX-License-Identifier: Apache-2.0
// The files for HTCondor. How HTCondor reads them: tests/e2e/condor_test.py.
#include <gmock/gmock.h>

#include "cli_test.h"
#include "tests/support/golden.h"
#include "tfaot/base/text.h"

namespace tfaot::toolkit::testing {
namespace {

using ::testing::HasSubstr;

class CondorTest : public CliTest {
 protected:
  CondorTest() {
    write_model();
    write("it's \"2\" $HOME/other.yaml",
          "model: {name: other_net, version: \"1\", saved_model: ../model/saved_model}\n"
          "compilation: {batch_sizes: [1]}\n");
  }
  // With a known environment.
  Outcome condor(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), "condor");
    return run(arguments, {{"TFAOT_CACHE", "a 'cache'"},
                           {"PATH", "/usr/bin:/bin"},
                           {"SSL_CERT_DIR", ""},
                           {"SSL_CERT_FILE", ""},
                           {"TFAOT_REMOTE_CACHE", ""}});
  }
  std::string shown(const std::string& path) const {
    return replace_all(read(path), root_.string(), "ROOT");
  }
};

TEST_F(CondorTest, WritesTheJobsOfAllModels) {
  const Outcome outcome =
      condor({"model/aot_config.yaml", "it's \"2\" $HOME/other.yaml", "-o", "jobs", "--cpus", "2",
              "--line", "+JobFlavour = \"espresso\"", "--line", "request_memory = 4GB"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("to submit: condor_submit_dag "));
  EXPECT_TRUE(matches_golden(shown("jobs/job.sub"), "cli/condor_job.txt"));
  EXPECT_TRUE(matches_golden(shown("jobs/models.dag"), "cli/condor_dag.txt"));
  EXPECT_EQ(files_.kind(at("jobs/log")), FileKind::kDirectory);
  EXPECT_EQ(files_.kind(at("jobs/.tfaot-work")), FileKind::kMissing);
}

TEST_F(CondorTest, PutsNothingIntoPackages) {
  write_tree_at("tree", {});
  const auto before = files_in("tree");
  for (const std::string folder : {"tree", "tree/jobs"}) {
    const Outcome outcome = condor({"model/aot_config.yaml", "-o", folder});
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_THAT(outcome.err, HasSubstr("is in the package tree 'ROOT/tree'\n"));
  }
  EXPECT_EQ(files_in("tree"), before);
}

TEST_F(CondorTest, RefusesWhatHtcondorCannotTake) {
  const auto error = [&](const std::vector<std::string>& arguments) {
    const Outcome outcome = condor(arguments);
    EXPECT_NE(outcome.exit_code, 0);
    return outcome.err;
  };
  EXPECT_THAT(error({"model/aot_config.yaml", "-o", "with blank"}),
              HasSubstr("/with blank: HTCondor cannot work with this path\n"
                        "  it must not contain blanks, quotes and similar characters"));
  EXPECT_THAT(error({"model/aot_config.yaml", "-o", "jobs", "--line", "a\nqueue 1000"}),
              HasSubstr("has a line break or another control character, which HTCondor cannot "
                        "take"));
  EXPECT_THAT(error({"model/aot_config.yaml", "model/aot_config.yaml", "-o", "jobs"}),
              HasSubstr("makes tfaot-model-test-net, like model/aot_config.yaml\n"
                        "  give one of the models another name"));
  EXPECT_THAT(error({"missing.yaml", "-o", "jobs"}), HasSubstr("the config file is missing"));
  EXPECT_EQ(files_.kind(at("jobs")), FileKind::kMissing);
  EXPECT_EQ(files_.kind(at("with blank")), FileKind::kMissing);
}

}  // namespace
}  // namespace tfaot::toolkit::testing
