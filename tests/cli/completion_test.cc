// SPDX-License-Identifier: Apache-2.0
// `tfaot completion` in the shells themselves, and the man pages in the programs that show them. A
// shell that is not installed is skipped.
#include <gmock/gmock.h>

#include <algorithm>

#include "cli_test.h"
#include "tfaot/base/process.h"
#include "tfaot/base/text.h"

namespace tfaot::toolkit::testing {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

class CompletionTest : public CliTest {
 protected:
  using Words = std::vector<std::string>;

  CompletionTest() {
    write("here/config.yaml", "");
    write("here/folder/file", "");
  }

  // The output of a program in the folder `here`; empty if there is no such program.
  std::string output_of(const std::string& program, const Words& arguments) {
    ProcessSpec spec;
    spec.program = program;
    spec.arguments = arguments;
    spec.environment = {{"HOME", at("home")}, {"TERM", "dumb"}, {"MANPAGER", "cat"}};
    spec.working_directory = root_ / "here";
    const auto result = run_process(spec);
    if (!result) return "";
    EXPECT_EQ(result->standard_error, "") << program;
    EXPECT_EQ(result->exit_code, 0) << program;
    return result->standard_output;
  }
  bool has(const std::string& program) {
    return !output_of("sh", {"-c", "command -v " + program + " || true"}).empty();
  }
  std::string script(const std::string& shell) {
    const Outcome outcome = run({"completion", shell});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.text();
    write(shell, outcome.out);
    return at(shell);
  }

  // Two versions of test_net, into here/area.
  void install_models() {
    for (const std::string version : {"1.0.0", "1.4.2"}) {
      write_tree_at("tree", {version});
      ASSERT_EQ(run({"package", "tree", "-o", "dist"}).exit_code, 0);
      ASSERT_EQ(run({"install", "dist/tfaot-model-test-net-" + version + "-x86_64-linux.tar.zst",
                     "--release-area", "here/area"})
                    .exit_code,
                0);
    }
  }

  // What bash offers after `words`, the last of which is unfinished.
  Words bash(const Words& words) {
    std::string list;
    for (const std::string& word : words) list += " '" + word + "'";
    const std::string program =
        "PATH=" + at("prefix/bin") + ":$PATH; source \"$1\"\nCOMP_WORDS=(tfaot" + list +
        ")\nCOMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n" + "_tfaot\nprintf '%s\\n' \"${COMPREPLY[@]}\"";
    Words offered = split_lines(output_of("bash", {"-c", program, "bash", script("bash")}));
    std::erase(offered, "");
    return offered;
  }
  Words fish(const std::string& line) {
    const Words lines = split_lines(
        output_of("fish", {"--no-config", "-c",
                           "set PATH " + at("prefix/bin") +
                               " $PATH; source $argv[1]; complete --do-complete $argv[2]",
                           script("fish"), line}));
    Words offered;
    for (const std::string& text : lines) offered.push_back(text.substr(0, text.find('\t')));
    return offered;
  }
};

TEST_F(CompletionTest, BashOffersVerbsOptionsWordsAndFiles) {
  EXPECT_THAT(bash({"co"}), ElementsAre("compile", "convert-area", "condor", "completion"));
  EXPECT_THAT(bash({"--"}), ElementsAre("--help", "--version", "--help-all"));
  EXPECT_THAT(bash({"help", "up"}), ElementsAre("update-weights"));
  EXPECT_THAT(bash({"compile", "--ca"}), ElementsAre("--cache", "--cache-limit"));
  EXPECT_THAT(bash({"compile", "--weights", ""}), ElementsAre("shared", "embedded"));
  EXPECT_THAT(bash({"compile", "--weights", "=", "s"}), ElementsAre("shared"));
  EXPECT_THAT(bash({"compile", "--weights", "="}), ElementsAre("shared", "embedded"));
  EXPECT_THAT(bash({"compile", "-c", ""}), UnorderedElementsAre("config.yaml", "folder"));
  EXPECT_THAT(bash({"compile", "--output-directory", ""}), ElementsAre("folder"));
  EXPECT_THAT(bash({"compile", "--jobs", ""}), IsEmpty());
  EXPECT_THAT(bash({"compile", "-q", "--expect"}), IsEmpty());  // hidden
  EXPECT_THAT(bash({"package", ""}), IsSupersetOf({"folder", "--output-directory"}));
  EXPECT_THAT(bash({"list", ""}), IsSupersetOf({"folder", "--release-area"}));
  EXPECT_THAT(bash({"list", ""}), Not(Contains("config.yaml")));
  EXPECT_THAT(bash({"init", "con"}), ElementsAre("config.yaml"));
  EXPECT_THAT(bash({"info", "con"}), ElementsAre("config.yaml"));
  EXPECT_THAT(bash({"scram-hook", "st"}), ElementsAre("status"));
  EXPECT_THAT(bash({"completion", ""}), IsSupersetOf({"bash", "zsh", "fish"}));
  EXPECT_THAT(bash({"nothing", ""}), IsEmpty());
}

TEST_F(CompletionTest, FishOffersVerbsOptionsWordsAndFiles) {
  if (!has("fish")) GTEST_SKIP() << "there is no fish";
  EXPECT_THAT(fish("tfaot co"),
              UnorderedElementsAre("compile", "convert-area", "condor", "completion"));
  EXPECT_THAT(fish("tfaot compile --ca"), UnorderedElementsAre("--cache", "--cache-limit"));
  EXPECT_THAT(fish("tfaot compile --weights "), UnorderedElementsAre("shared", "embedded"));
  EXPECT_THAT(fish("tfaot compile -c con"), ElementsAre("config.yaml"));
  EXPECT_THAT(fish("tfaot compile -o "), ElementsAre("folder/"));
  EXPECT_THAT(fish("tfaot scram-hook st"), ElementsAre("status"));
  EXPECT_THAT(fish("tfaot info con"), ElementsAre("config.yaml"));
}

// AREA/NAME[/VERSION] of installed models, beside files.
TEST_F(CompletionTest, OffersInstalledModels) {
  install_models();
  const auto offered = [&](const std::string& word) { return bash({"info", word}); };
  EXPECT_THAT(offered("area/te"), ElementsAre("area/test-net"));
  EXPECT_THAT(offered("area/tf"), ElementsAre("area/tfaot-model-test-net"));
  EXPECT_THAT(offered("area/test_net/"), ElementsAre("area/test_net/1.0.0", "area/test_net/1.4.2"));
  EXPECT_THAT(offered("area/test-net/1.4"), ElementsAre("area/test-net/1.4.2"));
  EXPECT_THAT(bash({"info", at("here/area/te")}), ElementsAre(at("here/area/test-net")));
  for (const char* verb :
       {"run", "validate", "profile", "tune", "update-weights", "diff", "inspect", "package"}) {
    EXPECT_THAT(bash({verb, "area/te"}), ElementsAre("area/test-net")) << verb;
  }
  if (has("fish")) {
    EXPECT_THAT(fish("tfaot info area/te"), ElementsAre("area/test-net"));
  }
}

// zsh completes only at a terminal, which its own module makes.
TEST_F(CompletionTest, ZshOffersVerbsOptionsAndWords) {
  if (!has("zsh")) GTEST_SKIP() << "there is no zsh";
  write("drive.zsh", "path=(" + at("prefix/bin") + R"( $path)
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell "PROMPT= ; setopt no_beep ; autoload -U compinit ; compinit -u -D ; source $1"
zpty -w shell "zstyle ':completion:*' list-colors no=; LISTMAX=0 ; bindkey '^X' list-choices ; print REA''DY"
zpty -r -m shell text '*READY*'
zpty -n -w shell "$2"$'\C-x'
text= ; chunk=
for ((i = 0; i < 60; ++i)); do
  sleep 0.1
  while zpty -r -t shell chunk; do text+=$chunk; i=50; done
done
zpty -d shell
print -r -- $text
)");
  const auto zsh = [&](const std::string& line) {
    return output_of("zsh", {"-f", at("drive.zsh"), script("zsh"), line});
  };
  install_models();
  EXPECT_THAT(zsh("tfaot info area/te"), HasSubstr("area/test-net"));
  const std::string verbs = zsh("tfaot co");
  for (const char* verb : {"compile", "convert-area", "condor", "completion"}) {
    EXPECT_THAT(verbs, HasSubstr(verb));
  }
  EXPECT_THAT(zsh("tfaot compile --ca"), HasSubstr("--cache-limit"));
  const std::string words = zsh("tfaot compile --weights ");
  for (const char* word : {"shared", "embedded"}) EXPECT_THAT(words, HasSubstr(word));
  EXPECT_THAT(zsh("tfaot compile -c "), HasSubstr("config.yaml"));
}

TEST_F(CompletionTest, ManPagesAreWithoutFault) {
  ASSERT_EQ(run({"completion", "--write-all", "share"}).exit_code, 0);
  const std::vector<std::string> pages = files_in("share/man/man1");
  ASSERT_THAT(pages, IsSupersetOf({"tfaot.1", "tfaot-compile.1", "tfaot-completion.1"}));
  EXPECT_THAT(read("share/man/man1/tfaot-compile.1"), HasSubstr("\\-\\-output\\-directory DIR"));
  EXPECT_THAT(files_in("share"), IsSupersetOf({"bash-completion/completions/tfaot",
                                               "fish/vendor_completions.d/tfaot.fish",
                                               "zsh/vendor-completions/_tfaot"}));
  EXPECT_EQ(read("share/bash-completion/completions/tfaot"), run({"completion", "bash"}).out);
  if (!has("groff")) GTEST_SKIP() << "there is no groff";
  for (const std::string& page : pages) {
    const std::string shown = output_of(
        "groff", {"-man", "-Tutf8", "-P-cbou", "-ww", "-rLL=100n", at("share/man/man1/" + page)});
    EXPECT_THAT(shown, HasSubstr("SYNOPSIS")) << page;
  }
}

TEST_F(CompletionTest, AsksForOneShell) {
  EXPECT_EQ(run({"completion"}).exit_code, 2);
  EXPECT_EQ(run({"completion", "csh"}).exit_code, 2);
}

}  // namespace
}  // namespace tfaot::toolkit::testing
