// SPDX-License-Identifier: Apache-2.0
// Gathers of elements that lie together: as calls of a kernel they give the same.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "compiler/kernels/kernel_call.h"
#include "tests/unit/engine/parse_hlo.h"
#include "tests/unit/engine/run_kernels.h"
#include "tests/unit/engine/run_pass.h"
#include "tfaot/kernels/abi.h"

namespace tfaot::toolkit::engine {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr std::int64_t kFirstWeight = 2;  // its parameter

// "6 of 10 rows of 8" for each call of the kernel, if the module computes the same as before, or
// the same as another.
std::vector<std::string> gathered(const std::string& text, const std::string& other = "") {
  const auto module = testing::parse_hlo(text);
  const xla::Literal before =
      testing::result_with_kernels(*testing::parse_hlo(other.empty() ? text : other));
  EXPECT_TRUE(testing::run_pass("settle_layouts", *module, kFirstWeight));
  EXPECT_TRUE(testing::run_pass("replace_gather", *module, kFirstWeight));
  EXPECT_EQ(before, testing::result_with_kernels(*module)) << module->ToString();
  std::vector<std::string> calls;
  for (const auto* one : module->entry_computation()->MakeInstructionPostOrder()) {
    if (!is_call_of(*one, Kernel::kGather)) continue;
    const auto call = call_of<kernels::GatherCall>(*one);
    calls.push_back(
        fmt::format("{} of {} rows of {}", call.rows, gather_parts(*one).front().x_rows, call.row));
  }
  return calls;
}

// Indices -3 to 8 of the sizes, some of them outside of what is gathered.
std::string indices(const std::string& sizes, const std::string& type = "s32") {
  return fmt::format(
      "  p = f32[{0}] parameter(0)\n  three = f32[] constant(3)\n"
      "  t = f32[{0}] broadcast(three), dimensions={{}}\n  m = f32[{0}] multiply(p, t)\n"
      "  i = {1}[{0}] convert(m)\n",
      sizes, type);
}

TEST(GatherCalls, TakeRows) {
  EXPECT_THAT(gathered("ENTRY e {\n" + indices("2,7", "s64") +
                       "  x = f32[5,8] parameter(1)\n"
                       "  ROOT g = f32[2,7,8] gather(x, i), offset_dims={2}, "
                       "collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=2, "
                       "slice_sizes={1,8}\n}\n"),
              ElementsAre("14 of 5 rows of 8"));
}

TEST(GatherCalls, TakeRowsOfEachPartOfABatch) {
  EXPECT_THAT(gathered("ENTRY e {\n" + indices("7") +
                       "  x = f64[2,5,3,2] parameter(1)\n"
                       "  ROOT g = f64[2,7,3,2] gather(x, i), offset_dims={0,2,3}, "
                       "collapsed_slice_dims={1}, start_index_map={1}, index_vector_dim=1, "
                       "slice_sizes={2,1,3,2}\n}\n"),
              ElementsAre("14 of 10 rows of 6"));
}

// Batch dimensions of a gather, as make_module() writes them.
TEST(GatherCalls, TakeRowsOfBatchDimensions) {
  EXPECT_THAT(gathered("ENTRY e {\n" + indices("2,7,1") +
                       "  x = f32[5,2,8] parameter(1)\n"
                       "  b = s32[2,7,1] iota(), iota_dimension=0\n"
                       "  c = s32[2,7,2] concatenate(i, b), dimensions={2}\n"
                       "  ROOT g = f32[2,8,7] gather(x, c), offset_dims={1}, "
                       "collapsed_slice_dims={0,1}, start_index_map={0,1}, "
                       "index_vector_dim=2, slice_sizes={1,1,8}\n}\n"),
              ElementsAre("14 of 10 rows of 8"));
}

// As TensorFlow's GatherNd, and its gather with batch dimensions: coordinates in any order.
TEST(GatherCalls, TakeRowsBySeveralCoordinates) {
  EXPECT_THAT(gathered("ENTRY e {\n" + indices("7,2") +
                       "  x = f32[3,4,8] parameter(1)\n"
                       "  ROOT g = f32[7,8] gather(x, i), offset_dims={1}, "
                       "collapsed_slice_dims={0,1}, start_index_map={1,0}, index_vector_dim=1, "
                       "slice_sizes={1,1,8}\n}\n"),
              ElementsAre("7 of 12 rows of 8"));
}

// Channels first, as exporters of PyTorch write nearest neighbours.
TEST(GatherCalls, TakeColumnsThatWereRows) {
  EXPECT_THAT(gathered("ENTRY e {\n" + indices("7") +
                       "  x = f32[3,5,8] parameter(1)\n"
                       "  y = f32[8,3,5] transpose(x), dimensions={2,0,1}\n"
                       "  g = f32[8,3,7] gather(y, i), offset_dims={0,1}, "
                       "collapsed_slice_dims={2}, start_index_map={2}, index_vector_dim=1, "
                       "slice_sizes={8,3,1}\n"
                       "  ROOT z = f32[3,7,8] transpose(g), dimensions={1,2,0}\n}\n"),
              ElementsAre("21 of 15 rows of 8"));
  EXPECT_THAT(gathered("ENTRY e {\n" + indices("6") +
                       "  x = f32[5,8] parameter(1)\n"
                       "  y = f32[8,5] transpose(x), dimensions={1,0}\n"
                       "  g = f32[8,6] gather(y, i), offset_dims={0}, collapsed_slice_dims={1}, "
                       "start_index_map={1}, index_vector_dim=1, slice_sizes={8,1}\n"
                       "  r = f32[8,2,3] reshape(g)\n"
                       "  ROOT z = f32[2,3,8] transpose(r), dimensions={1,2,0}\n}\n"),
              ElementsAre("6 of 5 rows of 8"));
}

TEST(GatherCalls, TakeRowsOfWeightsUnlessPlacesAreKnown) {
  const std::string table = "  x = f32[5,8] parameter(2)\n";
  const std::string gather =
      "  ROOT g = f32[7,8] gather(x, i), offset_dims={1}, collapsed_slice_dims={0}, "
      "start_index_map={0}, index_vector_dim=1, slice_sizes={1,8}\n}\n";
  const std::string other = "  y = f32[2] parameter(1)\n";
  EXPECT_THAT(gathered("ENTRY e {\n" + indices("7") + other + table + gather),
              ElementsAre("7 of 5 rows of 8"));
  EXPECT_THAT(gathered("ENTRY e {\n  p = f32[2] parameter(0)\n" + other + table +
                       "  i = s32[7] constant({0,1,2,3,4,4,9})\n" + gather),
              IsEmpty());
}

TEST(GatherCalls, LeaveOthersAlone) {
  // Windows, single elements, and parts of rows.
  EXPECT_THAT(gathered("ENTRY e {\n" + indices("7,1") +
                       "  x = f32[5,8] parameter(1)\n"
                       "  ROOT g = f32[7,2,8] gather(x, i), offset_dims={1,2}, "
                       "collapsed_slice_dims={}, start_index_map={0}, index_vector_dim=1, "
                       "slice_sizes={2,8}\n}\n"),
              IsEmpty());
  EXPECT_THAT(gathered("ENTRY e {\n" + indices("7") +
                       "  x = f32[8,5] parameter(1)\n"
                       "  ROOT g = f32[8,7] gather(x, i), offset_dims={0}, "
                       "collapsed_slice_dims={1}, start_index_map={1}, index_vector_dim=1, "
                       "slice_sizes={8,1}\n}\n"),
              IsEmpty());
  EXPECT_THAT(gathered("ENTRY e {\n" + indices("7") +
                       "  x = f32[5,8] parameter(1)\n"
                       "  ROOT g = f32[7,6] gather(x, i), offset_dims={1}, "
                       "collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, "
                       "slice_sizes={1,6}\n}\n"),
              IsEmpty());
}

}  // namespace
}  // namespace tfaot::toolkit::engine
