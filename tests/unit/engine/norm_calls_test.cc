// SPDX-License-Identifier: Apache-2.0
// Group and instance normalisation of channels that come last, in the forms that formats and
// exporters write, as calls of a kernel: they give the same.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "compiler/kernels/kernel_call.h"
#include "tests/unit/engine/parse_hlo.h"
#include "tests/unit/engine/run_kernels.h"
#include "tests/unit/engine/run_pass.h"
#include "tfaot/kernels/abi.h"

namespace tfaot::toolkit::engine {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Not;

// Parameters from 1 on are weights.
std::unique_ptr<xla::HloModule> with_norm_calls(const std::string& body) {
  auto module = testing::parse_hlo(
      "add {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT s = f32[] add(a, b)\n}\n"
      "ENTRY e {\n  zero = f32[] constant(0)\n" +
      body + "}\n");
  const auto before = testing::result_with_kernels(*module);
  EXPECT_TRUE(testing::run_pass("replace_normalisation", *module, 1));
  EXPECT_LT(testing::relative_difference(before, testing::result_with_kernels(*module)), 2e-6)
      << module->ToString();
  return module;
}

// x[2,24,4,3] with 4 groups of 3 channels: d is x - mean, s is 1 / deviation, [2,4].
const std::string kGroupMoments = R"(
  x = f32[2,24,4,3] parameter(0)
  total = f32[2,4] reduce(x, zero), dimensions={1,3}, to_apply=add
  count = f32[] constant(72)
  counts = f32[2,4] broadcast(count), dimensions={}
  mean = f32[2,4] divide(total, counts)
  means = f32[2,24,4,3] broadcast(mean), dimensions={0,2}
  d = f32[2,24,4,3] subtract(x, means)
  dd = f32[2,24,4,3] multiply(d, d)
  squares = f32[2,4] reduce(dd, zero), dimensions={1,3}, to_apply=add
  variance = f32[2,4] divide(squares, counts)
  small = f32[] constant(0.01)
  smalls = f32[2,4] broadcast(small), dimensions={}
  shifted = f32[2,4] add(variance, smalls)
  s = f32[2,4] rsqrt(shifted)
  g = f32[12] parameter(1)
  gg = f32[4,3] reshape(g)
  b = f32[12] parameter(2)
  bg = f32[4,3] reshape(b)
)";

TEST(GroupNormCalls, OfEachChannel) {
  const auto module = with_norm_calls(kGroupMoments + R"(
  ss = f32[2,24,4,3] broadcast(s), dimensions={0,2}
  n = f32[2,24,4,3] multiply(d, ss)
  gs = f32[2,24,4,3] broadcast(gg), dimensions={2,3}
  bs = f32[2,24,4,3] broadcast(bg), dimensions={2,3}
  ng = f32[2,24,4,3] multiply(n, gs)
  ROOT y = f32[2,24,4,3] add(ng, bs)
)");
  EXPECT_THAT(testing::called_kernels(*module), ElementsAre("group_norm_f32"));
  for (const auto* one : module->entry_computation()->instructions()) {
    if (!is_call_of(*one, Kernel::kGroupNorm)) continue;
    const auto call = call_of<kernels::GroupNormCall>(*one);
    EXPECT_EQ(call.batch, 2);
    EXPECT_EQ(call.points, 24);
    EXPECT_EQ(call.groups, 4);
    EXPECT_EQ(call.channels, 3);
    EXPECT_NEAR(call.epsilon, 0.01, 1e-8);
  }
}

// tf2onnx writes x * (g / deviation) + (b - mean * (g / deviation)), with the brackets for each
// element of the batch and channel.
TEST(GroupNormCalls, OfFactorsForEachChannelOfAnImage) {
  const auto module = with_norm_calls(kGroupMoments + R"(
  s3 = f32[2,4,3] broadcast(s), dimensions={0,1}
  g3 = f32[2,4,3] broadcast(gg), dimensions={1,2}
  sg = f32[2,4,3] multiply(s3, g3)
  sgs = f32[2,24,4,3] broadcast(sg), dimensions={0,2,3}
  xs = f32[2,24,4,3] multiply(x, sgs)
  m = f32[2,4] negate(mean)
  m3 = f32[2,4,3] broadcast(m), dimensions={0,1}
  ms = f32[2,4,3] multiply(m3, sg)
  b3 = f32[2,4,3] broadcast(bg), dimensions={1,2}
  rest = f32[2,4,3] add(ms, b3)
  rests = f32[2,24,4,3] broadcast(rest), dimensions={0,2,3}
  ROOT y = f32[2,24,4,3] add(xs, rests)
)");
  EXPECT_THAT(testing::called_kernels(*module), ElementsAre("group_norm_f32"));
}

// GELU takes a norm twice: in erf, and in half. The half is no scale of the norm, which would then
// be computed twice.
TEST(GroupNormCalls, BeforeAGelu) {
  const auto module = with_norm_calls(kGroupMoments + R"(
  ss = f32[2,24,4,3] broadcast(s), dimensions={0,2}
  n = f32[2,24,4,3] multiply(d, ss)
  gs = f32[2,24,4,3] broadcast(gg), dimensions={2,3}
  ng = f32[2,24,4,3] multiply(n, gs)
  half = f32[] constant(0.5)
  halves = f32[2,24,4,3] broadcast(half), dimensions={}
  root = f32[] constant(0.707106769)
  roots = f32[2,24,4,3] broadcast(root), dimensions={}
  one = f32[] constant(1)
  ones = f32[2,24,4,3] broadcast(one), dimensions={}
  h = f32[2,24,4,3] multiply(ng, halves)
  r = f32[2,24,4,3] multiply(ng, roots)
  f = f32[2,24,4,3] erf(r)
  p = f32[2,24,4,3] add(f, ones)
  ROOT y = f32[2,24,4,3] multiply(h, p)
)");
  EXPECT_TRUE(testing::run_pass("replace_gelu", *module, 1));
  EXPECT_THAT(testing::called_kernels(*module), ElementsAre("group_norm_f32", "gelu_f32"));
}

// Each channel is a group, and points are an image's: x[3,8,10,20].
TEST(GroupNormCalls, OfChannelsAlone) {
  const auto module = with_norm_calls(R"(
  x = f32[3,8,10,20] parameter(0)
  total = f32[3,20] reduce(x, zero), dimensions={1,2}, to_apply=add
  part = f32[] constant(0.0125)
  parts = f32[3,20] broadcast(part), dimensions={}
  mean = f32[3,20] multiply(total, parts)
  kept = f32[3,1,1,20] reshape(mean)
  flat = f32[3,20] reshape(kept)
  means = f32[3,8,10,20] broadcast(flat), dimensions={0,3}
  d = f32[3,8,10,20] subtract(x, means)
  dd = f32[3,8,10,20] multiply(d, d)
  squares = f32[3,20] reduce(dd, zero), dimensions={1,2}, to_apply=add
  variance = f32[3,20] multiply(squares, parts)
  s = f32[3,20] sqrt(variance)
  ss = f32[3,8,10,20] broadcast(s), dimensions={0,3}
  ROOT y = f32[3,8,10,20] divide(d, ss)
)");
  EXPECT_THAT(testing::called_kernels(*module), ElementsAre("group_norm_f32"));
}

const std::string kDeviations = "  ss = f32[2,24,4,3] broadcast(s), dimensions={0,2}\n";
const std::string kNormal = kDeviations + "  n = f32[2,24,4,3] multiply(d, ss)\n";

// As GroupNormalization has them before opset 21.
TEST(GroupNormCalls, OfWeightsOfGroups) {
  const auto module = with_norm_calls(kGroupMoments + kNormal + R"(
  q = f32[4] parameter(3)
  qs = f32[2,24,4,3] broadcast(q), dimensions={2}
  nq = f32[2,24,4,3] multiply(n, qs)
  bs = f32[2,24,4,3] broadcast(bg), dimensions={2,3}
  ROOT y = f32[2,24,4,3] add(nq, bs)
)");
  EXPECT_THAT(testing::called_kernels(*module), ElementsAre("group_norm_f32"));
  EXPECT_NE(module->entry_computation()->root_instruction()->opcode(), xla::HloOpcode::kAdd);
}

// As Keras computes it, of sizes.
TEST(GroupNormCalls, OfAComputedCount) {
  std::string text = kGroupMoments + kDeviations + "  ROOT n = f32[2,24,4,3] multiply(d, ss)\n";
  const std::string count = "count = f32[] constant(72)";
  text.replace(
      text.find(count), count.size(),
      "eight = s32[] constant(8)\n  three = s32[] constant(3)\n  part = s32[] multiply(eight, "
      "three)\n  all = s32[] multiply(part, three)\n  count = f32[] convert(all)");
  EXPECT_THAT(testing::called_kernels(*with_norm_calls(text)), ElementsAre("group_norm_f32"));
}

// Along the batch, as in training: one mean of each column. XLA's loops are as fast for fewer.
TEST(GroupNormCalls, AlongTheFirstDimension) {
  const auto kernels_of = [](const std::string& rows) {
    const std::string all = "f32[" + rows + ",5] ";
    return testing::called_kernels(*with_norm_calls(
        "  x = " + all + "parameter(0)\n  total = f32[5] reduce(x, zero), dimensions={0}, " +
        "to_apply=add\n  count = f32[] constant(" + rows + ")\n" +
        "  counts = f32[5] broadcast(count), dimensions={}\n  mean = f32[5] divide(total, "
        "counts)\n" +
        "  means = " + all + "broadcast(mean), dimensions={1}\n  d = " + all +
        "subtract(x, means)\n  dd = " + all + "multiply(d, d)\n" +
        "  squares = f32[5] reduce(dd, zero), dimensions={0}, to_apply=add\n" +
        "  variance = f32[5] divide(squares, counts)\n  s = f32[5] rsqrt(variance)\n  ss = " + all +
        "broadcast(s), dimensions={1}\n  ROOT y = " + all + "multiply(d, ss)\n"));
  };
  EXPECT_THAT(kernels_of("64"), ElementsAre("group_norm_f32"));
  EXPECT_THAT(kernels_of("63"), ::testing::IsEmpty());
}

// The normalisation alone: a factor of each point, one of each image and channel that comes from
// the input, and a mean that is used again.
TEST(GroupNormCalls, WhatIsNotItsOwnStays) {
  const std::string moments = kGroupMoments + kNormal;
  for (const char* rest :
       {"  p = f32[24,4,3] parameter(3)\n  ps = f32[2,24,4,3] broadcast(p), dimensions={1,2,3}\n"
        "  ROOT y = f32[2,24,4,3] multiply(n, ps)\n",
        "  c = f32[2,1,4,3] slice(x), slice={[0:2],[3:4],[0:4],[0:3]}\n  f = f32[2,4,3] "
        "reshape(c)\n  fs = f32[2,24,4,3] broadcast(f), dimensions={0,2,3}\n"
        "  ROOT y = f32[2,24,4,3] multiply(n, fs)\n",
        "  ROOT y = f32[2,24,4,3] multiply(n, means)\n"}) {
    const auto module = with_norm_calls(moments + rest);
    EXPECT_THAT(testing::called_kernels(*module), ElementsAre("group_norm_f32")) << rest;
    EXPECT_EQ(module->entry_computation()->root_instruction()->opcode(), xla::HloOpcode::kMultiply);
  }
}

// Replaces `before`, which is in the moments, by `after`.
std::string with_other(const std::string& before, const std::string& after) {
  std::string text = kGroupMoments + kNormal + "  ROOT y = f32[2,24,4,3] add(n, d)\n";
  const auto at = text.find(before);
  EXPECT_NE(at, std::string::npos) << before;
  return text.replace(at, before.size(), after);
}

// A deviation that is multiplied, an epsilon beside the root, other counts, a variance of other
// numbers or about other means, and a mean that lies at other places.
TEST(GroupNormCalls, OthersStay) {
  const std::string mean = "  means = f32[2,24,4,3] broadcast(mean), dimensions={0,2}\n";
  const std::string other_sum =
      "  t2 = f32[2,3] reduce(x, zero), dimensions={1,2}, to_apply=add\n"
      "  many = f32[] constant(96)\n  n2 = f32[2,3] broadcast(many), dimensions={}\n"
      "  m2 = f32[2,3] divide(t2, n2)\n"
      "  o = f32[2,24,4,3] broadcast(m2), dimensions={0,3}\n";
  for (const std::string& text :
       {with_other("rsqrt(shifted)\n", "multiply(shifted, variance)\n"),
        with_other("s = f32[2,4] rsqrt(shifted)\n",
                   "r = f32[2,4] sqrt(variance)\n  s = f32[2,4] add(r, smalls)\n"),
        with_other("  variance = f32[2,4] divide(squares, counts)\n",
                   "  less = f32[] constant(71)\n  l = f32[2,4] broadcast(less), dimensions={}\n"
                   "  variance = f32[2,4] divide(squares, l)\n"),
        with_other("subtract(x, means)\n", "add(x, means)\n"),
        with_other("d = f32[2,24,4,3] subtract(x, means)\n",
                   "c = f32[2,24,4,3] cosine(x)\n  d = f32[2,24,4,3] subtract(c, means)\n"),
        with_other(mean, other_sum + "  means = f32[2,24,4,3] add(o, o)\n"),
        with_other(mean, other_sum + "  means = f32[2,24,4,3] reshape(o)\n")}) {
    const auto module = with_norm_calls(text);
    EXPECT_THAT(testing::called_kernels(*module), Not(Contains("group_norm_f32"))) << text;
  }
}

}  // namespace
}  // namespace tfaot::toolkit::engine
