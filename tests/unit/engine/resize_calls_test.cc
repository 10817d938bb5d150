// SPDX-License-Identifier: Apache-2.0
// However images are resized: as calls of a kernel it is the same.

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "compiler/hlo/simplify.h"
#include "compiler/kernels/kernel_call.h"
#include "tests/unit/engine/parse_hlo.h"
#include "tests/unit/engine/run_kernels.h"
#include "tests/unit/engine/run_pass.h"
#include "tfaot/kernels/abi.h"

namespace tfaot::toolkit::engine {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// "10x8 to 20x16 of 3" for each call of the kernel, if the module computes the same as before.
std::vector<std::string> resized(const std::string& text) {
  const auto module = testing::parse_hlo(text);
  const xla::Literal before = testing::result_with_kernels(*module);
  EXPECT_TRUE(testing::run_pass("replace_resizes", *module));
  EXPECT_TRUE(remove_dead_code(*module));
  EXPECT_LT(testing::relative_difference(before, testing::result_with_kernels(*module)), 1e-6);
  std::vector<std::string> calls;
  for (const auto* one : module->entry_computation()->MakeInstructionPostOrder()) {
    if (!is_call_of(*one, Kernel::kResize)) continue;
    const auto call = call_of<kernels::ResizeCall>(*one);
    calls.push_back(fmt::format("{}x{} to {}x{} of {}", call.in[0], call.in[1], call.out[0],
                                call.out[1], call.channels));
  }
  return calls;
}

// What each of four results is made of, for linear interpolation of two elements.
constexpr const char* kTwoToFour = "{{1,0.75,0.25,0},{0,0.25,0.75,1}}";

TEST(ResizeCalls, TakeProductsWithMatricesOfManyZeros) {
  EXPECT_THAT(
      resized(fmt::format("ENTRY e {{\n  x = f32[3,2,5,6] parameter(0)\n"
                          "  m = f32[2,4] constant({})\n"
                          "  d = f32[3,5,6,4] dot(x, m), lhs_contracting_dims={{1}}, "
                          "rhs_contracting_dims={{0}}\n"
                          "  ROOT r = f32[3,4,5,6] transpose(d), dimensions={{0,3,1,2}}\n}}\n",
                          kTwoToFour)),
      ElementsAre("2x1 to 4x1 of 30"));
}

// A product would make NaN of a whole line if one of its numbers is NaN. Small matrices with most
// places filled stay products.
TEST(ResizeCalls, TakeSingleNumbersOfInterpolations) {
  const auto of_matrix = [](const std::string& sizes, const std::string& matrix) {
    return resized(
        fmt::format("ENTRY e {{\n  x = f32[5,3] parameter(0)\n  m = f32[{}] constant({})"
                    "\n  ROOT d = f32[5,4] dot(x, m), lhs_contracting_dims={{1}}, "
                    "rhs_contracting_dims={{0}}\n}}\n",
                    sizes, matrix));
  };
  EXPECT_THAT(of_matrix("3,4", "{{1,0.5,0,0},{0,0.5,0.5,0},{0,0,0.5,1}}"),
              ElementsAre("3x1 to 4x1 of 1"));
  EXPECT_THAT(of_matrix("3,4", "{{1,0.5,0,1},{0,0.5,0.5,0},{0,0,0.5,1}}"), IsEmpty());
}

// A batch of one is no dimension of the operand then. Rows of a batch stay as they are.
TEST(ResizeCalls, TakeRepeatedElementsOfOneImage) {
  EXPECT_THAT(resized("ENTRY e {\n  x = f32[3,5] parameter(0)\n"
                      "  a = f32[1,3,2,5] broadcast(x), dimensions={1,3}\n"
                      "  ROOT b = f32[1,6,5] reshape(a)\n}\n"),
              ElementsAre("3x1 to 6x1 of 5"));
  EXPECT_THAT(resized("ENTRY e {\n  x = f32[3,5] parameter(0)\n"
                      "  a = f32[3,2,5] broadcast(x), dimensions={0,2}\n"
                      "  ROOT b = f32[6,5] reshape(a)\n}\n"),
              IsEmpty());
}

// The matrix on the left, computed from an iota, and a transposed image: its memory is resized.
TEST(ResizeCalls, LookThroughTransposes) {
  EXPECT_THAT(resized("ENTRY e {\n  x = f32[3,5,2,6] parameter(0)\n"
                      "  last = f32[3,6,5,2] transpose(x), dimensions={0,3,1,2}\n"
                      "  i = s32[4,5] iota(), iota_dimension=0\n"
                      "  j = s32[4,5] iota(), iota_dimension=1\n"
                      "  is = pred[4,5] compare(i, j), direction=EQ\n"
                      "  m = f32[4,5] convert(is)\n"
                      "  ROOT d = f32[4,3,6,2] dot(m, last), lhs_contracting_dims={1}, "
                      "rhs_contracting_dims={2}\n}\n"),
              ElementsAre("5x1 to 4x1 of 12"));
}

TEST(ResizeCalls, JoinBothDimensionsOfImages) {
  const auto two = [](int first, int second) {
    const std::string after[] = {"  ROOT r = f32[3,4,4,6] transpose(e), dimensions={0,2,3,1}\n",
                                 "  ROOT r = f32[3,4,4,6] transpose(e), dimensions={0,3,2,1}\n"};
    return fmt::format(
        "ENTRY e {{\n  x = f32[3,2,2,6] parameter(0)\n"
        "  m = f32[2,4] constant({})\n"
        "  d = f32[3,2,6,4] dot(x, m), lhs_contracting_dims={{{}}}, rhs_contracting_dims={{0}}\n"
        "  e = f32[3,6,4,4] dot(d, m), lhs_contracting_dims={{{}}}, rhs_contracting_dims={{0}}\n"
        "{}}}\n",
        kTwoToFour, first, second, after[first == 1 ? 0 : 1]);
  };
  EXPECT_THAT(resized(two(1, 1)), ElementsAre("2x2 to 4x4 of 6"));
  EXPECT_THAT(resized(two(2, 1)), ElementsAre("2x2 to 4x4 of 6"));
}

// XLA leaves out the batch of one image, and puts it in again elsewhere.
TEST(ResizeCalls, JoinBothDimensionsOfOneImage) {
  EXPECT_THAT(
      resized(fmt::format("ENTRY e {{\n  x = f32[2,2,6] parameter(0)\n  m = f32[2,4] constant({})\n"
                          "  d = f32[2,6,4] dot(x, m), lhs_contracting_dims={{0}}, "
                          "rhs_contracting_dims={{0}}\n"
                          "  one = f32[2,1,6,4] reshape(d)\n"
                          "  t = f32[1,6,4,2] transpose(one), dimensions={{1,2,3,0}}\n"
                          "  image = f32[6,4,2] reshape(t)\n"
                          "  e = f32[6,4,4] dot(image, m), lhs_contracting_dims={{2}}, "
                          "rhs_contracting_dims={{0}}\n"
                          "  ROOT r = f32[1,4,4,6] reshape(e)\n}}\n",
                          kTwoToFour)),
      ElementsAre("2x2 to 4x4 of 6"));
  // A dimension of one element on either side.
  EXPECT_THAT(resized(fmt::format("ENTRY e {{\n  x = f32[3,1,2,6] parameter(0)\n"
                                  "  m = f32[2,4] constant({})\n"
                                  "  t = f32[2,3,6,1] transpose(x), dimensions={{2,0,3,1}}\n"
                                  "  y = f32[1,2,3,6] reshape(t)\n"
                                  "  ROOT d = f32[4,1,3,6] dot(m, y), lhs_contracting_dims={{0}}, "
                                  "rhs_contracting_dims={{1}}\n}}\n",
                                  kTwoToFour)),
              ElementsAre("2x1 to 4x1 of 6"));
}

TEST(ResizeCalls, LeaveOtherProductsAlone) {
  // A dense matrix of five rows, one of single numbers, and a weight.
  EXPECT_THAT(resized("ENTRY e {\n  x = f32[3,5,6] parameter(0)\n  one = f32[] constant(1)\n"
                      "  m = f32[5,4] broadcast(one), dimensions={}\n"
                      "  ROOT d = f32[3,6,4] dot(x, m), lhs_contracting_dims={1}, "
                      "rhs_contracting_dims={0}\n}\n"),
              IsEmpty());
  EXPECT_THAT(resized(fmt::format("ENTRY e {{\n  x = f32[3,2] parameter(0)\n"
                                  "  m = f32[2,4] constant({})\n"
                                  "  ROOT d = f32[3,4] dot(x, m), lhs_contracting_dims={{1}}, "
                                  "rhs_contracting_dims={{0}}\n}}\n",
                                  kTwoToFour)),
              IsEmpty());
  EXPECT_THAT(resized("ENTRY e {\n  x = f32[3,5,6] parameter(0)\n  m = f32[5,4] parameter(1)\n"
                      "  ROOT d = f32[3,6,4] dot(x, m), lhs_contracting_dims={1}, "
                      "rhs_contracting_dims={0}\n}\n"),
              IsEmpty());
}

// As TensorFlow lowers ResizeBilinear: windows of two by two for three by four results.
std::string windows(const std::string& weights) {
  return "ENTRY e {\n  x = f32[2,3,3,5] parameter(0)\n"
         "  i = s32[3,4,1] iota(), iota_dimension=0\n  j = s32[3,4,1] iota(), iota_dimension=1\n"
         "  at = s32[3,4,2] concatenate(i, j), dimensions={2}\n"
         "  g = f32[2,2,2,5,3,4] gather(x, at), offset_dims={0,1,2,3}, collapsed_slice_dims={}, "
         "start_index_map={1,2}, index_vector_dim=2, slice_sizes={2,2,2,5}\n" +
         weights +
         "  d = f32[3,4,2,5] dot(w, g), lhs_batch_dims={2,0}, lhs_contracting_dims={3,1}, "
         "rhs_batch_dims={4,5}, rhs_contracting_dims={1,2}\n"
         "  ROOT r = f32[2,3,4,5] transpose(d), dimensions={2,0,1,3}\n}\n";
}

TEST(ResizeCalls, TakeGatheredWindows) {
  EXPECT_THAT(resized(windows("  rows = f32[3,2] constant({{1,0},{0.5,0.5},{0.2,0.8}})\n"
                              "  columns = f32[4,2] constant({{1,0},{0.3,0.7},{0.6,0.4},{0,1}})\n"
                              "  w = f32[4,2,3,2] dot(columns, rows)\n")),
              ElementsAre("3x3 to 3x4 of 5"));
}

// For one image of one row, of which each window is one pixel, XLA leaves those dimensions out.
TEST(ResizeCalls, TakeGatheredWindowsWithoutDimensionsOfOneElement) {
  EXPECT_THAT(resized("ENTRY e {\n  x = f32[1,1,3,5] parameter(0)\n"
                      "  zero = s32[] constant(0)\n"
                      "  i = s32[1,4,1] broadcast(zero), dimensions={}\n"
                      "  j = s32[1,4,1] iota(), iota_dimension=1\n"
                      "  at = s32[1,4,2] concatenate(i, j), dimensions={2}\n"
                      "  g = f32[1,1,2,5,1,4] gather(x, at), offset_dims={0,1,2,3}, "
                      "collapsed_slice_dims={}, start_index_map={1,2}, index_vector_dim=2, "
                      "slice_sizes={1,1,2,5}\n"
                      "  few = f32[2,5,4] reshape(g)\n"
                      "  w = f32[4,2] constant({{1,0},{0.3,0.7},{0.6,0.4},{0,1}})\n"
                      "  ROOT d = f32[4,5] dot(w, few), lhs_batch_dims={0}, "
                      "lhs_contracting_dims={1}, rhs_batch_dims={2}, rhs_contracting_dims={0}\n"
                      "}\n"),
              ElementsAre("1x3 to 1x4 of 5"));
}

TEST(ResizeCalls, LeaveWindowsAloneWhoseRowsDependOnColumns) {
  EXPECT_THAT(resized(windows("  n = f32[48] iota(), iota_dimension=0\n  s = f32[48] sine(n)\n"
                              "  w = f32[4,2,3,2] reshape(s)\n")),
              IsEmpty());
}

TEST(ResizeCalls, TakeElementsAtKnownPlaces) {
  EXPECT_THAT(resized("ENTRY e {\n  x = f32[2,4,3,2] parameter(0)\n"
                      "  at = s32[3] constant({9,0,2})\n"
                      "  ROOT g = f32[2,3,3,2] gather(x, at), offset_dims={0,2,3}, "
                      "collapsed_slice_dims={1}, start_index_map={1}, index_vector_dim=1, "
                      "slice_sizes={2,1,3,2}\n}\n"),
              ElementsAre("4x1 to 3x1 of 6"));
}

// The gathers that take the place of products: "4x6 of 2x3x6" for each.
std::vector<std::string> chosen(const std::string& text) {
  const auto module = testing::parse_hlo(text);
  const xla::Literal before = testing::result_with_kernels(*module);
  EXPECT_TRUE(testing::run_pass("gather_chosen_rows", *module));
  EXPECT_EQ(before, testing::result_with_kernels(*module)) << module->ToString();
  std::vector<std::string> gathers;
  for (const auto* one : module->entry_computation()->MakeInstructionPostOrder()) {
    if (one->opcode() != xla::HloOpcode::kGather) continue;
    gathers.push_back(fmt::format("{} of {}", fmt::join(one->shape().dimensions(), "x"),
                                  fmt::join(one->operand(0)->shape().dimensions(), "x")));
  }
  return gathers;
}

// `matrix` meets the nodes of two graphs, [nodes, features], which lie the other way round before.
std::string ends_of_edges(const std::string& matrix) {
  return "ENTRY e {\n  x = f32[2,3,6] parameter(0)\n"
         "  t = f32[2,6,3] transpose(x), dimensions={0,2,1}\n"
         "  m = f32[3,4] constant(" +
         matrix +
         ")\n  ROOT d = f32[2,6,4] dot(t, m), lhs_contracting_dims={2}, "
         "rhs_contracting_dims={0}\n}\n";
}

TEST(ChosenRows, AreGathered) {
  EXPECT_THAT(chosen(ends_of_edges("{{0,1,0,0},{1,0,0,1},{0,0,1,0}}")),
              ElementsAre("2x4x6 of 2x3x6"));
  EXPECT_THAT(chosen("ENTRY e {\n  x = f32[3,6] parameter(0)\n"
                     "  m = f32[4,3] constant({{0,1,0},{1,0,0},{0,0,1},{0,1,0}})\n"
                     "  ROOT d = f32[4,6] dot(m, x), lhs_contracting_dims={1}, "
                     "rhs_contracting_dims={0}\n}\n"),
              ElementsAre("4x6 of 3x6"));
}

// Sums of two, a multiple, nothing at all, and numbers that lie apart.
TEST(ChosenRows, AreNoOthers) {
  EXPECT_THAT(chosen(ends_of_edges("{{0,1,0,0},{1,0,0,1},{0,0,1,1}}")), IsEmpty());
  EXPECT_THAT(chosen(ends_of_edges("{{0,1,0,0},{2,0,0,1},{0,0,1,0}}")), IsEmpty());
  EXPECT_THAT(chosen(ends_of_edges("{{0,1,0,0},{1,0,0,0},{0,0,1,0}}")), IsEmpty());
  EXPECT_THAT(chosen("ENTRY e {\n  x = f32[6,3] parameter(0)\n"
                     "  m = f32[3,3] constant({{0,1,0},{1,0,0},{0,0,1}})\n"
                     "  ROOT d = f32[6,3] dot(x, m), lhs_contracting_dims={1}, "
                     "rhs_contracting_dims={0}\n}\n"),
              IsEmpty());
}

// Another kernel copies them.
TEST(ResizeCalls, LeaveRowsOfAGraph) {
  EXPECT_THAT(resized("ENTRY e {\n  x = f32[2,4,6] parameter(0)\n"
                      "  at = s32[3] constant({9,0,2})\n"
                      "  ROOT g = f32[2,3,6] gather(x, at), offset_dims={0,2}, "
                      "collapsed_slice_dims={1}, start_index_map={1}, index_vector_dim=1, "
                      "slice_sizes={2,1,6}\n}\n"),
              IsEmpty());
}

TEST(ResizeCalls, TakeRepeatedElementsOfBothDimensions) {
  EXPECT_THAT(resized("ENTRY e {\n  x = f32[2,3,4,5] parameter(0)\n"
                      "  a = f32[2,3,2,4,5] broadcast(x), dimensions={0,1,3,4}\n"
                      "  b = f32[2,6,4,5] reshape(a)\n"
                      "  c = f32[2,6,4,3,5] broadcast(b), dimensions={0,1,2,4}\n"
                      "  ROOT d = f32[2,6,12,5] reshape(c)\n}\n"),
              ElementsAre("3x4 to 6x12 of 5"));
  // The whole image three times is something else.
  EXPECT_THAT(resized("ENTRY e {\n  x = f32[2,3,5] parameter(0)\n"
                      "  a = f32[2,4,3,5] broadcast(x), dimensions={0,2,3}\n"
                      "  ROOT d = f32[2,12,5] reshape(a)\n}\n"),
              IsEmpty());
}

// Rows without weights take any neighbours, and all rows as many as the widest.
TEST(ResizeCalls, TakeAsFewNeighboursAsHoldAllWeights) {
  EXPECT_THAT(resized("ENTRY e {\n  x = f32[3,3,5,6] parameter(0)\n"
                      "  m = f32[4,3] constant({{0,0,0},{0,2,3},{0,0,4},{1,0,0}})\n"
                      "  d = f32[3,5,6,4] dot(x, m), lhs_contracting_dims={1}, "
                      "rhs_contracting_dims={1}\n"
                      "  ROOT r = f32[3,4,5,6] transpose(d), dimensions={0,3,1,2}\n}\n"),
              ElementsAre("3x1 to 4x1 of 30"));
}

}  // namespace
}  // namespace tfaot::toolkit::engine
