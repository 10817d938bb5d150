// SPDX-License-Identifier: Apache-2.0
// The code of every model of these tests does nothing else than compute, as `tfaot verify` reads
// it.
#include <gmock/gmock.h>

#include "tool.h"

namespace tfaot::toolkit::testing {
namespace {

using ::testing::HasSubstr;

class VerifyCodeTest : public ToolTest {};

TEST_F(VerifyCodeTest, OfEveryModel) {
  const auto list = files_.read(TFAOT_PACKAGE_LIST);
  ASSERT_TRUE(list) << list.error().text();
  const std::vector<std::string> lines = split_lines(*list);  // "name|tree|reference"
  EXPECT_GT(lines.size(), 50U);
  for (const std::string& line : lines) {
    const auto start = line.find('|') + 1;
    const std::string tree = line.substr(start, line.find('|', start) - start);
    const ProcessResult result = tool({"verify", tree});
    EXPECT_EQ(result.exit_code, 0) << result.standard_error;
    EXPECT_THAT(result.standard_output,
                HasSubstr("no system call, lock, clock or call of any address"));
  }
}

TEST_F(VerifyCodeTest, TheManifestListsWhatItImports) {
  done({"compile", "-c", config("convolution"), "-o", "out", "-q"});
  const std::string manifest = read("out/manifest.json");
  EXPECT_THAT(manifest, HasSubstr("\"imports\": ["));
  EXPECT_THAT(manifest, HasSubstr("    \"tfaot_convolution_f32_x86_64_v3\",\n"));
  EXPECT_THAT(done({"info", "out"}), HasSubstr("functions of the runtime"));
}

}  // namespace
}  // namespace tfaot::toolkit::testing
