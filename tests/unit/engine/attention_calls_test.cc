// SPDX-License-Identifier: Apache-2.0
// Products, a softmax and a product again as one call: it computes the same.
#include "kernels/attention_calls.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "kernels/kernel_call.h"
#include "kernels/rewrite_to_kernel_calls.h"
#include "kernels/row_calls.h"
#include "tests/unit/engine/parse_hlo.h"
#include "tests/unit/engine/run_kernels.h"
#include "tfaot/kernels/abi.h"

namespace tfaot::toolkit::engine {
namespace {

using ::testing::ElementsAre;

struct AttentionText {
  int rows = 1, length = 300, heads = 2, width = 8;
  const char* scaled = "  y = {0} multiply(s, scales)\n";  // what the softmax is of
};

// Heads lie as a dense layer made them, [rows, length, heads, width].
std::string attention_text(const AttentionText& t) {
  const std::string scores = fmt::format("f32[{},{},{},{}]", t.rows, t.heads, t.length, t.length);
  const std::string each = fmt::format("f32[{},{},{}]", t.rows, t.heads, t.length);
  const std::string heads = fmt::format("f32[{},{},{},{}]", t.rows, t.heads, t.length, t.width);
  const std::string tokens = fmt::format("f32[{},{},{},{}]", t.rows, t.length, t.heads, t.width);
  return "add {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT s = f32[] add(a, b)\n}"
         "\nmax {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT s = f32[] "
         "maximum(a, b)\n}\nENTRY e {\n  zero = f32[] constant(0)\n  lowest = f32[] constant(-inf)"
         "\n  scale = f32[] constant(0.25)\n" +
         fmt::format(
             "  q = {1} parameter(0)\n  k = {1} parameter(1)\n  v = {1} parameter(2)\n"
             "  qt = {2} transpose(q), dimensions={{0,2,1,3}}\n"
             "  kt = {2} transpose(k), dimensions={{0,2,1,3}}\n"
             "  vt = {2} transpose(v), dimensions={{0,2,1,3}}\n"
             "  s = {0} dot(qt, kt), lhs_batch_dims={{0,1}}, lhs_contracting_dims={{3}}, "
             "rhs_batch_dims={{0,1}}, rhs_contracting_dims={{3}}\n"
             "  scales = {0} broadcast(scale), dimensions={{}}\n{3}"
             "  peak = {4} reduce(y, lowest), dimensions={{3}}, to_apply=max\n"
             "  peaks = {0} broadcast(peak), dimensions={{0,1,2}}\n  d = {0} subtract(y, peaks)\n"
             "  ex = {0} exponential(d)\n"
             "  sum = {4} reduce(ex, zero), dimensions={{3}}, to_apply=add\n"
             "  sums = {0} broadcast(sum), dimensions={{0,1,2}}\n  p = {0} divide(ex, sums)\n"
             "  y0 = {2} dot(p, vt), lhs_batch_dims={{0,1}}, lhs_contracting_dims={{3}}, "
             "rhs_batch_dims={{0,1}}, rhs_contracting_dims={{2}}\n"
             "  y1 = {1} transpose(y0), dimensions={{0,2,1,3}}\n",
             scores, tokens, heads, fmt::format(fmt::runtime(t.scaled), scores), each);
}

std::vector<std::string> kernels_of(const AttentionText& t, const std::string& last) {
  const auto module = testing::parse_hlo(attention_text(t) + last + "}\n");
  const auto before = testing::result_with_kernels(*module);
  EXPECT_TRUE(rewrite_to_kernel_calls(*module, 3));
  EXPECT_TRUE(replace_row_functions(*module, 3));
  EXPECT_TRUE(fuse_attention(*module));
  EXPECT_LT(testing::relative_difference(before, testing::result_with_kernels(*module)), 1e-5)
      << module->ToString();
  return testing::called_kernels(*module);
}
std::vector<std::string> kernels_of(const AttentionText& t) {
  const std::string tokens = fmt::format("f32[{},{},{},{}]", t.rows, t.length, t.heads, t.width);
  return kernels_of(t, "  ROOT r = " + tokens + " copy(y1)\n");
}

TEST(AttentionCalls, OfManyTokensAreOneKernel) {
  const auto one = ElementsAre("attention_f32");
  EXPECT_THAT(kernels_of(AttentionText{}), one);
  EXPECT_THAT(kernels_of({.rows = 3, .length = 150, .heads = 3}), one);
  EXPECT_THAT(kernels_of({.length = 400, .heads = 1}), one);
  EXPECT_THAT(kernels_of({.scaled = "  y = {0} add(s, s)\n"}),
              ElementsAre("matmul_f32", "softmax_f32", "matmul_f32"));
}

TEST(AttentionCalls, OfFewTokensStayThree) {
  EXPECT_THAT(kernels_of({.length = 100}), ElementsAre("matmul_f32", "softmax_f32", "matmul_f32"));
}

// Weights or scores that the model needs for something else, too, are made.
TEST(AttentionCalls, WhoseWeightsAreWantedStayThree) {
  for (const char* wanted : {"p", "s"}) {
    const std::string last = fmt::format(
        "  some = f32[1,2,300,8] slice({}), slice={{[0:1],[0:2],[0:300],[0:8]}}\n"
        "  turned = f32[1,300,2,8] transpose(some), dimensions={{0,2,1,3}}\n"
        "  ROOT r = f32[1,300,2,8] add(y1, turned)\n",
        wanted);
    EXPECT_THAT(kernels_of({}, last), ElementsAre("matmul_f32", "softmax_f32", "matmul_f32"));
  }
}

}  // namespace
}  // namespace tfaot::toolkit::engine
