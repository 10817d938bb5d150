// SPDX-License-Identifier: Apache-2.0
#include "tfaot/profile/heap.h"

#include <gmock/gmock.h>

#include "tests/support/executable_file.h"
#include "tests/support/temporary_folder.h"
#include "tfaot/base/real_file_system.h"

namespace tfaot::toolkit {
namespace {

using ::testing::HasSubstr;

// As valgrind 3.19 writes it, shortened; the second snapshot holds a tree whose names look like
// figures.
constexpr const char* kMassif = R"(desc: --time-unit=ms --depth=1
cmd: tfaot-runner engine=package time=7
time_unit: ms
#-----------
snapshot=0
#-----------
time=0
mem_heap_B=0
mem_heap_extra_B=0
mem_stacks_B=0
heap_tree=empty
#-----------
snapshot=1
#-----------
time=381
mem_heap_B=170565
mem_heap_extra_B=11787
mem_stacks_B=0
heap_tree=peak
n2: 170565 (heap allocation functions) malloc/new/new[], --alloc-fns, etc.
 n0: 72704 0x4DD57B9: mem_heap_B=1 (in libstdc++.so.6)
 n0: 97861 in 51 places, all below massif's threshold (1.00%)
#-----------
snapshot=2
#-----------
time=447
mem_heap_B=480
mem_heap_extra_B=0
mem_stacks_B=0
heap_tree=empty
)";

std::string massif_error(const std::string& text) {
  const auto heap = read_massif(text, "massif.out");
  return heap ? "no error" : heap.error().text();
}

TEST(Massif, IsTheHeapOverTime) {
  const auto heap = read_massif(kMassif, "massif.out");
  ASSERT_TRUE(heap) << heap.error().text();
  EXPECT_EQ(heap->peak, 170565);
  ASSERT_EQ(heap->over_time.size(), 3U);
  EXPECT_EQ(heap->over_time[1].ms, 381);
  EXPECT_EQ(heap->over_time[1].bytes, 170565);
  EXPECT_EQ(heap->over_time[2].bytes, 480);
}

TEST(Massif, OfHeaptrackHasSeconds) {
  const auto heap =
      read_massif("#-----------\nsnapshot=0\n#-----------\ntime=0.099\nmem_heap_B=163277\n", "m");
  ASSERT_TRUE(heap) << heap.error().text();
  EXPECT_DOUBLE_EQ(heap->over_time.at(0).ms, 99);
  EXPECT_EQ(heap->peak, 163277);
}

TEST(Massif, SaysWhatIsNoneOfIt) {
  EXPECT_EQ(massif_error(""), "massif.out: not what massif writes: it holds no snapshot");
  EXPECT_EQ(massif_error("time_unit: i\n"), "massif.out:1: not what massif writes: 'time_unit: i'");
  EXPECT_EQ(massif_error("snapshot=0\ntime=soon\n"),
            "massif.out:2: not what massif writes: 'time=soon'");
  EXPECT_EQ(massif_error("snapshot=0\ntime=1\nmem_heap_B=-1\n"),
            "massif.out:3: not what massif writes: 'mem_heap_B=-1'");
  EXPECT_EQ(massif_error("snapshot=0\ntime=1\nmem_heap_B=12 kB\n"),
            "massif.out:3: not what massif writes: 'mem_heap_B=12 kB'");
}

// A runner whose CPU lacks the best level, below a tool that talks.
class HeapTest : public ::testing::Test {
 protected:
  HeapTest() {
    write("runner",
          "#!/bin/sh\ncase \"$*\" in *x86-64-v4*) echo 'no such level' >&2; exit 1;; esac\n"
          "echo ready 1\nwhile read -r verb number; do\n  echo \"$verb $number\" >> \"$0.asked\"\n"
          "  case $verb in prepare) echo ok 0 0;; *) echo 1 1;; esac\ndone\n");
    // Its file is there some time after the runner has ended.
    write("valgrind",
          "#!/bin/sh\nfor word; do case $word in --massif-out-file=*) out=${word#*=};; esac; done\n"
          "while case $1 in -*) true;; *) false;; esac; do shift; done\necho watching\n"
          "\"$@\" || exit\nsleep 0.7\n"
          "printf 'time_unit: ms\\nsnapshot=0\\ntime=1\\nmem_heap_B=5\\n' > \"$out\"\n");
    request_.runner.program = folder_.path() / "runner";
    request_.runner.settings = {"cpu_level=x86-64-v4"};
    request_.runner.environment = {{"PATH", folder_.path().string() + ":/usr/bin:/bin"}};
    request_.rows = {1, 8};
    request_.folder = folder_.path();
  }
  void write(const std::string& name, const std::string& text) {
    EXPECT_TRUE(files_.replace_atomically(folder_.path() / name, text));
    testing::make_executable((folder_.path() / name).string());
  }

  testing::TemporaryFolder folder_;
  RealFileSystem files_;
  HeapRequest request_;
};

TEST_F(HeapTest, IsOfTheBestLevelThatRunsBelowTheTool) {
  request_.cpu_levels = {"x86-64-v4", "x86-64-v3", "x86-64"};
  const auto heap = measure_heap(files_, request_);
  ASSERT_TRUE(heap) << heap.error().text();
  EXPECT_EQ(heap->cpu_level, "x86-64-v3");
  EXPECT_EQ(heap->peak, 5);
  EXPECT_EQ(files_.read(folder_.path() / "runner.asked").value(),
            "prepare 1\ntime 1\nprepare 8\ntime 1\n");
}

TEST_F(HeapTest, SaysWhyTheEngineDoesNotRun) {
  request_.cpu_levels = {"x86-64-v4"};
  const auto heap = measure_heap(files_, request_);
  ASSERT_FALSE(heap);
  EXPECT_THAT(heap.error().text(), HasSubstr("no such level"));
}

}  // namespace
}  // namespace tfaot::toolkit
