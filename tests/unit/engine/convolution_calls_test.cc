// SPDX-License-Identifier: Apache-2.0
// Convolutions of random windows compute as calls of kernels what they computed before. Chosen
// windows are in passes/convolution_calls.hlo.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "tests/unit/engine/parse_hlo.h"
#include "tests/unit/engine/run_kernels.h"
#include "tests/unit/engine/run_pass.h"

namespace tfaot::toolkit::engine {
namespace {

// Compares what the module computes before and after, and returns the kernels that it calls then.
// Parameters from 1 on are weights.
std::vector<std::string> rewritten(const std::string& text) {
  const auto module = testing::parse_hlo(text);
  const xla::Literal before = testing::result_with_kernels(*module);
  EXPECT_TRUE(testing::run_kernel_passes(*module, 1));
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
      R"(ENTRY e {{
  x = f32[{0},{1}{2}] parameter(0)
  w = f32[{3}{4},{5}] parameter(1)
  b = f32[{5}] parameter(2)
  c = {6} convolution(x, w), window={{size={7} stride={8} pad={9} lhs_dilate={10} rhs_dilate={11} rhs_reversal={12}}}, dim_labels=b01f_01io->b01f, feature_group_count={13}
  bias = {6} broadcast(b), dimensions={{3}}
  sum = {6} add(c, bias)
  zero = f32[] constant(0)
  zeros = {6} broadcast(zero), dimensions={{}}
  ROOT r = {6} maximum(sum, zeros)
}})",
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

}  // namespace
}  // namespace tfaot::toolkit::engine
