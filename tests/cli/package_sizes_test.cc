// SPDX-License-Identifier: Apache-2.0
#include "pages/pages.h"

#include <gtest/gtest.h>

namespace tfaot::toolkit {
namespace {

TEST(PackageSizesTest, CodeIsCountedWithoutWeightsAndRuntime) {
  Manifest manifest;
  manifest.weights.size = 640;
  manifest.files = {{"lib/a_bs1_x86-64.o", "", 100},
                    {"lib/a_bs2_x86-64.o", "", 20},
                    {"lib/a_weights.o", "", 700},
                    {"runtime/lib/libtfaot_runtime.a", "", 9000},
                    {"model.h", "", 3}};
  EXPECT_EQ(package_sizes(manifest).code, 120U);
  EXPECT_EQ(package_sizes(manifest).weights, 640U);
}

}  // namespace
}  // namespace tfaot::toolkit
