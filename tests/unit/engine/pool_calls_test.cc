// SPDX-License-Identifier: Apache-2.0
// Sums and maxima over dimensions before the channels, as calls of a kernel: they give the same.
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
using ::testing::IsEmpty;

constexpr const char* kSumHead =
    "add {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT s = f32[] add(a, b)\n}\n"
    "ENTRY e {\n  zero = f32[] constant(0)\n";

// What a module calls, which computes the same as before.
std::vector<std::string> kernels_of_pools(const std::string& text) {
  const auto module = testing::parse_hlo(text);
  const auto before = testing::result_with_kernels(*module);
  EXPECT_TRUE(testing::run_kernel_passes(*module, 1));
  EXPECT_LT(testing::relative_difference(before, testing::result_with_kernels(*module)), 1e-6)
      << module->ToString();
  return testing::called_kernels(*module);
}

std::vector<std::string> kernels_of_sum(const std::string& text) {
  return kernels_of_pools(kSumHead + text);
}

TEST(PoolCalls, SumOverPositions) {
  EXPECT_THAT(kernels_of_sum("  x = f32[2,40,8] parameter(0)\n  ROOT r = f32[2,8] "
                             "reduce(x, zero), dimensions={1}, to_apply=add\n}\n"),
              ElementsAre("sum_pool_f32"));
  EXPECT_THAT(kernels_of_sum("  x = f32[2,3,40,5,6] parameter(0)\n  ROOT r = f32[2,3,5,6] "
                             "reduce(x, zero), dimensions={2}, to_apply=add\n}\n"),
              ElementsAre("sum_pool_f32"));
  EXPECT_THAT(kernels_of_sum("  x = f32[7,5,8] parameter(0)\n  ROOT r = f32[8] "
                             "reduce(x, zero), dimensions={0,1}, to_apply=add\n}\n"),
              ElementsAre("sum_pool_f32"));
}

// XLA's loop is faster over few.
TEST(PoolCalls, SumsOfFewStay) {
  EXPECT_THAT(kernels_of_sum("  x = f32[2,32,8] parameter(0)\n  ROOT r = f32[2,8] "
                             "reduce(x, zero), dimensions={1}, to_apply=add\n}\n"),
              IsEmpty());
}

// XLA makes few in the loop of the sum, and of more it would sum windows first.
TEST(PoolCalls, SumManyThatAreMadeBefore) {
  EXPECT_THAT(kernels_of_sum("  x = f32[2,33,8] parameter(0)\n  n = f32[2,33,8] multiply(x, x)\n"
                             "  ROOT r = f32[2,8] reduce(n, zero), dimensions={1}, "
                             "to_apply=add\n}\n"),
              ElementsAre("sum_pool_f32"));
}

TEST(PoolCalls, LargestOfPositions) {
  const auto largest = [](const std::string& start, int count) {
    const auto module = testing::parse_hlo(
        fmt::format("max {{\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n"
                    "  ROOT s = f32[] maximum(a, b)\n}}\n"
                    "ENTRY e {{\n  lowest = f32[] constant({0})\n  x = f32[2,{1},8] parameter(0)\n"
                    "  ROOT r = f32[2,8] reduce(x, lowest), dimensions={{1}}, to_apply=max\n}}\n",
                    start, count));
    const auto before = testing::result_with_kernels(*module);
    EXPECT_TRUE(testing::run_kernel_passes(*module, 1));
    EXPECT_EQ(before, testing::result_with_kernels(*module));
    return testing::called_kernels(*module);
  };
  EXPECT_THAT(largest("-inf", 5), ElementsAre("largest_pool_f32"));
  EXPECT_THAT(largest("-inf", 600), ElementsAre("largest_pool_f32"));
  EXPECT_THAT(largest("0", 5), IsEmpty());
}

// What a module has after the maximum over windows of `y`, a function of x.
std::vector<std::string> kernels_of_largest(const std::string& y) {
  return kernels_of_pools(fmt::format(
      "max {{\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n"
      "  ROOT s = f32[] maximum(a, b)\n}}\n"
      "ENTRY e {{\n  lowest = f32[] constant(-inf)\n  x = f32[2,6,6,5] parameter(0)\n"
      "  n1 = f32[] constant(1)\n  one = f32[2,6,6,5] broadcast(n1), dimensions={{}}\n"
      "  nhalf = f32[] constant(0.5)\n  half = f32[2,6,6,5] broadcast(nhalf), dimensions={{}}\n"
      "  nroot = f32[] constant(0.707106769)\n"
      "  root = f32[2,6,6,5] broadcast(nroot), dimensions={{}}\n{}"
      "  ROOT r = f32[2,3,3,5] reduce-window(y, lowest), window={{size=1x2x2x1 stride=1x2x2x1}}, "
      "to_apply=max\n}}\n",
      y));
}

// Their largest value is that of the largest or smallest number: one kernel takes it if it has the
// function. Others are computed before the pooling.
TEST(PoolCalls, ValuesOfFunctionsThatFallAndRise) {
  const std::string gelu =
      "  scaled = f32[2,6,6,5] multiply(x, root)\n  erf = f32[2,6,6,5] erf(scaled)\n"
      "  curve = f32[2,6,6,5] add(erf, one)\n  twice = f32[2,6,6,5] multiply(x, curve)\n";
  EXPECT_THAT(kernels_of_largest(gelu + "  y = f32[2,6,6,5] multiply(twice, half)\n"),
              ElementsAre("function_pool_f32"));
  EXPECT_THAT(kernels_of_largest(gelu + "  y = f32[2,6,6,5] multiply(twice, root)\n"),
              ElementsAre("max_pool_f32"));
  EXPECT_THAT(kernels_of_largest("  gate = f32[2,6,6,5] logistic(x)\n"
                                 "  y = f32[2,6,6,5] multiply(x, gate)\n"),
              ElementsAre("function_pool_f32"));
  EXPECT_THAT(kernels_of_largest("  scaled = f32[2,6,6,5] multiply(x, root)\n"
                                 "  gate = f32[2,6,6,5] logistic(scaled)\n"
                                 "  y = f32[2,6,6,5] multiply(x, gate)\n"),
              ElementsAre("max_pool_f32"));
  EXPECT_THAT(kernels_of_largest("  y = f32[2,6,6,5] tanh(x)\n"), ElementsAre("max_pool_f32"));
}

// Of rows, of very many, of what XLA computes in the loop of the sum, from another start, and of
// dimensions that do not lie together.
TEST(PoolCalls, LeaveOtherSumsAlone) {
  EXPECT_THAT(kernels_of_sum("  x = f32[2,40,8] parameter(0)\n  ROOT r = f32[2,40] "
                             "reduce(x, zero), dimensions={2}, to_apply=add\n}\n"),
              IsEmpty());
  EXPECT_THAT(kernels_of_sum("  x = f32[600,8] parameter(0)\n  ROOT r = f32[8] "
                             "reduce(x, zero), dimensions={0}, to_apply=add\n}\n"),
              IsEmpty());
  EXPECT_THAT(kernels_of_sum("  x = f32[2,32,8] parameter(0)\n  n = f32[2,32,8] multiply(x, x)\n"
                             "  ROOT r = f32[2,8] reduce(n, zero), dimensions={1}, "
                             "to_apply=add\n}\n"),
              IsEmpty());
  EXPECT_THAT(kernels_of_sum("  x = f32[2,40,8] parameter(0)\n  one = f32[] constant(1)\n"
                             "  ROOT r = f32[2,8] reduce(x, one), dimensions={1}, "
                             "to_apply=add\n}\n"),
              IsEmpty());
  EXPECT_THAT(kernels_of_sum("  x = f32[4,3,5,8] parameter(0)\n  ROOT r = f32[3,8] "
                             "reduce(x, zero), dimensions={0,2}, to_apply=add\n}\n"),
              IsEmpty());
}

}  // namespace
}  // namespace tfaot::toolkit::engine
