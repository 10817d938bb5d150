// SPDX-License-Identifier: Apache-2.0
// Convolutions between SpaceToBatch and BatchToSpace: as one dilated convolution they give the
// same.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/unit/engine/parse_hlo.h"
#include "tests/unit/engine/run_kernels.h"
#include "tests/unit/engine/run_pass.h"
#include "xla/window_util.h"

namespace tfaot::toolkit::engine {
namespace {

// The windows of all convolutions afterwards, and how many transposes are left, if the module
// computes the same as before.
std::string restored(const std::string& text) {
  const auto module = testing::parse_hlo(text);
  const auto before = testing::result_with_kernels(*module);
  EXPECT_TRUE(testing::run_pass("restore_dilated_window", *module));
  EXPECT_LT(testing::relative_difference(before, testing::result_with_kernels(*module)), 1e-6)
      << module->ToString();
  std::string windows;
  int transposes = 0;
  for (const auto* one : module->entry_computation()->MakeInstructionPostOrder()) {
    if (one->opcode() == xla::HloOpcode::kTranspose) ++transposes;
    if (one->opcode() != xla::HloOpcode::kConvolution) continue;
    windows += xla::window_util::ToString(one->window()) + ", ";
  }
  return windows + fmt::format("{} transposes", transposes);
}

// As TensorFlow lowers a dilated DepthwiseConv2dNative: [2,1,8,4], window 3, dilation 2.
const std::string kDepthwise =
    "ENTRY e {\n  x = f32[2,1,8,4] parameter(0)\n  w = f32[1,3,1,4] parameter(1)\n"
    "  zero = f32[] constant(0)\n"
    "  p = f32[2,1,12,4] pad(x, zero), padding=0_0x0_0x2_2x0_0\n"
    "  r = f32[2,1,1,6,2,4] reshape(p)\n"
    "  t = f32[1,2,2,1,6,4] transpose(r), dimensions={2,4,0,1,3,5}\n"
    "  s = f32[4,1,6,4] reshape(t)\n"
    "  c = f32[4,1,4,4] convolution(s, w), window={size=1x3}, dim_labels=b01f_01io->b01f, "
    "feature_group_count=4\n"
    "  u = f32[1,2,2,1,4,4] reshape(c)\n"
    "  v = f32[2,1,1,4,2,4] transpose(u), dimensions={2,3,0,4,1,5}\n"
    "  o = f32[2,8,4] reshape(v)\n";

TEST(DilatedWindows, ComeBackWithTheirPadding) {
  EXPECT_EQ(restored(kDepthwise + "  ROOT y = f32[2,8,4] negate(o)\n}\n"),
            "size=1x3 pad=0_0x2_2 rhs_dilate=1x2, 0 transposes");
}

// Padding with other numbers stays.
TEST(DilatedWindows, ComeBackAfterAnyPadding) {
  std::string ones = kDepthwise;
  ones.replace(ones.find("constant(0)"), 11, "constant(1)");
  EXPECT_EQ(restored(ones + "  ROOT y = f32[2,8,4] negate(o)\n}\n"),
            "size=1x3 rhs_dilate=1x2, 0 transposes");
}

TEST(DilatedWindows, StayWhereBlocksAreUsed) {
  EXPECT_EQ(restored(kDepthwise + "  q = f32[2,8,4] reshape(c)\n"
                                  "  ROOT y = f32[2,8,4] add(o, q)\n}\n"),
            "size=1x3, 2 transposes");
}

// tf.nn.convolution with dilations 2 and 3 of [1,7,8,2], of which the padded rows are cut off.
TEST(DilatedWindows, ComeBackWithoutWhatIsCutOff) {
  EXPECT_EQ(restored("ENTRY e {\n  x = f32[1,7,8,2] parameter(0)\n  w = f32[3,3,2,5] parameter(1)\n"
                     "  zero = f32[] constant(0)\n"
                     "  p = f32[1,12,15,2] pad(x, zero), padding=0_0x2_3x3_4x0_0\n"
                     "  r = f32[1,6,2,5,3,2] reshape(p)\n"
                     "  t = f32[2,3,1,6,5,2] transpose(r), dimensions={2,4,0,1,3,5}\n"
                     "  s = f32[6,6,5,2] reshape(t)\n"
                     "  c = f32[6,4,3,5] convolution(s, w), window={size=3x3}, "
                     "dim_labels=b01f_01io->b01f\n"
                     "  u = f32[2,3,1,4,3,5] reshape(c)\n"
                     "  v = f32[1,4,2,3,3,5] transpose(u), dimensions={2,3,0,4,1,5}\n"
                     "  o = f32[1,8,9,5] reshape(v)\n"
                     "  ROOT y = f32[1,7,8,5] slice(o), slice={[0:1], [0:7], [0:8], [0:5]}\n}\n"),
            "size=3x3 pad=2_2x3_3 rhs_dilate=2x3, 0 transposes");
}

// Of one dimension, as tf.nn.convolution makes it: [2,6,4], window 3, dilation 3.
TEST(DilatedWindows, ComeBackInOneDimension) {
  EXPECT_EQ(restored("ENTRY e {\n  x = f32[2,6,4] parameter(0)\n  w = f32[1,3,4,5] parameter(1)\n"
                     "  zero = f32[] constant(0)\n"
                     "  p = f32[2,12,4] pad(x, zero), padding=0_0x3_3x0_0\n"
                     "  r = f32[2,4,3,4] reshape(p)\n"
                     "  t = f32[3,2,4,4] transpose(r), dimensions={2,0,1,3}\n"
                     "  s = f32[6,1,4,4] reshape(t)\n"
                     "  c = f32[6,1,2,5] convolution(s, w), window={size=1x3}, "
                     "dim_labels=b01f_01io->b01f\n"
                     "  u = f32[3,2,2,5] reshape(c)\n"
                     "  v = f32[2,2,3,5] transpose(u), dimensions={1,2,0,3}\n"
                     "  ROOT y = f32[2,6,5] reshape(v)\n}\n"),
            "size=1x3 pad=0_0x3_3 rhs_dilate=1x3, 0 transposes");
}

// Blocks whose results are joined in another order.
TEST(DilatedWindows, StayWithOtherOrders) {
  std::string other = kDepthwise;
  other.replace(other.find("dimensions={2,3,0,4,1,5}"), 24, "dimensions={2,3,0,1,4,5}");
  other.replace(other.find("f32[2,1,1,4,2,4]"), 16, "f32[2,1,1,2,4,4]");
  EXPECT_EQ(restored(other + "  ROOT y = f32[2,8,4] negate(o)\n}\n"), "size=1x3, 2 transposes");
}

}  // namespace
}  // namespace tfaot::toolkit::engine
