// SPDX-License-Identifier: Apache-2.0
#include "tfaot/config/area_policy.h"

#include <gmock/gmock.h>

namespace tfaot::toolkit::testing {
namespace {

using ::testing::ElementsAre;

std::string error_of(const std::string& text) {
  const auto policy = parse_area_policy(text, "policy.yaml");
  return policy ? "" : policy.error().text();
}

TEST(AreaPolicy, HasARuleAndKeys) {
  const auto policy = parse_area_policy("require_signature: true\nkeys: [a, 'b']\n", "policy.yaml");
  ASSERT_TRUE(policy) << policy.error().text();
  EXPECT_TRUE(policy->require_signature);
  EXPECT_THAT(policy->keys, ElementsAre("a", "b"));
}

TEST(AreaPolicy, RefusesARequirementThatNobodyCanMeet) {
  EXPECT_EQ(error_of("require_signature: true\n"),
            "policy.yaml:1:1: signatures are required, but 'keys' lists no key");
}

TEST(AreaPolicy, RefusesASecondRule) {
  EXPECT_EQ(error_of("require_signature: true\nkeys: [a]\nrequire_signature: false\n"),
            "policy.yaml:3:1: 'require_signature' comes twice");
}

TEST(AreaPolicy, RefusesWhatItDoesNotKnow) {
  EXPECT_EQ(error_of("require_signature: false\nkey: a\n"),
            "policy.yaml:2:1: unknown key 'key'\n  allowed: keys, require_signature");
  EXPECT_EQ(error_of("require_signature: 'true'\n"),
            "policy.yaml:1:20: 'require_signature' must be true or false, not the string 'true'");
  EXPECT_EQ(error_of("require_signature: false\nkeys: a\n"),
            "policy.yaml:2:7: 'keys' must be a list of public keys, not the string 'a'");
  EXPECT_NE(error_of("- a\n"), "");
  EXPECT_NE(error_of(""), "");
}

}  // namespace
}  // namespace tfaot::toolkit::testing
