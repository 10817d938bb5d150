// SPDX-License-Identifier: Apache-2.0
// Long computations around short sums; passes/short_sums.hlo has the other cases.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/unit/engine/parse_hlo.h"
#include "tests/unit/engine/run_kernels.h"
#include "tests/unit/engine/run_pass.h"

namespace tfaot::toolkit::engine {
namespace {

constexpr int kSteps = 64;

// Reductions that are left. `rest` follows n, the squares of the differences of 5 points with each
// of 7 others.
std::int64_t sums_left(int coordinates, const std::string& rest) {
  const auto module = testing::parse_hlo(fmt::format(R"(add {{
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}}
ENTRY e {{
  zero = f32[] constant(0)
  x = f32[2,5,{0}] parameter(0)
  y = f32[2,7,{0}] parameter(1)
  xs = f32[2,5,7,{0}] broadcast(x), dimensions={{0,1,3}}
  ys = f32[2,5,7,{0}] broadcast(y), dimensions={{0,2,3}}
  d = f32[2,5,7,{0}] subtract(xs, ys)
  n = f32[2,5,7,{0}] multiply(d, d)
{1}}}
)",
                                                     coordinates, rest));
  const auto before = testing::result_with_kernels(*module);
  EXPECT_TRUE(testing::run_pass("write_out_short_sum", *module));
  EXPECT_LT(testing::relative_difference(before, testing::result_with_kernels(*module)), 1e-6)
      << module->ToString();
  std::int64_t left = 0;
  for (const auto* one : module->entry_computation()->instructions()) {
    left += one->opcode() == xla::HloOpcode::kReduce ? 1 : 0;
  }
  return left;
}

// Each step has two ways to the next one: all ways together are too many.
TEST(ShortSums, BeforeLongComputationsTakeNoTime) {
  std::string after = R"(  a0 = f32[2,5,7] reduce(n, zero), dimensions={3}, to_apply=add
)";
  for (int i = 0; i < kSteps; ++i) {
    after += fmt::format(R"(  q{0} = f32[2,5,7] sine(a{0})
  a{1} = f32[2,5,7] maximum(a{0}, q{0})
)",
                         i, i + 1);
  }
  after += fmt::format(R"(  ROOT r = f32[2,5,7] negate(a{})
)",
                       kSteps);
  EXPECT_EQ(sums_left(3, after), 0);
}

TEST(ShortSums, AfterLongComputationsTakeNoTime) {
  std::string before = R"(  b0 = f32[2,5,7,6] negate(n)
)";
  for (int i = 0; i < kSteps; ++i) {
    before += fmt::format(R"(  b{1} = f32[2,5,7,6] maximum(b{0}, b{0})
)",
                          i, i + 1);
  }
  before += fmt::format(R"(  ROOT r = f32[2,5,7] reduce(b{}, zero), dimensions={{3}}, to_apply=add
)",
                        kSteps);
  EXPECT_EQ(sums_left(6, before), 1);
}

}  // namespace
}  // namespace tfaot::toolkit::engine
