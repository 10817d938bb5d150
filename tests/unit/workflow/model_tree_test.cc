// SPDX-License-Identifier: Apache-2.0
#include "tfaot/workflow/model_tree.h"

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

}  // namespace
}  // namespace tfaot::toolkit::testing
