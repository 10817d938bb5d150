// SPDX-License-Identifier: Apache-2.0
// Convolutions of any window compute as calls of kernels what they computed before.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "compiler/hlo/simplify.h"
#include "compiler/kernels/kernel_call.h"
#include "tests/unit/engine/parse_hlo.h"
#include "tests/unit/engine/run_kernels.h"
#include "tests/unit/engine/run_pass.h"
#include "tfaot/kernels/abi.h"

namespace tfaot::toolkit::engine {
namespace {

// Compares what the module computes before and after, and returns the kernels that it calls then.
// Parameters from 1 on are weights.
std::vector<std::string> rewritten(const std::string& text, const Choices& choices = {}) {
  const auto module = testing::parse_hlo(text);
  const xla::Literal before = testing::result_with_kernels(*module);
  EXPECT_TRUE(testing::run_kernel_passes(*module, 1, choices));
  EXPECT_TRUE(remove_dead_code(*module));
  EXPECT_LT(testing::relative_difference(before, testing::result_with_kernels(*module)), 1e-5)
      << text;
  return testing::called_kernels(*module);
}

class Random {
 public:
  std::int64_t between(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(engine_);
  }
  bool one_in(int n) { return between(1, n) == 1; }

 private:
  std::mt19937 engine_{1};
};

// A convolution of two dimensions, with relu(x + bias) after it.
struct Convolved {
  std::string text;
  bool has_result = true;
};
Convolved random_convolution(Random& random) {
  const std::int64_t batch = random.between(1, 3);
  const std::int64_t groups = random.one_in(3) ? random.between(2, 4) : 1;
  const bool is_depthwise = random.one_in(4);
  const std::int64_t in_each = is_depthwise ? 1 : random.between(1, 5);
  const std::int64_t out_each = is_depthwise ? 1 : random.between(1, 20);
  std::string sizes;
  std::string kernel;
  std::string results;
  std::string fields[6];  // of the window
  Convolved made;
  for (int d = 0; d < 2; ++d) {
    const std::int64_t in = random.between(1, 7);
    const std::int64_t size = random.between(1, 4);
    const std::int64_t stride = random.one_in(3) ? random.between(1, 3) : 1;
    const std::int64_t base = random.between(1, 3);
    const std::int64_t dilation = random.one_in(3) ? random.between(1, 3) : 1;
    const std::int64_t low = random.between(-1, 4);
    const std::int64_t high = random.between(-1, 4);
    const std::int64_t room = (in - 1) * base + 1 + low + high - ((size - 1) * dilation + 1);
    const std::int64_t out = room < 0 ? 0 : room / stride + 1;
    made.has_result = made.has_result && out > 0;
    sizes += fmt::format("{},", in);
    kernel += fmt::format("{},", size);
    results += fmt::format("{},", out);
    const std::string join = d == 0 ? "" : "x";
    fields[0] += fmt::format("{}{}", join, size);
    fields[1] += fmt::format("{}{}", join, stride);
    fields[2] += fmt::format("{}{}_{}", join, low, high);
    fields[3] += fmt::format("{}{}", join, base);
    fields[4] += fmt::format("{}{}", join, dilation);
    fields[5] += fmt::format("{}{}", join, random.between(0, 1));
  }
  const std::int64_t out = groups * out_each;
  const std::string result = fmt::format("f32[{},{}{}]", batch, results, out);
  made.text = fmt::format(
      "ENTRY e {{\n  x = f32[{0},{1}{2}] parameter(0)\n  w = f32[{3}{4},{5}] parameter(1)\n"
      "  b = f32[{5}] parameter(2)\n"
      "  c = {6} convolution(x, w), window={{size={7} stride={8} pad={9} lhs_dilate={10} "
      "rhs_dilate={11} rhs_reversal={12}}}, dim_labels=b01f_01io->b01f, "
      "feature_group_count={13}\n"
      "  bias = {6} broadcast(b), dimensions={{3}}\n  sum = {6} add(c, bias)\n"
      "  zero = f32[] constant(0)\n  zeros = {6} broadcast(zero), dimensions={{}}\n"
      "  ROOT r = {6} maximum(sum, zeros)\n}}\n",
      batch, sizes, groups * in_each, kernel, in_each, out, result, fields[0], fields[1], fields[2],
      fields[3], fields[4], fields[5], groups);
  return made;
}

TEST(ConvolutionCalls, ComputeTheSameForAnyWindow) {
  Random random;
  int done = 0;
  int transposed = 0;
  while (done < 150 && !HasFailure()) {
    const Convolved convolved = random_convolution(random);
    if (!convolved.has_result) continue;
    ++done;
    const auto kernels = rewritten(convolved.text);
    transposed += !kernels.empty() && kernels.front() == "transposed_convolution_f32" ? 1 : 0;
  }
  EXPECT_GT(transposed, 50);
}

// As TensorFlow lowers Conv2DTranspose: the filter is turned around, and in comes before out.
TEST(ConvolutionCalls, TakeTransposedConvolutionsByPhases) {
  EXPECT_EQ(rewritten("ENTRY e {\n  x = f64[2,5,4,3] parameter(0)\n"
                      "  w = f64[2,2,7,3] parameter(1)\n"
                      "  ROOT c = f64[2,10,8,7] convolution(x, w), window={size=2x2 pad=1_1x1_1 "
                      "lhs_dilate=2x2 rhs_reversal=1x1}, dim_labels=b01f_01oi->b01f\n}\n"),
            std::vector<std::string>{"transposed_convolution_f64"});
}

std::vector<std::string> grouped(int in_each, int out_each, const char* window = "") {
  return rewritten(fmt::format(
      "ENTRY e {{\n  x = f32[2,8,8,{0}] parameter(0)\n  w = f32[3,3,{1},{2}] parameter(1)\n"
      "  ROOT c = f32[2,8,8,{2}] convolution(x, w), window={{size=3x3 pad=1_1x1_1 {3}}}, "
      "dim_labels=b01f_01io->b01f, feature_group_count=6\n}}\n",
      6 * in_each, in_each, 6 * out_each, window));
}

TEST(ConvolutionCalls, OfSmallGroupsHaveAKernel) {
  const std::vector<std::string> kernel = {"grouped_convolution_f32"};
  for (const auto& [in_each, out_each] : {std::pair(1, 2), {1, 4}, {2, 2}, {4, 4}}) {
    EXPECT_EQ(grouped(in_each, out_each), kernel) << in_each << " to " << out_each;
  }
  EXPECT_EQ(grouped(4, 4, "rhs_reversal=1x1"), kernel);
  EXPECT_EQ(grouped(1, 1), std::vector<std::string>{"depthwise_f32"});
  EXPECT_EQ(grouped(1, 3), std::vector<std::string>{"convolution_f32"});
  EXPECT_EQ(grouped(8, 8), std::vector<std::string>{"convolution_f32"});
}

struct Winograd {
  std::string type = "f32";
  std::int64_t height = 9, width = 14, rows = 3, columns = 3, in = 20, out = 33;
  const char* window = "";
};
std::string winograd_text(const Winograd& w) {
  return fmt::format(
      "ENTRY e {{\n  x = {0}[2,{1},{2},{3}] parameter(0)\n  w = {0}[{4},{5},{3},{6}] parameter(1)\n"
      "  ROOT c = {0}[2,{7},{8},{6}] convolution(x, w), window={{size={4}x{5} {9}}}, "
      "dim_labels=b01f_01io->b01f\n}}\n",
      w.type, w.height, w.width, w.in, w.rows, w.columns, w.out, w.height - w.rows + 1,
      w.width - w.columns + 1, w.window);
}

TEST(ConvolutionCalls, TakeWindowsOfThreeByWinograd) {
  const std::vector<std::string> winograd = {"winograd_convolution_f32"};
  EXPECT_EQ(rewritten(winograd_text({})), winograd);
  EXPECT_EQ(rewritten(winograd_text({}), {.optimize = Optimization::kSize}),
            std::vector<std::string>{"convolution_f32"})
      << "its filters are larger";
  const Winograd line = {.height = 1, .width = 40, .rows = 1, .in = 64, .out = 32};
  EXPECT_EQ(rewritten(winograd_text(line)), winograd);
  const Winograd column = {.height = 40, .width = 1, .columns = 1, .in = 64, .out = 32};
  EXPECT_EQ(rewritten(winograd_text(column)), winograd);
  // Turned around, as the gradients of convolutions are.
  EXPECT_EQ(rewritten(winograd_text({.window = "rhs_reversal=1x1"})), winograd);
}

// How many results a tile has along one dimension.
std::int64_t winograd_results(const Winograd& winograd) {
  const auto module = testing::parse_hlo(winograd_text(winograd));
  EXPECT_TRUE(testing::run_kernel_passes(*module, 1));
  for (const auto* one : module->entry_computation()->instructions()) {
    if (is_kernel_call(*one)) return call_of<kernels::WinogradCall>(*one).results;
  }
  return 0;
}

TEST(ConvolutionCalls, TakeTilesOfFourResultsUnlessTheyAreFewOrTheFilterIsLarge) {
  EXPECT_EQ(winograd_results({.height = 18, .width = 18}), 4);
  EXPECT_EQ(winograd_results({.height = 10, .width = 10, .in = 64, .out = 64}), 4);
  EXPECT_EQ(winograd_results({.height = 1, .width = 42, .rows = 1, .in = 32, .out = 16}), 4);
  // One tile; tiles of which half is used.
  EXPECT_EQ(winograd_results({.height = 6, .width = 6}), 2);
  EXPECT_EQ(winograd_results({.height = 8, .width = 8}), 2);
  // A filter that does not fit into the second-level cache, and few tiles or many; too large a one.
  EXPECT_EQ(winograd_results({.height = 10, .width = 10, .in = 128, .out = 128}), 2);
  EXPECT_EQ(winograd_results({.height = 18, .width = 18, .in = 128, .out = 128}), 4);
  EXPECT_EQ(winograd_results({.height = 18, .width = 18, .in = 256, .out = 128}), 2);
}

// Results round with the largest number of their tile, which may not be in their window.
TEST(ConvolutionCalls, AreDirectWithoutFastMath) {
  EXPECT_EQ(rewritten(winograd_text({}), {.fast_math = false}),
            std::vector<std::string>{"convolution_f32"});
}

TEST(ConvolutionCalls, AreDirectWhereWinogradIsSlower) {
  const std::vector<std::string> direct = {"convolution_f32"};
  EXPECT_EQ(rewritten(winograd_text({.out = 8})), direct);
  EXPECT_EQ(rewritten(winograd_text({.height = 6, .width = 6, .in = 16, .out = 16})), direct);
  EXPECT_EQ(rewritten(winograd_text({.height = 1, .rows = 1})), direct);
  // Tiles of which little is used; few tiles for a large filter.
  EXPECT_EQ(rewritten(winograd_text({.height = 3, .width = 40})), direct);
  EXPECT_EQ(rewritten(winograd_text({.height = 6, .width = 6, .in = 128, .out = 128})), direct);
  EXPECT_EQ(rewritten(winograd_text({.columns = 2})), direct);
  EXPECT_EQ(rewritten(winograd_text({.type = "f64"})), std::vector<std::string>{"convolution_f64"});
  // A filter that only the run time knows.
  const auto module = testing::parse_hlo(winograd_text({}));
  ASSERT_TRUE(testing::run_kernel_passes(*module, 2));
  ASSERT_TRUE(remove_dead_code(*module));
  EXPECT_EQ(testing::called_kernels(*module), direct);
}

// As a clamp, and as a minimum after a maximum.
TEST(ConvolutionCalls, EndWithRelu6) {
  const std::string head =
      "ENTRY e {\n  x = f32[2,5,4,3] parameter(0)\n  w = f32[2,2,3,7] parameter(1)\n"
      "  c = f32[2,4,3,7] convolution(x, w), window={size=2x2}, dim_labels=b01f_01io->b01f\n"
      "  zero = f32[] constant(0)\n  six = f32[] constant(6)\n"
      "  zeros = f32[2,4,3,7] broadcast(zero), dimensions={}\n"
      "  sixes = f32[2,4,3,7] broadcast(six), dimensions={}\n";
  for (const char* const rest : {"  ROOT r = f32[2,4,3,7] clamp(zeros, c, sixes)\n}",
                                 "  m = f32[2,4,3,7] maximum(c, zeros)\n"
                                 "  ROOT r = f32[2,4,3,7] minimum(sixes, m)\n}"}) {
    const auto module = testing::parse_hlo(head + rest);
    const xla::Literal before = testing::result_with_kernels(*module);
    ASSERT_TRUE(testing::run_kernel_passes(*module, 1));
    EXPECT_LT(testing::relative_difference(before, testing::result_with_kernels(*module)), 1e-6);
    const auto* result = module->entry_computation()->root_instruction();
    ASSERT_EQ(result->opcode(), xla::HloOpcode::kGetTupleElement) << rest;
    EXPECT_EQ(call_of<kernels::ConvolutionCall>(*result->operand(0)).epilogue,
              kernels::kEpilogueRelu6);
  }
}

}  // namespace
}  // namespace tfaot::toolkit::engine
