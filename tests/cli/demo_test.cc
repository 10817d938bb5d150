// SPDX-License-Identifier: Apache-2.0
// `tfaot demo` with a script of ours; the real one is in tests/e2e.
#include "cli_test.h"

namespace tfaot::toolkit::testing {
namespace {

class DemoTest : public CliTest {
 protected:
  DemoTest() {
    script("echo \"$1 $(basename \"$2\")\"; echo detail >&2; mkdir \"$1\"; echo > \"$1/out\"\n");
  }
  void script(const std::string& text) { write("prefix/share/tfaot/demo/demo.sh", text); }
};

TEST_F(DemoTest, RunsInANewFolder) {
  std::string transcript;
  const auto demo = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "demo");
    transcript += run(arguments).text() + "\n";
  };
  demo({});
  demo({});
  demo({"other", "--json"});
  demo({"third", "-q"});
  write("mine/file", "text");
  script("echo the script ran\n");
  demo({"mine"});
  demo({"mine/file"});
  EXPECT_EQ(read("mine/file"), "text");
  script("echo '$ tfaot compile'\necho 'tfaot: error: no engine' >&2\nexit 1\n");
  demo({"fails"});
  EXPECT_TRUE(matches_golden(transcript, "cli/demo.txt"));
}

}  // namespace
}  // namespace tfaot::toolkit::testing
