// SPDX-License-Identifier: Apache-2.0
// Transposes that XLA writes as slices: restored they give the same.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "compiler/hlo/simplify.h"
#include "compiler/kernels/kernel_call.h"
#include "tests/unit/engine/parse_hlo.h"
#include "tests/unit/engine/run_kernels.h"
#include "tests/unit/engine/run_pass.h"
#include "tfaot/kernels/attention.h"

namespace tfaot::toolkit::engine {
namespace {

using xla::HloOpcode;

int operations_of(const xla::HloModule& module, HloOpcode opcode) {
  int count = 0;
  for (const auto* one : module.entry_computation()->instructions()) {
    if (one->opcode() == opcode) ++count;
  }
  return count;
}

// Whether the left side of the only product is a transpose afterwards.
bool becomes_transpose(const std::string& body) {
  const auto module = testing::parse_hlo("ENTRY e {\n" + body + "}\n");
  const xla::Literal before = testing::result_with_kernels(*module);
  EXPECT_TRUE(testing::run_pass("restore_sliced_transpose", *module));
  EXPECT_LT(testing::relative_difference(before, testing::result_with_kernels(*module)), 1e-6)
      << module->ToString();
  const bool is_none = operations_of(*module, HloOpcode::kConcatenate) == 0;
  EXPECT_EQ(operations_of(*module, HloOpcode::kTranspose), is_none ? 1 : 0);
  return is_none;
}

// Heads of 4 of x[1,5,12]: [15,4], along the rows.
std::string sliced(const std::string& second, const std::string& third) {
  return "  x = f32[1,5,12] parameter(0)\n  w = f32[3,4,6] parameter(1)\n"
         "  a = f32[1,5,4] slice(x), slice={[0:1], [0:5], [0:4]}\n"
         "  b = f32[1,5,4] slice(x), slice={[0:1], [0:5], " +
         second +
         "}\n"
         "  c = f32[1,5,4] slice(x), slice={[0:1], [0:5], " +
         third +
         "}\n"
         "  h = f32[1,15,4] concatenate(a, b, c), dimensions={1}\n";
}
const std::string kSlicedProduct =
    "  r = f32[3,5,4] reshape(h)\n"
    "  ROOT d = f32[3,5,6] dot(r, w), lhs_batch_dims={0}, lhs_contracting_dims={2}, "
    "rhs_batch_dims={0}, rhs_contracting_dims={1}\n";

TEST(SlicedTransposes, AreTransposes) {
  EXPECT_TRUE(becomes_transpose(sliced("[4:8]", "[8:12]") + kSlicedProduct));
  EXPECT_TRUE(becomes_transpose(
      sliced("[4:8]", "[8:12]") +
      "  v = f32[4,2] parameter(2)\n  ROOT d = f32[1,15,2] dot(h, v), lhs_contracting_dims={2}, "
      "rhs_contracting_dims={0}\n"));
}

// The parts lie before that along which they are joined.
TEST(SlicedTransposes, OfAnEarlierDimension) {
  EXPECT_TRUE(becomes_transpose(
      "  x = f32[4,5,6] parameter(0)\n  v = f32[12,2] parameter(1)\n"
      "  a = f32[2,5,6] slice(x), slice={[0:2], [0:5], [0:6]}\n"
      "  b = f32[2,5,6] slice(x), slice={[2:4], [0:5], [0:6]}\n"
      "  h = f32[2,5,12] concatenate(a, b), dimensions={2}\n"
      "  ROOT d = f32[2,5,2] dot(h, v), lhs_contracting_dims={2}, rhs_contracting_dims={0}\n"));
}

TEST(SlicedTransposes, OfOtherPartsStay) {
  EXPECT_FALSE(becomes_transpose(sliced("[8:12]", "[4:8]") + kSlicedProduct));
  EXPECT_FALSE(becomes_transpose(sliced("[4:8]", "[4:8]") + kSlicedProduct));
  EXPECT_FALSE(becomes_transpose(
      "  x = f32[4,5] parameter(0)\n  v = f32[5,2] parameter(1)\n"
      "  a = f32[2,5] slice(x), slice={[0:2], [0:5]}\n"
      "  b = f32[2,5] slice(x), slice={[2:4], [0:5]}\n"
      "  h = f32[4,5] concatenate(a, b), dimensions={0}\n"
      "  ROOT d = f32[4,2] dot(h, v), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"));
}

TEST(SlicedTransposes, ThatMustBeInMemoryStay) {
  EXPECT_FALSE(becomes_transpose(sliced("[4:8]", "[8:12]") +
                                 "  s = f32[1,15,4] sine(h)\n  r = f32[3,5,4] reshape(s)\n" +
                                 kSlicedProduct.substr(kSlicedProduct.find("  ROOT"))));
}

// The simplifier writes slices here. If it no longer does, nothing has to be restored.
TEST(SlicedTransposes, OfOneRowLeaveOneKernel) {
  const auto module = testing::parse_hlo(
      "add {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT s = f32[] add(a, b)\n}\n"
      "max {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT s = f32[] maximum(a, b)\n"
      "}\n"
      "ENTRY e {\n  zero = f32[] constant(0)\n  lowest = f32[] constant(-inf)\n"
      "  q = f32[1,16,64] parameter(0)\n  k = f32[1,16,64] parameter(1)\n"
      "  v = f32[1,16,64] parameter(2)\n"
      "  qr = f32[1,16,4,16] reshape(q)\n"
      "  qt = f32[1,4,16,16] transpose(qr), dimensions={0,2,1,3}\n"
      "  kr = f32[1,16,4,16] reshape(k)\n"
      "  kt = f32[1,4,16,16] transpose(kr), dimensions={0,2,1,3}\n"
      "  vr = f32[1,16,4,16] reshape(v)\n"
      "  vt = f32[1,4,16,16] transpose(vr), dimensions={0,2,1,3}\n"
      "  y = f32[1,4,16,16] dot(qt, kt), lhs_batch_dims={0,1}, lhs_contracting_dims={3}, "
      "rhs_batch_dims={0,1}, rhs_contracting_dims={3}\n"
      "  peak = f32[1,4,16] reduce(y, lowest), dimensions={3}, to_apply=max\n"
      "  peaks = f32[1,4,16,16] broadcast(peak), dimensions={0,1,2}\n"
      "  d = f32[1,4,16,16] subtract(y, peaks)\n  e = f32[1,4,16,16] exponential(d)\n"
      "  sum = f32[1,4,16] reduce(e, zero), dimensions={3}, to_apply=add\n"
      "  sums = f32[1,4,16,16] broadcast(sum), dimensions={0,1,2}\n"
      "  p = f32[1,4,16,16] divide(e, sums)\n"
      "  o = f32[1,4,16,16] dot(p, vt), lhs_batch_dims={0,1}, lhs_contracting_dims={3}, "
      "rhs_batch_dims={0,1}, rhs_contracting_dims={2}\n"
      "  ot = f32[1,16,4,16] transpose(o), dimensions={0,2,1,3}\n"
      "  ROOT r = f32[1,16,64] reshape(ot)\n}\n");
  const auto before = testing::result_with_kernels(*module);
  EXPECT_TRUE(simplify(*module));
  EXPECT_EQ(operations_of(*module, HloOpcode::kConcatenate), 3);
  EXPECT_TRUE(testing::run_pass("restore_sliced_transpose", *module));
  EXPECT_TRUE(testing::run_kernel_passes(*module, 3));
  EXPECT_TRUE(testing::run_passes("replace_softmax", "replace_gelu", *module, 3));
  EXPECT_TRUE(testing::run_pass("replace_attention", *module));
  EXPECT_LT(testing::relative_difference(before, testing::result_with_kernels(*module)), 1e-5);
  EXPECT_THAT(testing::called_kernels(*module), ::testing::ElementsAre("attention_f32"));
  EXPECT_EQ(operations_of(*module, HloOpcode::kTranspose), 0) << module->ToString();
  EXPECT_EQ(operations_of(*module, HloOpcode::kSlice), 0) << module->ToString();
}

}  // namespace
}  // namespace tfaot::toolkit::engine
