// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "tfaot/release/spec.h"

namespace tfaot::toolkit::testing {
namespace {

constexpr const char* kHead = "# Models compiled ahead of time; 'tfaot spec' keeps this list.\n";

TEST(ModelsList, IsSortedAndTakesAModelOnce) {
  std::string list;
  for (const char* tool : {"tfaot-model-b", "tfaot-model-c", "tfaot-model-a", "tfaot-model-b"}) {
    list = with_model(list, tool);
  }
  EXPECT_EQ(list, std::string(kHead) +
                      "Requires: tfaot-model-a\nRequires: tfaot-model-b\n"
                      "Requires: tfaot-model-c\n");
}

TEST(ModelsList, LosesAModelAndNoOther) {
  const std::string list = with_model(with_model("", "tfaot-model-a"), "tfaot-model-ab");
  const std::string without = without_model(list, "tfaot-model-a");
  EXPECT_EQ(without, std::string(kHead) + "Requires: tfaot-model-ab\n");
  EXPECT_EQ(without_model(without, "tfaot-model-a"), without);
  EXPECT_EQ(without_model("", "tfaot-model-a"), "");
}

TEST(ModelsList, LeavesLinesOfOthersWhereTheyAre) {
  const std::string list =
      "# for tests\nRequires: test-z\nRequires: test-b\n\n# for physics\nRequires: y\n# end\n";
  EXPECT_EQ(with_model(list, "x"),
            "# for tests\nRequires: test-b\nRequires: test-z\n\n# for physics\nRequires: x\n"
            "Requires: y\n# end\n");
  EXPECT_EQ(with_model("# none yet\n", "x"), "# none yet\nRequires: x\n");
}

}  // namespace
}  // namespace tfaot::toolkit::testing
