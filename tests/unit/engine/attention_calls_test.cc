// SPDX-License-Identifier: Apache-2.0
// Attention as one call, in the forms that Keras and exporters of PyTorch write: it gives the same.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "compiler/hlo/simplify.h"
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

struct AttentionCalls {
  std::vector<std::string> kernels;
  std::unique_ptr<xla::HloModule> module;
};

// All parameters are inputs.
AttentionCalls attention_calls(const std::string& text) {
  AttentionCalls result{{}, testing::parse_hlo(text)};
  const auto before = testing::result_with_kernels(*result.module);
  const auto inputs = result.module->entry_computation()->num_parameters();
  EXPECT_TRUE(simplify(*result.module));
  EXPECT_TRUE(testing::run_kernel_passes(*result.module, inputs));
  EXPECT_TRUE(testing::run_passes("replace_softmax", "replace_gelu", *result.module, inputs));
  EXPECT_TRUE(testing::run_pass("replace_attention", *result.module));
  EXPECT_LT(testing::relative_difference(before, testing::result_with_kernels(*result.module)),
            1e-5)
      << result.module->ToString();
  result.kernels = testing::called_kernels(*result.module);
  return result;
}

kernels::AttentionCall attention_of(const std::string& text) {
  const AttentionCalls made = attention_calls(text);
  EXPECT_THAT(made.kernels, ElementsAre("attention_f32")) << made.module->ToString();
  for (const auto* one : made.module->entry_computation()->instructions()) {
    if (is_call_of(*one, Kernel::kAttention)) return call_of<kernels::AttentionCall>(*one);
  }
  return {};
}

// A batch of `b`, `t` queries, `s` keys, `n` heads of `h`.
struct Heads {
  int b, t, s, n, h;
};
constexpr Heads kHeads = {2, 80, 84, 5, 6};

std::string filled(std::string text, const Heads& heads) {
  const std::pair<const char*, int> sizes[] = {
      {"<B>", heads.b}, {"<T>", heads.t}, {"<S>", heads.s}, {"<N>", heads.n}, {"<H>", heads.h}};
  for (const auto& [name, size] : sizes) {
    for (std::size_t at = 0; (at = text.find(name)) != std::string::npos;) {
      text.replace(at, 3, std::to_string(size));
    }
  }
  return text;
}

const std::string kAttentionHead =
    "add {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT s = f32[] add(a, b)\n}\n"
    "max {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT s = f32[] maximum(a, b)\n}\n"
    "ENTRY e {\n  zero = f32[] constant(0)\n  lowest = f32[] constant(-inf)\n"
    "  scale0 = f32[] constant(0.4)\n"
    "  q = f32[<B>,<T>,<N>,<H>] parameter(0)\n  k = f32[<B>,<S>,<N>,<H>] parameter(1)\n"
    "  v = f32[<B>,<S>,<N>,<H>] parameter(2)\n";
// Of y, as p.
const std::string kAttentionSoftmax =
    "  peak = f32[<B>,<N>,<T>] reduce(y, lowest), dimensions={3}, to_apply=max\n"
    "  peaks = f32[<B>,<N>,<T>,<S>] broadcast(peak), dimensions={0,1,2}\n"
    "  d = f32[<B>,<N>,<T>,<S>] subtract(y, peaks)\n"
    "  e = f32[<B>,<N>,<T>,<S>] exponential(d)\n"
    "  sum = f32[<B>,<N>,<T>] reduce(e, zero), dimensions={3}, to_apply=add\n"
    "  sums = f32[<B>,<N>,<T>,<S>] broadcast(sum), dimensions={0,1,2}\n"
    "  p = f32[<B>,<N>,<T>,<S>] divide(e, sums)\n";
// Exporters of PyTorch transpose all sides; keys twice.
const std::string kTransposedSides =
    "  qt = f32[<B>,<N>,<T>,<H>] transpose(q), dimensions={0,2,1,3}\n"
    "  kt = f32[<B>,<N>,<H>,<S>] transpose(k), dimensions={0,2,3,1}\n"
    "  vt = f32[<B>,<N>,<S>,<H>] transpose(v), dimensions={0,2,1,3}\n";
const std::string kScores =
    "f32[<B>,<N>,<T>,<S>] dot(qt, kt), lhs_batch_dims={0,1}, lhs_contracting_dims={3}, "
    "rhs_batch_dims={0,1}, rhs_contracting_dims={2}\n";
const std::string kSums =
    "  o = f32[<B>,<N>,<T>,<H>] dot(p, vt), lhs_batch_dims={0,1}, lhs_contracting_dims={3}, "
    "rhs_batch_dims={0,1}, rhs_contracting_dims={2}\n"
    "  ROOT r = f32[<B>,<T>,<N>,<H>] transpose(o), dimensions={0,2,1,3}\n}\n";
const std::string kScaledScores =
    "  s = " + kScores +
    "  scales = f32[<B>,<N>,<T>,<S>] broadcast(scale0), dimensions={}\n"
    "  y = f32[<B>,<N>,<T>,<S>] multiply(s, scales)\n";

const std::string kPyTorch =
    kAttentionHead + kTransposedSides + kScaledScores + kAttentionSoftmax + kSums;

TEST(AttentionCalls, OfPyTorch) {
  const auto call = attention_of(filled(kPyTorch, kHeads));
  EXPECT_EQ(call.batch, 10);
  EXPECT_EQ(call.inner_batch, 5);
  EXPECT_EQ(call.rows, 80);
  EXPECT_EQ(call.keys, 84);
  EXPECT_EQ(call.depth, 6);
  EXPECT_EQ(call.columns, 6);
  EXPECT_FLOAT_EQ(static_cast<float>(call.scale), 0.4F);
  EXPECT_EQ(call.queries.row_stride, 30);
  EXPECT_EQ(call.result.row_stride, 30);
}

TEST(AttentionCalls, OfOneRow) { attention_of(filled(kPyTorch, {1, 120, 120, 6, 4})); }

TEST(AttentionCalls, OfOneHead) { attention_of(filled(kPyTorch, {8, 100, 90, 1, 4})); }

// Scaled on both sides before the product, as PyTorch's own function does it.
TEST(AttentionCalls, WithoutAScale) {
  const auto call = attention_of(filled(
      kAttentionHead + kTransposedSides + "  y = " + kScores + kAttentionSoftmax + kSums, kHeads));
  EXPECT_EQ(call.scale, 1);
}

// Heads lie one after the other already.
TEST(AttentionCalls, OfSidesInOrder) {
  const std::string head = kAttentionHead.substr(0, kAttentionHead.find("  q ="));
  const std::string sums = kSums.substr(0, kSums.find("  ROOT"));
  attention_of(filled(head +
                          "  qt = f32[<B>,<N>,<T>,<H>] parameter(0)\n"
                          "  kt = f32[<B>,<N>,<H>,<S>] parameter(1)\n"
                          "  vt = f32[<B>,<N>,<S>,<H>] parameter(2)\n" +
                          kScaledScores + kAttentionSoftmax + "  ROOT" + sums.substr(1) + "}\n",
                      kHeads));
}

// Keras writes einsums, whose first operand is the keys or the values.
TEST(AttentionCalls, OfKeras) {
  const std::string text =
      kAttentionHead +
      "  scales = f32[<B>,<T>,<N>,<H>] broadcast(scale0), dimensions={}\n"
      "  qs = f32[<B>,<T>,<N>,<H>] multiply(q, scales)\n"
      "  st = f32[<B>,<N>,<S>,<T>] dot(k, qs), lhs_batch_dims={0,2}, lhs_contracting_dims={3}, "
      "rhs_batch_dims={0,2}, rhs_contracting_dims={3}\n"
      "  y = f32[<B>,<N>,<T>,<S>] transpose(st), dimensions={0,1,3,2}\n" +
      kAttentionSoftmax +
      "  o = f32[<B>,<N>,<T>,<H>] dot(p, v), lhs_batch_dims={0,1}, lhs_contracting_dims={3}, "
      "rhs_batch_dims={0,2}, rhs_contracting_dims={1}\n"
      "  ROOT r = f32[<B>,<T>,<N>,<H>] transpose(o), dimensions={0,2,1,3}\n}\n";
  attention_of(filled(text, kHeads));
}

// JAX's product with the values begins with the values.
TEST(AttentionCalls, OfJax) {
  const auto call = attention_of(
      filled(kAttentionHead +
                 "  s = f32[<B>,<N>,<T>,<S>] dot(q, k), lhs_batch_dims={0,2}, "
                 "lhs_contracting_dims={3}, rhs_batch_dims={0,2}, rhs_contracting_dims={3}\n"
                 "  scales = f32[<B>,<N>,<T>,<S>] broadcast(scale0), dimensions={}\n"
                 "  y = f32[<B>,<N>,<T>,<S>] divide(s, scales)\n" +
                 kAttentionSoftmax +
                 "  o = f32[<B>,<N>,<H>,<T>] dot(v, p), lhs_batch_dims={0,2}, "
                 "lhs_contracting_dims={1}, rhs_batch_dims={0,1}, rhs_contracting_dims={3}\n"
                 "  ROOT r = f32[<B>,<T>,<N>,<H>] transpose(o), dimensions={0,3,1,2}\n}\n",
             kHeads));
  EXPECT_FLOAT_EQ(static_cast<float>(call.scale), 2.5F);
  EXPECT_EQ(call.result.row_stride, 30);
}

// With queries as lanes.
TEST(AttentionCalls, OfFewScores) {
  for (const Heads& heads : {Heads{1, 16, 16, 4, 16}, Heads{1, 5, 8, 1, 8}, Heads{3, 50, 50, 2, 32},
                             Heads{1, 5, 700, 2, 16}}) {
    attention_of(filled(kPyTorch, heads));
  }
}

// Lanes would be idle, or products take longest.
TEST(AttentionCalls, OfFewQueriesOrDeepHeadsStays) {
  for (const Heads& heads : {Heads{2, 3, 16, 4, 16}, Heads{2, 16, 3, 4, 16}, Heads{2, 16, 16, 4, 3},
                             Heads{2, 16, 16, 4, 33}, Heads{1, 30, 800, 2, 32}}) {
    EXPECT_THAT(attention_calls(filled(kPyTorch, heads)).kernels, Not(Contains("attention_f32")));
  }
}

TEST(AttentionCalls, OfANegativeScaleStays) {
  std::string text = kPyTorch;
  text.replace(text.find("constant(0.4)"), 13, "constant(-0.4)");
  EXPECT_THAT(attention_calls(filled(text, {1, 16, 16, 4, 16})).kernels,
              ElementsAre("matmul_f32", "softmax_f32", "matmul_f32"));
  attention_of(filled(text, kHeads));
}

// What is used elsewhere has to be in memory; a mask is none of the call's.
TEST(AttentionCalls, OfWeightsThatAreNeededStays) {
  std::string text = kPyTorch;
  text.replace(text.find("ROOT r"), 6, "r");
  text.insert(text.rfind('}'),
              "  ROOT all = (f32[<B>,<T>,<N>,<H>], f32[<B>,<N>,<T>,<S>]) tuple(r, p)\n");
  const auto module = testing::parse_hlo(filled(text, kHeads));
  EXPECT_TRUE(testing::run_kernel_passes(*module, 3));
  EXPECT_TRUE(testing::run_passes("replace_softmax", "replace_gelu", *module, 3));
  EXPECT_TRUE(testing::run_pass("replace_attention", *module));
  EXPECT_THAT(testing::called_kernels(*module), Not(Contains("attention_f32")));
}

TEST(AttentionCalls, WithAMaskStays) {
  std::string text = kPyTorch;
  const std::string scaled = "  y = f32[<B>,<N>,<T>,<S>] multiply";
  text.replace(text.find(scaled), scaled.size(), "  x = f32[<B>,<N>,<T>,<S>] multiply");
  text.insert(text.find("  peak ="),
              "  m = f32[<T>,<S>] parameter(3)\n"
              "  ms = f32[<B>,<N>,<T>,<S>] broadcast(m), dimensions={2,3}\n"
              "  y = f32[<B>,<N>,<T>,<S>] add(x, ms)\n");
  EXPECT_THAT(attention_calls(filled(text, kHeads)).kernels,
              ElementsAre("matmul_f32", "softmax_f32", "matmul_f32"));
}

}  // namespace
}  // namespace tfaot::toolkit::engine
