// SPDX-License-Identifier: Apache-2.0
#include "tfaot/runtime/detail/version_range.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace {

using tfaot::detail::compare_versions;
using tfaot::detail::newest_in;
using tfaot::detail::VersionRange;

// "yes", "no", or the word that is not a condition.
std::string contains(const std::string& text, const std::string& version) {
  VersionRange range;
  std::string wrong;
  if (!VersionRange::parse(text, range, wrong)) return "'" + wrong + "'";
  return range.contains(version) ? "yes" : "no";
}

TEST(VersionRange, ComparesNumbersAndNotText) {
  EXPECT_LT(compare_versions("1.9", "1.10"), 0);
  EXPECT_GT(compare_versions("2", "1.99.99"), 0);
  EXPECT_EQ(compare_versions("1.2", "1.2.0"), 0);
  EXPECT_EQ(compare_versions("1.02", "1.2"), 0);
  EXPECT_LT(compare_versions("1.2", "1.2.0.1"), 0);
  EXPECT_LT(compare_versions("9", "100000000000000000000"), 0);
  EXPECT_LT(compare_versions("2024_v9", "2024_v10"), 0);
}

TEST(VersionRange, ContainsWhatMeetsAllConditions) {
  EXPECT_EQ(contains(">=1.2 <2", "1.2.0"), "yes");
  EXPECT_EQ(contains(">=1.2,<2", "1.10"), "yes");
  EXPECT_EQ(contains(">=1.2 <2", "2.0.0"), "no");
  EXPECT_EQ(contains(">=1.2 <2", "1.1.9"), "no");
  EXPECT_EQ(contains("<=1.2", "1.2.0"), "yes");
  EXPECT_EQ(contains(">1.2", "1.2.0"), "no");
  EXPECT_EQ(contains("1.2", "1.2.0"), "yes");
  EXPECT_EQ(contains("=1.2", "1.3"), "no");
  EXPECT_EQ(contains("==v7-b", "v7-b"), "yes");
  EXPECT_EQ(contains("!=1.2", "1.2.0"), "no");
  EXPECT_EQ(contains("!=1.2", "1.2.1"), "yes");
  EXPECT_EQ(contains("", "anything"), "yes");
  EXPECT_EQ(contains("  ", "0"), "yes");
}

TEST(VersionRange, NamesTheWordThatIsNoCondition) {
  EXPECT_EQ(contains(">=1.2 ~2", "1"), "'~2'");
  EXPECT_EQ(contains(">= 1.2", "1"), "'>='");
  EXPECT_EQ(contains("1.*", "1"), "'1.*'");
  EXPECT_EQ(contains("<1/2", "1"), "'<1/2'");
}

TEST(VersionRange, FindsTheNewest) {
  const std::vector<std::string> versions = {"1.9.0", "2.0.0", "1.10.0", "1.2"};
  VersionRange range;
  std::string wrong;
  ASSERT_TRUE(VersionRange::parse("<2", range, wrong));
  EXPECT_EQ(newest_in(range, versions), 2U);
  ASSERT_TRUE(VersionRange::parse(">3", range, wrong));
  EXPECT_EQ(newest_in(range, versions), 4U);
}

}  // namespace
