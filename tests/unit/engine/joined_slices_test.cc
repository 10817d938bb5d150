// SPDX-License-Identifier: Apache-2.0
// Slices that are joined along another dimension are the transpose that products read in place.
#include "hlo/joined_slices.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/unit/engine/parse_hlo.h"
#include "tests/unit/engine/run_kernels.h"

namespace tfaot::toolkit::engine {
namespace {

// How many concatenations are left. The module computes the same.
std::int64_t joined_left(const std::string& entry) {
  const auto module = testing::parse_hlo("ENTRY e {\n" + entry + "}\n");
  const auto before = testing::result_with_kernels(*module);
  EXPECT_TRUE(transpose_joined_slices(*module));
  EXPECT_EQ(testing::relative_difference(before, testing::result_with_kernels(*module)), 0)
      << module->ToString();
  std::int64_t left = 0;
  for (const auto* one : module->entry_computation()->instructions()) {
    left += one->opcode() == xla::HloOpcode::kConcatenate ? 1 : 0;
  }
  return left;
}

// A slice of x, f32[2,5,12], from `start` to `end` along its last dimension.
std::string slice(const char* name, int start, int end) {
  return fmt::format("  {} = f32[2,5,{}] slice(x), slice={{[0:2], [0:5], [{}:{}]}}\n", name,
                     end - start, start, end);
}

constexpr const char* kInput = "  x = f32[2,5,12] parameter(0)\n";
// Three heads of both rows, each with each other position.
constexpr const char* kProduct =
    "  heads = f32[6,5,4] reshape(joined)\n"
    "  ROOT r = f32[6,5,5] dot(heads, heads), lhs_batch_dims={0}, rhs_batch_dims={0}, "
    "lhs_contracting_dims={2}, rhs_contracting_dims={2}\n";

TEST(JoinedSlices, OfHeadsAreATranspose) {
  const std::string parts = kInput + slice("a", 0, 4) + slice("b", 4, 8) + slice("c", 8, 12);
  EXPECT_EQ(joined_left(parts + "  joined = f32[6,5,4] concatenate(a, b, c), dimensions={0}\n" +
                        kProduct),
            0);
  EXPECT_EQ(joined_left(parts + "  joined = f32[2,15,4] concatenate(a, b, c), dimensions={1}\n" +
                        kProduct),
            0);
  // As they are, too.
  EXPECT_EQ(joined_left(parts + "  joined = f32[6,5,4] concatenate(a, b, c), dimensions={0}\n"
                                "  ROOT r = f32[6,5,5] dot(joined, joined), lhs_batch_dims={0}, "
                                "rhs_batch_dims={0}, lhs_contracting_dims={2}, "
                                "rhs_contracting_dims={2}\n"),
            0);
}

TEST(JoinedSlices, OfTheFirstDimension) {
  EXPECT_EQ(joined_left("  x = f32[6,1,4] parameter(0)\n"
                        "  a = f32[3,1,4] slice(x), slice={[0:3], [0:1], [0:4]}\n"
                        "  b = f32[3,1,4] slice(x), slice={[3:6], [0:1], [0:4]}\n"
                        "  joined = f32[3,1,8] concatenate(a, b), dimensions={2}\n"
                        "  ROOT r = f32[3,1,1] dot(joined, joined), lhs_batch_dims={0}, "
                        "rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={2}\n"),
            0);
}

// In another order, of unequal parts, with a rest, and for other uses.
TEST(JoinedSlices, OthersStay) {
  const std::string joined = "  joined = f32[6,5,4] concatenate(a, b, c), dimensions={0}\n";
  EXPECT_EQ(joined_left(kInput + slice("a", 4, 8) + slice("b", 0, 4) + slice("c", 8, 12) + joined +
                        kProduct),
            1);
  EXPECT_EQ(joined_left(kInput + slice("a", 0, 3) + slice("b", 3, 6) + slice("c", 6, 9) +
                        "  joined = f32[6,5,3] concatenate(a, b, c), dimensions={0}\n"
                        "  ROOT r = f32[6,5,5] dot(joined, joined), lhs_batch_dims={0}, "
                        "rhs_batch_dims={0}, lhs_contracting_dims={2}, "
                        "rhs_contracting_dims={2}\n"),
            1);
  EXPECT_EQ(joined_left(kInput + slice("a", 0, 4) + slice("b", 4, 8) + slice("c", 8, 12) + joined +
                        "  ROOT r = f32[6,5,4] negate(joined)\n"),
            1);
}

}  // namespace
}  // namespace tfaot::toolkit::engine
