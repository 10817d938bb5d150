// SPDX-License-Identifier: Apache-2.0
// A chain of dense layers has the weights of single layers; all else about chains is in
// passes/dense_chain_calls.hlo.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "compiler/kernels/kernel_call.h"
#include "tests/unit/engine/parse_hlo.h"
#include "tests/unit/engine/run_kernels.h"
#include "tests/unit/engine/run_pass.h"

namespace tfaot::toolkit::engine {
namespace {

using ::testing::ElementsAre;

// Two square layers of `rows`, with kernels.
std::unique_ptr<xla::HloModule> square_layers(int width, int rows) {
  auto module = testing::parse_hlo(fmt::format(R"(
ENTRY e {{
  x = f32[{1},{0}] parameter(0)
  w0 = f32[{0},{0}] parameter(1)
  w1 = f32[{0},{0}] parameter(2)
  a = f32[{1},{0}] dot(x, w0), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}
  ROOT r = f32[{1},{0}] dot(a, w1), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}
}})",
                                               width, rows));
  EXPECT_TRUE(testing::run_pass("simplify", *module, 1));
  EXPECT_TRUE(testing::run_kernel_passes(*module, 1));
  EXPECT_TRUE(testing::run_passes("replace_softmax", "replace_gelu", *module, 1));
  EXPECT_TRUE(testing::run_pass("replace_dense_chains", *module, 1));
  return module;
}

// What makes a value, without names.
std::string text_of(const xla::HloInstruction& value) {
  std::string text = std::string(xla::HloOpcodeString(value.opcode())) + value.shape().ToString();
  for (const auto* operand : value.operands()) text += "(" + text_of(*operand) + ")";
  return text;
}

// So sizes of a batch with and without a chain share them.
TEST(DenseChainCalls, HaveTheWeightsOfTheirLayers) {
  const auto weights_of = [](const xla::HloModule& module) {
    std::vector<std::string> weights;
    for (const auto* one : module.entry_computation()->MakeInstructionPostOrder()) {
      if (!is_kernel_call(*one)) continue;
      for (std::int64_t i = 2; i < one->operand_count(); ++i) {
        weights.push_back(text_of(*one->operand(i)));
      }
    }
    return weights;
  };
  const auto chain = square_layers(100, 3);
  const auto layers = square_layers(100, 100);
  EXPECT_THAT(testing::called_kernels(*chain), ElementsAre("dense_chain_f32"));
  EXPECT_THAT(testing::called_kernels(*layers), ElementsAre("matmul_f32", "matmul_f32"));
  EXPECT_EQ(weights_of(*chain).size(), 2U);
  EXPECT_EQ(weights_of(*chain), weights_of(*layers));
}

}  // namespace
}  // namespace tfaot::toolkit::engine
