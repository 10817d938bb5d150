// SPDX-License-Identifier: Apache-2.0
#include "cli_test.h"
#include "tfaot/base/process.h"

namespace tfaot::toolkit::testing {
namespace {

using HashTest = CliTest;

TEST_F(HashTest, PrintsTheHashOfEachObject) {
  write_tree_at("tree", {});
  ASSERT_EQ(run({"package", "tree"}).exit_code, 0);
  EXPECT_EQ(run({"hash", "tfaot-model-test-net-1.0.0-x86_64-linux.tar.zst"}).out,
            run({"hash", "tree"}).out);
  EXPECT_TRUE(matches_golden(run({"hash", "tree"}).text() + "\n" +
                                 run({"hash", "tree", "--json"}).text() + "\n" +
                                 run({"hash", "nowhere"}).text() + "\n" + run({"hash"}).text(),
                             "cli/hash.txt"));
  ProcessSpec check;
  check.program = "sh";
  check.arguments = {"-c", "cd " + at("tree") + " && ../prefix/bin/tfaot hash . | sha256sum -c"};
  const auto checked = run_process(check);
  ASSERT_TRUE(checked);
  EXPECT_EQ(checked->exit_code, 0) << checked->standard_error;
}

}  // namespace
}  // namespace tfaot::toolkit::testing
