// SPDX-License-Identifier: Apache-2.0
#include "tfaot/base/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tfaot::toolkit {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Join, PutsTheSeparatorBetween) {
  EXPECT_EQ(join({}, ", "), "");
  EXPECT_EQ(join({"a"}, ", "), "a");
  EXPECT_EQ(join({"a", "", "b"}, ", "), "a, , b");
}

TEST(SplitLines, TakesAnyLineEndAndNeedsNoneAtTheEnd) {
  EXPECT_THAT(split_lines(""), IsEmpty());
  EXPECT_THAT(split_lines("a\nb"), ElementsAre("a", "b"));
  EXPECT_THAT(split_lines("a\nb\n"), ElementsAre("a", "b"));
  EXPECT_THAT(split_lines("\r\na\r\n\nb\rc"), ElementsAre("", "a", "", "b\rc"));
}

TEST(ReplaceAll, DoesNotReplaceInWhatItPutIn) {
  EXPECT_EQ(replace_all("a.b.c", ".", ".."), "a..b..c");
  EXPECT_EQ(replace_all("aaa", "aa", "b"), "ba");
  EXPECT_EQ(replace_all("abc", "", "x"), "abc");
  EXPECT_EQ(replace_all("abc", "b", ""), "ac");
}

TEST(Trim, RemovesBlanksAtBothEnds) {
  EXPECT_EQ(trim(" \t a b\r\n"), "a b");
  EXPECT_EQ(trim(" \n "), "");
  EXPECT_EQ(trim(""), "");
}

TEST(ShellQuoted, QuotesWhatAShellWouldSplitOrChange) {
  EXPECT_EQ(shell_quoted("$CMSSW_BASE/a-b_1.xml"), "$CMSSW_BASE/a-b_1.xml");
  EXPECT_EQ(shell_quoted("$CMSSW_BASE/o u t"), "\"$CMSSW_BASE/o u t\"");
  EXPECT_EQ(shell_quoted("a\"b\\c`d(e)"), "\"a\\\"b\\\\c\\`d(e)\"");
  EXPECT_EQ(shell_quoted("\xC3\xA4"), "\"\xC3\xA4\"");
  EXPECT_EQ(shell_quoted(""), "\"\"");
}

TEST(ClosestMatch, FindsTypingMistakes) {
  const std::vector<std::string> keys = {"batch_sizes", "name", "namespace", "saved_model"};
  EXPECT_EQ(closest_match("batch_size", keys), "batch_sizes");
  EXPECT_EQ(closest_match("bacth_sizes", keys), "batch_sizes");
  EXPECT_EQ(closest_match("savd_modle", keys), "saved_model");
  EXPECT_EQ(closest_match("nmae", keys), "name");
  EXPECT_EQ(closest_match("name", keys), "name");
}

TEST(ClosestMatch, IsSilentWhenNothingIsNear) {
  EXPECT_EQ(closest_match("colour", {"batch_sizes", "name"}), std::nullopt);
  EXPECT_EQ(closest_match("xy", {"ab"}), std::nullopt);
  EXPECT_EQ(closest_match("", {"ab"}), std::nullopt);
  EXPECT_EQ(closest_match("ab", {}), std::nullopt);
}

TEST(ClosestMatch, AllowsAThirdOfTheLengthAndNoMore) {
  EXPECT_EQ(closest_match("abcxxf", {"abcdef"}), "abcdef");
  EXPECT_EQ(closest_match("abxxxf", {"abcdef"}), std::nullopt);
}

TEST(ClosestMatch, CountsASwapOfNeighboursOnce) {
  EXPECT_EQ(closest_match("flaot32", {"flat3", "float32"}), "float32");
}

TEST(ClosestMatch, TakesTheFirstOfEquals) {
  EXPECT_EQ(closest_match("abcd", {"abcx", "abcy"}), "abcx");
}

TEST(CppIdentifier, TakesNamesThatUserCodeMayUse) {
  for (const char* name : {"a", "_a", "A_1", "tfaot_model", "int32", "a__b", "_", "import"}) {
    EXPECT_TRUE(is_cpp_identifier(name)) << name;
  }
}

TEST(CppIdentifier, RefusesTheRest) {
  for (const char* name : {"", "1a", "a-b", "a b", "a.b", "__a", "_A", "class", "xor_eq",
                           "co_await", "\xc3\xa4", "a\n"}) {
    EXPECT_FALSE(is_cpp_identifier(name)) << name;
  }
}

TEST(CppKeyword, KnowsTheFirstAndTheLast) {
  EXPECT_TRUE(is_cpp_keyword("alignas"));
  EXPECT_TRUE(is_cpp_keyword("reinterpret_cast"));
  EXPECT_TRUE(is_cpp_keyword("xor_eq"));
  EXPECT_FALSE(is_cpp_keyword("Class"));
  EXPECT_FALSE(is_cpp_keyword("override"));
}

TEST(LineAt, CountsFromOneAndStaysInTheText) {
  EXPECT_EQ(line_at("a\nb\n", 0), 1);
  EXPECT_EQ(line_at("a\nb\n", 1), 1);
  EXPECT_EQ(line_at("a\nb\n", 2), 2);
  EXPECT_EQ(line_at("a\nb\n", 99), 3);
  EXPECT_EQ(line_at("a\nb\n", -1), 1);
  EXPECT_EQ(line_at("", 0), 1);
}

TEST(LastLines, KeepsTheEnd) {
  EXPECT_THAT(last_lines("a\nb\nc\n", 2), ElementsAre("b", "c"));
  EXPECT_THAT(last_lines("a\n", 2), ElementsAre("a"));
  EXPECT_THAT(last_lines("a\nb", 0), IsEmpty());
}

}  // namespace
}  // namespace tfaot::toolkit
