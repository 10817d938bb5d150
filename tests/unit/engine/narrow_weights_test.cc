// SPDX-License-Identifier: Apache-2.0
// Products whose weights are stored in fewer bits compute nearly the same.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/engine/parse_hlo.h"
#include "tests/unit/engine/run_kernels.h"
#include "tests/unit/engine/run_pass.h"

namespace tfaot::toolkit::engine {
namespace {

using ::testing::ElementsAre;

// A bias and a relu; the second parameter is a weight.
std::string dense_module(int rows, int depth, int columns, const std::string& type = "f32") {
  return fmt::format(R"(
ENTRY main {{
  x = {3}[{0},{1}] parameter(0)
  w = {3}[{1},{2}] parameter(1)
  b = {3}[{2}] parameter(2)
  y = {3}[{0},{2}] dot(x, w), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}
  bs = {3}[{0},{2}] broadcast(b), dimensions={{1}}
  z = {3}[{0},{2}] add(y, bs)
  zero = {3}[] constant(0)
  zeros = {3}[{0},{2}] broadcast(zero), dimensions={{}}
  ROOT r = {3}[{0},{2}] maximum(z, zeros)
}})",
                     rows, depth, columns, type);
}

// How far the result is from that with float32, over the largest number; the kernel is called.
double loss_of(const std::string& text, WeightsType type) {
  const auto module = testing::parse_hlo(text);
  const xla::Literal exact = testing::result_with_kernels(*module);
  EXPECT_TRUE(testing::run_kernel_passes(*module, 1, {type}));
  EXPECT_THAT(testing::called_kernels(*module), ElementsAre("narrow_matmul_f32"));
  return testing::relative_difference(exact, testing::result_with_kernels(*module));
}

TEST(NarrowWeights, ComputeNearlyTheSame) {
  for (const int rows : {1, 2, 3, 20}) {
    for (const auto& [depth, columns] : {std::pair{64, 48}, {37, 30}, {101, 17}}) {
      const std::string text = dense_module(rows, depth, columns);
      SCOPED_TRACE(text);
      EXPECT_LT(loss_of(text, WeightsType::kBfloat16), 1.0 / 256);
      EXPECT_LT(loss_of(text, WeightsType::kFloat16), 1.0 / 2048);
      EXPECT_LT(loss_of(text, WeightsType::kInt8), 1.0 / 127);
      // They are not those of float32.
      EXPECT_GT(loss_of(text, WeightsType::kFloat16), 1e-7);
    }
  }
}

// The type in which a product's weights are stored.
std::string stored_type(const std::string& text, WeightsType type) {
  const auto module = testing::parse_hlo(text);
  EXPECT_TRUE(testing::run_kernel_passes(*module, 1, {type}));
  for (const auto* one : module->entry_computation()->MakeInstructionPostOrder()) {
    if (!is_kernel_call(*one)) continue;
    return xla::primitive_util::LowercasePrimitiveTypeName(one->operand(2)->shape().element_type());
  }
  return "";
}

TEST(NarrowWeights, AreStoredInTheirType) {
  EXPECT_EQ(stored_type(dense_module(4, 64, 64), WeightsType::kFloat32), "f32");
  EXPECT_EQ(stored_type(dense_module(4, 64, 64), WeightsType::kBfloat16), "bf16");
  EXPECT_EQ(stored_type(dense_module(4, 64, 64), WeightsType::kFloat16), "f16");
  EXPECT_EQ(stored_type(dense_module(4, 64, 64), WeightsType::kInt8), "s8");
}

TEST(NarrowWeights, AreMoreThanAFewAndOfSinglePrecision) {
  EXPECT_EQ(stored_type(dense_module(4, 16, 10), WeightsType::kInt8), "f32");
  EXPECT_EQ(stored_type(dense_module(4, 64, 64, "f64"), WeightsType::kInt8), "f64");
}

}  // namespace
}  // namespace tfaot::toolkit::engine
