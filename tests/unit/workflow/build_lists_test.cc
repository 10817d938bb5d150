// SPDX-License-Identifier: Apache-2.0
#include "build_lists.h"

#include <gtest/gtest.h>

namespace tfaot::toolkit {
namespace {

TEST(BuildListsTest, DepfileEscapesAsGccDoes) {
  EXPECT_EQ(depfile_text("out dir/manifest.json", {"a b", "c#d", "e$f", "g\\h", "i\\ j"}),
            "out\\ dir/manifest.json: \\\n"
            "  a\\ b \\\n"
            "  c\\#d \\\n"
            "  e$$f \\\n"
            "  g\\h \\\n"
            "  i\\\\\\ j\n");
}

TEST(BuildListsTest, DepfileWithoutPrerequisites) { EXPECT_EQ(depfile_text("x", {}), "x:\n"); }

TEST(BuildListsTest, ResponseFileQuotes) {
  EXPECT_EQ(response_file_text({"a b.o", "c\"d.o", "e\\f.o"}),
            "\"a b.o\"\n\"c\\\"d.o\"\n\"e\\\\f.o\"\n");
}

}  // namespace
}  // namespace tfaot::toolkit
