// SPDX-License-Identifier: Apache-2.0
// The exponential of an elu needs no digits near 0; others keep them.
#include "kernels/elu_loops.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/unit/engine/parse_hlo.h"
#include "tests/unit/engine/run_kernels.h"

namespace tfaot::toolkit::engine {
namespace {

// Whether nothing is left of exp(x) - 1 to all digits. The module computes the same beside 1.
bool is_shortened(const std::string& end, const Choices& choices = {}) {
  const auto module = testing::parse_hlo(
      "ENTRY e {\n  x = f32[40] parameter(0)\n  z = f32[40] parameter(1)\n"
      "  zero = f32[] constant(0)\n  zeros = f32[40] broadcast(zero), dimensions={}\n"
      "  one = f32[] constant(1)\n  ones = f32[40] broadcast(one), dimensions={}\n"
      "  two = f32[] constant(2)\n  twos = f32[40] broadcast(two), dimensions={}\n"
      "  y = f32[40] exponential-minus-one(x)\n"
      "  is_above = pred[40] compare(x, zeros), direction=GT\n" +
      end + "\n}\n");
  const auto before = testing::result_with_kernels(*module);
  EXPECT_TRUE(shorten_elus(*module, choices));
  EXPECT_LT(testing::relative_difference(before, testing::result_with_kernels(*module)), 1e-6);
  for (const auto* one : module->entry_computation()->instructions()) {
    if (one->opcode() == xla::HloOpcode::kExpm1) return false;
  }
  return true;
}

TEST(EluLoops, AreShortened) {
  EXPECT_TRUE(is_shortened("  ROOT r = f32[40] select(is_above, x, y)"));
  EXPECT_TRUE(
      is_shortened("  m = f32[40] multiply(twos, y)\n  s = f32[40] select(is_above, x, m)\n"
                   "  ROOT r = f32[40] multiply(s, twos)"));
}

// The function itself, also used beside an elu; of another number; another threshold; the wrong way
// round; and where the config wants all digits.
TEST(EluLoops, LeaveOtherUses) {
  EXPECT_FALSE(is_shortened("  ROOT r = f32[40] multiply(y, twos)"));
  EXPECT_FALSE(is_shortened("  s = f32[40] select(is_above, x, y)\n  ROOT r = f32[40] add(s, y)"));
  EXPECT_FALSE(is_shortened("  ROOT r = f32[40] select(is_above, z, y)"));
  EXPECT_FALSE(
      is_shortened("  above = pred[40] compare(x, ones), direction=GT\n"
                   "  ROOT r = f32[40] select(above, x, y)"));
  EXPECT_FALSE(is_shortened("  ROOT r = f32[40] select(is_above, y, x)"));
  EXPECT_FALSE(
      is_shortened("  ROOT r = f32[40] select(is_above, x, y)", {WeightsType::kFloat32, false}));
}

}  // namespace
}  // namespace tfaot::toolkit::engine
