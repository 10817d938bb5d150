// SPDX-License-Identifier: Apache-2.0
// The same model compiled in two places, by one engine process and by two, gives the same package.
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/support/temporary_folder.h"
#include "tfaot/base/process.h"
#include "tfaot/base/real_file_system.h"

namespace tfaot::toolkit::testing {
namespace {

namespace stdfs = std::filesystem;

// manifest.json holds the SHA-256 of every file.
std::string compile_in(const stdfs::path& folder, const std::string& jobs) {
  stdfs::remove_all(folder);
  stdfs::create_directories(folder);
  stdfs::copy(TFAOT_MODEL, folder / "model", stdfs::copy_options::recursive);
  ProcessSpec process;
  process.program = TFAOT_TOOL;
  process.arguments = {"compile",
                       "-c",
                       (folder / "model" / "aot_config.yaml").string(),
                       "-o",
                       (folder / "out").string(),
                       "-j",
                       jobs,
                       "--no-cache"};
  const auto result = run_process(process);
  EXPECT_TRUE(result && result->ok()) << (result ? result->standard_error : result.error().text());
  return RealFileSystem().read(folder / "out" / "manifest.json").value_or("no manifest");
}

TEST(Reproducible, SameModelSameBytes) {
  const TemporaryFolder folder;
  const auto one = compile_in(folder.path() / "here", "1");
  const auto two = compile_in(folder.path() / "and there", "2");
  EXPECT_NE(one.find("\"sha256\""), std::string::npos) << one;
  EXPECT_EQ(one, two);
}

}  // namespace
}  // namespace tfaot::toolkit::testing
