// SPDX-License-Identifier: Apache-2.0
// Equal numbers are their own mean, and what is made of them less their mean is 0, whatever their
// number, size and type, and however a model writes it.
#include "compiler/hlo/match.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "compiler/hlo/simplify.h"
#include "tests/unit/engine/parse_hlo.h"
#include "tests/unit/engine/run_kernels.h"
#include "tests/unit/engine/run_pass.h"
#include "xla/hlo/evaluator/hlo_evaluator.h"
#include "xla/literal_util.h"

namespace tfaot::toolkit::engine {
namespace {

const std::vector<double> kConstants = {0, 1, -1, -999, 1e6, 100000.7, 0.1};

std::vector<std::int64_t> widths() {
  std::vector<std::int64_t> all = {64, 100, 128, 256};
  for (std::int64_t i = 1; i <= 40; ++i) all.push_back(i);
  return all;
}

void replace_word(std::string& text, const std::string& word, const std::string& by) {
  for (std::size_t at = 0; (at = text.find(word, at)) != std::string::npos; at += by.size()) {
    text.replace(at, word.size(), by);
  }
}

// `text` with TYPE and WIDTH, and as optimize() does it: simplified, then with calls of kernels for
// normalisations that are worth it, then settled.
std::unique_ptr<xla::HloModule> settled(std::string text, const std::string& type,
                                        std::int64_t width) {
  text =
      R"(add {
  a = TYPE[] parameter(0)
  b = TYPE[] parameter(1)
  ROOT s = TYPE[] add(a, b)
}
ENTRY e {
  zero = TYPE[] constant(0)
  n = TYPE[] constant(WIDTH)
  small = TYPE[] constant(1e-5)
)" + text +
      "}\n";
  replace_word(text, "TYPE", type);
  replace_word(text, "WIDTH", std::to_string(width));
  auto module = testing::parse_hlo(text);
  EXPECT_TRUE(simplify(*module));
  EXPECT_TRUE(testing::run_passes("replace_normalisation", "settle_means", *module, 1));
  return module;
}

std::vector<double> values_for(const xla::HloModule& module, const xla::Literal& x) {
  if (!testing::called_kernels(module).empty()) {
    std::string numbers;
    const auto all = x.Convert(xla::F64).value();
    for (const double number : all.data<double>()) numbers += fmt::format("{} ", number);
    return testing::numbers_of(testing::result_with_kernels(module, {numbers}));
  }
  xla::HloEvaluator evaluator;
  auto result = evaluator.Evaluate(module, {&x});
  EXPECT_TRUE(result.ok()) << result.status().message() << "\n" << module.ToString();
  if (!result.ok()) return {};
  const auto wide = result->Convert(xla::F64).value();
  const auto data = wide.data<double>();
  return {data.begin(), data.end()};
}

xla::Literal filled_with(const xla::HloModule& module, double number) {
  const auto& shape = module.entry_computation()->parameter_instruction(0)->shape();
  const auto one = xla::LiteralUtil::CreateR0(number).Convert(shape.element_type()).value();
  return one.Broadcast(shape, {}).value();
}

// All numbers that `text` makes of equal ones are `expected`.
void expect_of_equal_numbers(const std::string& text, double expected, std::int64_t fewest = 1) {
  for (const std::string type : {"f32", "f64"}) {
    for (const std::int64_t width : widths()) {
      if (width < fewest) continue;
      const auto module = settled(text, type, width);
      for (const double number : kConstants) {
        for (const double found : values_for(*module, filled_with(*module, number))) {
          ASSERT_EQ(found, expected) << type << ", " << width << " times " << number << "\n"
                                     << module->ToString();
        }
      }
    }
  }
}

// The mean of x over its last dimension, less which x is d.
const std::string kRowTexts =
    R"(  x = TYPE[3,WIDTH] parameter(0)
  total = TYPE[3] reduce(x, zero), dimensions={1}, to_apply=add
  ns = TYPE[3] broadcast(n), dimensions={}
  mean = TYPE[3] divide(total, ns)
  means = TYPE[3,WIDTH] broadcast(mean), dimensions={0}
)";
const std::string kDifference = R"(  d = TYPE[3,WIDTH] subtract(x, means)
)";
// 1 / deviation, of a variance.
const std::string kInverse =
    R"(  smalls = TYPE[3] broadcast(small), dimensions={}
  more = TYPE[3] add(variance, smalls)
  inverse = TYPE[3] rsqrt(more)
  inverses = TYPE[3,WIDTH] broadcast(inverse), dimensions={0}
)";
const std::string kVariance =
    R"(  dd = TYPE[3,WIDTH] multiply(d, d)
  squares = TYPE[3] reduce(dd, zero), dimensions={1}, to_apply=add
  variance = TYPE[3] divide(squares, ns)
)";
const std::string kOnlyMean = R"(  ROOT r = TYPE[3] add(mean, mean)
)";

TEST(Means, NormalisedEqualNumbersAreZero) {
  expect_of_equal_numbers(kRowTexts + kDifference + kVariance + kInverse +
                              R"(  ROOT y = TYPE[3,WIDTH] multiply(d, inverses)
)",
                          0);
}

TEST(Means, TheVarianceOfEqualNumbersIsZero) {
  expect_of_equal_numbers(
      kRowTexts + kDifference + kVariance + R"(  ROOT r = TYPE[3] negate(variance)
)",
      0);
}

// As JAX's libraries write it: the mean of the squares less the square of the mean.
TEST(Means, TheVarianceByTheMeanOfSquaresIsZero) {
  expect_of_equal_numbers(kRowTexts +
                              R"(  xx = TYPE[3,WIDTH] multiply(x, x)
  all = TYPE[3] reduce(xx, zero), dimensions={1}, to_apply=add
  most = TYPE[3] divide(all, ns)
  mm = TYPE[3] multiply(mean, mean)
  ROOT r = TYPE[3] subtract(most, mm)
)",
                          0);
}

// As Keras writes it, with a bias of 0.25: x * (g / deviation) + (b - mean * (g / deviation)). Of
// one number, XLA leaves no mean, and x * k + (b - x * k) is what the model says.
TEST(Means, ProductsWithTheMeanBecomeOneWithTheDifference) {
  const std::string head =
      kRowTexts + kDifference + kVariance + kInverse + R"(  b = TYPE[] constant(0.25)
)";
  const std::string g = R"(  g = TYPE[] constant(1.5)
)";
  // In all elements, as TensorFlow does it.
  expect_of_equal_numbers(head + g +
                              R"(  gs = TYPE[3,WIDTH] broadcast(g), dimensions={}
  bs = TYPE[3,WIDTH] broadcast(b), dimensions={}
  k = TYPE[3,WIDTH] multiply(inverses, gs)
  xk = TYPE[3,WIDTH] multiply(x, k)
  mk = TYPE[3,WIDTH] multiply(means, k)
  rest = TYPE[3,WIDTH] subtract(bs, mk)
  ROOT y = TYPE[3,WIDTH] add(xk, rest)
)",
                          0.25, 2);
  // By row, as Keras 3 does it, and with a negative mean.
  expect_of_equal_numbers(head + g +
                              R"(  gs = TYPE[3] broadcast(g), dimensions={}
  bs = TYPE[3] broadcast(b), dimensions={}
  k = TYPE[3] multiply(inverse, gs)
  minus = TYPE[3] negate(mean)
  mk = TYPE[3] multiply(minus, k)
  rest = TYPE[3] add(mk, bs)
  ks = TYPE[3,WIDTH] broadcast(k), dimensions={0}
  rests = TYPE[3,WIDTH] broadcast(rest), dimensions={0}
  xk = TYPE[3,WIDTH] multiply(x, ks)
  ROOT y = TYPE[3,WIDTH] add(rests, xk)
)",
                          0.25, 2);
  // The other way round.
  expect_of_equal_numbers(head +
                              R"(  bs = TYPE[3,WIDTH] broadcast(b), dimensions={}
  mk = TYPE[3,WIDTH] multiply(means, inverses)
  xk = TYPE[3,WIDTH] multiply(inverses, x)
  more1 = TYPE[3,WIDTH] add(mk, bs)
  ROOT y = TYPE[3,WIDTH] subtract(more1, xk)
)",
                          0.25, 2);
}

// Over positions, which lie before the channels: a training batch normalisation, an instance or a
// group normalisation.
TEST(Means, OfChannels) {
  expect_of_equal_numbers(
      R"(  x = TYPE[2,WIDTH,3] parameter(0)
  total = TYPE[2,3] reduce(x, zero), dimensions={1}, to_apply=add
  ns = TYPE[2,3] broadcast(n), dimensions={}
  mean = TYPE[2,3] divide(total, ns)
  kept = TYPE[2,1,3] reshape(mean)
  again = TYPE[2,3] reshape(kept)
  means = TYPE[2,WIDTH,3] broadcast(again), dimensions={0,2}
  d = TYPE[2,WIDTH,3] subtract(x, means)
  dd = TYPE[2,WIDTH,3] multiply(d, d)
  squares = TYPE[2,3] reduce(dd, zero), dimensions={1}, to_apply=add
  variance = TYPE[2,3] divide(squares, ns)
  smalls = TYPE[2,3] broadcast(small), dimensions={}
  more = TYPE[2,3] add(variance, smalls)
  inverse = TYPE[2,3] rsqrt(more)
  b = TYPE[] constant(0.25)
  bs = TYPE[2,3] broadcast(b), dimensions={}
  mk = TYPE[2,3] multiply(mean, inverse)
  rest = TYPE[2,3] subtract(bs, mk)
  rests = TYPE[2,WIDTH,3] broadcast(rest), dimensions={0,2}
  ks = TYPE[2,WIDTH,3] broadcast(inverse), dimensions={0,2}
  xk = TYPE[2,WIDTH,3] multiply(x, ks)
  ROOT y = TYPE[2,WIDTH,3] add(xk, rests)
)",
      0.25, 2);
}

// A mean that nothing is less of: its sum is rounded as sums are, but divided exactly.
TEST(Means, OfWholeNumbersAreExact) {
  for (const std::int64_t width : widths()) {
    const auto module = settled(kRowTexts + kOnlyMean, "f32", width);
    for (const double number : {1.0, -1.0, -999.0, 54321.0}) {
      for (const double found : values_for(*module, filled_with(*module, number))) {
        ASSERT_EQ(found, 2 * number) << width;
      }
    }
  }
}

// The mean of each window, as of a pool.
TEST(Means, OfWindowsAreExact) {
  for (const std::int64_t width : {3, 7, 13, 15, 30}) {
    std::string text =
        R"(  x = TYPE[1,60] parameter(0)
  total = TYPE[1,PLACES] reduce-window(x, zero), window={size=1xWIDTH}, to_apply=add
  ns = TYPE[1,PLACES] broadcast(n), dimensions={}
  ROOT mean = TYPE[1,PLACES] divide(total, ns)
)";
    replace_word(text, "PLACES", std::to_string(61 - width));
    const auto module = settled(text, "f32", width);
    for (const double number : {1.0, -999.0, 54321.0}) {
      for (const double found : values_for(*module, filled_with(*module, number))) {
        ASSERT_EQ(found, number) << width;
      }
    }
  }
}

// The mean itself is not changed by more than its rounding, also where it is used twice, and stays
// infinite.
TEST(Means, OfOtherNumbers) {
  const auto module = settled(kRowTexts + kDifference +
                                  R"(  cut = TYPE[3,1] slice(d), slice={[0:3], [0:1]}
  first = TYPE[3] reshape(cut)
  ROOT r = (TYPE[3], TYPE[3]) tuple(mean, first)
)",
                              "f32", 5);
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const auto x = xla::LiteralUtil::CreateR2<float>(
      {{1, 2, 3, 4, 6}, {-5, 0, 1, 0.5F, 0.5F}, {kInfinity, 1, 2, 3, 4}});
  xla::HloEvaluator evaluator;
  auto result = evaluator.Evaluate(*module, {&x}).value().DecomposeTuple();
  EXPECT_FLOAT_EQ(result[0].data<float>()[0], 3.2F);
  EXPECT_FLOAT_EQ(result[0].data<float>()[1], -0.6F);
  EXPECT_EQ(result[0].data<float>()[2], kInfinity);
  EXPECT_FLOAT_EQ(result[1].data<float>()[0], -2.2F);
  EXPECT_FLOAT_EQ(result[1].data<float>()[1], -4.4F);
}

// `text` makes the differences of three equal rows to their mean, times `sign`.
void expect_differences(const std::string& text, const std::vector<float>& row, double sign) {
  const auto width = std::ssize(row);
  const auto module = settled(kRowTexts + text, "f32", width);
  double mean = 0;
  for (const float number : row) mean += number / static_cast<double>(width);
  xla::Literal x(module->entry_computation()->parameter_instruction(0)->shape());
  for (std::int64_t i = 0; i < 3 * width; ++i) {
    x.Set<float>({i / width, i % width}, row[static_cast<std::size_t>(i % width)]);
  }
  const std::vector<double> found = values_for(*module, x);
  ASSERT_EQ(found.size(), 3 * row.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    const double right = row[i % row.size()] - mean;
    EXPECT_NEAR(found[i], sign * right, 2e-7 * (std::abs(mean) + std::abs(right)))
        << i << module->ToString();
  }
}

// The others keep the digits that they have less the mean.
TEST(Means, OutliersTakeNoDigitsOfOthers) {
  std::vector<float> row = {-999};
  for (int i = 1; i < 64; ++i) row.push_back(0.01F * static_cast<float>(i));
  const std::string difference = R"(  ROOT d = TYPE[3,WIDTH] subtract(x, means)
)";
  expect_differences(difference, row, 1);
  std::swap(row.front(), row.back());
  expect_differences(difference, row, 1);
}

TEST(Means, LargeDifferencesDoNotOverflow) {
  expect_differences(R"(  ROOT d = TYPE[3,WIDTH] subtract(x, means)
)",
                     {3e38F, -3e38F, 1e38F, -1e38F}, 1);
}

TEST(Means, LessTheirNumbers) {
  const std::string reversed = R"(  ROOT d = TYPE[3,WIDTH] subtract(means, x)
)";
  expect_of_equal_numbers(kRowTexts + reversed, 0);
  expect_differences(reversed, {1, 2, 3, 4}, -1);
}

// The upper half of the digits of x, as it is computed where there is no type of more digits.
TEST(Means, SumsThatRoundStay) {
  const auto module = settled(
      R"(  x = TYPE[3,WIDTH] parameter(0)
  k = TYPE[] constant(4097)
  ks = TYPE[3,WIDTH] broadcast(k), dimensions={}
  xk = TYPE[3,WIDTH] multiply(x, ks)
  rest = TYPE[3,WIDTH] subtract(xk, x)
  ROOT y = TYPE[3,WIDTH] subtract(xk, rest)
)",
      "f32", 4);
  const float number = 1 + 0x1p-20F;
  EXPECT_EQ(values_for(*module, filled_with(*module, number)).front(), 1);
}

// Another factor beside the mean, another tensor's mean, a sum over another count.
TEST(Means, OtherSumsStay) {
  const auto count_of = [](const std::string& rest) {
    const auto module = settled(kRowTexts + kDifference + kVariance + kInverse + rest, "f64", 7);
    EXPECT_TRUE(simplify(*module));  // without scales of 1 and shifts of 0
    std::int64_t count = 0;
    for (const auto* one : module->entry_computation()->instructions()) {
      if (one->opcode() == xla::HloOpcode::kMultiply) ++count;
    }
    return count;
  };
  const std::string xk = R"(  xk = TYPE[3,WIDTH] multiply(x, inverses)
)";
  const std::string last = R"(  ROOT y = TYPE[3,WIDTH] subtract(xk, mk)
)";
  const std::int64_t same = count_of(xk + R"(  mk = TYPE[3,WIDTH] multiply(means, inverses)
)" + last);
  const std::int64_t other_factor = count_of(xk + R"(  mk = TYPE[3,WIDTH] multiply(means, d)
)" + last);
  EXPECT_EQ(other_factor, same + 1);
  const std::int64_t not_negative = count_of(xk +
                                             R"(  mk = TYPE[3,WIDTH] multiply(means, inverses)
  ROOT y = TYPE[3,WIDTH] add(xk, mk)
)");
  EXPECT_EQ(not_negative, same + 1);
}

// TensorFlow's Mean of int32 is that of the numbers, not of a sum that has overflowed. Other sums
// that are divided keep what they have.
TEST(Means, OfWholeNumbersDoNotOverflow) {
  const auto mean_with = [](const std::string& metadata) {
    const auto module = testing::parse_hlo(
        R"(add {
  a = s32[] parameter(0)
  b = s32[] parameter(1)
  ROOT s = s32[] add(a, b)
}
ENTRY e {
  zero = s32[] constant(0)
  n = s32[] constant(4)
  x = s32[2,4] parameter(0)
  total = s32[2] reduce(x, zero), dimensions={1}, to_apply=add
  ns = s32[2] broadcast(n), dimensions={}
  ROOT mean = s32[2] divide(total, ns))" +
        metadata + "\n}\n");
    EXPECT_TRUE(testing::run_pass("widen_whole_mean", *module));
    EXPECT_TRUE(simplify(*module));
    const auto x = xla::LiteralUtil::CreateR2<std::int32_t>(
        {{2000000000, 2000000000, 2000000000, 2000000001}, {-2000000000, -2000000000, -7, -7}});
    return values_for(*module, x);
  };
  using ::testing::ElementsAre;
  EXPECT_THAT(mean_with(", metadata={op_type=\"Mean\" op_name=\"mean\"}"),
              ElementsAre(2000000000, -1000000003));
  EXPECT_THAT(mean_with(""), ElementsAre(-147483647, 73741820));
}

}  // namespace
}  // namespace tfaot::toolkit::engine
