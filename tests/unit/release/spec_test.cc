// SPDX-License-Identifier: Apache-2.0
#include "tfaot/release/spec.h"

#include <gmock/gmock.h>

#include "tests/support/golden.h"
#include "tests/support/temporary_folder.h"
#include "tfaot/base/process.h"
#include "tfaot/base/real_file_system.h"

namespace tfaot::toolkit::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

SpecRecord sample() {
  SpecRecord record;
  record.tool_name = "tfaot-model-tagger";
  record.version = "1.2.0-rc1";
  record.author = "A. Author";
  record.description = "Tags jets.\nTrained on 2024 data.";
  record.license = "Apache-2.0";
  record.processor = "x86_64";
  record.source = "tfaot-model-tagger-1.2.0~rc1.tar";
  record.source_folder = "tfaot-model-tagger-1.2.0~rc1";
  record.config = "tagger/aot_config.yaml";
  return record;
}

std::string text_of(const SpecRecord& record, SpecFlavour flavour) {
  const auto text = spec_text(record, flavour);
  EXPECT_TRUE(text) << (text ? "" : text.error().text());
  return text.value_or("");
}

TEST(Spec, OfRpm) {
  EXPECT_TRUE(matches_golden(text_of(sample(), SpecFlavour::kRpm), "release/rpm.spec"));
  EXPECT_TRUE(matches_golden(compile_file_text(SpecFlavour::kRpm), "release/rpm.file"));
}

TEST(Spec, OfCmsdist) {
  EXPECT_TRUE(matches_golden(text_of(sample(), SpecFlavour::kCmsdist), "release/cmsdist.spec"));
  EXPECT_TRUE(matches_golden(compile_file_text(SpecFlavour::kCmsdist), "release/cmsdist.file"));
}

TEST(Spec, OfCmsdistWithAPackageOfData) {
  SpecRecord record = sample();
  record.source.clear();
  record.source_folder.clear();
  record.data_package = "data-Sub-Pkg";
  record.config = "${DATA_SUB_PKG_ROOT}/Sub/Pkg/data/tagger/aot_config.yaml";
  EXPECT_TRUE(matches_golden(text_of(record, SpecFlavour::kCmsdist), "release/cmsdist_data.spec"));
}

TEST(Spec, VersionsKeepTheirOrder) {
  EXPECT_EQ(rpm_version("1.0.0"), "1.0.0");
  EXPECT_EQ(rpm_version("1.0.0-rc-1"), "1.0.0~rc~1");
}

TEST(Spec, WordsOfTheModelAreNoWordsOfRpm) {
  SpecRecord record = sample();
  record.author = "%(touch /tmp/x)";
  record.license = "a\nRelease: 9";
  record.description = "%files\n# %{lua:os.exit()}\n\n%build\tnow\nend\r";
  const std::string text = text_of(record, SpecFlavour::kRpm);
  EXPECT_THAT(text, HasSubstr("License: a Release: 9\n"));
  EXPECT_THAT(text, HasSubstr("%description\n> %%files\n # %%{lua:os.exit()}\n> %%build now\nend\n"
                              "Author: %%(touch /tmp/x)\n"));
  EXPECT_THAT(text, HasSubstr("Summary: %%files\n"));
}

// rpm itself reads the result for any author and description.
TEST(Spec, OfAnyTextIsReadByRpm) {
  ProcessSpec rpmspec;
  rpmspec.program = "rpmspec";
  rpmspec.arguments = {"--version"};
  if (!run_process(rpmspec)) GTEST_SKIP() << "rpmspec is missing";
  TemporaryFolder folder("tfaot-spec-XXXXXX");  // rpm takes no blanks
  RealFileSystem files;
  const Path spec = folder.path() / "m.spec";
  ASSERT_TRUE(files.replace_atomically(folder.path() / "tfaot-compile.file",
                                       compile_file_text(SpecFlavour::kRpm)));
  for (const char* text : {"",
                           "a\\",
                           "\\",
                           "\\\\",
                           ".",
                           "..",
                           "...",
                           "a\\\nb\\",
                           "\xe9t\xe9",
                           "%",
                           "%%",
                           "%{",
                           "%(",
                           "%if 1",
                           "%files",
                           "#",
                           "# %{x",
                           "{",
                           "\xff",
                           "Name: x",
                           "\u202e",
                           "a\vb",
                           "-",
                           "%\\",
                           "%define x \\",
                           "%include /etc/passwd",
                           "${x}",
                           "`id`",
                           "\"",
                           "'"}) {
    for (const bool is_author : {true, false}) {
      SpecRecord record = sample();
      record.author = is_author ? text : "";
      record.description = is_author ? "" : text;
      ASSERT_TRUE(files.replace_atomically(spec, text_of(record, SpecFlavour::kRpm)));
      rpmspec.arguments = {"-P", "--define", "_sourcedir " + folder.path().string(), spec.string()};
      const auto read = run_process(rpmspec);
      ASSERT_TRUE(read);
      EXPECT_TRUE(read->ok()) << "'" << text << "': " << read->standard_error;
    }
  }
}

TEST(Spec, SummaryIsOneShortLine) {
  SpecRecord record = sample();
  EXPECT_THAT(text_of(record, SpecFlavour::kRpm), HasSubstr("Summary: Tags jets\n"));
  record.description = std::string(200, 'x');
  const char* const generic = "Summary: tfaot-model-tagger 1.2.0-rc1, compiled ahead of time\n";
  EXPECT_THAT(text_of(record, SpecFlavour::kRpm), HasSubstr(generic));
  record.description.clear();
  EXPECT_THAT(text_of(record, SpecFlavour::kRpm), HasSubstr(generic));
}

TEST(Spec, RefusesWhatRpmWouldTakeApart) {
  const auto refused = [](auto change, SpecFlavour flavour = SpecFlavour::kRpm) {
    SpecRecord record = sample();
    change(record);
    const auto text = spec_text(record, flavour);
    return text ? std::string("taken") : text.error().text();
  };
  EXPECT_EQ(refused([](SpecRecord& r) { r.tool_name = "a b"; }),
            "the tool's name 'a b' cannot be used in a spec file\n"
            "  it must not contain spaces, quotes, '\\' or '%'");
  EXPECT_EQ(refused([](SpecRecord& r) { r.license = " \n"; }),
            "the licence is empty, which rpm refuses");
  EXPECT_EQ(refused([](SpecRecord& r) { r.config = "a$b"; }),
            "the config's path 'a$b' cannot be used in a spec file\n"
            "  it must not contain quotes, '\\', '`', '%', '$' or line ends");
  EXPECT_EQ(refused([](SpecRecord& r) { r.config = "${A}/b"; }, SpecFlavour::kCmsdist), "taken");
  for (const char* path : {"", "a\"b", "a`b`", "a%b", "a\nb", "a\\b"}) {
    EXPECT_THAT(refused([&](SpecRecord& r) { r.config = path; }, SpecFlavour::kCmsdist),
                HasSubstr("cannot be used in a spec file"))
        << path;
  }
  EXPECT_EQ(refused([](SpecRecord& r) { r.config = "my models/aot.yaml"; }), "taken");
  EXPECT_THAT(refused([](SpecRecord& r) { r.version = "1%2"; }), Not("taken"));
  EXPECT_THAT(refused([](SpecRecord& r) { r.source = "a b.tar"; }), Not("taken"));
  EXPECT_THAT(refused([](SpecRecord& r) { r.source_folder = "a b"; }), Not("taken"));
  EXPECT_THAT(refused([](SpecRecord& r) { r.data_package = "a'b"; }), Not("taken"));
}

}  // namespace
}  // namespace tfaot::toolkit::testing
