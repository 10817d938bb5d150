// SPDX-License-Identifier: Apache-2.0
// Numbers of 16 bits as float32: which results round, and that nothing of 16 bits is left inside.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "tests/unit/engine/parse_hlo.h"
#include "tests/unit/engine/run_kernels.h"
#include "tests/unit/engine/run_pass.h"
#include "xla/hlo/evaluator/hlo_evaluator.h"
#include "xla/literal_util.h"

namespace tfaot::toolkit::engine {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using Floats = std::vector<float>;

bool is_of_16_bits(const xla::Shape& shape) {
  return xla::ShapeUtil::HasPrimitiveType(shape, xla::F16) ||
         xla::ShapeUtil::HasPrimitiveType(shape, xla::BF16);
}

// After widening. Only conversions at the module's ends have 16 bits: `casts` counts others.
std::unique_ptr<xla::HloModule> widened(const std::string& text, int casts = 0) {
  auto module = testing::parse_hlo(text);
  const auto layout = module->entry_computation_layout();
  EXPECT_TRUE(testing::run_pass("widen_halves", *module));
  EXPECT_EQ(layout, module->entry_computation_layout());
  EXPECT_EQ(module->entry_computation()->root_instruction()->shape(), layout.result_shape());
  int left = 0;
  for (const auto* computation : module->computations()) {
    for (const auto* one : computation->MakeInstructionPostOrder()) {
      const bool is_end = one->opcode() == xla::HloOpcode::kParameter || one->IsRoot() ||
                          (one->user_count() == 1 && one->users().front()->IsRoot());
      const bool is_dead = one->user_count() == 0 && !one->IsRoot();
      if (is_of_16_bits(one->shape()) && !is_dead && !(computation->IsEntryComputation() && is_end))
        ++left;
    }
  }
  EXPECT_EQ(left, casts) << module->ToString();
  return module;
}

// The only result. The parameters are float32, float16 or bfloat16, of numbers that these hold.
Floats result_of(const std::string& text, const std::vector<Floats>& inputs, int casts = 0) {
  const auto module = widened(text, casts);
  std::vector<xla::Literal> arguments;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const auto* parameter =
        module->entry_computation()->parameter_instruction(static_cast<std::int64_t>(i));
    const auto given = xla::LiteralUtil::CreateR1<float>(inputs[i]);
    arguments.push_back(given.Convert(parameter->shape().element_type()).value());
  }
  xla::HloEvaluator evaluator;
  auto made = evaluator.Evaluate(*module, arguments);
  if (!made.ok()) {
    ADD_FAILURE() << made.status().message();
    return {};
  }
  const xla::Literal all = made->DecomposeTuple().front().Convert(xla::F32).value();
  return {all.data<float>().begin(), all.data<float>().end()};
}

TEST(WidenedHalves, OperationsDoNotRound) {
  // 300 * 300 is beyond float16; 0.01 is 0.01000213623046875 in float16, 0.01000976562 in bfloat16.
  const auto squares = [](const std::string& type) {
    return result_of(fmt::format(R"(ENTRY e {{
  x = {0}[2] parameter(0)
  s = {0}[2] multiply(x, x)
  h = {0}[] constant(0.01)
  hs = {0}[2] broadcast(h), dimensions={{}}
  y = {0}[2] multiply(s, hs)
  f = f32[2] convert(y)
  ROOT t = (f32[2]) tuple(f)
}})",
                                 type),
                     {{300, 3}});
  };
  EXPECT_THAT(squares("f16"), ElementsAre(90000 * 0.01000213623046875F, 9 * 0.01000213623046875F));
  EXPECT_THAT(squares("bf16"), ElementsAre(90000 * 0.010009765625F, 9 * 0.010009765625F));
}

TEST(WidenedHalves, ResultsRound) {
  const std::string text = R"(ENTRY e {
  x = f16[3] parameter(0)
  y = f16[3] multiply(x, x)
  ROOT t = (f16[3], f16[3]) tuple(y, x)
})";
  // 2049 * 2049 is infinite, 1.0009765625 squared is not a number of float16.
  EXPECT_THAT(result_of(text, {{2050, 1.0009765625, 0.5}}),
              ElementsAre(std::numeric_limits<float>::infinity(), 1.001953125, 0.25));
}

// float32 to 16 bits and back, by an operation of this type.
Floats through(const std::string& half, const std::string& operation, int casts) {
  return result_of(fmt::format(R"(ENTRY e {{
  x = f32[3] parameter(0)
  h = {}[3] convert(x), metadata={{op_type="{}"}}
  y = f32[3] convert(h)
  ROOT t = (f32[3]) tuple(y)
}})",
                               half, operation),
                   {{1.0001, 1e6, 3}}, casts);
}

TEST(WidenedHalves, CastsOfTheModelRound) {
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_THAT(through("f16", "Cast", 1), ElementsAre(1, infinity, 3));
  EXPECT_THAT(through("bf16", "CastLike", 1), ElementsAre(1, 999424, 3));
  EXPECT_THAT(through("bf16", "", 1), ElementsAre(1, 999424, 3)) << "StableHLO";
  // A conversion within another operation, as of a sum that is added up in float32.
  EXPECT_THAT(through("f16", "Mean", 0), ElementsAre(1.0001F, 1e6F, 3));
}

TEST(WidenedHalves, SumsOfStableHloDoNotRound) {
  const std::string text = R"(
sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}
ENTRY e {
  x = bf16[4] parameter(0)
  w = f32[4] convert(x)
  zero = f32[] constant(0)
  s = f32[] reduce(w, zero), dimensions={0}, to_apply=sum
  four = f32[] constant(4)
  m = f32[] divide(s, four)
  h = bf16[] convert(m)
  p = bf16[1] reshape(h)
  y = f32[1] convert(p)
  ROOT t = (f32[1]) tuple(y)
})";
  EXPECT_THAT(result_of(text, {{256, 1, 1, 1}}), ElementsAre(64.75));
}

TEST(WidenedHalves, LoopsBranchesAndSortsHaveNone) {
  const std::string text = R"(
less {
  a = bf16[] parameter(0)
  b = bf16[] parameter(1)
  ROOT l = pred[] compare(a, b), direction=LT
}
larger {
  a = bf16[] parameter(0)
  b = bf16[] parameter(1)
  ROOT l = bf16[] maximum(a, b)
}
condition {
  s = (s32[], bf16[3]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(2)
  ROOT l = pred[] compare(i, n), direction=LT
}
body {
  s = (s32[], bf16[3]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  one = s32[] constant(1)
  j = s32[] add(i, one)
  x = bf16[3] get-tuple-element(s), index=1
  y = bf16[3] multiply(x, x)
  ROOT t = (s32[], bf16[3]) tuple(j, y)
}
twice {
  x = bf16[3] parameter(0)
  ROOT y = bf16[3] add(x, x)
}
same {
  ROOT x = bf16[3] parameter(0)
}
ENTRY e {
  x = bf16[3] parameter(0)
  zero = s32[] constant(0)
  start = (s32[], bf16[3]) tuple(zero, x)
  l = (s32[], bf16[3]) while(start), condition=condition, body=body
  v = bf16[3] get-tuple-element(l), index=1
  c = bf16[3] conditional(zero, v, v), branch_computations={twice, same}
  s = bf16[3] sort(c), dimensions={0}, to_apply=less
  least = bf16[] constant(-inf)
  m = bf16[] reduce(s, least), dimensions={0}, to_apply=larger
  ms = bf16[3] broadcast(m), dimensions={}
  d = bf16[3] subtract(s, ms)
  f = f32[3] convert(d)
  ROOT t = (f32[3]) tuple(f)
})";
  // Powers of four of 1.0078125: bfloat16 would round them.
  const float power = 1.0078125F * 1.0078125F * 1.0078125F * 1.0078125F;
  EXPECT_THAT(result_of(text, {{2, 1.0078125, 0}}), ElementsAre(-32, 2 * power - 32, 0));
}

TEST(WidenedHalves, BitsAreThoseOf16Bits) {
  const std::string text = R"(ENTRY e {
  x = f16[2] parameter(0)
  y = f16[2] add(x, x)
  b = s16[2] bitcast-convert(y)
  one = s16[] constant(1)
  ones = s16[2] broadcast(one), dimensions={}
  next = s16[2] add(b, ones)
  n = f16[2] bitcast-convert(next)
  z = f16[2] add(n, x)
  f = f32[2] convert(z)
  ROOT t = (f32[2]) tuple(f)
})";
  EXPECT_THAT(result_of(text, {{1, 0.25}}, 2), ElementsAre(3.001953125, 0.75048828125));
}

TEST(WidenedHalves, CastsToWholeNumbersRound) {
  const std::string text = R"(ENTRY e {
  x = bf16[2] parameter(0)
  h = bf16[] constant(100)
  hs = bf16[2] broadcast(h), dimensions={}
  y = bf16[2] multiply(x, hs)
  n = s32[2] convert(y)
  f = f32[2] convert(n)
  ROOT t = (f32[2]) tuple(f)
})";
  // 251.5625 is 252 in bfloat16.
  EXPECT_THAT(result_of(text, {{2.515625, 1.5}}, 1), ElementsAre(252, 150));
}

TEST(WidenedHalves, ProductsHaveKernels) {
  const auto module = widened(R"(ENTRY e {
  x = f16[4,64] parameter(0)
  w = f16[64,48] parameter(1)
  y = f16[4,48] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT t = (f16[4,48]) tuple(y)
})");
  EXPECT_TRUE(testing::run_kernel_passes(*module, 1));
  EXPECT_THAT(testing::called_kernels(*module), Contains("matmul_f32"));
}

}  // namespace
}  // namespace tfaot::toolkit::engine
