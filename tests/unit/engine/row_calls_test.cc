// SPDX-License-Identifier: Apache-2.0
// Functions of rows as calls of kernels, in the forms that formats and exporters write: they give
// the same.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "compiler/hlo/match.h"
#include "compiler/kernels/kernel_call.h"
#include "tests/unit/engine/parse_hlo.h"
#include "tests/unit/engine/run_kernels.h"
#include "tests/unit/engine/run_pass.h"
#include "tfaot/kernels/abi.h"

namespace tfaot::toolkit::engine {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr const char* kRowHead =
    "add {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT s = f32[] add(a, b)\n}\n"
    "max {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT s = f32[] maximum(a, b)\n}\n"
    "ENTRY e {\n  zero = f32[] constant(0)\n  lowest = f32[] constant(-inf)\n"
    "  one = f32[] constant(1)\n";

struct RowCalls {
  std::vector<std::string> kernels;
  std::unique_ptr<xla::HloModule> module;
};

// Parameters from 1 on are weights.
RowCalls row_calls(const std::string& text) {
  RowCalls result{{}, testing::parse_hlo(kRowHead + text + "}\n")};
  const auto before = testing::result_with_kernels(*result.module);
  EXPECT_TRUE(testing::run_pass("replace_normalisation", *result.module, 1));
  EXPECT_TRUE(testing::run_pass("settle_means", *result.module));
  EXPECT_TRUE(testing::run_kernel_passes(*result.module, 1));
  EXPECT_TRUE(testing::run_passes("replace_softmax", "replace_gelu", *result.module, 1));
  EXPECT_LT(testing::relative_difference(before, testing::result_with_kernels(*result.module)),
            2e-6)
      << result.module->ToString();
  result.kernels = testing::called_kernels(*result.module);
  return result;
}
std::vector<std::string> kernels_of_rows(const std::string& text) {
  return row_calls(text).kernels;
}

// The struct of the only call that is no product.
template <typename Call>
Call row_call(const std::string& text) {
  const RowCalls made = row_calls(text);
  for (const auto* one : made.module->entry_computation()->instructions()) {
    if (is_kernel_call(*one) && !is_call_of(*one, Kernel::kMatMul)) return call_of<Call>(*one);
  }
  ADD_FAILURE() << "no call in\n" << text;
  return {};
}

const std::string kRowX = "  x = f32[3,4,40] parameter(0)\n";
std::string in_rows(const std::string& name, const std::string& of) {
  return "  " + name + " = f32[3,4,40] broadcast(" + of + "), dimensions={0,1}\n";
}
std::string everywhere(const std::string& name, const std::string& number) {
  return "  " + name + "0 = f32[] constant(" + number + ")\n  " + name +
         " = f32[3,4,40] broadcast(" + name + "0), dimensions={}\n";
}

// y: from which the largest is subtracted
std::string softmax_of(const std::string& last) {
  return "  peak = f32[3,4] reduce(y, lowest), dimensions={2}, to_apply=max\n" +
         in_rows("peaks", "peak") +
         "  d = f32[3,4,40] subtract(y, peaks)\n  e = f32[3,4,40] exponential(d)\n"
         "  sum = f32[3,4] reduce(e, zero), dimensions={2}, to_apply=add\n" +
         last;
}
const std::string kQuotient = in_rows("sums", "sum") + "  ROOT r = f32[3,4,40] divide(e, sums)\n";

TEST(RowCalls, Softmax) {
  const std::string y = "  y = f32[3,4,40] parameter(0)\n";
  EXPECT_THAT(kernels_of_rows(y + softmax_of(kQuotient)), ElementsAre("softmax_f32"));
  EXPECT_EQ(row_call<kernels::SoftmaxCall>(y + softmax_of(kQuotient)).scale, 1);
  EXPECT_THAT(
      kernels_of_rows(y + softmax_of("  ones = f32[3,4] broadcast(one), dimensions={}\n"
                                     "  part = f32[3,4] divide(ones, sum)\n  whole = f32[3,4,1] "
                                     "reshape(part)\n  again = f32[3,4] reshape(whole)\n" +
                                     in_rows("parts", "again") +
                                     "  ROOT r = f32[3,4,40] multiply(parts, e)\n")),
      ElementsAre("softmax_f32"));
}

// As XLA leaves it for a model without a batch.
TEST(RowCalls, SoftmaxOfAReshapedTensor) {
  std::string text =
      "  x = f32[1,3,4,40] parameter(0)\n  y = f32[3,4,40] reshape(x)\n" + softmax_of(kQuotient);
  const std::string peak = "reduce(y, lowest), dimensions={2}";
  text.replace(text.find(peak), peak.size(), "reduce(x, lowest), dimensions={0,3}");
  EXPECT_THAT(kernels_of_rows(text), ElementsAre("softmax_f32"));
}

// As the reader of ONNX writes it.
TEST(RowCalls, SoftmaxWithALimit) {
  std::string text =
      everywhere("none", "0") + "  y = f32[3,4,40] parameter(0)\n" + softmax_of(kQuotient);
  const std::string exp = "exponential(d)";
  text.replace(text.find(exp), exp.size(), "exponential(l)");
  const std::string before = "  e = f32";
  text.insert(text.find(before), "  l = f32[3,4,40] minimum(d, none)\n");
  EXPECT_THAT(kernels_of_rows(text), ElementsAre("softmax_f32"));
}

TEST(RowCalls, SoftmaxOfScaledScores) {
  const auto call = row_call<kernels::SoftmaxCall>(kRowX + everywhere("quarter", "0.25") +
                                                   "  y = f32[3,4,40] multiply(quarter, x)\n" +
                                                   softmax_of(kQuotient));
  EXPECT_EQ(call.scale, 0.25);
  EXPECT_EQ(call.rows, 12);
  EXPECT_EQ(call.columns, 40);
}

TEST(RowCalls, SoftmaxOfFewNumbersWhereXlaIsSlower) {
  const auto of = [](const std::string& rows, const std::string& columns) {
    std::string text = "  y = f32[3,4,40] parameter(0)\n" + softmax_of(kQuotient);
    for (std::size_t at = 0; (at = text.find("3,4", at)) != std::string::npos; ++at) {
      text.replace(at, 3, rows);
      const bool has_columns = text.compare(at + rows.size(), 4, ",40]") == 0;
      if (has_columns) text.replace(at + rows.size() + 1, 2, columns);
    }
    return kernels_of_rows(text);
  };
  EXPECT_THAT(of("1,1", "8"), ElementsAre("softmax_f32"));
  EXPECT_THAT(of("1,4", "5"), ElementsAre("softmax_f32"));
  EXPECT_THAT(of("1,3", "7"), ::testing::Not(::testing::Contains("softmax_f32")));
  EXPECT_THAT(of("3,4", "4"), ::testing::Not(::testing::Contains("softmax_f32")));
}

// Along another dimension, of another tensor's sum, and twice a softmax.
TEST(RowCalls, OtherQuotientsStay) {
  EXPECT_THAT(
      kernels_of_rows("  y = f32[3,4,40] parameter(0)\n"
                      "  peak = f32[3,40] reduce(y, lowest), dimensions={1}, to_apply=max\n"
                      "  peaks = f32[3,4,40] broadcast(peak), dimensions={0,2}\n"
                      "  d = f32[3,4,40] subtract(y, peaks)\n  e = f32[3,4,40] exponential(d)\n"
                      "  sum = f32[3,40] reduce(e, zero), dimensions={1}, to_apply=add\n"
                      "  sums = f32[3,4,40] broadcast(sum), dimensions={0,2}\n"
                      "  ROOT r = f32[3,4,40] divide(e, sums)\n"),
      ElementsAre("largest_pool_f32"));
  EXPECT_THAT(kernels_of_rows("  y = f32[3,4,40] parameter(0)\n" +
                              softmax_of("  other = f32[3,4] reduce(d, zero), dimensions={2}, "
                                         "to_apply=add\n" +
                                         in_rows("sums", "other") +
                                         "  ROOT r = f32[3,4,40] divide(e, sums)\n")),
              ::testing::Not(::testing::Contains("softmax_f32")));
}

// Of x: the mean m as `mean`, in all elements as `means`, and the variance.
const std::string kMoments =
    kRowX +
    "  total = f32[3,4] reduce(x, zero), dimensions={2}, to_apply=add\n"
    "  count = f32[] constant(40)\n  counts = f32[3,4] broadcast(count), dimensions={}\n"
    "  mean = f32[3,4] divide(total, counts)\n" +
    in_rows("means", "mean") +
    "  d = f32[3,4,40] subtract(x, means)\n  dd = f32[3,4,40] multiply(d, d)\n"
    "  squares = f32[3,4] reduce(dd, zero), dimensions={2}, to_apply=add\n"
    "  variance = f32[3,4] divide(squares, counts)\n"
    "  small = f32[] constant(0.01)\n  smalls = f32[3,4] broadcast(small), dimensions={}\n"
    "  shifted = f32[3,4] add(variance, smalls)\n";
const std::string kColumns =
    "  g = f32[40] parameter(1)\n  gs = f32[3,4,40] broadcast(g), dimensions={2}\n"
    "  b = f32[40] parameter(2)\n  bs = f32[3,4,40] broadcast(b), dimensions={2}\n";

// As TensorFlow computes it: x * (g / deviation) + (b - mean * (g / deviation)).
TEST(RowCalls, LayerNormOfKeras) {
  const auto call = row_call<kernels::LayerNormCall>(
      kMoments + kColumns + "  kept = f32[3,4,1] reshape(shifted)\n" +
      "  k = f32[3,4,1] rsqrt(kept)\n  r = f32[3,4] reshape(k)\n" + in_rows("rs", "r") +
      "  rg = f32[3,4,40] multiply(rs, gs)\n  xrg = f32[3,4,40] multiply(x, rg)\n"
      "  mrg = f32[3,4,40] multiply(means, rg)\n  rest = f32[3,4,40] subtract(bs, mrg)\n"
      "  ROOT y = f32[3,4,40] add(xrg, rest)\n");
  EXPECT_EQ(call.rows, 12);
  EXPECT_EQ(call.columns, 40);
  EXPECT_NEAR(call.epsilon, 0.01, 1e-8);
}

// As exporters of PyTorch write it: (x - mean) / deviation * g + b.
TEST(RowCalls, LayerNormOfExporters) {
  EXPECT_THAT(
      kernels_of_rows(kMoments + kColumns + "  s = f32[3,4] sqrt(shifted)\n" + in_rows("ss", "s") +
                      "  n = f32[3,4,40] divide(d, ss)\n  ng = f32[3,4,40] "
                      "multiply(n, gs)\n  ROOT y = f32[3,4,40] add(ng, bs)\n"),
      ElementsAre("layer_norm_f32"));
  EXPECT_THAT(kernels_of_rows(kMoments + "  s = f32[3,4] sqrt(shifted)\n" + in_rows("ss", "s") +
                              "  ROOT n = f32[3,4,40] divide(d, ss)\n"),
              ElementsAre("layer_norm_f32"));
  EXPECT_THAT(
      kernels_of_rows(kMoments + kColumns + "  s = f32[3,4] rsqrt(shifted)\n" + in_rows("ss", "s") +
                      "  gss = f32[3,4,40] multiply(gs, ss)\n  ROOT y = f32[3,4,40] "
                      "multiply(d, gss)\n"),
      ElementsAre("layer_norm_f32"));
}

// As JAX's libraries write the variance.
TEST(RowCalls, LayerNormByTheMeanOfSquares) {
  EXPECT_THAT(
      kernels_of_rows(kMoments + kColumns +
                      "  xx = f32[3,4,40] multiply(x, x)\n  all = f32[3,4] reduce(xx, zero), "
                      "dimensions={2}, to_apply=add\n  most = f32[3,4] divide(all, counts)\n"
                      "  mm = f32[3,4] multiply(mean, mean)\n  v = f32[3,4] subtract(most, mm)\n"
                      "  none = f32[3,4] broadcast(zero), dimensions={}\n"
                      "  positive = f32[3,4] maximum(none, v)\n  more = f32[3,4] "
                      "add(positive, smalls)\n  s = f32[3,4] rsqrt(more)\n" +
                      in_rows("ss", "s") +
                      "  sg = f32[3,4,40] multiply(ss, gs)\n  n = f32[3,4,40] multiply(d, sg)\n"
                      "  ROOT y = f32[3,4,40] add(n, bs)\n"),
      ElementsAre("layer_norm_f32"));
}

TEST(RowCalls, LayerNormOfFewColumnsWhereXlaIsSlower) {
  const auto of = [](const std::string& rows, const std::string& columns) {
    std::string text = kMoments + "  s = f32[3,4] rsqrt(shifted)\n" + in_rows("ss", "s") +
                       "  ROOT n = f32[3,4,40] multiply(d, ss)\n";
    for (const auto& [word, by] : {std::pair{std::string("40"), columns}, {"3,4", rows}}) {
      for (std::size_t at = 0; (at = text.find(word, at)) != std::string::npos; at += by.size()) {
        text.replace(at, word.size(), by);
      }
    }
    return kernels_of_rows(text);
  };
  EXPECT_THAT(of("3,4", "4"), ElementsAre("layer_norm_f32"));
  EXPECT_THAT(of("9,3", "2"), ElementsAre("layer_norm_f32"));
  EXPECT_THAT(of("1,1", "8"), ElementsAre("layer_norm_f32"));
  EXPECT_THAT(of("3,5", "3"), IsEmpty());
}

// What follows stays: here x is added to it.
TEST(RowCalls, LayerNormBeforeASum) {
  EXPECT_THAT(
      kernels_of_rows(kMoments + kColumns + "  s = f32[3,4] rsqrt(shifted)\n" + in_rows("ss", "s") +
                      "  n = f32[3,4,40] multiply(d, ss)\n  ng = f32[3,4,40] "
                      "multiply(n, gs)\n  y = f32[3,4,40] add(ng, bs)\n"
                      "  ROOT z = f32[3,4,40] add(y, x)\n"),
      ElementsAre("layer_norm_f32"));
}

// A normalised mean, and one whose columns come from the input.
TEST(RowCalls, OtherNormalisedRowsStay) {
  EXPECT_THAT(kernels_of_rows(kMoments + "  s = f32[3,4] rsqrt(shifted)\n" + in_rows("ss", "s") +
                              "  ROOT n = f32[3,4,40] multiply(x, ss)\n"),
              ::testing::Not(::testing::Contains("layer_norm_f32")));
  const std::string unknown =
      "  c = f32[1,1,40] slice(x), slice={[0:1],[0:1],[0:40]}\n  cc = f32[40] reshape(c)\n"
      "  cs = f32[3,4,40] broadcast(cc), dimensions={2}\n";
  const RowCalls made =
      row_calls(kMoments + unknown + "  s = f32[3,4] rsqrt(shifted)\n" + in_rows("ss", "s") +
                "  n = f32[3,4,40] multiply(d, ss)\n  ROOT y = f32[3,4,40] add(n, cs)\n");
  EXPECT_THAT(made.kernels, ElementsAre("layer_norm_f32"));
  EXPECT_EQ(made.module->entry_computation()->root_instruction()->opcode(), xla::HloOpcode::kAdd);
}

TEST(RowCalls, Sums) {
  const std::string sum = "reduce(v, zero), dimensions={1}, to_apply=add\n";
  EXPECT_EQ(
      row_call<kernels::RowSumCall>("  v = f32[5,40] parameter(0)\n  ROOT r = f32[5] " + sum).form,
      kernels::kRowSumOfNumbers);
  EXPECT_EQ(row_call<kernels::RowSumCall>("  x = f32[5,40] parameter(0)\n  v = f32[5,40] "
                                          "multiply(x, x)\n  ROOT r = f32[5] " +
                                          sum)
                .form,
            kernels::kRowSumOfSquares);
  const auto differences = row_call<kernels::RowSumCall>(
      "  x = f32[5,40] parameter(0)\n  t = f32[40,5] reshape(x)\n  u = f32[5,40] transpose(t), "
      "dimensions={1,0}\n  w = f32[5,40] subtract(x, u)\n  v = f32[5,40] multiply(w, w)\n"
      "  ROOT r = f32[5] " +
      sum);
  EXPECT_EQ(differences.form, kernels::kRowSumOfSquaredDifferences);
  EXPECT_EQ(differences.rows, 5);
  EXPECT_EQ(differences.columns, 40);
}

// Few columns, of weights, and what XLA makes in the loop that adds.
TEST(RowCalls, OtherSumsStay) {
  const std::string sum = "reduce(v, zero), dimensions={1}, to_apply=add\n";
  EXPECT_THAT(kernels_of_rows("  v = f32[5,32] parameter(0)\n  ROOT r = f32[5] " + sum), IsEmpty());
  EXPECT_THAT(kernels_of_rows("  x = f32[5] parameter(0)\n  v = f32[5,40] parameter(1)\n  s = "
                              "f32[5] " +
                              sum + "  ROOT r = f32[5] add(s, x)\n"),
              IsEmpty());
  EXPECT_THAT(kernels_of_rows("  x = f32[5,40] parameter(0)\n  v = f32[5,40] exponential(x)\n"
                              "  ROOT r = f32[5] " +
                              sum),
              IsEmpty());
}

// A product before and another after.
std::string between_products(const std::string& activation) {
  return "  p = f32[3,8] parameter(0)\n  w = f32[8,16] parameter(1)\n"
         "  x = f32[3,16] dot(p, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n" +
         activation +
         "  v = f32[16,4] parameter(2)\n"
         "  ROOT q = f32[3,4] dot(y, v), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n";
}
std::string all_sixteen(const std::string& name, const std::string& number) {
  return "  " + name + "0 = f32[] constant(" + number + ")\n  " + name + " = f32[3,16] broadcast(" +
         name + "0), dimensions={}\n";
}

TEST(RowCalls, Gelu) {
  const auto with_gelu = ElementsAre("matmul_f32", "gelu_f32", "matmul_f32");
  const std::string numbers = all_sixteen("half", "0.5") + all_sixteen("ones", "1") +
                              all_sixteen("root", "0.70710678") + all_sixteen("big", "1.4142135");
  EXPECT_THAT(kernels_of_rows(between_products(
                  numbers + "  h = f32[3,16] multiply(half, x)\n  k = f32[3,16] multiply(x, root)\n"
                            "  f = f32[3,16] erf(k)\n  g = f32[3,16] add(ones, f)\n"
                            "  y = f32[3,16] multiply(h, g)\n")),
              with_gelu);
  EXPECT_THAT(kernels_of_rows(between_products(
                  numbers + "  k = f32[3,16] divide(x, big)\n  f = f32[3,16] erf(k)\n"
                            "  g = f32[3,16] add(f, ones)\n  xg = f32[3,16] multiply(x, g)\n"
                            "  y = f32[3,16] multiply(xg, half)\n")),
              with_gelu);
}

// TensorFlow's approximation by tanh, with the cube as TensorFlow, JAX and the reader of ONNX write
// it. `c`: the number beside the cube.
std::string gelu_by_tanh(const std::string& cube, const std::string& c = "0.044715") {
  return between_products(all_sixteen("half", "0.5") + all_sixteen("ones", "1") +
                          all_sixteen("three", "3") + all_sixteen("c", c) +
                          all_sixteen("k", "0.7978845608") + cube +
                          "  s = f32[3,16] add(x, u)\n  v0 = f32[3,16] multiply(k, s)\n"
                          "  f = f32[3,16] tanh(v0)\n  g = f32[3,16] add(ones, f)\n"
                          "  h = f32[3,16] multiply(half, g)\n  y = f32[3,16] multiply(x, h)\n");
}
const std::string kPowerCube =
    "  u0 = f32[3,16] power(x, three)\n  u = f32[3,16] multiply(c, u0)\n";

TEST(RowCalls, GeluByTanh) {
  const auto with_gelu = ElementsAre("matmul_f32", "gelu_f32", "matmul_f32");
  const std::string square = "  x2 = f32[3,16] multiply(x, x)\n";
  for (const std::string& cube :
       {kPowerCube, square + "  u0 = f32[3,16] multiply(x2, x)\n  u = f32[3,16] multiply(u0, c)\n",
        square + "  u0 = f32[3,16] multiply(x, c)\n  u = f32[3,16] multiply(x2, u0)\n"}) {
    EXPECT_THAT(kernels_of_rows(gelu_by_tanh(cube)), with_gelu) << cube;
    EXPECT_EQ(row_call<kernels::GeluCall>(gelu_by_tanh(cube)).form, kernels::kGeluTanh);
  }
}

// Other numbers, other powers.
TEST(RowCalls, OtherCurvesByTanhStay) {
  const auto only_products = ElementsAre("matmul_f32", "matmul_f32");
  EXPECT_THAT(kernels_of_rows(gelu_by_tanh(kPowerCube, "0.0448")), only_products);
  EXPECT_THAT(kernels_of_rows(gelu_by_tanh("  u0 = f32[3,16] multiply(x, x)\n"
                                           "  u = f32[3,16] multiply(c, u0)\n")),
              only_products);
  EXPECT_THAT(kernels_of_rows(gelu_by_tanh("  u1 = f32[3,16] multiply(x, x)\n"
                                           "  u0 = f32[3,16] multiply(u1, u1)\n"
                                           "  u = f32[3,16] multiply(c, u0)\n")),
              only_products);
}

// Another curve, and what XLA computes in its own loop.
TEST(RowCalls, OtherActivationsStay) {
  const auto only_products = ElementsAre("matmul_f32", "matmul_f32");
  const std::string numbers = all_sixteen("half", "0.5") + all_sixteen("ones", "1");
  const std::string gate = "  g = f32[3,16] add(ones, f)\n  h = f32[3,16] multiply(x, half)\n";
  EXPECT_THAT(kernels_of_rows(between_products(numbers + "  f = f32[3,16] erf(x)\n" + gate +
                                               "  y = f32[3,16] multiply(h, g)\n")),
              only_products);
  EXPECT_THAT(kernels_of_rows(between_products(
                  numbers + all_sixteen("root", "0.70710678") +
                  "  k = f32[3,16] multiply(x, root)\n  f = f32[3,16] erf(k)\n" + gate +
                  "  m = f32[3,16] multiply(h, g)\n  y = f32[3,16] add(m, x)\n")),
              only_products);
}

}  // namespace
}  // namespace tfaot::toolkit::engine
