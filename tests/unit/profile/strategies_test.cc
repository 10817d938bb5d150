// SPDX-License-Identifier: Apache-2.0
#include "tfaot/profile/measure.h"

#include <gmock/gmock.h>

namespace tfaot::toolkit {
namespace {

using ::testing::ElementsAre;

TEST(Strategies, StitchTheLargestSizesFirst) {
  const auto calls = [](std::size_t rows) {
    return composed(ComposeStrategy::kStitching, {2, 4, 16}, rows);
  };
  EXPECT_THAT(calls(16), ElementsAre(16));
  EXPECT_THAT(calls(39), ElementsAre(16, 16, 4, 2, 2));  // the last row is padded
  EXPECT_THAT(calls(1), ElementsAre(2));
}

TEST(Strategies, PadToTheNextSize) {
  const auto calls = [](std::size_t rows) {
    return composed(ComposeStrategy::kPadding, {2, 4, 16}, rows);
  };
  EXPECT_THAT(calls(4), ElementsAre(4));
  EXPECT_THAT(calls(5), ElementsAre(16));
  EXPECT_THAT(calls(35), ElementsAre(16, 16, 4));
}

TEST(Strategies, AreWrittenAsRules) { EXPECT_EQ(rule_text(5, {4, 1}), "5:4,1"); }

}  // namespace
}  // namespace tfaot::toolkit
