// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <set>

#include "page_text.h"
#include "tests/support/golden.h"
#include "tests/support/page_body.h"
#include "tests/unit/report/sample_page.h"
#include "tfaot/base/text.h"

namespace tfaot::toolkit::report {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using toolkit::testing::matches_golden;
using toolkit::testing::page_body;

std::size_t count_of(std::string_view text, std::string_view part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string_view::npos;
       at = text.find(part, at + part.size())) {
    ++count;
  }
  return count;
}

TEST(ReportPage, ShowsEveryBlock) {
  EXPECT_TRUE(matches_golden(page_body(html_of(testing::sample_page())), "report/sample.html"));
}

TEST(ReportPage, IsTheSameForTheSameValues) {
  EXPECT_EQ(html_of(testing::sample_page()), html_of(testing::sample_page()));
}

TEST(ReportPage, MakesHostileTextsHarmless) {
  const std::string html = html_of(testing::hostile_page());
  EXPECT_TRUE(matches_golden(page_body(html), "report/hostile.html"));
  EXPECT_THAT(html, Not(HasSubstr("<img")));
  EXPECT_THAT(html, Not(HasSubstr("\xff")));
  EXPECT_THAT(html, Not(HasSubstr("\u202e")));
  EXPECT_EQ(count_of(html, "</script>"), 2U);
  EXPECT_EQ(count_of(html, "</style>"), 1U);
  EXPECT_EQ(count_of(html, "</title>"), 3U);  // the page's, and those of the dots in its plot
  // Values are not templates.
  EXPECT_GT(count_of(html, "{{title}}"), 20U);
}

TEST(ReportPage, AllowsOnlyItsOwnScript) {
  const std::string html = html_of(testing::sample_page());
  const std::string begin = "<script>";
  const std::size_t from = html.find(begin) + begin.size();
  const std::string script = html.substr(from, html.find("</script>", from) - from);
  EXPECT_THAT(script, HasSubstr("use strict"));
  EXPECT_THAT(html, HasSubstr("script-src '" + policy_hash(script) + "'"));
  EXPECT_THAT(html, HasSubstr("default-src 'none'"));
}

TEST(ReportPage, NamesEverySectionOnce) {
  Page page;
  page.sections = {{"Code"}, {"code!"}, {"Content"}, {"Data"}, {"</>"}, {""}, {"Code 2"}};
  const std::string html = html_of(page);
  std::set<std::string> ids;
  const std::string begin = "<section id=\"";
  for (std::size_t at = html.find(begin); at != std::string::npos; at = html.find(begin, at + 1)) {
    const std::size_t from = at + begin.size();
    ids.insert(html.substr(from, html.find('"', from) - from));
  }
  EXPECT_THAT(ids, ::testing::ElementsAre("code", "code-2", "code-2-2", "section-", "section--2",
                                          "section-content", "section-data"));
}

// As errors with notes are.
TEST(ReportPage, ShowsNotesOfSeveralLines) {
  Page page;
  page.sections = {{"One", {}, {Callout{.text = "Not drawn", .notes = {"no dot\ninstall it"}}}}};
  const std::string html = html_of(page);
  EXPECT_THAT(html, HasSubstr("<li>no dot</li>"));
  EXPECT_THAT(html, HasSubstr("<li>install it</li>"));
  EXPECT_THAT(html, Not(HasSubstr("u000a")));
}

TEST(ReportPage, LeavesOutWhatIsEmpty) {
  const std::string html = html_of({.kind = "model", .title = "net", .data = "{}"});
  for (const char* part : {"<nav", "<p class=\"summary\"", "<dl", "<section", "class=\"badge"}) {
    EXPECT_THAT(html, Not(HasSubstr(part)));
  }
}

TEST(ReportText, HashesAsTheBrowserDoes) {
  EXPECT_EQ(policy_hash(""), "sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=");
  EXPECT_EQ(policy_hash("abc"), "sha256-ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=");
}

TEST(ReportText, TakesTheDrawingOutOfItsFile) {
  EXPECT_EQ(svg_element("<?xml?>\n<!DOCTYPE svg>\n<svg a=\"b\"><g/></svg>\n<!-- end -->"),
            "<svg a=\"b\"><g/></svg>");
  EXPECT_EQ(svg_element("no drawing"), "");
  EXPECT_EQ(svg_element("</svg><svg"), "");
  EXPECT_EQ(escaped("<a & \"b\"\n>"), "&lt;a &amp; &quot;b&quot;\\u000a&gt;");
}

TEST(ReportText, WritesQuantities) {
  EXPECT_EQ(bytes_text(0), "0 bytes");
  EXPECT_EQ(bytes_text(1), "1 byte");
  EXPECT_EQ(bytes_text(999), "999 bytes");
  EXPECT_EQ(bytes_text(1000), "1.0 kB");
  EXPECT_EQ(bytes_text(12'345), "12.3 kB");
  EXPECT_EQ(bytes_text(99'960), "100 kB");
  EXPECT_EQ(bytes_text(999'600), "1.0 MB");
  EXPECT_EQ(bytes_text(3'000'000'000'000'000), "3000 TB");
  EXPECT_EQ(grouped_digits(0), "0");
  EXPECT_EQ(grouped_digits(1234567), "1 234 567");
  EXPECT_EQ(grouped_digits(-123), "-123");
  EXPECT_EQ(grouped_digits(-1234), "-1 234");
}

}  // namespace
}  // namespace tfaot::toolkit::report
