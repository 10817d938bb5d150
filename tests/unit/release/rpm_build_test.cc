// SPDX-License-Identifier: Apache-2.0
// The message for a failed run, and cases in which rpmbuild is not even started. For the run itself
// see build_release_test.cc.
#include "rpm_build.h"

#include <gtest/gtest.h>

namespace tfaot::toolkit::testing {
namespace {

TEST(BuildError, IsTheToolsOwnWhenThereIsOne) {
  EXPECT_EQ(build_error("tfaot-model-a",
                        "Executing(%build): /bin/sh\n+ tfaot compile\n"
                        "tfaot: error: a.yaml:3: unknown dtype\n  did you mean 'float32'?\n"
                        "  see docs\nerror: Bad exit status (%build)\n  later\n")
                .text(),
            "tfaot-model-a: a.yaml:3: unknown dtype\n  did you mean 'float32'?\n  see docs");
}

TEST(BuildError, ElseTheLastLinesThatAreNoCommands) {
  EXPECT_EQ(build_error("tfaot-model-a",
                        "Executing(%build): /bin/sh\n1\n2\n3\n+ exit 1\n\n4\n5\n6\n  7\n"
                        "error: Bad exit status from x (%build)\nRPM build errors:\n"
                        "    Bad exit status from x (%build)\n")
                .text(),
            "tfaot-model-a: rpmbuild failed: 7\n  2\n  3\n  4\n  5\n  6");
  EXPECT_EQ(build_error("tfaot-model-a", "").text(),
            "tfaot-model-a: rpmbuild failed: it printed nothing");
}

TEST(BuildRpm, RefusesPathsThatRpmTakesApart) {
  ReleaseOptions options{.directory = "/my release", .work_directory = "/w", .tool = "/tfaot"};
  const auto refused = check_release_paths(options);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().text(),
            "/my release: rpmbuild cannot work with this path\n"
            "  it cannot handle:  '\"\\$`%*?[;&()<>|\n"
            "  choose another folder");
  options.directory = "/release";
  options.tool = "/100%/tfaot";
  EXPECT_FALSE(check_release_paths(options));
  options.tool = "/with blank/tfaot";
  EXPECT_TRUE(check_release_paths(options));
}

}  // namespace
}  // namespace tfaot::toolkit::testing
