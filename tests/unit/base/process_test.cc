// SPDX-License-Identifier: Apache-2.0
// What a child gets and what it returns. How it is stopped: process_control_test.cc.
#include "tfaot/base/process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <thread>

#include "shell.h"
#include "tests/support/temporary_folder.h"
#include "tfaot/base/text.h"

namespace tfaot::toolkit {
namespace {

using ::testing::ElementsAre;

std::string error_of(const ProcessSpec& spec) {
  const auto result = run_process(spec);
  return result ? "no error" : result.error().text();
}

TEST(Process, ReturnsExitCodeAndBothOutputs) {
  const ProcessResult result = run_process(shell("echo out; echo err >&2; exit 3")).value();
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_EQ(result.signal, 0);
  EXPECT_FALSE(result.timed_out);
  EXPECT_FALSE(result.ok());
  EXPECT_EQ(result.standard_output, "out\n");
  EXPECT_EQ(result.standard_error, "err\n");
  EXPECT_TRUE(run_process(shell("true")).value().ok());
}

TEST(Process, ReportsDeathBySignal) {
  const ProcessResult result = run_process(shell("echo last words; kill -SEGV $$")).value();
  EXPECT_EQ(result.signal, SIGSEGV);
  EXPECT_FALSE(result.timed_out);
  EXPECT_FALSE(result.ok());
  EXPECT_EQ(result.standard_output, "last words\n");
}

TEST(Process, LargeOutputsOnBothPipesDoNotBlockEachOther) {
  // Each pipe holds 64 KiB: reading one to its end before the other would never return, in either
  // order.
  const std::string script =
      "head -c 2000000 /dev/zero >&2; head -c 2000000 /dev/zero; head -c 2000000 /dev/zero >&2";
  const ProcessResult result = run_process(shell(script)).value();
  EXPECT_TRUE(result.ok());
  EXPECT_EQ(result.standard_output.size(), 2'000'000U);
  EXPECT_EQ(result.standard_error.size(), 4'000'000U);
}

TEST(Process, GetsTheWholeInput) {
  ProcessSpec spec;
  spec.program = "cat";
  spec.standard_input = std::string(1'000'000, 'x') + "end";
  EXPECT_TRUE(run_process(spec).value().standard_output == spec.standard_input);
  spec.standard_input.clear();
  EXPECT_EQ(run_process(spec).value().standard_output, "");
}

TEST(Process, InputThatNobodyReadsIsNoError) {
  ProcessSpec spec = shell("exec <&-; exit 0");
  spec.standard_input = std::string(1'000'000, 'x');
  EXPECT_TRUE(run_process(spec).value().ok());
}

TEST(Process, HandsOutLinesAsTheyCome) {
  std::vector<std::string> lines;
  ProcessSpec spec = shell("printf 'one\\n\\ntw'; printf 'o\\nlast'");
  spec.on_stdout_line = [&lines](const std::string& line) { lines.push_back(line); };
  EXPECT_EQ(run_process(spec).value().standard_output, "one\n\ntwo\nlast");
  EXPECT_THAT(lines, ElementsAre("one", "", "two", "last"));
}

TEST(Process, LinesArriveWhileTheChildRuns) {
  const testing::TemporaryFolder folder;
  const std::string fifo = (folder.path() / "go").string();
  ProcessSpec spec = shell("mkfifo \"$FIFO\"; echo ready; read answer < \"$FIFO\"; echo $answer");
  spec.environment["FIFO"] = fifo;
  // The child waits for an answer to its first line: without it this test would not end.
  spec.on_stdout_line = [&](const std::string& line) {
    if (line == "ready") std::ofstream(fifo) << "go on\n";
  };
  EXPECT_EQ(run_process(spec).value().standard_output, "ready\ngo on\n");
}

TEST(Process, ArgumentsArePassedAsTheyAre) {
  ProcessSpec spec;
  spec.program = "printf";
  spec.arguments = {"%s|", "a b", "$HOME", "*", "", "\"';"};
  EXPECT_EQ(run_process(spec).value().standard_output, "a b|$HOME|*||\"';|");
}

TEST(Process, EnvironmentIsAddedToTheParents) {
  ::setenv("TFAOT_TEST_KEPT", "kept", 1);
  ::setenv("TFAOT_TEST_REPLACED", "old", 1);
  ProcessSpec spec = shell("echo $TFAOT_TEST_KEPT $TFAOT_TEST_REPLACED $TFAOT_TEST_ADDED");
  spec.environment = {{"TFAOT_TEST_REPLACED", "new"}, {"TFAOT_TEST_ADDED", "a=b"}};
  EXPECT_EQ(run_process(spec).value().standard_output, "kept new a=b\n");
}

TEST(Process, RunsInTheWorkingDirectoryWithoutMovingTheParent) {
  const testing::TemporaryFolder folder;
  const Path before = std::filesystem::current_path();
  ProcessSpec spec = shell("pwd -P");
  spec.working_directory = folder.path();
  EXPECT_EQ(trim(run_process(spec).value().standard_output),
            std::filesystem::canonical(folder.path()));
  EXPECT_EQ(std::filesystem::current_path(), before);
}

TEST(Process, ARelativeProgramIsRelativeToTheParent) {
  const testing::TemporaryFolder folder;
  const Path tool = "tfaot_process_test_tool.tmp";
  std::filesystem::copy_file("/bin/echo", tool, std::filesystem::copy_options::overwrite_existing);
  ProcessSpec spec;
  spec.program = "./" + tool.string();
  spec.arguments = {"found"};
  spec.working_directory = folder.path();
  const auto result = run_process(spec);
  std::filesystem::remove(tool);
  EXPECT_EQ(result.value().standard_output, "found\n");
}

TEST(Process, SaysWhyItCannotStart) {
  ProcessSpec spec;
  spec.program = "tfaot-no-such-program";
  EXPECT_EQ(error_of(spec), "cannot start 'tfaot-no-such-program': no such program in PATH");
  spec.program = "/no/such/program";
  EXPECT_EQ(error_of(spec), "cannot start '/no/such/program': no such file or directory");
  spec.program = "/dev/null";
  EXPECT_EQ(error_of(spec), "cannot start '/dev/null': permission denied");
  spec.program = "sh";
  spec.working_directory = "/no/such/folder";
  EXPECT_EQ(error_of(spec),
            "cannot start 'sh': its working directory '/no/such/folder' is not a folder");
}

TEST(RunTool, SaysWhatIsMissingAndWhatToDo) {
  ProcessSpec spec;
  spec.program = "/no/such/ld";
  const auto run = run_tool(spec, {"the linker cannot be started", "install it"});
  ASSERT_FALSE(run);
  EXPECT_EQ(run.error().text(),
            "the linker cannot be started\n"
            "  cannot start '/no/such/ld': no such file or directory\n"
            "  install it");
}

TEST(RunTool, AddsHowAProgramEndedAndItsLastWords) {
  const auto text_of = [](const ProcessSpec& spec) {
    return with_last_words(Error("it failed"), run_tool(spec, {}).value(), 2).text();
  };
  EXPECT_EQ(text_of(shell("echo one >&2; echo two >&2; echo three >&2; exit 1")),
            "it failed\n  two\n  three");
  EXPECT_EQ(text_of(shell("kill -SEGV $$")), "it failed\n  signal 11 ended it");
  ProcessSpec slow = shell("exec sleep 1000");
  slow.timeout = std::chrono::milliseconds(50);
  EXPECT_EQ(text_of(slow), "it failed\n  it took too long and was stopped");
}

TEST(Process, ManyThreadsGetEachTheirOwn) {
  constexpr int kEach = 3;
  std::vector<std::thread> threads;
  std::array<int, 8> right{};
  for (std::size_t t = 0; t < right.size(); ++t) {
    threads.emplace_back([t, &right] {
      for (int i = 0; i < kEach; ++i) {
        const std::string word = std::to_string(t) + "." + std::to_string(i);
        const auto result = run_process(shell("echo " + word + "; exit " + std::to_string(t)));
        if (result && result->exit_code == static_cast<int>(t) &&
            result->standard_output == word + "\n") {
          ++right[t];
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(right, ::testing::Each(kEach));
}

}  // namespace
}  // namespace tfaot::toolkit
