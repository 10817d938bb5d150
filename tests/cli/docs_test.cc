// SPDX-License-Identifier: Apache-2.0
// docs/cli.md contains the help texts; this test compares them with the tool's.
#include "cli_test.h"

namespace tfaot::toolkit::testing {
namespace {

using DocsTest = CliTest;

constexpr const char* kBlock = "```console\n";

// The manual with the current output in each "$ tfaot ... --help" block.
TEST_F(DocsTest, ManualShowsTheHelpOfEachVerb) {
  const Path file = Path(TFAOT_DOCS_DIR) / "cli.md";
  const std::string manual = files_.read(file).value();
  std::string renewed = manual;
  std::vector<std::vector<std::string>> lines = {{"--help"}, {"--help-all"}};
  for (const std::string& verb : verbs()) lines.push_back({verb, "--help"});
  for (const std::vector<std::string>& line : lines) {
    const Outcome outcome = run(line);
    ASSERT_EQ(outcome.exit_code, 0) << outcome.text();
    const std::string command = kBlock + ("$ " + outcome.command) + "\n";
    const std::size_t start = renewed.find(command);
    ASSERT_NE(start, std::string::npos) << "docs/cli.md has no block with\n" << command;
    const std::size_t text = start + command.size();
    const std::size_t end = renewed.find("```", text);
    ASSERT_NE(end, std::string::npos);
    renewed.replace(text, end - text, outcome.out);
  }
  if (std::getenv("TFAOT_UPDATE_GOLDEN") != nullptr) {
    ASSERT_TRUE(files_.replace_atomically(file, renewed));
  } else {
    EXPECT_EQ(renewed, manual) << "TFAOT_UPDATE_GOLDEN=1 renews docs/cli.md";
  }
}

}  // namespace
}  // namespace tfaot::toolkit::testing
