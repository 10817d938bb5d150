// SPDX-License-Identifier: Apache-2.0
// With a compiler that writes a shell script instead of a program; tests/e2e measures for real.
#include "tfaot/tune/tune.h"
#include "tests/support/executable_file.h"
#include "tfaot/base/real_file_system.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "tests/support/temporary_folder.h"

namespace tfaot::toolkit {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class Steps final : public Diagnostics {
 public:
  void warning(const std::string& text) override { warnings.push_back(text); }
  void verbose(const std::string&) override {}
  void progress(std::size_t done, std::size_t total, const std::string& step) override {
    all.push_back(fmt::format("{}/{} {}", done, total, step));
  }
  std::vector<std::string> all;
  std::vector<std::string> warnings;
};

class TuneTest : public ::testing::Test {
 protected:
  TuneTest() {
    manifest_.name = "net";
    manifest_.architecture = "x86_64-linux";
    manifest_.cpu_levels = {"x86-64", "x86-64-v4"};
    manifest_.files = {
        {"lib/net_bs1.o", "", 1}, {"runtime/lib/libtfaot_runtime.a", "", 1}, {"TOOL.xml", "", 1}};
    options_.tree = "/the tree";
    options_.work_directory = folder_.path();
    options_.program = "the source";
    options_.machine = "x86_64";
    options_.budget = std::chrono::milliseconds(8000);
    compiler("echo \"1 x86-64 100.5\"; echo \"4 x86-64 200\"");
  }

  // The compiler records its arguments and makes a program that runs the script.
  void compiler(const std::string& script) {
    options_.compiler = (folder_.path() / "c++").string();
    ASSERT_TRUE(fs_.replace_atomically(options_.compiler,
                                       "#!/bin/sh\nprintf '%s\\n' \"$@\" > \"" + at("arguments") +
                                           "\"\nwhile [ \"$1\" != -o ]; do shift; done\n"
                                           "printf '#!/bin/sh\\n%s\\n' '" +
                                           script + "' > \"$2\"\nchmod +x \"$2\"\n"));
    testing::make_executable(options_.compiler);
  }

  std::string at(const std::string& name) const { return (folder_.path() / name).string(); }
  Result<Tuning> tune() { return tune_package(fs_, manifest_, options_, steps_); }
  std::string error() {
    const auto tuning = tune();
    return tuning ? "no error" : tuning.error().text();
  }

  const testing::TemporaryFolder folder_;
  RealFileSystem fs_;
  Manifest manifest_;
  TuneOptions options_;
  Steps steps_;
};

TEST_F(TuneTest, LinksTheObjectsAndTheRuntime) {
  ASSERT_TRUE(tune());
  EXPECT_EQ(*fs_.read(at("measure.cc")), "the source");
  EXPECT_EQ(*fs_.read(at("arguments")),
            "-std=c++17\n-O2\n-I\n/the tree/include\n-I\n/the tree/runtime/include\n-o\n" +
                at("measure") + "\n" + at("measure.cc") +
                "\n/the tree/lib/net_bs1.o\n/the tree/runtime/lib/libtfaot_runtime.a\n");
}

TEST_F(TuneTest, StopsWhenTheIntervalsAreNarrow) {
  const auto tuning = tune();
  ASSERT_TRUE(tuning) << tuning.error().text();
  ASSERT_EQ(tuning->calls.size(), 2U);
  EXPECT_EQ(tuning->calls[0].ns, 100.5);
  EXPECT_EQ(tuning->calls[0].repeats, 3U);
  EXPECT_EQ(tuning->calls[1].batch_size, 4);
  EXPECT_EQ(tuning->calls[1].cpu_level, "x86-64");
  EXPECT_EQ(tuning->cpu, cpu_name(fs_));
  EXPECT_THAT(steps_.all,
              ElementsAre("1/8 costs are known to 0.0 %", "2/8 costs are known to 0.0 %",
                          "8/8 costs are known to 0.0 %"));
}

TEST_F(TuneTest, UsesTheBudgetUpForTimingsThatVary) {
  compiler("echo \"1 x86-64 100\"; echo \"1 x86-64 300\"; echo $1 >> \"" + at("slices") + "\"");
  const auto tuning = tune();
  ASSERT_TRUE(tuning);
  EXPECT_EQ(tuning->calls[0].ns, 200);
  EXPECT_EQ(tuning->calls[0].low, 100);
  EXPECT_EQ(tuning->calls[0].high, 300);
  EXPECT_EQ(tuning->calls[0].repeats, 16U);
  EXPECT_EQ(steps_.warnings.size(), 1U);
  EXPECT_EQ(*fs_.read(at("slices")), "1.000\n1.000\n1.000\n1.000\n1.000\n1.000\n1.000\n1.000\n");
}

TEST_F(TuneTest, SaysWhenTimingsTellNothing) {
  compiler("echo \"1 x86-64 100\"; echo \"1 x86-64 9000\"; echo \"1 x86-64 150\"");
  ASSERT_TRUE(tune());
  EXPECT_EQ(steps_.all.back(), "8/8 costs are not known yet: timings vary too much");
  EXPECT_THAT(steps_.warnings,
              ElementsAre("the costs are uncertain: timings of one call vary by 25 % or more; tune "
                          "again when the machine is idle, or with a larger --budget"));
}

TEST_F(TuneTest, RefusesAForeignPackage) {
  options_.machine = "aarch64";
  EXPECT_EQ(error(),
            "/the tree: the package is for 'x86_64', this machine is 'aarch64'\n"
            "  tune it on a machine that can run it");
}

TEST_F(TuneTest, NeedsACompiler) {
  options_.compiler = "no-such-compiler";
  EXPECT_THAT(error(), ::testing::StartsWith("the C++ compiler 'no-such-compiler', which links the "
                                             "code to measure, cannot be started\n"));
  EXPECT_THAT(error(), HasSubstr("install one, such as g++, or name it with --compiler"));
}

TEST_F(TuneTest, ShowsWhatTheCompilerSays) {
  ASSERT_TRUE(
      fs_.replace_atomically(options_.compiler, "#!/bin/sh\necho 'undefined: foo' >&2\nexit 1\n"));
  testing::make_executable(options_.compiler);
  EXPECT_EQ(error(), "/the tree: the program that measures cannot be built\n  undefined: foo");
}

TEST_F(TuneTest, ShowsTheFirstErrorOfManyLines) {
  ASSERT_TRUE(fs_.replace_atomically(
      options_.compiler,
      "#!/bin/sh\n{ echo 'In file included from a:'; echo \"x.h:1: error: 'Error' is no type\"\n"
      "for i in 1 2 3 4 5 6; do echo \"line $i\"; done; } >&2\nexit 1\n"));
  testing::make_executable(options_.compiler);
  EXPECT_EQ(error(),
            "/the tree: the program that measures cannot be built\n  x.h:1: error: 'Error' is no "
            "type\n  line 1\n  line 2\n  line 3\n  line 4");
}

TEST_F(TuneTest, TellsOfAProgramThatFails) {
  compiler("kill -SEGV $$");
  EXPECT_EQ(error(), "the program that measures failed\n  signal 11 ended it");
  compiler("echo broken >&2; exit 3");
  EXPECT_EQ(error(), "the program that measures failed\n  broken");
  compiler("echo gibberish");
  EXPECT_EQ(error(), "the measuring program wrote 'gibberish'");
  compiler("true");
  EXPECT_EQ(error(),
            "/the tree: this CPU cannot run any code of the package\n  its CPU levels: x86-64, "
            "x86-64-v4");
}

}  // namespace
}  // namespace tfaot::toolkit
