// SPDX-License-Identifier: Apache-2.0
#include "text/describe.h"

#include <gtest/gtest.h>

#include "text/text_table.h"

namespace tfaot::toolkit {
namespace {

TEST(DescribeTest, CodeIsCountedWithoutWeightsAndRuntime) {
  Manifest manifest;
  manifest.weights_size = 640;
  manifest.files = {{"lib/a_bs1_x86-64.o", "", 100},
                    {"lib/a_bs2_x86-64.o", "", 20},
                    {"lib/a_weights.o", "", 700},
                    {"runtime/lib/libtfaot_runtime.a", "", 9000},
                    {"model.h", "", 3}};
  EXPECT_EQ(package_sizes(manifest).code, 120U);
  EXPECT_EQ(package_sizes(manifest).weights, 640U);
}

TEST(DescribeTest, TableAlignsColumns) {
  EXPECT_EQ(text_table({{"A", "BB", "C"}, {"long", "", "c"}, {"x"}}),
            "A     BB  C\n"
            "long      c\n"
            "x\n");
  EXPECT_EQ(text_table({}), "");
  EXPECT_EQ(text_table({{"a\nb", "\x1b[31m"}, {"c", "d"}}),
            "a\\u000ab  \\u001b[31m\nc         d\n");
}

}  // namespace
}  // namespace tfaot::toolkit
