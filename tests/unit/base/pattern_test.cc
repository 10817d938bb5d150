// SPDX-License-Identifier: Apache-2.0
#include "tfaot/base/pattern.h"

#include <gmock/gmock.h>

namespace tfaot::toolkit {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(PatternTest, MatchesTheWholeText) {
  const Pattern number("[0-9]+");
  EXPECT_TRUE(number.matches("12"));
  EXPECT_FALSE(number.matches("12 "));
  EXPECT_FALSE(number.matches(""));
}

TEST(PatternTest, GivesThePartsOfGroups) {
  const Pattern range("(.+):([0-9]+)(-[0-9]+)?");
  Pattern::Parts parts;
  EXPECT_TRUE(range.matches("x:3-9", parts));
  EXPECT_THAT(parts, ElementsAre("x:3-9", "x", "3", "-9"));
  EXPECT_TRUE(range.matches("x:3", parts));
  EXPECT_THAT(parts, ElementsAre("x:3", "x", "3", ""));
  EXPECT_FALSE(range.matches("x", parts));
  EXPECT_THAT(parts, IsEmpty());
}

TEST(PatternTest, RemovesMatches) {
  const Pattern letters("[a-z]+");
  EXPECT_EQ(letters.without_first_match("1ab2cd"), "12cd");
  EXPECT_EQ(letters.without_matches("1ab2cd"), "12");
  EXPECT_EQ(letters.without_matches("12"), "12");
}

}  // namespace
}  // namespace tfaot::toolkit
