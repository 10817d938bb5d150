// SPDX-License-Identifier: Apache-2.0
// What batch normalisation does between two layers goes into the second one's weights.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "compiler/hlo/simplify.h"
#include "compiler/hlo/weight_values.h"
#include "tests/unit/engine/parse_hlo.h"
#include "tests/unit/engine/run_kernels.h"
#include "tests/unit/engine/run_pass.h"

namespace tfaot::toolkit::engine {
namespace {

using ::testing::Contains;
using ::testing::Not;

// Two layers of 6 and 5 of x, with `between` that makes z of the activation a.
std::string layers(const std::string& between, int rows,
                   const std::string& activation = "maximum(y, zeros)") {
  std::string text = fmt::format(R"(
ENTRY e {{
  x = f32[{0},4] parameter(0)
  v = f32[4,6] parameter(1)
  w = f32[6,5] parameter(2)
  s = f32[6] parameter(3)
  t = f32[6] parameter(4)
  zero = f32[] constant(0)
  half = f32[] constant(0.5)
  zeros = f32[{0},6] broadcast(zero), dimensions={{}}
  halves = f32[{0},6] broadcast(half), dimensions={{}}
  ss = f32[{0},6] broadcast(s), dimensions={{1}}
  ts = f32[{0},6] broadcast(t), dimensions={{1}}
  y = f32[{0},6] dot(x, v), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}
  a = f32[{0},6] {1}
  {2}
  ROOT r = f32[{0},5] dot(z, w), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}
}})",
                                 rows, activation, between);
  const std::string shape = fmt::format("f32[{},6]", rows);
  for (std::size_t at = 0; (at = text.find("[V]", at)) != std::string::npos;) {
    text.replace(at, 3, shape);
  }
  return text;
}

// The operations that are left of x, beside those of weights. It computes the same.
std::vector<std::string> left_over(const std::string& text) {
  const auto module = testing::parse_hlo(text);
  const xla::Literal before = testing::result_with_kernels(*module);
  EXPECT_TRUE(testing::run_pass("move_scale_into_weight", *module, 1));
  EXPECT_LT(testing::relative_difference(before, testing::result_with_kernels(*module)), 1e-5)
      << module->ToString();
  const WeightValues values(*module, 1);
  std::vector<std::string> names;
  for (const auto* one : module->entry_computation()->MakeInstructionPostOrder()) {
    if (values.is_known(one) || one->opcode() == xla::HloOpcode::kBroadcast) continue;
    names.emplace_back(xla::HloOpcodeString(one->opcode()));
  }
  return names;
}

TEST(ScaledProducts, TakeScalesAndShifts) {
  for (const int rows : {1, 3}) {
    for (const char* const between : {R"(m = [V] multiply(a, ss)
  z = [V] add(ts, m))",
                                      R"(d = [V] subtract(a, ts)
  z = [V] multiply(ss, d))",
                                      "z = [V] multiply(a, halves)",
                                      R"(m = [V] add(a, ts)
  n = [V] multiply(m, ss)
  z = [V] subtract(n, halves))"}) {
      const auto names = left_over(layers(between, rows));
      EXPECT_THAT(names, Not(Contains("multiply"))) << between;
      EXPECT_THAT(names, Not(Contains("subtract"))) << between;
    }
  }
  EXPECT_THAT(left_over(layers("z = [V] multiply(a, ss)", 3, "tanh(y)")),
              Not(Contains("multiply")));
}

// Of one row XLA spreads nothing.
TEST(ScaledProducts, TakeTheScalesOfOneRow) {
  EXPECT_THAT(left_over(layers(R"(q = [V] reshape(s)
  z = [V] multiply(a, q))",
                               1)),
              Not(Contains("multiply")));
}

TEST(ScaledProducts, LeaveOtherOperations) {
  for (const char* const between :
       {"z = [V] subtract(ts, a)", "z = [V] multiply(a, a)", "z = [V] multiply(a, y)",
        R"(m = [V] multiply(a, ss)
  z = [V] maximum(m, a))"}) {
    const auto text = layers(between, 3);
    const auto names = left_over(text);
    EXPECT_TRUE(std::count(names.begin(), names.end(), "multiply") +
                    std::count(names.begin(), names.end(), "subtract") >
                0)
        << between;
  }
}

// A scale for each row of the weight costs digits where a column of it shares a few bits, and a
// shift costs digits of large sums.
TEST(ScaledProducts, StayIfTheyWouldCostDigits) {
  const auto text = layers(R"(m = [V] multiply(a, ss)
  z = [V] add(ts, m))",
                           3);
  const auto is_moved = [&](const Choices& choices) {
    const auto module = testing::parse_hlo(text);
    EXPECT_TRUE(testing::run_pass("move_scale_into_weight", *module, 1, choices));
    const auto before = testing::parse_hlo(text);
    EXPECT_TRUE(remove_dead_code(*before));
    return module->ToString() != before->ToString();
  };
  EXPECT_TRUE(is_moved({}));
  EXPECT_TRUE(is_moved({.weights_type = WeightsType::kBfloat16}));
  EXPECT_FALSE(is_moved({.weights_type = WeightsType::kFloat16}));
  EXPECT_FALSE(is_moved({.weights_type = WeightsType::kInt8}));
  EXPECT_FALSE(is_moved({.fast_math = false}));
}

// As the simplifier writes one row: a vector.
TEST(ScaledProducts, OfAVectorHaveTheWeightsOfMoreRows) {
  const auto weight_of = [](const std::string& text) {
    const auto module = testing::parse_hlo(text);
    EXPECT_TRUE(simplify(*module));
    EXPECT_TRUE(testing::run_pass("move_scale_into_weight", *module, 1));
    std::string weight;
    for (const auto* one : module->entry_computation()->MakeInstructionPostOrder()) {
      if (one->opcode() != xla::HloOpcode::kDot ||
          one->operand(1)->opcode() != xla::HloOpcode::kMultiply) {
        continue;
      }
      for (const auto* operand : one->operand(1)->operands()) {
        weight += operand->ToString(xla::HloPrintOptions::Canonical()) + "\n";
      }
    }
    return weight;
  };
  const std::string between = R"(m = [V] multiply(a, ss)
  z = [V] add(ts, m))";
  EXPECT_THAT(weight_of(layers(between, 1)), ::testing::HasSubstr("broadcast"));
  EXPECT_EQ(weight_of(layers(between, 1)), weight_of(layers(between, 3)));
  for (const char* const name : {"multiply", "subtract"}) {
    EXPECT_THAT(left_over(R"(
ENTRY e {
  x = f32[4] parameter(0)
  v = f32[4,6] parameter(1)
  w = f32[6,5] parameter(2)
  s = f32[6] parameter(3)
  t = f32[6] parameter(4)
  y = f32[6] dot(x, v), lhs_contracting_dims={0}, rhs_contracting_dims={0}
  h = f32[1,6] reshape(y)
  a = f32[1,6] tanh(h)
  ss = f32[1,6] reshape(s)
  ts = f32[1,6] reshape(t)
  d = f32[1,6] subtract(a, ts)
  z = f32[1,6] multiply(d, ss)
  u = f32[6] reshape(z)
  ROOT r = f32[5] dot(u, w), lhs_contracting_dims={0}, rhs_contracting_dims={0}
})"),
                Not(Contains(name)));
  }
}

// Inputs may be far from zero, and normalisations have scales of their own.
TEST(ScaledProducts, LeaveInputsAndNormalisations) {
  EXPECT_THAT(left_over(layers("z = [V] multiply(a, ss)", 3, "negate(y)")), Contains("multiply"));
  EXPECT_THAT(left_over(layers("z = [V] multiply(a, ss)", 3, "multiply(y, y)")),
              Contains("multiply"));
  const char* const text = R"(
ENTRY e {
  x = f32[3,6] parameter(0)
  w = f32[6,5] parameter(1)
  s = f32[6] parameter(2)
  ss = f32[3,6] broadcast(s), dimensions={1}
  a = f32[3,6] tanh(x)
  z = f32[3,6] multiply(a, ss)
  ROOT r = f32[3,5] dot(z, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
})";
  EXPECT_THAT(left_over(text), Contains("multiply"));
}

// A scaled value that something else uses is there anyway.
TEST(ScaledProducts, LeaveWhatIsUsedTwice) {
  const char* const text = R"(
ENTRY e {
  x = f32[3,4] parameter(0)
  v = f32[4,6] parameter(1)
  w = f32[6,6] parameter(2)
  s = f32[6] parameter(3)
  ss = f32[3,6] broadcast(s), dimensions={1}
  y = f32[3,6] dot(x, v), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  a = f32[3,6] tanh(y)
  z = f32[3,6] multiply(a, ss)
  d = f32[3,6] dot(z, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT r = f32[3,6] add(d, z)
})";
  EXPECT_THAT(left_over(text), Contains("multiply"));
}

}  // namespace
}  // namespace tfaot::toolkit::engine
