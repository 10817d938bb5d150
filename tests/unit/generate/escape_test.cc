// SPDX-License-Identifier: Apache-2.0
#include "escape.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tfaot::toolkit {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(CppString, EscapesWhatIsSpecial) {
  EXPECT_EQ(cpp_string("plain x_1:0"), "plain x_1:0");
  EXPECT_EQ(cpp_string("\"\\?\n"), "\\\"\\\\\\?\\012");
  EXPECT_EQ(cpp_string(std::string("\0"
                                   "7\xC3\xA9",
                                   4)),
            "\\0007\\303\\251");
}

TEST(CommentLines, NothingLeavesTheComment) {
  EXPECT_THAT(comment_lines("one\ntwo \\  \nthree \?\?/"),
              ElementsAre("one", "two \\.", "three \?\?/."));
  EXPECT_THAT(comment_lines("a\rb\r\nc\vd\fe\xC2\x85"
                            "f\xE2\x80\xA8g"),
              ElementsAre("a", "b", "c", "d", "e", "f", "g"));
}

TEST(CommentLines, OnlyPlainUnicode) {
  EXPECT_THAT(comment_lines("\xE2\x80\xAE"
                            "a\xFF"
                            "b\x01"
                            "c\td\x7F\xC3\xA9"),
              ElementsAre("a\xEF\xBF\xBD"
                          "b c d \xC3\xA9"));
}

TEST(CommentLines, BlankTextHasNone) {
  EXPECT_THAT(comment_lines(" \n\t\n"), IsEmpty());
  EXPECT_EQ(comment_line("a\n b"), "a b");
}

}  // namespace
}  // namespace tfaot::toolkit
