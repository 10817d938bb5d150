// SPDX-License-Identifier: Apache-2.0
// A negative of a negative is the value itself.

#include <gtest/gtest.h>

#include <string>

#include "tests/unit/engine/parse_hlo.h"
#include "tests/unit/engine/run_kernels.h"
#include "tests/unit/engine/run_pass.h"

namespace tfaot::toolkit::engine {
namespace {

// How many negations of x are left, if the module computes the same as before.
int negations_left(const std::string& entry) {
  const auto module =
      testing::parse_hlo("ENTRY e {\n  x = f32[2,3] parameter(0)\n" + entry + "}\n");
  const auto before = testing::result_with_kernels(*module);
  EXPECT_TRUE(testing::run_pass("remove_double_negation", *module));
  EXPECT_EQ(testing::relative_difference(before, testing::result_with_kernels(*module)), 0)
      << module->ToString();
  int left = 0;
  for (const auto* one : module->entry_computation()->instructions()) {
    left += one->opcode() == xla::HloOpcode::kNegate ? 1 : 0;
  }
  return left;
}

TEST(DoubleNegation, IsRemoved) {
  EXPECT_EQ(negations_left("  n = f32[2,3] negate(x)\n  ROOT m = f32[2,3] negate(n)\n"), 0);
}

TEST(DoubleNegation, OfLongerChainsLeavesOneOrNone) {
  const std::string three =
      "  a = f32[2,3] negate(x)\n  b = f32[2,3] negate(a)\n  c = f32[2,3] negate(b)\n";
  EXPECT_EQ(negations_left(three + "  ROOT r = f32[2,3] exponential(c)\n"), 1);
  EXPECT_EQ(negations_left(three + "  ROOT d = f32[2,3] negate(c)\n"), 0);
}

// Others use the inner negative too.
TEST(DoubleNegation, LeavesWhatOthersUse) {
  EXPECT_EQ(negations_left("  n = f32[2,3] negate(x)\n  m = f32[2,3] negate(n)\n"
                           "  ROOT s = f32[2,3] multiply(n, m)\n"),
            1);
}

TEST(DoubleNegation, OthersStay) {
  EXPECT_EQ(negations_left("  n = f32[2,3] negate(x)\n  e = f32[2,3] exponential(n)\n"
                           "  ROOT m = f32[2,3] negate(e)\n"),
            2);
}

}  // namespace
}  // namespace tfaot::toolkit::engine
