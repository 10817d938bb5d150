// SPDX-License-Identifier: Apache-2.0
// Kernel calls get what is reshaped, and give the same.

#include <gtest/gtest.h>

#include "compiler/hlo/simplify.h"
#include "compiler/kernels/kernel_call.h"
#include "tests/unit/engine/parse_hlo.h"
#include "tests/unit/engine/run_kernels.h"
#include "tests/unit/engine/run_pass.h"

namespace tfaot::toolkit::engine {
namespace {

TEST(ReshapedOperands, AreWhatIsReshaped) {
  const auto module = testing::parse_hlo(R"(
    ENTRY e {
      x = f32[3,16] parameter(0)
      w = f32[16,1,16] parameter(1)
      flat = f32[48] reshape(x)
      rows = f32[3,1,16] reshape(flat)
      same = f32[3,16] reshape(rows)
      right = f32[16,16] reshape(w)
      y = f32[3,16] dot(same, right), lhs_contracting_dims={1}, rhs_contracting_dims={0}
      wide = f32[1,3,16] reshape(y)
      z = f32[3,16] reshape(wide)
      ROOT product = f32[3,16] dot(z, right), lhs_contracting_dims={1}, rhs_contracting_dims={0}
    })");
  const xla::Literal before = testing::result_with_kernels(*module);
  ASSERT_TRUE(testing::run_kernel_passes(*module, 1));
  ASSERT_TRUE(testing::run_pass("pass_before_reshapes", *module));
  ASSERT_TRUE(remove_dead_code(*module));
  int kernels = 0;
  for (const auto* one : module->entry_computation()->instructions()) {
    if (!is_kernel_call(*one)) continue;
    ++kernels;
    for (const auto* operand : one->operands()) {
      EXPECT_NE(operand->opcode(), xla::HloOpcode::kReshape) << one->ToString();
    }
  }
  EXPECT_EQ(kernels, 2);
  EXPECT_LT(testing::relative_difference(before, testing::result_with_kernels(*module)), 1e-6);
}

TEST(ReshapedOperands, ChangeNothingElse) {
  const auto module = testing::parse_hlo(R"(
    ENTRY e {
      x = f32[3,16] parameter(0)
      flat = f32[48] reshape(x)
      ROOT y = f32[48] negate(flat)
    })");
  ASSERT_TRUE(testing::run_pass("pass_before_reshapes", *module));
  EXPECT_EQ(module->entry_computation()->instruction_count(), 3);
}

}  // namespace
}  // namespace tfaot::toolkit::engine
