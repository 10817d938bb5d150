// SPDX-License-Identifier: Apache-2.0
#include "tfaot/workflow/model_tree.h"
#include "tfaot/records/cpu_levels.h"

#include <gtest/gtest.h>

namespace tfaot::toolkit::testing {
namespace {

TEST(VersionRuleTest, IsTheConfigs) {
  EXPECT_EQ(version_rule("1.0.0-rc1"), "");
  for (const std::string& version :
       {std::string(), std::string("-1"), std::string("1 0"), std::string(101, '1')}) {
    EXPECT_NE(version_rule(version), "") << version;
  }
}

TEST(TargetFeaturesTest, TheLowestLevelHasThemAll) {
  EXPECT_EQ(level_with_features("+sse2"), "x86-64");
  EXPECT_EQ(level_with_features("+sse4.2, +avx2,+fma"), "x86-64-v3");
  EXPECT_EQ(level_with_features("+avx512f"), "x86-64-v4");
  EXPECT_FALSE(level_with_features("-avx"));
  EXPECT_FALSE(level_with_features("+amx"));
}

}  // namespace
}  // namespace tfaot::toolkit::testing
