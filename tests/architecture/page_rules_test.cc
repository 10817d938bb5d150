// SPDX-License-Identifier: Apache-2.0
// The pages keep their rules, and each check finds what breaks its rule.
#include "tests/architecture/page_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tfaot/base/real_file_system.h"

namespace tfaot::toolkit::architecture {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::IsEmpty;

Violations check(const std::string& text) { return check_pages({{"a.md", text}}); }

TEST(ProjectPages, KeepTheRules) {
  const SourceTree pages = read_pages(RealFileSystem(), TFAOT_SOURCE_DIR).value();
  for (const char* path : {"README.md", "CHANGELOG.md", "docs/cli.md"}) {
    EXPECT_THAT(pages, Contains(Field(&SourceFile::path, path)));
  }
  EXPECT_THAT(check_pages(pages), IsEmpty());
  EXPECT_THAT(check_page_paths(RealFileSystem(), TFAOT_SOURCE_DIR, pages), IsEmpty());
}

TEST(Pages, LongLinesAreFound) {
  const std::string full(100, 'x');
  const std::string umlauts = "ü" + full.substr(1);
  EXPECT_THAT(check(full + "\n" + umlauts + "\n"), IsEmpty());
  EXPECT_THAT(check("\n" + full + "x\n```sh\n" + full + "x\n```\n"),
              ElementsAre("a.md:2: 101 columns, at most 100 are allowed: wrap it",
                          "a.md:4: 101 columns, at most 100 are allowed: wrap it"));
}

TEST(Pages, TablesLinksAndShownProgramsMayBeLong) {
  const std::string full(100, 'x');
  EXPECT_THAT(check("| " + full + " |\n[" + full + "](a.md)\nhttps://" + full + "\n```console\n" +
                    full + "x\n```\n<!-- keys: begin -->\n" + full + "x\n<!-- keys: end -->\n"),
              IsEmpty());
}

TEST(Pages, PhrasesAreFound) {
  EXPECT_THAT(check("This is for who has it.\nThat is no file.\nfiles of others\nIt goes again.\n"
                    "It is made anew.\n| by the clock |\n"),
              ElementsAre("a.md:1: 'for who ' is not plain English: 'if you ...'",
                          "a.md:2: 'is no ' is not plain English: 'is not a ...'",
                          "a.md:3: 'of others' is not plain English: name whose",
                          "a.md:4: 'goes again' is not plain English: 'is removed'",
                          "a.md:5: ' anew' is not plain English: 'again'",
                          "a.md:6: 'by the clock' is not plain English: 'wall time'"));
}

TEST(Pages, PlainEnglishAndCodeAreNot) {
  EXPECT_THAT(check("There is no file, there is no other, and it is no longer made.\n"
                    "for whole numbers\n```console\ncompile all anew\n```\n"),
              IsEmpty());
}

TEST(Pages, ListsNeedAnEmptyLineBeforeThem) {
  EXPECT_THAT(check("Text\n- item\n\n- item\n  more\n- item\n1. item\n"),
              ElementsAre("a.md:2: a list needs an empty line before it"));
  EXPECT_THAT(check("## Heading\n1. item\n"),
              ElementsAre("a.md:2: a list needs an empty line before it"));
}

TEST(Pages, PathsOfTheProjectExist) {
  const std::string text =
      "See `modules/base`, `tests/gone/` and `modules/<room>`.\n`dist/a.tar` `modules/gone.cc`\n"
      "`tests/*.cc`, `cmake/ of` and `docs/an open span\n";
  EXPECT_THAT(
      check_page_paths(RealFileSystem(), TFAOT_SOURCE_DIR, {{"a.md", text}}),
      ElementsAre("a.md:1: there is no 'tests/gone/'", "a.md:2: there is no 'modules/gone.cc'"));
}

}  // namespace
}  // namespace tfaot::toolkit::architecture
