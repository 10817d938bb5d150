// SPDX-License-Identifier: Apache-2.0
// docs/cli.md contains the help texts; this test compares them with the tool's.
#include <sstream>

#include "cli_test.h"

namespace tfaot::toolkit::testing {
namespace {

class DocsTest : public CliTest {
 protected:
  // "" for the tool itself, then "compile ", "tune " ..., as the tool lists them.
  std::vector<std::string> verbs() const {
    const std::string list = "verbs: ";
    const std::string said = run({}).text();
    std::istringstream names(said.substr(said.find(list) + list.size()));
    std::vector<std::string> verbs = {""};
    for (std::string name; names >> name;) {
      const bool is_last = name.back() != ',';
      verbs.push_back((is_last ? name : name.substr(0, name.size() - 1)) + " ");
      if (is_last) break;
    }
    return verbs;
  }
};

constexpr const char* kBlock = "```console\n";

// The manual with the current output in each "$ tfaot ... --help" block.
TEST_F(DocsTest, ManualShowsTheHelpOfEachVerb) {
  const Path file = Path(TFAOT_DOCS_DIR) / "cli.md";
  const std::string manual = files_.read(file).value();
  std::string renewed = manual;
  ASSERT_GT(verbs().size(), 10U);
  for (const std::string& verb : verbs()) {
    const std::string command = std::string(kBlock) + "$ tfaot " + verb + "--help\n";
    const std::size_t start = renewed.find(command);
    ASSERT_NE(start, std::string::npos) << "docs/cli.md has no block with\n" << command;
    const std::size_t text = start + command.size();
    const std::size_t end = renewed.find("```", text);
    ASSERT_NE(end, std::string::npos);
    const Outcome outcome =
        verb.empty() ? run({"--help"}) : run({verb.substr(0, verb.size() - 1), "--help"});
    ASSERT_EQ(outcome.exit_code, 0) << outcome.text();
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
