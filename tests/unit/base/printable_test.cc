// SPDX-License-Identifier: Apache-2.0
#include "tfaot/base/printable.h"

#include <gtest/gtest.h>

#include "tfaot/base/result.h"

namespace tfaot::toolkit {
namespace {

TEST(Printable, LeavesUsualTextAsItIs) {
  EXPECT_EQ(printable_line("tagger 1.0 für Ωμέγα, 光 \U0001F600\t!"),
            "tagger 1.0 für Ωμέγα, 光 \U0001F600\t!");
  EXPECT_EQ(printable_text("one\ntwo\n"), "one\ntwo\n");
}

TEST(Printable, EscapesWhatATerminalWouldObey) {
  EXPECT_EQ(printable_line("\x1b[31mred\x1b[0m"), "\\u001b[31mred\\u001b[0m");
  EXPECT_EQ(printable_line("a\nb\rc\x7f"), "a\\u000ab\\u000dc\\u007f");
  EXPECT_EQ(printable_line(std::string("a\0b", 3)), "a\\u0000b");
  EXPECT_EQ(printable_line("\u009b31m"), "\\u009b31m");  // C1: begins a sequence, too
  EXPECT_EQ(printable_line("a\u202eb\u2066\u200f\u2028"), "a\\u202eb\\u2066\\u200f\\u2028");
}

TEST(Printable, EscapesWhatIsNoUtf8) {
  EXPECT_EQ(printable_line("caf\xe9!"), "caf\\xe9!");
  EXPECT_EQ(printable_line("\xc0\x80"), "\\xc0\\x80");           // overlong
  EXPECT_EQ(printable_line("\xed\xa0\x80"), "\\xed\\xa0\\x80");  // half of a pair
  EXPECT_EQ(printable_line("\xf0\x9f\x98"), "\\xf0\\x9f\\x98");  // cut
  EXPECT_EQ(printable_line("\xf5\x80\x80\x80"), "\\xf5\\x80\\x80\\x80");
}

TEST(Printable, FindsTheFirstByteThatIsNoUtf8) {
  EXPECT_EQ(first_non_utf8("für"), std::string_view::npos);
  EXPECT_EQ(first_non_utf8(""), std::string_view::npos);
  EXPECT_EQ(first_non_utf8("f\xc3\xbcr \xfc"), 5U);
}

TEST(Shown, CutsTheMiddleAndTearsNoCharacter) {
  EXPECT_EQ(shown("short"), "short");
  EXPECT_EQ(shown(std::string(1000, 'a') + "end", 9), "aaaaaa…end");
  EXPECT_EQ(shown("ääääääääää", 9), "äää…ää");
  EXPECT_LT(shown(std::string(1'000'000, '\x1b')).size(), 700U);
}

TEST(ErrorText, IsPrintableAndShort) {
  const Error error = Error::at({"a\x1b[2J.yaml"}, "'" + std::string(1'000'000, 'x') + "' is bad")
                          .note("write \a\xff");
  const std::string text = error.text();
  EXPECT_LT(text.size(), 1200U);
  EXPECT_TRUE(text.starts_with("a\\u001b[2J.yaml: 'xxx")) << text;
  EXPECT_NE(text.find("xxx' is bad\n  write \\u0007\\xff"), std::string::npos) << text;
}

TEST(ErrorText, IndentsTheLinesOfAMessageAndLimitsThoseOfNotes) {
  EXPECT_EQ(Error("one\ntwo").text(), "one\n  two");
  std::string lines;
  for (int i = 0; i < 70; ++i) lines += "line\n";
  const std::string text = Error("much").note(lines).text();
  EXPECT_TRUE(text.ends_with("line\n  and 10 more lines")) << text;
}

}  // namespace
}  // namespace tfaot::toolkit
