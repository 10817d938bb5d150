// SPDX-License-Identifier: Apache-2.0
// Sums of gathered and repeated rows, as calls of a kernel: they give the same.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/unit/engine/parse_hlo.h"
#include "tests/unit/engine/run_kernels.h"
#include "tests/unit/engine/run_pass.h"

namespace tfaot::toolkit::engine {
namespace {

using ::testing::ElementsAre;

constexpr std::int64_t kFirstAddedWeight = 3;  // its parameter

// The kernels of a sum for 4 neighbours of each of 5 nodes, in two graphs, after a gather of
// theirs.
std::vector<std::string> kernels_of_added(const std::string& sum, int row = 12) {
  const auto module = testing::parse_hlo(fmt::format(
      R"(
ENTRY e {{
  x = f32[2,5,{0}] parameter(0)
  p = f32[2,5,4,1] parameter(1)
  edge = f32[2,5,4,{0}] parameter(2)
  two = f32[] constant(2)
  twos = f32[2,5,4,1] broadcast(two), dimensions={{}}
  scaled = f32[2,5,4,1] multiply(p, twos)
  i = s32[2,5,4,1] convert(scaled)
  graph = s32[2,5,4,1] iota(), iota_dimension=0
  places = s32[2,5,4,2] concatenate(graph, i), dimensions={{3}}
  near = f32[2,5,4,{0}] gather(x, places), offset_dims={{3}}, collapsed_slice_dims={{0,1}}, start_index_map={{0,1}}, index_vector_dim=3, slice_sizes={{1,1,{0}}}
  own = f32[2,5,4,{0}] broadcast(x), dimensions={{0,1,3}}
  first = f32[2,4,{0}] slice(x), slice={{[0:2], [0:4], [0:{0}]}}
  others = f32[2,5,4,{0}] broadcast(first), dimensions={{0,2,3}}
  zero = f32[] constant(0)
  zeros = f32[2,5,4,{0}] broadcast(zero), dimensions={{}}
  {1}
}})",
      row, sum));
  const auto before = testing::result_with_kernels(*module);
  EXPECT_TRUE(testing::run_pass("replace_gather", *module, kFirstAddedWeight));
  EXPECT_TRUE(testing::run_pass("replace_added_rows", *module));
  EXPECT_EQ(before, testing::result_with_kernels(*module)) << module->ToString();
  return testing::called_kernels(*module);
}

TEST(AddedRows, AreFoundByTheKernelThatAddsThem) {
  EXPECT_THAT(kernels_of_added("s = f32[2,5,4,12] add(own, near)\n"
                               "  ROOT r = f32[2,5,4,12] maximum(s, zeros)"),
              ElementsAre("add_rows_f32"));
  EXPECT_THAT(kernels_of_added("s = f32[2,5,4,12] add(near, others)\n"
                               "  flat = f32[40,12] reshape(s)\n  rest = f32[40,12] reshape(edge)\n"
                               "  ROOT r = f32[40,12] add(flat, rest)"),
              ElementsAre("add_rows_f32"));
  // More than the kernel adds at once: it adds some of them.
  EXPECT_THAT(kernels_of_added("a = f32[2,5,4,12] add(near, others)\n"
                               "  b = f32[2,5,4,12] add(a, own)\n"
                               "  c = f32[2,5,4,12] add(b, edge)\n"
                               "  ROOT r = f32[2,5,4,12] add(c, edge)"),
              ElementsAre("add_rows_f32"));
}

TEST(AddedRows, StayInLoopsWithoutAGather) {
  EXPECT_THAT(kernels_of_added("s = f32[2,5,4,12] add(own, others)\n"
                               "  ROOT r = f32[2,5,4,12] maximum(s, zeros)"),
              ElementsAre());
}

// A term that is computed there, rows that are short, and a gather that others need too.
TEST(AddedRows, StayInLoopsThatDoMore) {
  EXPECT_THAT(kernels_of_added("t = f32[2,5,4,12] tanh(edge)\n"
                               "  ROOT r = f32[2,5,4,12] add(near, t)"),
              ElementsAre("gather_f32"));
  EXPECT_THAT(kernels_of_added("ROOT r = f32[2,5,4,7] add(near, own)", 7),
              ElementsAre("gather_f32"));
  EXPECT_THAT(kernels_of_added("s = f32[2,5,4,12] add(near, own)\n"
                               "  ROOT r = f32[2,5,4,12] multiply(s, near)"),
              ElementsAre("gather_f32"));
}

}  // namespace
}  // namespace tfaot::toolkit::engine
