// SPDX-License-Identifier: Apache-2.0
#include "options/target_flags.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tfaot::toolkit {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::StartsWith;

std::vector<std::string> levels(const std::string& text) {
  const auto flags = parse_target_flags(text);
  return flags ? flags->cpu_levels : std::vector<std::string>{flags.error().text()};
}
std::string triple(const std::string& text) {
  const auto flags = parse_target_flags(text);
  return flags ? flags->target_triple : flags.error().text();
}

TEST(TargetFlagsTest, NothingSaidIsNothingAsked) {
  EXPECT_THAT(levels(""), IsEmpty());
  EXPECT_EQ(triple(" \t"), "");
}

TEST(TargetFlagsTest, BothSpellingsOfAValue) {
  EXPECT_EQ(triple("--target_triple=x86_64-pc-linux"), "x86_64-pc-linux");
  EXPECT_EQ(triple("  --target_triple   x86_64-pc-linux "), "x86_64-pc-linux");
  EXPECT_EQ(triple("'--target_triple=a b' --target_cpu=c"), "a b");
  EXPECT_THAT(levels("--target_triple \"t\" --target_cpu 'x86-64-v3'"), ElementsAre("x86-64-v3"));
}

TEST(TargetFlagsTest, FeaturesBecomeTheLowestLevelWithAllOfThem) {
  EXPECT_THAT(levels("--target_features=+sse2"), ElementsAre("x86-64"));
  EXPECT_THAT(levels("--target_features=+sse4.2,+popcnt"), ElementsAre("x86-64-v2"));
  EXPECT_THAT(levels("--target_features='+sse4.2, +avx2'"), ElementsAre("x86-64-v3"));
  EXPECT_THAT(levels("--target_features +avx512f"), ElementsAre("x86-64-v4"));
}

TEST(TargetFlagsTest, WhatIsNotUnderstoodIsAnError) {
  EXPECT_EQ(triple("--graph=x"),
            "--additional-flags: '--graph=x' is unknown\n"
            "  known: --target_triple=T, --target_cpu=C, --target_features=+A,+B");
  EXPECT_EQ(triple("--target_cpu"), "--additional-flags: --target_cpu needs a value");
  EXPECT_EQ(triple("--target_cpu= --target_triple=t"),
            "--additional-flags: --target_cpu needs a value");
  EXPECT_EQ(triple("--target_cpu=a --target_features=+avx"),
            "--additional-flags: --target_cpu and --target_features exclude each other\n"
            "  code is compiled for CPU levels; --target_cpu=x86-64-v3 names one");
  EXPECT_THAT(triple("--target_features=-avx"),
              StartsWith("--target_features: '-avx' is unknown\n  x86-64: +cmov,"));
  EXPECT_EQ(triple("--target_cpu=a\\q"),
            "--additional-flags cannot be split into words\n  unknown escape sequence");
}

}  // namespace
}  // namespace tfaot::toolkit
