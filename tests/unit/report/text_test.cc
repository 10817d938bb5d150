// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "tests/support/golden.h"
#include "tests/unit/report/sample_page.h"

namespace tfaot::toolkit::report {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using toolkit::testing::matches_golden;

TEST(ReportAsText, ShowsEveryBlock) {
  EXPECT_TRUE(matches_golden(text_of(testing::sample_page()), "report/sample.txt"));
}

TEST(ReportAsText, MakesHostileTextsHarmless) {
  Page page = testing::hostile_page();
  page.heading = "one\n\x1b[31m";
  page.sections.front().blocks.emplace_back(Facts{{{"a\x1b", "b\x1b[2J"}}});
  const std::string text = text_of(page);
  EXPECT_THAT(text, HasSubstr("one\\u000a\\u001b[31m"));
  EXPECT_THAT(text, HasSubstr("b\\u001b[2J"));
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  EXPECT_THAT(text, Not(HasSubstr("\u202e")));
}

TEST(ReportAsText, LeavesOutWhatIsForThePageAlone) {
  Page page;
  page.heading = "package x";
  page.badge = {Verdict::kGood, "good"};
  page.summary = "not repeated";
  page.sections = {
      {kOverview, {}, {Facts{{{"both", "1"}, {"page", "2", Where::kPage}, {"none", ""}}}}},
      {"Hidden", {}, {Text{"hidden"}}, Where::kPage},
      {"Empty", {}, {Figure{}}},
      {"Shown", {}, {Text{"hidden", Where::kPage}, Text{"text", Where::kText}}}};
  EXPECT_EQ(text_of(page), "package x: good\n  both  1\n\nShown\n  text\n");
  const std::string html = html_of(page);
  EXPECT_THAT(html, HasSubstr("<dt>page</dt>"));
  EXPECT_THAT(html, Not(HasSubstr("<p>text</p>")));
}

TEST(ReportAsText, AlignsColumns) {
  const Table table{.columns = {{"A"}, {"µs", ColumnKind::kNumber}, {"C"}},
                    .rows = {{{"long"}, {"1"}, {""}}, {{"µ\nx"}, {"1000"}, {"\x1b[31m"}}}};
  EXPECT_EQ(text_of(table),
            "A       µs  C\n"
            "long     1\n"
            "µ, x  1000  \\u001b[31m\n");
  EXPECT_EQ(text_of(Table{.columns = {{}, {}}, .rows = {{{"a"}, {"b"}}}}), "a  b\n");
  EXPECT_EQ(text_of(Table{.columns = {{"a"}}, .empty = ""}), "a\n");
}

TEST(ReportAsText, CutsLongTables) {
  const Table table{.columns = {{"name", ColumnKind::kCode}, {"words"}},
                    .rows = {{{"model/dense/MatMul"}, {"one two three four"}}, {{"b"}, {"c"}}},
                    .most_rows = 1,
                    .most_bytes = 10};
  EXPECT_EQ(text_of(table),
            "name        words\n"
            "... MatMul  one two ...\n"
            "and 1 more; --json and --html show all\n");
}

}  // namespace
}  // namespace tfaot::toolkit::report
