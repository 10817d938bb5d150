// SPDX-License-Identifier: Apache-2.0
// Scatters of single elements: by rows they give the same.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/unit/engine/parse_hlo.h"
#include "tests/unit/engine/run_kernels.h"
#include "tests/unit/engine/run_pass.h"

namespace tfaot::toolkit::engine {
namespace {

const std::string kSum =
    "sum {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT s = f32[] add(a, b)\n}\n";

// The sizes of the only scatter's windows afterwards, if the module computes the same as before.
std::string windows_of(const std::string& body) {
  const auto module = testing::parse_hlo(kSum + "ENTRY e {\n" + body + "}\n");
  const xla::Literal before = testing::result_with_kernels(*module);
  EXPECT_TRUE(testing::run_pass("widen_scatter_window", *module));
  EXPECT_EQ(before, testing::result_with_kernels(*module)) << module->ToString();
  for (const auto* one : module->entry_computation()->MakeInstructionPostOrder()) {
    if (one->opcode() != xla::HloOpcode::kScatter) continue;
    std::string sizes;
    for (const auto d : one->scatter_dimension_numbers().update_window_dims()) {
      sizes += fmt::format("{} ", one->operand(2)->shape().dimensions(static_cast<int>(d)));
    }
    return sizes;
  }
  return "none is left";
}

// One index, -3 to 8, for each of 7 rows, as often as the row has elements.
std::string row_indices(int columns) {
  return fmt::format(
      "  p = f32[7] parameter(0)\n  three = f32[] constant(3)\n"
      "  threes = f32[7] broadcast(three), dimensions={{}}\n  m = f32[7] multiply(p, threes)\n"
      "  n = s64[7] convert(m)\n  r = s64[7,{0}] broadcast(n), dimensions={{0}}\n"
      "  own = s64[7,{0},1] reshape(r)\n"
      "  column = s64[7,{0},1] iota(), iota_dimension=1\n"
      "  i = s64[7,{0},2] concatenate(own, column), dimensions={{2}}\n",
      columns);
}
// Of elements of `x` and the update `u`, each with its size.
std::string scatter_of_elements(const std::string& x, const std::string& u) {
  return fmt::format(
      "  x = f32[{0}] parameter(1)\n  u = f32[{1}] parameter(2)\n"
      "  ROOT s = f32[{0}] scatter(x, i, u), update_window_dims={{}}, "
      "inserted_window_dims={{0,1}}, "
      "scatter_dims_to_operand_dims={{0,1}}, index_vector_dim=2, to_apply=sum\n",
      x, u);
}

TEST(ScatterWindows, AreRows) {
  EXPECT_EQ(windows_of(row_indices(8) + scatter_of_elements("5,8", "7,8")), "8 ");
}

// The first elements of each row.
TEST(ScatterWindows, AreFirstPartsOfRows) {
  EXPECT_EQ(windows_of(row_indices(3) + scatter_of_elements("5,8", "7,3")), "3 ");
}

// Elements with places outside are left out, one by one.
TEST(ScatterWindows, AreNotLargerThanTheOperand) {
  EXPECT_EQ(windows_of(row_indices(8) + scatter_of_elements("5,6", "7,8")), "");
}

// A batch of three, rows of two dimensions, of which the indices count the second before the first.
std::string batch_indices() {
  return "  p = f32[3,1,4,1] parameter(0)\n  three = f32[] constant(3)\n"
         "  threes = f32[3,1,4,1] broadcast(three), dimensions={}\n"
         "  m = f32[3,1,4,1] multiply(p, threes)\n  n = s64[3,1,4,1] convert(m)\n"
         "  flat = s64[3,4] reshape(n)\n"
         "  r = s64[3,6,4,2] broadcast(flat), dimensions={0,2}\n"
         "  zero = s64[] constant(0)\n  zeros = s64[3,6,4,2] broadcast(zero), dimensions={}\n"
         "  size = s64[] constant(5)\n  sizes = s64[3,6,4,2] broadcast(size), dimensions={}\n"
         "  is = pred[3,6,4,2] compare(r, zeros), direction=LT\n"
         "  up = s64[3,6,4,2] add(r, sizes)\n  at = s64[3,6,4,2] select(is, up, r)\n"
         "  own = s64[3,6,4,2,1] reshape(at)\n"
         "  b = s64[3,6,4,2,1] iota(), iota_dimension=0\n"
         "  c = s64[6] iota(), iota_dimension=0\n"
         "  d = s64[3,6,4,2,1] broadcast(c), dimensions={1}\n"
         "  f = s64[3,6,4,2,1] iota(), iota_dimension=3\n"
         "  i = s64[3,6,4,2,4] concatenate(b, own, f, d), dimensions={4}\n";
}

TEST(ScatterWindows, HaveSeveralDimensions) {
  EXPECT_EQ(windows_of(batch_indices() +
                       "  x = f32[3,5,2,6] parameter(1)\n  u = f32[3,6,4,2] parameter(2)\n"
                       "  ROOT s = f32[3,5,2,6] scatter(x, i, u), update_window_dims={}, "
                       "inserted_window_dims={0,1,2,3}, scatter_dims_to_operand_dims={0,1,2,3}, "
                       "index_vector_dim=4, to_apply=sum\n"),
            "2 6 ");
}

// Beside a window that is there.
TEST(ScatterWindows, JoinOthers) {
  EXPECT_EQ(
      windows_of(row_indices(8) + "  x = f32[2,5,8] parameter(1)\n  u = f32[2,7,8] parameter(2)\n"
                                  "  ROOT s = f32[2,5,8] scatter(x, i, u), update_window_dims={0}, "
                                  "inserted_window_dims={1,2}, scatter_dims_to_operand_dims={1,2}, "
                                  "index_vector_dim=2, to_apply=sum\n"),
      "2 8 ");
}

TEST(ScatterWindows, StaySingleElementsIfIndicesVary) {
  const std::string by_element =
      "  p = f32[7,8] parameter(0)\n  n = s64[7,8] convert(p)\n  own = s64[7,8,1] reshape(n)\n"
      "  column = s64[7,8,1] iota(), iota_dimension=1\n"
      "  i = s64[7,8,2] concatenate(own, column), dimensions={2}\n";
  EXPECT_EQ(windows_of(by_element + scatter_of_elements("5,8", "7,8")), "");
  // A row's elements are far apart.
  std::string columns = row_indices(8) + scatter_of_elements("8,5", "7,8");
  columns.replace(columns.find("concatenate(own, column)"), 24, "concatenate(column, own)");
  EXPECT_EQ(windows_of(columns), "");
}

}  // namespace
}  // namespace tfaot::toolkit::engine
