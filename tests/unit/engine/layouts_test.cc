// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <string>

#include "tests/unit/engine/parse_hlo.h"
#include "tests/unit/engine/run_pass.h"
#include "xla/hlo/evaluator/hlo_evaluator.h"
#include "xla/literal.h"
#include "xla/literal_util.h"

namespace tfaot::toolkit::engine {
namespace {

// Different numbers everywhere, with many bits.
xla::Literal numbers_for(const xla::Shape& shape) {
  xla::Literal literal(shape);
  float next = 0.1F;
  for (float& value : literal.data<float>()) {
    value = next;
    next = next > 2 ? next - 2.9F : next + 0.7F;
  }
  return literal;
}

xla::Literal result_of(const xla::HloModule& module) {
  std::vector<xla::Literal> inputs;
  for (const auto* one : module.entry_computation()->parameter_instructions()) {
    inputs.push_back(numbers_for(one->shape()));
  }
  std::vector<const xla::Literal*> pointers;
  for (const xla::Literal& input : inputs) pointers.push_back(&input);
  xla::HloEvaluator evaluator;
  auto result = evaluator.Evaluate(module, pointers);
  EXPECT_TRUE(result.ok()) << result.status().message();
  return result.ok() ? std::move(*result) : xla::Literal();
}

// How many bytes transposes move, except those of weights: parameters from 1 on.
std::int64_t transposed_bytes(const xla::HloModule& module) {
  std::int64_t bytes = 0;
  for (const auto* one : module.entry_computation()->instructions()) {
    if (one->opcode() != xla::HloOpcode::kTranspose) continue;
    const auto* operand = one->operand(0);
    const bool is_weight =
        operand->opcode() == xla::HloOpcode::kParameter && operand->parameter_number() > 0;
    if (!is_weight) bytes += xla::ShapeUtil::ByteSizeOf(one->shape());
  }
  return bytes;
}

// What is transposed in the settled module, whose results are the same in every bit.
std::int64_t settled(const std::string& text) {
  const auto module = testing::parse_hlo(text);
  const xla::Literal before = result_of(*module);
  const Status done = testing::run_pass("settle_layouts", *module, 1);
  EXPECT_TRUE(done) << text;
  EXPECT_EQ(result_of(*module), before) << module->ToString();
  return transposed_bytes(*module);
}

constexpr const char* kAddText =
    "add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT s = f32[] add(a, b) }\n"
    "max { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT s = f32[] maximum(a, b) }\n";
// An image with channels first, its transpose, and what a convolution makes of that.
constexpr const char* kImage =
    "ENTRY e {\n  x = f32[2,3,4,5] parameter(0)\n  w = f32[3] parameter(1)\n"
    "  filter = f32[1,1,3,3] parameter(2)\n"
    "  last = f32[2,4,5,3] transpose(x), dimensions={0,2,3,1}\n"
    "  made = f32[2,4,5,3] convolution(last, filter), window={size=1x1}, "
    "dim_labels=b01f_01io->b01f\n"
    "  first = f32[2,3,4,5] transpose(made), dimensions={0,3,1,2}\n"
    "  zero = f32[] constant(0)\n";
constexpr std::int64_t kImageBytes = 2 * 3 * 4 * 5 * sizeof(float);

std::string with_image(const std::string& rest) { return kAddText + (kImage + rest) + "}\n"; }
// The last line of most tests: as for a second convolution.
std::string back_to_last(const std::string& name) {
  return "  ROOT r = f32[2,4,5,3] transpose(" + name + "), dimensions={0,2,3,1}\n";
}

TEST(Layouts, CancelPairsThroughElementwiseOperationsAndBroadcasts) {
  EXPECT_EQ(settled(with_image("  bias = f32[2,3,4,5] broadcast(w), dimensions={1}\n"
                               "  sum = f32[2,3,4,5] add(first, bias)\n"
                               "  zeros = f32[2,3,4,5] broadcast(zero), dimensions={}\n"
                               "  relu = f32[2,3,4,5] maximum(sum, zeros)\n" +
                               back_to_last("relu"))),
            kImageBytes);
}

// As tf2onnx writes a layer norm of channels: x times a product of statistics and weights.
TEST(Layouts, CancelPairsBesideProductsOfBroadcasts) {
  EXPECT_EQ(
      settled(with_image("  m = f32[2,4,5] reduce(first, zero), dimensions={1}, to_apply=add\n"
                         "  ms = f32[2,3,4,5] broadcast(m), dimensions={0,2,3}\n"
                         "  ws = f32[2,3,4,5] broadcast(w), dimensions={1}\n"
                         "  factor = f32[2,3,4,5] multiply(ms, ws)\n"
                         "  shift = f32[2,3,4,5] add(factor, ws)\n"
                         "  scaled = f32[2,3,4,5] multiply(first, factor)\n"
                         "  sum = f32[2,3,4,5] add(scaled, shift)\n" +
                         back_to_last("sum"))),
      kImageBytes);
}

// As PyTorch exports normalisations of groups: positions and channels are one dimension, until the
// reshape that follows. Others may use that dimension, too.
TEST(Layouts, CancelPairsAroundMergedPositions) {
  const std::string centered =
      "  flat = f32[2,3,20] reshape(first)\n"
      "  m = f32[2,3] reduce(flat, zero), dimensions={2}, to_apply=add\n"
      "  ms = f32[2,3,20] broadcast(m), dimensions={0,1}\n"
      "  d = f32[2,3,20] subtract(flat, ms)\n  e = f32[2,3,20] multiply(d, ms)\n"
      "  back = f32[2,3,4,5] reshape(e)\n";
  EXPECT_EQ(settled(with_image(centered + back_to_last("back"))), kImageBytes);
  EXPECT_EQ(settled(with_image(centered +
                               "  f = f32[2,3,20] reverse(d), dimensions={2}\n"
                               "  g = f32[2,3,4,5] reshape(f)\n"
                               "  sum = f32[2,3,4,5] add(back, g)\n" +
                               back_to_last("sum"))),
            kImageBytes);
}

TEST(Layouts, CancelPairsBehindBranches) {
  EXPECT_EQ(settled(with_image("  other = f32[2,4,5,3] cosine(made)\n"
                               "  second = f32[2,3,4,5] transpose(other), dimensions={0,3,1,2}\n"
                               "  sum = f32[2,3,4,5] add(first, second)\n"
                               "  more = f32[2,3,4,5] add(sum, x)\n" +
                               back_to_last("more"))),
            kImageBytes);
}

TEST(Layouts, CancelPairsThroughConcatenationsPadsAndCuts) {
  EXPECT_EQ(
      settled(with_image("  two = f32[2,6,4,5] concatenate(first, first), dimensions={1}\n"
                         "  wide = f32[2,6,6,8] pad(two, zero), padding=0_0x0_0x1_1x0_3\n"
                         "  cut = f32[2,3,4,5] slice(wide), slice={[0:2],[0:6:2],[1:5],[2:7]}\n"
                         "  turned = f32[2,3,4,5] reverse(cut), dimensions={2,3}\n" +
                         back_to_last("turned"))),
      kImageBytes);
}

TEST(Layouts, CancelPairsThroughWindows) {
  EXPECT_EQ(settled(with_image("  least = f32[] constant(-inf)\n  pool = f32[2,3,4,5] "
                               "reduce-window(first, least), window={size=1x1x3x2 "
                               "pad=0_0x0_0x1_1x1_0}, to_apply=max\n" +
                               back_to_last("pool"))),
            kImageBytes);
}

TEST(Layouts, EndAtReductionsThatKeepTheOrder) {
  EXPECT_EQ(settled(with_image("  ROOT mean = f32[2,3] reduce(first, zero), dimensions={2,3}, "
                               "to_apply=add\n")),
            kImageBytes);
}

TEST(Layouts, CancelPairsThroughReshapesThatSplitOrJoinNeighbours) {
  EXPECT_EQ(
      settled(with_image("  flat = f32[2,3,20] reshape(first)\n"
                         "  sine = f32[2,3,20] sine(flat)\n"
                         "  image = f32[2,3,1,4,5] reshape(sine)\n"
                         "  ROOT r = f32[2,1,4,5,3] transpose(image), dimensions={0,2,3,4,1}\n")),
      kImageBytes);
}

// What a net with channels first wants of a flattened image stays: one transpose before the
// reshape.
TEST(Layouts, KeepTheOrderOfAFlattenedImage) {
  EXPECT_EQ(settled(with_image("  sum = f32[2,3,4,5] add(first, x)\n"
                               "  again = f32[2,4,5,3] transpose(sum), dimensions={0,2,3,1}\n"
                               "  sine = f32[2,4,5,3] sine(again)\n"
                               "  end = f32[2,3,4,5] transpose(sine), dimensions={0,3,1,2}\n"
                               "  ROOT flat = f32[2,60] reshape(end)\n")),
            2 * kImageBytes);
}

TEST(Layouts, MakeIotasAndWeightsInTheOrderThatIsNeeded) {
  EXPECT_EQ(settled(kAddText +
                    std::string("ENTRY e {\n  x = f32[2,3,4,5] parameter(0)\n"
                                "  w = f32[2,3,4,5] parameter(1)\n"
                                "  last = f32[2,4,5,3] transpose(x), dimensions={0,2,3,1}\n"
                                "  sines = f32[2,4,5,3] sine(last)\n"
                                "  first = f32[2,3,4,5] transpose(sines), dimensions={0,3,1,2}\n"
                                "  places = f32[2,3,4,5] iota(), iota_dimension=1\n"
                                "  sum = f32[2,3,4,5] add(first, places)\n"
                                "  more = f32[2,3,4,5] multiply(w, sum)\n" +
                                back_to_last("more") + "}\n")),
            kImageBytes);
}

// A broadcast whose dimensions would lie in another order: only its small operand is transposed.
TEST(Layouts, TransposeTheSourceOfABroadcast) {
  const std::int64_t small = 2 * 3 * 4 * sizeof(float);
  EXPECT_EQ(settled(with_image("  sums = f32[2,3,4] reduce(x, zero), dimensions={3}, to_apply=add\n"
                               "  own = f32[2,3,4,5] broadcast(sums), dimensions={0,1,2}\n"
                               "  sum = f32[2,3,4,5] add(first, own)\n" +
                               back_to_last("sum"))),
            kImageBytes + small);
}

TEST(Layouts, StayIfNothingIsGained) {
  const auto module = testing::parse_hlo(
      "ENTRY e {\n  x = f32[2,3,4,5] parameter(0)\n  filter = f32[1,1,3,3] parameter(1)\n"
      "  last = f32[2,4,5,3] transpose(x), dimensions={0,2,3,1}\n"
      "  made = f32[2,4,5,3] convolution(last, filter), window={size=1x1}, "
      "dim_labels=b01f_01io->b01f\n"
      "  cosines = f32[2,4,5,3] cosine(made)\n"
      "  ROOT first = f32[2,3,4,5] transpose(cosines), dimensions={0,3,1,2}\n}\n");
  const std::string before = module->ToString();
  ASSERT_TRUE(testing::run_pass("settle_layouts", *module, 1));
  EXPECT_EQ(module->ToString(), before);
}

// A mixer: products along the first dimension of each row's matrix, whose second one has `width`
// columns, with a bias and a curve between them, and a sum after `last`.
std::string mixer(int width, const std::string& last) {
  const std::string w = std::to_string(width);
  return "ENTRY e {\n  x = f32[2,6," + w + "] parameter(0)\n  v = f32[6,9] parameter(1)\n" +
         "  u = f32[9,6] parameter(2)\n  b = f32[9] parameter(3)\n" + "  t = f32[2," + w +
         ",6] transpose(x), dimensions={0,2,1}\n" + "  p = f32[2," + w +
         ",9] dot(t, v), lhs_contracting_dims={2}, " + "rhs_contracting_dims={0}\n  bs = f32[2," +
         w + ",9] broadcast(b), dimensions={2}\n" + "  s = f32[2," + w +
         ",9] add(p, bs)\n  c = f32[2," + w + ",9] cosine(s)\n" + "  q = f32[2," + w +
         ",6] dot(c, u), lhs_contracting_dims={2}, " + "rhs_contracting_dims={0}\n" + last + "}\n";
}
std::string back_and_sum(int width) {
  const std::string shape = "f32[2,6," + std::to_string(width) + "]";
  return "  back = " + shape + " transpose(q), dimensions={0,2,1}\n  ROOT r = " + shape +
         " add(x, back)\n";
}

// What is transposed if sides may swap.
std::int64_t settled_with_swaps(const std::string& text) {
  const auto module = testing::parse_hlo(text);
  const xla::Literal before = result_of(*module);
  EXPECT_TRUE(testing::run_pass("swap_products", *module, 1)) << text;
  const xla::Literal after = result_of(*module);
  for (std::int64_t i = 0; i < before.element_count(); ++i) {
    EXPECT_NEAR(after.data<float>()[static_cast<std::size_t>(i)],
                before.data<float>()[static_cast<std::size_t>(i)], 1e-5)
        << module->ToString();
  }
  return transposed_bytes(*module);
}

TEST(Layouts, ProductsSwapTheirSidesBetweenTransposes) {
  EXPECT_EQ(settled_with_swaps(mixer(16, back_and_sum(16))), 0);
}

// As Keras writes it, with all but the last dimension joined.
TEST(Layouts, ProductsOfJoinedDimensionsSwapTheirSides) {
  std::string text = mixer(16, back_and_sum(16));
  const auto replace = [&](const std::string& from, const std::string& to) {
    const std::size_t at = text.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    text.replace(at, from.size(), to);
  };
  replace("p = f32[2,16,9] dot(t, v), lhs_contracting_dims={2}",
          "j = f32[32,6] reshape(t)\n  d = f32[32,9] dot(j, v), lhs_contracting_dims={1}");
  replace("  bs =", "  p = f32[2,16,9] reshape(d)\n  bs =");
  EXPECT_EQ(settled_with_swaps(text), 0);
}

// Sides stay by default, where columns are too few, and where nothing is transposed back.
TEST(Layouts, OtherProductsKeepTheirSides) {
  const auto bytes = [](int width) { return std::int64_t{2} * 6 * width * 4; };
  EXPECT_EQ(settled(mixer(16, back_and_sum(16))), 2 * bytes(16));
  EXPECT_EQ(settled_with_swaps(mixer(15, back_and_sum(15))), 2 * bytes(15));
  EXPECT_EQ(settled_with_swaps(mixer(16, "  ROOT r = f32[2,16,6] cosine(q)\n")), bytes(16));
}

// The sum goes over the last dimension: that is a product of rows as it is.
TEST(Layouts, ProductsOfRowsKeepTheirSides) {
  const std::string text =
      "ENTRY e {\n  x = f32[2,16,6] parameter(0)\n  v = f32[6,9] parameter(1)\n"
      "  t = f32[16,2,6] transpose(x), dimensions={1,0,2}\n"
      "  p = f32[16,2,9] dot(t, v), lhs_contracting_dims={2}, rhs_contracting_dims={0}\n"
      "  ROOT r = f32[2,16,9] transpose(p), dimensions={1,0,2}\n}\n";
  const auto module = testing::parse_hlo(text);
  const std::string before = module->ToString();
  ASSERT_TRUE(testing::run_pass("swap_products", *module, 1));
  EXPECT_EQ(module->ToString(), before);
}

}  // namespace
}  // namespace tfaot::toolkit::engine
