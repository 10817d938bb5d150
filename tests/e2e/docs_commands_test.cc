// SPDX-License-Identifier: Apache-2.0
// docs/from_cms_tfaot.md: a shell in a scratch folder runs every command in its second column that
// begins with tfaot, from top to bottom.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "shell_with_tool.h"
#include "tests/support/temporary_folder.h"
#include "tfaot/base/real_file_system.h"
#include "tfaot/base/text.h"

namespace tfaot::toolkit::testing {
namespace {

namespace stdfs = std::filesystem;

// "`tfaot info out`" from "| before | `tfaot info out` |".
std::vector<std::string> commands_of(const std::string& page) {
  std::vector<std::string> commands;
  for (const std::string& line : split_lines(page)) {
    const auto start = line.rfind("| `tfaot ");
    if (!line.starts_with("| ") || start == std::string::npos) continue;
    const auto first = start + 3;
    commands.push_back(line.substr(first, line.find('`', first) - first));
  }
  return commands;
}

class DocsCommands : public ::testing::Test {
 protected:
  DocsCommands() {
    stdfs::create_directories(root_ / "cmssw");
    stdfs::copy(TFAOT_MODEL, root_ / "tagger", stdfs::copy_options::recursive);
    const Path config = root_ / "tagger/aot_config.yaml";
    const std::string text = files_.read(config).value();
    const std::string renamed = replace_all(text, "name: keras_export", "name: tagger");
    EXPECT_NE(text, renamed);
    EXPECT_TRUE(files_.replace_atomically(config, renamed));
    stdfs::copy(TFAOT_UPSTREAM_AREA, root_ / "upstream", stdfs::copy_options::recursive);
  }

  void run(const std::string& command) {
    ProcessSpec process = shell_with_tool(root_, command);
    process.environment["CMSSW_BASE"] = (root_ / "cmssw").string();
    const auto result = run_process(process);
    ASSERT_TRUE(result) << result.error().text();
    EXPECT_TRUE(result->ok()) << command << "\n" << result->standard_error;
  }

  RealFileSystem files_;
  TemporaryFolder scratch_{"tfaot-docs-XXXXXX"};  // rpmbuild takes no blanks
  Path root_ = scratch_.path();
};

TEST_F(DocsCommands, OfThePageFromCmsTfaotAllRun) {
  const auto commands = commands_of(files_.read(TFAOT_PAGE).value());
  EXPECT_GE(commands.size(), 15U);
  for (const std::string& command : commands) run(command);
  for (const char* file :
       {"converted/lib/converted_graph_weights.o", "out/manifest.json", "retrained/manifest.json",
        "cmssw/tfaot/tagger/tfaot-model-tagger.xml", "named/my-tagger.xml",
        "area/tfaot-model-tagger/current/include/tfaot-model-tagger/model.h",
        "cmsdist/tfaot-model-tagger.spec", "rpm/SPECS/tfaot-model-tagger.spec",
        "release/RPMS/tfaot-model-tagger.json"}) {
    EXPECT_TRUE(stdfs::exists(root_ / file)) << file;
  }
}

}  // namespace
}  // namespace tfaot::toolkit::testing
