// SPDX-License-Identifier: Apache-2.0
// All tables of kernel calls together are whole cache lines, and the calls give the same.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "compiler/hlo/simplify.h"
#include "compiler/kernels/kernel_call.h"
#include "tests/unit/engine/parse_hlo.h"
#include "tests/unit/engine/run_kernels.h"
#include "tests/unit/engine/run_pass.h"

namespace tfaot::toolkit::engine {
namespace {

// So many products, one after the other.
std::string chain(int products) {
  std::string text = R"(ENTRY e {
  x0 = f32[3,16] parameter(0)
  w = f32[16,16] parameter(1)
)";
  for (int i = 0; i < products; ++i) {
    text += fmt::format(
        R"(  {0}x{2} = f32[3,16] dot(x{1}, w), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}
)",
        i + 1 == products ? "ROOT " : "", i, i + 1);
  }
  return text + "}\n";
}

std::int64_t bytes_of_tables(const xla::HloModule& module) {
  std::int64_t bytes = 0;
  for (const auto* one : module.entry_computation()->instructions()) {
    if (!is_kernel_call(*one) || !one->shape().IsTuple()) continue;
    bytes += (8 * xla::ShapeUtil::TupleElementCount(one->shape()) + 15) / 16 * 16;
  }
  return bytes;
}

TEST(AlignedTemporaries, AreThoseAfterWholeLinesOfTables) {
  for (const int products : {1, 2, 3, 4, 5}) {
    const auto module = testing::parse_hlo(chain(products));
    const xla::Literal before = testing::result_with_kernels(*module);
    ASSERT_TRUE(testing::run_kernel_passes(*module, 1));
    ASSERT_TRUE(remove_dead_code(*module));
    ASSERT_EQ(bytes_of_tables(*module), 16 * products);
    ASSERT_TRUE(testing::run_pass("align_temporaries", *module));
    EXPECT_EQ(bytes_of_tables(*module), (products + 3) / 4 * 64);
    EXPECT_LT(testing::relative_difference(before, testing::result_with_kernels(*module)), 1e-6);
  }
}

TEST(AlignedTemporaries, NeedNothingWithoutTables) {
  const auto module = testing::parse_hlo(R"(ENTRY e {
  ROOT x = f32[3] parameter(0)
}
)");
  ASSERT_TRUE(testing::run_pass("align_temporaries", *module));
  EXPECT_EQ(module->entry_computation()->instruction_count(), 1);
}

}  // namespace
}  // namespace tfaot::toolkit::engine
