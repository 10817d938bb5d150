// SPDX-License-Identifier: Apache-2.0
// With the real compiler: a model of every element type is measured, and again with its own costs.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <regex>

#include "tests/support/temporary_folder.h"
#include "tfaot/base/process.h"
#include "tfaot/base/real_file_system.h"

namespace tfaot::toolkit::testing {
namespace {

namespace stdfs = std::filesystem;

std::string run_tool(const std::vector<std::string>& arguments) {
  ProcessSpec process;
  process.program = TFAOT_TOOL;
  process.arguments = arguments;
  const auto result = run_process(process);
  EXPECT_TRUE(result && result->ok()) << (result ? result->standard_error : result.error().text());
  return result ? result->standard_output : "";
}

bool is_measured(const std::string& tree) {
  for (const auto& entry : stdfs::recursive_directory_iterator(stdfs::path(tree) / "include")) {
    if (!entry.path().filename().string().ends_with("_costs.h")) continue;
    const std::string costs = RealFileSystem().read(entry.path()).value();
    return costs.find("kBs8_x86_64 = 0;") == std::string::npos;
  }
  return false;
}

TEST(Tune, MeasuresEverySizeAndLevelAgainAndAgain) {
  const TemporaryFolder folder;
  const std::string tree = (folder.path() / "out").string();
  const stdfs::path model = stdfs::path(TFAOT_MODEL).parent_path() / "dtypes";
  run_tool({"compile", "-c", (model / "aot_config.yaml").string(), "-o", tree, "--batch-sizes",
            "1,8", "--cpu-levels", "x86-64,x86-64-v3", "-q"});
  for (int round = 0; round < 2; ++round) {
    const std::string said = run_tool({"tune", tree, "--budget", "0.2"});
    EXPECT_TRUE(std::regex_search(said, std::regex("\n  x86-64 +8 "))) << said;
    EXPECT_NE(said.find("\n  1 000  "), std::string::npos) << said;
  }
  EXPECT_TRUE(is_measured(tree));
  run_tool({"package", tree, "-o", (folder.path() / "dist").string()});
  EXPECT_NE(run_tool({"tune", tree, "--suggest"}).find("batch_sizes: ["), std::string::npos);
}

// The runtime itself plans what 'tfaot profile' names.
TEST(Tune, ShowsThePlansThatRun) {
  const TemporaryFolder folder;
  const std::string tree = (folder.path() / "out").string();
  const stdfs::path model = stdfs::path(TFAOT_MODEL).parent_path() / "keras_export";
  run_tool({"compile", "-c", (model / "aot_config.yaml").string(), "-o", tree, "--batch-sizes",
            "1,4,16", "--cpu-levels", "x86-64", "-q"});
  const std::string said = run_tool({"tune", tree, "--budget", "0.2"});
  const auto profile =
      nlohmann::json::parse(run_tool({"profile", tree, "--batch-sizes", "1,2,3,5,8,16,32,64,100",
                                      "--rounds", "3", "--round-ms", "0.1", "--json", "-q"}));
  const auto& sizes = profile["curves"][0]["sizes"];
  ASSERT_EQ(sizes.size(), 9U) << profile;
  for (const auto& size : sizes) {
    const std::string number = std::to_string(size["rows"].get<int>());
    const std::string rows = "\n" + std::string(7 - number.size(), ' ') + number + "  ";
    const std::size_t line = said.rfind(rows);  // the plans are the last table
    ASSERT_NE(line, std::string::npos) << rows << said;
    const std::string shown = said.substr(line, said.find('\n', line + 1) - line);
    EXPECT_TRUE(shown.ends_with("  " + size["run_as"].get<std::string>())) << shown << size;
  }
}

// CMSSW's headers are not available; the measuring program does not need them.
TEST(Tune, MeasuresAPackageForCmssw) {
  const TemporaryFolder folder;
  const std::string tree = (folder.path() / "out").string();
  const stdfs::path config = stdfs::path(TFAOT_MODEL) / "aot_config.yaml";
  run_tool({"compile", "-c", config.string(), "-o", tree, "--batch-sizes", "1,8", "--cpu-levels",
            "x86-64", "--headers", "cmssw", "-q"});
  run_tool({"tune", tree, "--budget", "0.1", "-q"});
  EXPECT_TRUE(is_measured(tree));
}

}  // namespace
}  // namespace tfaot::toolkit::testing
