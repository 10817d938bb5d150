// SPDX-License-Identifier: Apache-2.0
// Sizes that depend on the data become bounds, and what is computed stays.
#include "compiler/hlo/simplify.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "compiler/hlo/hlo.h"
#include "tests/unit/engine/parse_hlo.h"
#include "xla/hlo/evaluator/hlo_evaluator.h"
#include "xla/literal_util.h"

namespace tfaot::toolkit::engine {
namespace {

using DynamicFloats = std::vector<float>;

// The result for x = 1, 2, 3, 4, 5, 6, of which the first four are left: `body` makes y of them.
DynamicFloats result_of_four(const std::string& body) {
  const auto dynamic = testing::parse_hlo(R"(
sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}
smaller {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] minimum(a, b)
}
ENTRY e {
  x = f32[6] parameter(0)
  zero = f32[] constant(0)
  some = f32[] constant(4.5)
  somes = f32[6] broadcast(some), dimensions={}
  fits = pred[6] compare(x, somes), direction=LT
  ones = f32[6] convert(fits)
  count = f32[] reduce(ones, zero), dimensions={0}, to_apply=sum
  n = s32[] convert(count)
  d = f32[<=6] set-dimension-size(x, n), dimensions={0}
)" + body + R"(  r = f32[1] reshape(y)
  ROOT t = (f32[1]) tuple(r)
})");
  xla::XlaComputation computation(dynamic->ToProto());
  EXPECT_TRUE(make_sizes_static(computation));
  const auto module = make_module(computation.proto());
  if (!module) {
    ADD_FAILURE() << module.error().text();
    return {};
  }
  for (const auto* one : (*module)->computations()) {
    for (const auto* instruction : one->instructions()) {
      EXPECT_TRUE(instruction->shape().is_static()) << instruction->ToString();
    }
  }
  const auto x = xla::LiteralUtil::CreateR1<float>({1, 2, 3, 4, 5, 6});
  xla::HloEvaluator evaluator;
  const auto made = evaluator.Evaluate(**module, {&x});
  if (!made.ok()) {
    ADD_FAILURE() << made.status().message();
    return {};
  }
  xla::Literal tuple = made->Clone();
  const xla::Literal y = std::move(tuple.DecomposeTuple().front());
  return {y.data<float>().begin(), y.data<float>().end()};
}

TEST(StaticSizes, SumsAndExtremesLeaveOutTheRest) {
  EXPECT_EQ(result_of_four(R"(  y = f32[] reduce(d, zero), dimensions={0}, to_apply=sum
)"),
            DynamicFloats{10});
  EXPECT_EQ(result_of_four(R"(  many = f32[] constant(inf)
  n_ = f32[<=6] negate(d)
  y = f32[] reduce(n_, many), dimensions={0}, to_apply=smaller
)"),
            DynamicFloats{-4});
  EXPECT_EQ(
      result_of_four(R"(  y = f32[] dot(d, d), lhs_contracting_dims={0}, rhs_contracting_dims={0}
)"),
      DynamicFloats{30});
  EXPECT_EQ(result_of_four(R"(  size = s32[] get-dimension-size(d), dimensions={0}
  y = f32[] convert(size)
)"),
            DynamicFloats{4});
}

// As a slice of TensorFlow does whose start depends on the turn of a loop.
TEST(StaticSizes, TheSizeThatATensorHasStays) {
  const auto module = testing::parse_hlo(R"(ENTRY e {
  x = f32[2,6] parameter(0)
  six = s32[] constant(6)
  four = s32[] constant(4)
  a = f32[2,6] set-dimension-size(x, six), dimensions={1}
  b = f32[2,6] set-dimension-size(x, four), dimensions={1}
  ROOT t = (f32[2,6], f32[2,6]) tuple(a, b)
})");
  ASSERT_TRUE(simplify(*module));
  const auto& root = *module->entry_computation()->root_instruction();
  EXPECT_EQ(root.operand(0)->opcode(), kParameter);
  EXPECT_EQ(root.operand(1)->opcode(), kSetDimensionSize);
}

}  // namespace
}  // namespace tfaot::toolkit::engine
