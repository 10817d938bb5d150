// SPDX-License-Identifier: Apache-2.0
#include "tfaot/base/expression.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tfaot::toolkit {
namespace {

using ::testing::HasSubstr;
using ::testing::Optional;

bool found(const std::string& expression, const std::string& text) {
  return search_expression(expression, text).value();
}
std::string refusal(const std::string& expression) {
  return search_expression(expression, std::string(60, 'a')).error().message();
}

TEST(Expression, IsLookedForAnywhere) {
  EXPECT_TRUE(found("_amd64_", "el8_amd64_gcc12"));
  EXPECT_TRUE(found("^el[89]_(amd64|aarch64)_gcc1[0-9]$", "el8_amd64_gcc12"));
  EXPECT_FALSE(found("^slc", "el8_amd64_gcc12"));
  EXPECT_TRUE(found("CMSSW_1[0-9]_(ASAN_)?X", "CMSSW_14_X"));
  EXPECT_TRUE(found("[)*]*x", "x"));
  EXPECT_TRUE(found("\\(\\)*", "()"));
}

TEST(Expression, ThatTakesForEverIsRefused) {
  EXPECT_EQ(refusal("(a|a)*b"), "the regular expression '(a|a)*b' repeats a group");
  EXPECT_EQ(refusal("(a+)+b"), "the regular expression '(a+)+b' repeats a group");
  EXPECT_THAT(refusal("a*a*a*a*a*b"), HasSubstr("has more than 4 repetitions"));
  EXPECT_THAT(refusal("a{1000}"), HasSubstr("repeats more than 99 times"));
  EXPECT_THAT(refusal(std::string(100'000, '(')), HasSubstr("is longer than 200 characters"));
  EXPECT_FALSE(search_expression("a", std::string(1001, 'a')));
  EXPECT_EQ(refusal("*_amd64"), "'*_amd64' is not a regular expression");
}

TEST(Expression, HasAFaultOnlyWhereItIsSure) {
  EXPECT_NE(expression_fault("*_amd64"), std::nullopt);
  EXPECT_NE(expression_fault("(a"), std::nullopt);
  EXPECT_EQ(expression_fault("_amd64"), std::nullopt);
  EXPECT_EQ(expression_fault("(?i)el8"), std::nullopt);
  EXPECT_EQ(expression_fault("(a|a)*b"), std::nullopt);
}

}  // namespace
}  // namespace tfaot::toolkit
