// SPDX-License-Identifier: Apache-2.0
// Products of random layouts compute as calls of kernels what they computed before. Chosen layouts
// are in passes/matmul_calls.hlo.

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "tests/unit/engine/parse_hlo.h"
#include "tests/unit/engine/run_kernels.h"
#include "tests/unit/engine/run_pass.h"

namespace tfaot::toolkit::engine {
namespace {

void expect_a_kernel_computes_the_same(const std::string& text) {
  const auto module = testing::parse_hlo(text);
  const xla::Literal before = testing::result_with_kernels(*module);
  EXPECT_TRUE(testing::run_kernel_passes(*module, 2));
  EXPECT_LT(testing::relative_difference(before, testing::result_with_kernels(*module)), 1e-5)
      << text;
  EXPECT_FALSE(testing::called_kernels(*module).empty()) << text;
}

// Operands and results in any order of their dimensions.
TEST(MatMulCalls, OfAnyLayoutAreThoseOfXla) {
  std::mt19937 engine(1);
  for (int i = 0; i < 150; ++i) {
    std::vector<int> sizes;  // two of a batch, rows, depth, columns
    for (int d = 0; d < 5; ++d) sizes.push_back(std::uniform_int_distribution(1, 6)(engine));
    // A tensor that becomes [batch, batch, a, b] by a transpose.
    const auto tensor = [&](const char* name, int number, int a, int b) {
      const int wanted[] = {sizes[0], sizes[1], a, b};
      std::vector<int> order = {0, 1, 2, 3};
      std::shuffle(order.begin(), order.end(), engine);
      std::vector<int> shape(4);
      for (std::size_t d = 0; d < 4; ++d) shape[static_cast<std::size_t>(order[d])] = wanted[d];
      return fmt::format(
          R"(  {0}0 = f32[{1}] parameter({2})
  {0} = f32[{3}] transpose({0}0), dimensions={{{4}}}
)",
          name, fmt::join(shape, ","), number, fmt::join(wanted, ","), fmt::join(order, ","));
    };
    const std::string sides =
        tensor("x", 0, sizes[2], sizes[3]) + tensor("y", 1, sizes[3], sizes[4]);
    const int dot[] = {sizes[0], sizes[1], sizes[2], sizes[4]};
    std::vector<int> order = {0, 1, 2, 3};
    std::shuffle(order.begin(), order.end(), engine);
    std::vector<int> result;
    for (const int d : order) result.push_back(dot[d]);
    expect_a_kernel_computes_the_same(fmt::format(
        R"(ENTRY main {{
{}  d = f32[{}] dot(x, y), lhs_batch_dims={{0,1}}, lhs_contracting_dims={{3}}, rhs_batch_dims={{0,1}}, rhs_contracting_dims={{2}}
  ROOT r = f32[{}] transpose(d), dimensions={{{}}}
}})",
        sides, fmt::join(dot, ","), fmt::join(result, ","), fmt::join(order, ",")));
    if (::testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace tfaot::toolkit::engine
