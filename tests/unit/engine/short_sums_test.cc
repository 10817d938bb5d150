// SPDX-License-Identifier: Apache-2.0
// Sums over a last dimension of a few elements, of what pairs make, are written out.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "tests/unit/engine/parse_hlo.h"
#include "tests/unit/engine/run_kernels.h"
#include "tests/unit/engine/run_pass.h"

namespace tfaot::toolkit::engine {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// The module computes the same.
std::unique_ptr<xla::HloModule> written_out(const std::string& entry) {
  auto module = testing::parse_hlo(fmt::format(
      "add {{\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT s = f32[] add(a, b)\n}}\n"
      "max {{\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n"
      "  ROOT s = f32[] maximum(a, b)\n}}\n"
      "ENTRY e {{\n  zero = f32[] constant(0)\n  two = f32[] constant(2)\n{}}}\n",
      entry));
  const auto before = testing::result_with_kernels(*module);
  EXPECT_TRUE(testing::run_pass("write_out_short_sum", *module));
  EXPECT_LT(testing::relative_difference(before, testing::result_with_kernels(*module)), 1e-6)
      << module->ToString();
  return module;
}

// How many reductions are left.
std::int64_t sums_left(const std::string& entry) {
  const auto module = written_out(entry);
  std::int64_t left = 0;
  for (const auto* one : module->entry_computation()->instructions()) {
    left += one->opcode() == xla::HloOpcode::kReduce ? 1 : 0;
  }
  return left;
}

// Of a module in which no reduction is left.
std::vector<std::string> kernels_of(const std::string& entry) {
  EXPECT_EQ(sums_left(entry), 0);
  return testing::called_kernels(*written_out(entry));
}

// The squares of the differences of 5 points with each of 7 others.
std::string squares(int coordinates) {
  return fmt::format(
      "  x = f32[2,5,{0}] parameter(0)\n  y = f32[2,7,{0}] parameter(1)\n"
      "  xs = f32[2,5,7,{0}] broadcast(x), dimensions={{0,1,3}}\n"
      "  ys = f32[2,5,7,{0}] broadcast(y), dimensions={{0,2,3}}\n"
      "  d = f32[2,5,7,{0}] subtract(xs, ys)\n  n = f32[2,5,7,{0}] multiply(d, d)\n",
      coordinates);
}

TEST(ShortSums, OfPairsAreWrittenOut) {
  for (const int coordinates : {1, 2, 3, 4, 5, 7}) {
    const std::string start = squares(coordinates);
    EXPECT_EQ(sums_left(start + "  ROOT r = f32[2,5,7] reduce(n, zero), dimensions={3}, "
                                "to_apply=add\n"),
              0);
    EXPECT_EQ(sums_left(start + "  s = f32[2,5,7] reduce(n, two), dimensions={3}, to_apply=add\n"
                                "  ROOT r = f32[2,5,7] sqrt(s)\n"),
              0);
  }
}

// Some columns of a table: more than four of few points only if it is narrow. Those of many points
// are copied first.
TEST(ShortSums, OfColumns) {
  const auto columns_of = [](int columns, int width, int points) {
    return fmt::format(
        "  x = f32[2,{2},{1}] parameter(0)\n"
        "  c = f32[2,{2},{0}] slice(x), slice={{[0:2], [0:{2}], [1:{3}]}}\n"
        "  a = f32[2,{2},{2},{0}] broadcast(c), dimensions={{0,1,3}}\n"
        "  b = f32[2,{2},{2},{0}] broadcast(c), dimensions={{0,2,3}}\n"
        "  d = f32[2,{2},{2},{0}] subtract(a, b)\n  n = f32[2,{2},{2},{0}] multiply(d, d)\n"
        "  ROOT r = f32[2,{2},{2}] reduce(n, zero), dimensions={{3}}, to_apply=add\n",
        columns, width, points, columns + 1);
  };
  EXPECT_THAT(kernels_of(columns_of(4, 100, 7)), IsEmpty());
  EXPECT_THAT(kernels_of(columns_of(5, 7, 7)), IsEmpty());
  EXPECT_EQ(sums_left(columns_of(5, 8, 7)), 1);
  EXPECT_THAT(kernels_of(columns_of(2, 7, 8)), IsEmpty());
  EXPECT_THAT(kernels_of(columns_of(2, 8, 8)), ElementsAre("gather_f32"));
  EXPECT_THAT(kernels_of(columns_of(7, 100, 8)), ElementsAre("gather_f32"));
}

// A weight of each coordinate, one number for all, and a tensor of all terms.
TEST(ShortSums, OfPairsAndOtherValues) {
  EXPECT_EQ(sums_left(squares(3) +
                      "  w = f32[3] parameter(2)\n  z = f32[2,5,7,3] parameter(3)\n"
                      "  ws = f32[2,5,7,3] broadcast(w), dimensions={3}\n"
                      "  twos = f32[2,5,7,3] broadcast(two), dimensions={}\n"
                      "  nw = f32[2,5,7,3] multiply(n, ws)\n  nt = f32[2,5,7,3] add(nw, twos)\n"
                      "  nz = f32[2,5,7,3] multiply(nt, z)\n"
                      "  ROOT r = f32[2,5,7] reduce(nz, zero), dimensions={3}, to_apply=add\n"),
            0);
}

// A loop of pairs that XLA would compute again for each of their features.
TEST(ShortSums, OfRepeatedValuesStay) {
  EXPECT_EQ(
      sums_left(squares(2) + "  s = f32[2,5,7] reduce(n, zero), dimensions={3}, to_apply=add\n"
                             "  root = f32[2,5,7] sqrt(s)\n"
                             "  ROOT r = f32[2,5,7,9] broadcast(root), dimensions={0,1,2}\n"),
      1);
}

// Each step has two ways to the next one: all ways together are too many.
TEST(ShortSums, OfLongComputationsTakeNoTime) {
  constexpr int kSteps = 64;
  std::string after =
      squares(3) + "  a0 = f32[2,5,7] reduce(n, zero), dimensions={3}, to_apply=add\n";
  for (int i = 0; i < kSteps; ++i) {
    after += fmt::format(
        "  q{0} = f32[2,5,7] sine(a{0})\n  a{1} = f32[2,5,7] maximum(a{0}, q{0})\n", i, i + 1);
  }
  EXPECT_EQ(sums_left(after + fmt::format("  ROOT r = f32[2,5,7] negate(a{})\n", kSteps)), 0);

  std::string before = squares(6) + "  b0 = f32[2,5,7,6] negate(n)\n";
  for (int i = 0; i < kSteps; ++i) {
    before += fmt::format("  b{} = f32[2,5,7,6] maximum(b{}, b{})\n", i + 1, i, i);
  }
  EXPECT_EQ(sums_left(before + fmt::format("  ROOT r = f32[2,5,7] reduce(b{}, zero), "
                                           "dimensions={{3}}, to_apply=add\n",
                                           kSteps)),
            1);
}

// Of more terms, of another dimension, of no pairs, of what another loop uses too, and the largest.
TEST(ShortSums, OthersStay) {
  EXPECT_EQ(sums_left(squares(8) + "  ROOT r = f32[2,5,7] reduce(n, zero), dimensions={3}, "
                                   "to_apply=add\n"),
            1);
  EXPECT_EQ(sums_left(squares(4) + "  ROOT r = f32[5,7,4] reduce(n, zero), dimensions={0}, "
                                   "to_apply=add\n"),
            1);
  EXPECT_EQ(sums_left("  x = f32[5,7,2] parameter(0)\n  n = f32[5,7,2] multiply(x, x)\n"
                      "  ROOT r = f32[5,7] reduce(n, zero), dimensions={2}, to_apply=add\n"),
            1);
  EXPECT_EQ(
      sums_left(squares(2) + "  s = f32[2,5,7] reduce(n, zero), dimensions={3}, to_apply=add\n"
                             "  m = f32[2,5,7] reduce(n, zero), dimensions={3}, to_apply=max\n"
                             "  ROOT r = f32[2,5,7] add(m, s)\n"),
      2);
  EXPECT_EQ(sums_left(squares(2) + "  ROOT r = f32[2,5,7] reduce(n, zero), dimensions={3}, "
                                   "to_apply=max\n"),
            1);
}

}  // namespace
}  // namespace tfaot::toolkit::engine
