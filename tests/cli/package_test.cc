// SPDX-License-Identifier: Apache-2.0
#include <regex>

#include "cli_test.h"

namespace tfaot::testing {
namespace {

using PackageTest = CliTest;

// How many bytes a compressor makes is its own affair.
std::string without_size(const std::string& text) {
  return std::regex_replace(text, std::regex("size     [0-9]+ bytes"), "size     N bytes");
}

TEST_F(PackageTest, PrintsWhatItWrote) {
  write_tree_at("tree", {});
  std::string transcript = run({"package", "tree", "-o", "dist"}).text() + "\n";
  transcript += run({"package", "tree", "-o", "dist", "--format", "tar.gz"}).text() + "\n";
  transcript += run({"package", "tree", "-o", "dist", "--quiet"}).text();
  EXPECT_TRUE(matches_golden(without_size(transcript), "cli/package.txt"));
  EXPECT_EQ(files_in("dist"),
            (std::vector<std::string>{"tfaot-model-test-net-1.0.0-x86_64-linux.tar.gz",
                                      "tfaot-model-test-net-1.0.0-x86_64-linux.tar.zst"}));
}

TEST_F(PackageTest, RefusesAChangedTree) {
  write_tree_at("tree", {});
  write("tree/lib/test_net_bs1_x86-64.o", "tampered");
  const Outcome outcome = run({"package", "tree"});
  EXPECT_TRUE(matches_golden(outcome.text(), "cli/package_changed.txt"));
  EXPECT_EQ(files_in("tree").size(), 6U);
}

}  // namespace
}  // namespace tfaot::testing
