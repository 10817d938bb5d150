// SPDX-License-Identifier: Apache-2.0
// Products of any layout compute as calls of kernels what they computed before, without transposes
// where strides are enough.

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "compiler/hlo/simplify.h"
#include "tests/unit/engine/parse_hlo.h"
#include "tests/unit/engine/run_kernels.h"
#include "tests/unit/engine/run_pass.h"

namespace tfaot::toolkit::engine {
namespace {

using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

// The operations that are left beside kernels and what selects their results. Parameters from
// `inputs` on are weights.
std::vector<std::string> left_over(const std::string& text, std::int64_t inputs) {
  const auto module = testing::parse_hlo(text);
  const xla::Literal before = testing::result_with_kernels(*module);
  EXPECT_TRUE(testing::run_kernel_passes(*module, inputs));
  EXPECT_TRUE(remove_dead_code(*module));
  EXPECT_LT(testing::relative_difference(before, testing::result_with_kernels(*module)), 1e-5)
      << text;
  EXPECT_FALSE(testing::called_kernels(*module).empty()) << text;
  constexpr const char* kFree[] = {"parameter",         "constant", "custom-call",
                                   "get-tuple-element", "reshape",  "bitcast"};
  std::vector<std::string> names;
  for (const auto* one : module->entry_computation()->MakeInstructionPostOrder()) {
    const std::string name(xla::HloOpcodeString(one->opcode()));
    if (std::ranges::count(kFree, name) == 0) names.push_back(name);
  }
  return names;
}

// q k^T and p v of heads that lie as a dense layer made them, [rows, length, heads, width].
std::string attention(int rows, int length, int heads, int width) {
  return fmt::format(R"(
ENTRY main {{
  q = f32[{0},{1},{2},{3}] parameter(0)
  k = f32[{0},{1},{2},{3}] parameter(1)
  v = f32[{0},{1},{2},{3}] parameter(2)
  qt = f32[{0},{2},{1},{3}] transpose(q), dimensions={{0,2,1,3}}
  kt = f32[{0},{2},{1},{3}] transpose(k), dimensions={{0,2,1,3}}
  vt = f32[{0},{2},{1},{3}] transpose(v), dimensions={{0,2,1,3}}
  p = f32[{0},{2},{1},{1}] dot(qt, kt), lhs_batch_dims={{0,1}}, lhs_contracting_dims={{3}}, rhs_batch_dims={{0,1}}, rhs_contracting_dims={{3}}
  y = f32[{0},{2},{1},{3}] dot(p, vt), lhs_batch_dims={{0,1}}, lhs_contracting_dims={{3}}, rhs_batch_dims={{0,1}}, rhs_contracting_dims={{2}}
  ROOT r = f32[{0},{1},{2},{3}] transpose(y), dimensions={{0,2,1,3}}
}})",
                     rows, length, heads, width);
}

TEST(MatMulCalls, OfHeadsNeedNoTransposes) {
  for (const auto& [rows, length, heads, width] :
       {std::tuple{3, 5, 4, 7}, {2, 70, 3, 32}, {4, 1, 3, 5}, {2, 9, 1, 8}, {1, 6, 2, 3}}) {
    EXPECT_THAT(left_over(attention(rows, length, heads, width), 3), ElementsAre());
  }
}

// As JAX and Keras write them: keys and values come first.
TEST(MatMulCalls, OfTurnedHeadsNeedNoTransposes) {
  const char* const text = R"(
ENTRY main {
  q = f32[2,70,3,8] parameter(0)
  k = f32[2,60,3,8] parameter(1)
  v = f32[2,60,3,7] parameter(2)
  pt = f32[2,3,60,70] dot(k, q), lhs_batch_dims={0,2}, lhs_contracting_dims={3}, rhs_batch_dims={0,2}, rhs_contracting_dims={3}
  p = f32[2,3,70,60] transpose(pt), dimensions={0,1,3,2}
  y = f32[2,3,7,70] dot(v, p), lhs_batch_dims={0,2}, lhs_contracting_dims={1}, rhs_batch_dims={0,1}, rhs_contracting_dims={3}
  ROOT r = f32[2,70,3,7] transpose(y), dimensions={0,3,1,2}
})";
  EXPECT_THAT(left_over(text, 3), ElementsAre());
}

// Without the dimension of one row, which the simplifier takes away from products.
TEST(MatMulCalls, OfHeadsOfOneRowNeedNoTransposes) {
  const char* const text = R"(
ENTRY main {
  q = f32[1,6,4,5] parameter(0)
  k = f32[1,6,4,5] parameter(1)
  qt = f32[1,4,6,5] transpose(q), dimensions={0,2,1,3}
  kt = f32[1,4,6,5] transpose(k), dimensions={0,2,1,3}
  qr = f32[4,6,5] reshape(qt)
  kr = f32[4,6,5] reshape(kt)
  p = f32[4,6,6] dot(qr, kr), lhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_batch_dims={0}, rhs_contracting_dims={2}
  y = f32[4,6,5] dot(p, kr), lhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_batch_dims={0}, rhs_contracting_dims={1}
  yr = f32[1,4,6,5] reshape(y)
  ROOT r = f32[1,6,4,5] transpose(yr), dimensions={0,2,1,3}
})";
  EXPECT_THAT(left_over(text, 2), ElementsAre());
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
          "  {0}0 = f32[{1}] parameter({2})\n"
          "  {0} = f32[{3}] transpose({0}0), dimensions={{{4}}}\n",
          name, fmt::join(shape, ","), number, fmt::join(wanted, ","), fmt::join(order, ","));
    };
    const std::string sides =
        tensor("x", 0, sizes[2], sizes[3]) + tensor("y", 1, sizes[3], sizes[4]);
    const int dot[] = {sizes[0], sizes[1], sizes[2], sizes[4]};
    std::vector<int> order = {0, 1, 2, 3};
    std::shuffle(order.begin(), order.end(), engine);
    std::vector<int> result;
    for (const int d : order) result.push_back(dot[d]);
    left_over(
        fmt::format("ENTRY main {{\n{}"
                    "  d = f32[{}] dot(x, y), lhs_batch_dims={{0,1}}, "
                    "lhs_contracting_dims={{3}}, rhs_batch_dims={{0,1}}, "
                    "rhs_contracting_dims={{2}}\n"
                    "  ROOT r = f32[{}] transpose(d), dimensions={{{}}}\n}}",
                    sides, fmt::join(dot, ","), fmt::join(result, ","), fmt::join(order, ",")),
        2);
    if (::testing::Test::HasFailure()) return;
  }
}

// A sum with another tensor, before or after the bias, and a relu.
TEST(MatMulCalls, AddWhatASumAroundThemAdds) {
  for (const int rows : {1, 3, 20}) {
    for (const bool bias_first : {true, false}) {
      const std::string text = fmt::format(
          R"(
ENTRY main {{
  x = f32[{0},2,24] parameter(0)
  other = f32[{0},2,40] parameter(1)
  w = f32[24,40] parameter(2)
  b = f32[40] parameter(3)
  y = f32[{0},2,40] dot(x, w), lhs_contracting_dims={{2}}, rhs_contracting_dims={{0}}
  bs = f32[{0},2,40] broadcast(b), dimensions={{2}}
  s = f32[{0},2,40] add(y, {1})
  t = f32[{0},2,40] add({2}, s)
  zero = f32[] constant(0)
  zeros = f32[{0},2,40] broadcast(zero), dimensions={{}}
  ROOT r = f32[{0},2,40] maximum(t, zeros)
}})",
          rows, bias_first ? "bs" : "other", bias_first ? "other" : "bs");
      EXPECT_THAT(left_over(text, 2), UnorderedElementsAre("pad", "transpose")) << "of the weight";
    }
  }
}

// A weight times matrices, with a bias along dimension `of` and a sum.
std::vector<std::string> left_of_rows(int of, int size) {
  return left_over(fmt::format(R"(
ENTRY main {{
  x = f32[3,24,40] parameter(0)
  other = f32[3,40,40] parameter(1)
  w = f32[40,24] parameter(2)
  b = f32[{1}] parameter(3)
  ws = f32[3,40,24] broadcast(w), dimensions={{1,2}}
  y = f32[3,40,40] dot(ws, x), lhs_batch_dims={{0}}, rhs_batch_dims={{0}}, lhs_contracting_dims={{2}}, rhs_contracting_dims={{1}}
  bs = f32[3,40,40] broadcast(b), dimensions={{{0}}}
  s = f32[3,40,40] add(y, bs)
  ROOT t = f32[3,40,40] add(other, s)
}})",
                               of, size),
                   2);
}

TEST(MatMulCalls, AddABiasOfEachRow) {
  EXPECT_THAT(left_of_rows(1, 40), ElementsAre());
  EXPECT_THAT(left_of_rows(2, 40), ElementsAre());  // of each column
}

// XLA puts dimensions of size 1 anywhere.
TEST(MatMulCalls, AddABiasOfEachRowThroughReshapes) {
  const char* const text = R"(
ENTRY main {
  x = f32[24,40] parameter(0)
  w = f32[40,24] parameter(1)
  b = f32[40] parameter(2)
  y = f32[40,40] dot(w, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  z = f32[40,1,40] reshape(y)
  bs = f32[40,1,40] broadcast(b), dimensions={0}
  ROOT s = f32[40,1,40] add(z, bs)
})";
  EXPECT_THAT(left_over(text, 1), ElementsAre());
}

// One number of each matrix of the batch.
TEST(MatMulCalls, AddNoBiasOfEachMatrix) {
  EXPECT_THAT(left_of_rows(0, 3), UnorderedElementsAre("broadcast", "add", "add"));
}

// Two products: one adds the other's result. What comes after a sum with a third tensor stays.
TEST(MatMulCalls, AddOneTensorEach) {
  const char* const text = R"(
ENTRY main {
  x = f32[4,16] parameter(0)
  other = f32[4,16] parameter(1)
  v = f32[16,16] parameter(2)
  w = f32[16,16] parameter(3)
  a = f32[4,16] dot(x, v), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  b = f32[4,16] dot(other, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  s = f32[4,16] add(a, b)
  t = f32[4,16] add(s, other)
  ROOT r = f32[4,16] add(t, t)
})";
  EXPECT_THAT(left_over(text, 2), UnorderedElementsAre("add", "add"));
}

TEST(ConvolutionCalls, AddWhatASumAroundThemAdds) {
  for (const char* const window : {"3x3 pad=1_1x1_1", "1x1"}) {
    const int size = window[0] - '0';
    const std::string text = fmt::format(
        R"(
ENTRY main {{
  x = f32[2,5,6,3] parameter(0)
  other = f32[2,5,6,7] parameter(1)
  w = f32[{0},{0},3,7] parameter(2)
  y = f32[2,5,6,7] convolution(x, w), window={{size={1}}}, dim_labels=b01f_01io->b01f
  s = f32[2,5,6,7] add(other, y)
  zero = f32[] constant(0)
  zeros = f32[2,5,6,7] broadcast(zero), dimensions={{}}
  ROOT r = f32[2,5,6,7] maximum(s, zeros)
}})",
        size, window);
    EXPECT_THAT(left_over(text, 2), ::testing::Not(::testing::Contains("add"))) << text;
  }
}

}  // namespace
}  // namespace tfaot::toolkit::engine
