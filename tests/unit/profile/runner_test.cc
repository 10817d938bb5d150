// SPDX-License-Identifier: Apache-2.0
// The real program, without an engine. Engines are tested in tests/e2e.
#include "tfaot/profile/runner.h"

#include <gmock/gmock.h>

#include <array>
#include <cstring>

#include "tests/support/temporary_folder.h"
#include "tfaot/base/real_file_system.h"

namespace tfaot::toolkit {
namespace {

using ::testing::HasSubstr;

class RunnerTest : public ::testing::Test {
 protected:
  RunnerTest() {
    EXPECT_TRUE(files_.replace_atomically(folder_.path() / "x", std::string(4 * 8, '\0')));
    spec_.program = TFAOT_RUNNER;
    spec_.settings = {"engine=none", "input=float32 2 x", "output=float32 - y",
                      "input_file=" + (folder_.path() / "x").string()};
  }
  std::string error() const {
    const auto runner = RunnerProcess::start(files_, spec_);
    return runner ? "no error" : runner.error().text();
  }

  testing::TemporaryFolder folder_;
  RealFileSystem files_;
  RunnerSpec spec_;
};

TEST_F(RunnerTest, AnswersQuestions) {
  const auto runner = RunnerProcess::start(files_, spec_);
  ASSERT_TRUE(runner) << runner.error().text();
  EXPECT_GT((*runner)->load_time(), 0);
  EXPECT_EQ((*runner)->prepare(4).value().worst, 0);
  EXPECT_GE((*runner)->time(1000).value().wall, 0);
  EXPECT_FALSE((*runner)->allocations(1).value());
  EXPECT_TRUE((*runner)->operations(1).value().empty());
  const MemoryUse memory = (*runner)->memory().value();
  EXPECT_GT(memory.proportional, 0);
  EXPECT_GE(memory.resident, memory.proportional);
}

TEST_F(RunnerTest, CountsAllocationsIfTheCounterIsPreloaded) {
  spec_.environment = {{"LD_PRELOAD", TFAOT_ALLOCATION_COUNTER},
                       {"ASAN_OPTIONS", "verify_asan_link_order=0"}};
  const auto runner = RunnerProcess::start(files_, spec_);
  ASSERT_TRUE(runner) << runner.error().text();
  const auto counted = (*runner)->allocations(100).value();
  ASSERT_TRUE(counted);
  EXPECT_EQ(counted->count, 0);  // no engine allocates nothing
}

TEST_F(RunnerTest, SaysWhatItCannotDo) {
  const auto runner = RunnerProcess::start(files_, spec_);
  ASSERT_TRUE(runner) << runner.error().text();
  const auto prepared = (*runner)->prepare(5);
  ASSERT_FALSE(prepared);
  EXPECT_THAT(prepared.error().text(), HasSubstr("the file of 'x' has too few rows"));
  spec_.settings[0] = "engine=steam";
  EXPECT_THAT(error(), HasSubstr("no such engine: 'steam'"));
  spec_.settings[0] = "engine";
  EXPECT_THAT(error(), HasSubstr("not KEY=VALUE: engine"));
  spec_.program = "/nowhere/runner";
  EXPECT_THAT(error(), HasSubstr("cannot start '/nowhere/runner'"));
}

TEST_F(RunnerTest, TakesRowsInTurn) {
  const std::array<float, 8> rows = {0, 1, 10, 11, 20, 21, 30, 31};  // four
  std::string bytes(sizeof rows, '\0');
  std::memcpy(bytes.data(), rows.data(), sizeof rows);
  ASSERT_TRUE(files_.replace_atomically(folder_.path() / "x", bytes));
  spec_.settings.emplace_back("first=0");
  const auto last = [&](std::int64_t count, std::int64_t calls) {
    const auto runner = RunnerProcess::start(files_, spec_);
    EXPECT_TRUE((*runner)->prepare(count));
    EXPECT_TRUE((*runner)->time(calls));  // after one call that is not counted
    EXPECT_TRUE((*runner)->write_outputs(folder_.path() / "y"));
    float first = -1;
    std::memcpy(&first, files_.read(folder_.path() / "y0").value().data(), sizeof first);
    return first;
  };
  EXPECT_EQ(last(1, 1), 0);
  spec_.settings.emplace_back("turns=4");
  EXPECT_EQ(last(1, 1), 20);
  EXPECT_EQ(last(1, 3), 0);
  EXPECT_EQ(last(3, 1), 0);  // a fourth row alone is left out
  EXPECT_THAT((*RunnerProcess::start(files_, spec_))->prepare(5).error().text(),
              HasSubstr("more rows than 'turns'"));
  spec_.settings.back() = "turns=5";
  EXPECT_THAT((*RunnerProcess::start(files_, spec_))->prepare(1).error().text(),
              HasSubstr("the file of 'x' has too few rows"));
}

TEST(RunnerMemory, IsReadFromSmapsRollup) {
  const MemoryUse use = memory_of(
      "55d0-7ffd ---p 00000000 00:00 0  [rollup]\nRss:                3480 kB\nPss:       "
      "         450 kB\nPss_Dirty: 1 kB\n");
  EXPECT_EQ(use.resident, 3480 * 1024);
  EXPECT_EQ(use.proportional, 450 * 1024);
}

TEST_F(RunnerTest, WritesOutputsAndSaysItsVersion) {
  spec_.settings.emplace_back("first=0");
  const auto runner = RunnerProcess::start(files_, spec_);
  ASSERT_TRUE(runner) << runner.error().text();
  EXPECT_EQ((*runner)->version().value(), "unknown");
  ASSERT_TRUE((*runner)->prepare(2));
  EXPECT_TRUE((*runner)->write_outputs(folder_.path() / "an output_"));
}

}  // namespace
}  // namespace tfaot::toolkit
