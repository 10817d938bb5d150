// SPDX-License-Identifier: Apache-2.0
#include "compiler/kernels/kernel_facts.h"

#include <gtest/gtest.h>

#include <string>

#include "compiler/cost/static_cost.h"
#include "compiler/hlo/simplify.h"
#include "tests/unit/engine/parse_hlo.h"
#include "tests/unit/engine/run_pass.h"
#include "tfaot/kernels/abi.h"

namespace tfaot::toolkit::engine {
namespace {

// A product of x, [rows, 400], with a packed weight w of 320 columns.
std::string product(int rows) {
  const std::string count = std::to_string(rows);
  return R"(ENTRY e {
  x = f32[)" +
         count +
         R"(,400] parameter(0)
  w = f32[1,20,400,16] parameter(1)
  c = s64[19] constant({1,)" +
         count + R"(,320,400,0,400,1,1,0,0,0,0,0,0,0,0,0,0,0})
  t = (f32[)" +
         count +
         R"(,320], u8[128]) custom-call(c, x, w), custom_call_target="tfaot_matmul_f32"
  k = f32[)" +
         count + R"(,320] get-tuple-element(t), index=0
  ROOT r = (f32[)" +
         count + ",320]) tuple(k)\n}";
}

const xla::HloInstruction* kernel_of(const xla::HloModule& module) {
  for (const auto* one : module.entry_computation()->MakeInstructionPostOrder()) {
    if (is_kernel_call(*one) && one->user_count() > 0) return one;
  }
  return nullptr;
}

TEST(ShareKernels, GivesLargeKernelsTheTasks) {
  const auto module = testing::parse_hlo(product(200));
  const auto shared = testing::run_pass_for("share_kernels", &PassContext::has_tasks, *module, 1);
  ASSERT_TRUE(shared && *shared);
  const auto* const kernel = kernel_of(*module);
  ASSERT_NE(kernel, nullptr);
  EXPECT_TRUE(is_shared(*kernel));
  EXPECT_EQ(call_of<kernels::MatMulCall>(*kernel).epilogue, kernels::kEpilogueShared);
  EXPECT_EQ(call_of<kernels::MatMulCall>(*kernel).rows, 200);
  ASSERT_EQ(kernel->operand_count(), 4U);
  EXPECT_EQ(kernel->operand(3)->parameter_number(), 2);
  EXPECT_EQ(module->entry_computation_layout().parameter_count(), 3);
  EXPECT_EQ(lane_bytes(*module), 128);
  ASSERT_TRUE(remove_dead_code(*module));
  const StaticCost cost = static_cost(*module, {1, 0, "x86_64_v4"});
  EXPECT_GT(cost.shared_permille, 900U);
  EXPECT_LE(cost.shared_permille, 1000U);
}

// align_temporaries gives the last kernel more results, after its scratch memory.
TEST(ShareKernels, LanesHaveAllScratchOfAnAlignedKernel) {
  const auto module = testing::parse_hlo(product(200));
  const auto shared = testing::run_pass_for("share_kernels", &PassContext::has_tasks, *module, 1);
  ASSERT_TRUE(shared && *shared);
  ASSERT_TRUE(testing::run_pass("align_temporaries", *module));
  const auto* const kernel = kernel_of(*module);
  ASSERT_NE(kernel, nullptr);
  ASSERT_GT(kernel->shape().tuple_shapes_size(), 2);
  EXPECT_EQ(lane_bytes(*module), 128);
}

TEST(ShareKernels, LeavesSmallKernelsAlone) {
  const auto module = testing::parse_hlo(product(2));
  const auto shared = testing::run_pass_for("share_kernels", &PassContext::has_tasks, *module, 1);
  ASSERT_TRUE(shared);
  EXPECT_FALSE(*shared);
  EXPECT_EQ(module->entry_computation()->num_parameters(), 2);
  EXPECT_EQ(lane_bytes(*module), 0);
  EXPECT_EQ(static_cost(*module, {1, 0, "x86_64_v4"}).shared_permille, 0U);
}

TEST(ShareKernels, LeavesOtherKernelsAlone) {
  const auto module = testing::parse_hlo(
      R"(ENTRY e {
  x = f32[4000000] parameter(0)
  c = s64[1] constant({4000000})
  ROOT k = f32[4000000] custom-call(c, x), custom_call_target="tfaot_top_k_f32"
})");
  const auto shared = testing::run_pass_for("share_kernels", &PassContext::has_tasks, *module, 1);
  ASSERT_TRUE(shared);
  EXPECT_FALSE(*shared);
}

}  // namespace
}  // namespace tfaot::toolkit::engine
