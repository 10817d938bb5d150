// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "cli_test.h"

namespace tfaot::toolkit::testing {
namespace {

using DiffTest = CliTest;

TEST_F(DiffTest, SaysWhatDiffers) {
  write_tree_at("old", {});
  write_tree_at("new", {"1.1.0", "#pragma once\n// changed\n"});
  ASSERT_EQ(run({"package", "old"}).exit_code, 0);
  const std::string archive = "tfaot-model-test-net-1.0.0-x86_64-linux.tar.zst";
  const std::string transcript = run({"diff", archive, "new"}).text() + "\n" +
                                 run({"diff", "old", "new", "--json"}).text() + "\n" +
                                 run({"diff", "old/manifest.json", archive}).text();
  EXPECT_TRUE(matches_golden(transcript, "cli/diff.txt"));
}

TEST_F(DiffTest, WritesAPage) {
  write_tree_at("old", {});
  write_tree_at("new", {"1.1.0", "#pragma once\n// changed\n"});
  const Outcome outcome = run({"diff", "old", "new", "--html", "page.html"});
  EXPECT_EQ(outcome.out, run({"diff", "old", "new"}).out) << outcome.text();
  EXPECT_TRUE(matches_golden(read_page("page.html"), "cli/diff.html"));
  ASSERT_EQ(run({"diff", "old", "old", "--html", "page.html"}).exit_code, 0);
  EXPECT_THAT(read_page("page.html"), ::testing::HasSubstr("no difference"));
}

TEST_F(DiffTest, RefusesOtherThings) {
  write_tree_at("old", {});
  write_model();
  const std::string transcript = run({"diff", "old", "nowhere"}).text() + "\n" +
                                 run({"diff", "old"}).text() + "\n" +
                                 run({"diff", "model/aot_config.yaml", "old"}).text();
  EXPECT_TRUE(matches_golden(transcript, "cli/diff_errors.txt"));
}

}  // namespace
}  // namespace tfaot::toolkit::testing
