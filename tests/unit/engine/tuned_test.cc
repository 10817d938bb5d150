// SPDX-License-Identifier: Apache-2.0
#include "compiler/hlo/tuned.h"

#include <gmock/gmock.h>

namespace tfaot::toolkit::engine {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

TEST(TunedTest, ANumberIsChangedByItsName) {
  const Tuned before = tuned();
  ASSERT_TRUE(set_tuned("pool_fewest_channels=7"));
  EXPECT_EQ(tuned().pool_fewest_channels, 7);
  EXPECT_EQ(tuned().norm_fewest_of_a_group, before.norm_fewest_of_a_group);
  ASSERT_TRUE(set_tuned("pool_fewest_channels=" + std::to_string(before.pool_fewest_channels)));
  EXPECT_EQ(tuned().pool_fewest_channels, Tuned().pool_fewest_channels);
}

TEST(TunedTest, OtherNamesAndWordsAreRefusedWithAllNames) {
  for (const char* const wrong :
       {"pool=7", "pool_fewest_channels", "pool_fewest_channels=many", ""}) {
    const Status set = set_tuned(wrong);
    ASSERT_FALSE(set) << wrong;
    EXPECT_THAT(set.error().message(), HasSubstr("is not NAME=NUMBER of a tuned number"));
    EXPECT_THAT(set.error().notes(), Contains("norm_fewest_of_a_group=64"));
  }
}

}  // namespace
}  // namespace tfaot::toolkit::engine
