// SPDX-License-Identifier: Apache-2.0
// Concatenations as calls of the kernel that copies rows: they give the same.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "compiler/kernels/kernel_call.h"
#include "tests/unit/engine/parse_hlo.h"
#include "tests/unit/engine/run_kernels.h"
#include "tests/unit/engine/run_pass.h"
#include "tfaot/kernels/abi.h"

namespace tfaot::toolkit::engine {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr std::int64_t kFirstJoinedWeight = 2;  // its parameter

// "6 rows: 3 4*" for each call, whose rows are 3 elements and 4 that are chosen by their place, if
// the module computes the same as before.
std::vector<std::string> joined(const std::string& text) {
  const auto module = testing::parse_hlo(text);
  const xla::Literal before = testing::result_with_kernels(*testing::parse_hlo(text));
  EXPECT_TRUE(testing::run_pass("settle_layouts", *module, kFirstJoinedWeight));
  EXPECT_TRUE(testing::run_pass("replace_gather", *module, kFirstJoinedWeight));
  EXPECT_TRUE(testing::run_pass("replace_concatenation", *module, kFirstJoinedWeight));
  EXPECT_EQ(before, testing::result_with_kernels(*module)) << module->ToString();
  std::vector<std::string> calls;
  for (const auto* one : module->entry_computation()->MakeInstructionPostOrder()) {
    if (!is_call_of(*one, Kernel::kGather)) continue;
    std::string text_of = fmt::format("{} rows:", call_of<kernels::GatherCall>(*one).rows);
    for (const auto& part : gather_parts(*one)) {
      text_of += fmt::format(" {}{}", part.elements,
                             part.place_type == kernels::kPlacesInOrder ? "" : "*");
    }
    calls.push_back(text_of);
  }
  return calls;
}

// Numbers from -3 to 8.
constexpr const char* kPlaces =
    "  p = f32[6,3] parameter(0)\n  three = f32[] constant(3)\n"
    "  t = f32[6,3] broadcast(three), dimensions={}\n  m = f32[6,3] multiply(p, t)\n";
std::string lookup(const std::string& name, int column, const std::string& type = "s32") {
  return fmt::format(
      "  s{0} = f32[6,1] slice(m), slice={{[0:6], [{1}:{2}]}}\n  r{0} = f32[6] reshape(s{0})\n"
      "  i{0} = {3}[6] convert(r{0})\n"
      "  {0} = f32[6,4] gather(x, i{0}), offset_dims={{1}}, collapsed_slice_dims={{0}}, "
      "start_index_map={{0}}, index_vector_dim=1, slice_sizes={{1,4}}\n",
      name, column, column + 1, type);
}

TEST(ConcatenationCalls, TakeEmbeddingsAndSlices) {
  EXPECT_THAT(joined("ENTRY e {\n" + std::string(kPlaces) + "  x = f32[5,4] parameter(1)\n" +
                     lookup("a", 0) + lookup("b", 2, "s64") +
                     "  n = f32[6,2] slice(p), slice={[0:6], [1:3]}\n"
                     "  ROOT c = f32[6,10] concatenate(a, n, b), dimensions={1}\n}\n"),
              ElementsAre("6 rows: 4* 2 4*"));
}

// At one row XLA's loop makes a concatenation, unless calls are saved.
TEST(ConcatenationCalls, TakeSeveralEmbeddingsOfOneRow) {
  const auto of_one_row = [](std::string text) {
    for (const std::string six : {"[6", ":6"}) {
      for (std::size_t at = 0; (at = text.find(six, at)) != std::string::npos;) text[at + 1] = '1';
    }
    return joined("ENTRY e {\n" + text);
  };
  const std::string start = std::string(kPlaces) + "  x = f32[5,4] parameter(1)\n";
  EXPECT_THAT(of_one_row(start + lookup("a", 0) + lookup("b", 2) +
                         "  ROOT c = f32[6,11] concatenate(a, p, b), dimensions={1}\n}\n"),
              ElementsAre("1 rows: 4* 3 4*"));
  EXPECT_THAT(of_one_row(start + lookup("a", 0) +
                         "  ROOT c = f32[6,7] concatenate(a, p), dimensions={1}\n}\n"),
              ElementsAre("1 rows: 4*"));
}

// The kernel reads the numbers that places were made of.
TEST(ConcatenationCalls, LeaveNoConversionOfPlaces) {
  const auto module = testing::parse_hlo(
      "ENTRY e {\n" + std::string(kPlaces) + "  x = f32[5,4] parameter(1)\n" + lookup("a", 0) +
      lookup("b", 1) + "  ROOT c = f32[6,8] concatenate(a, b), dimensions={1}\n}\n");
  ASSERT_TRUE(testing::run_pass("replace_gather", *module, kFirstJoinedWeight));
  ASSERT_TRUE(testing::run_pass("replace_concatenation", *module, kFirstJoinedWeight));
  for (const auto* one : module->entry_computation()->instructions()) {
    EXPECT_NE(one->opcode(), xla::HloOpcode::kConvert);
    EXPECT_NE(one->opcode(), xla::HloOpcode::kSlice);
  }
}

// What another operation uses, too, is gathered once.
TEST(ConcatenationCalls, CopyGathersWithOtherUses) {
  EXPECT_THAT(joined("ENTRY e {\n" + std::string(kPlaces) + "  x = f32[5,4] parameter(1)\n" +
                     lookup("a", 0) +
                     "  n = f32[6,4] negate(a)\n"
                     "  ROOT c = f32[6,8] concatenate(a, n), dimensions={1}\n}\n"),
              ElementsAre("6 rows: 4*", "6 rows: 4 4"));
}

// Several rows of a table in one row, as of a list of categories.
TEST(ConcatenationCalls, TakeSeveralRowsOfATable) {
  EXPECT_THAT(joined("ENTRY e {\n" + std::string(kPlaces) +
                     "  x = f32[5,4] parameter(1)\n  i = s32[6,3] convert(m)\n"
                     "  g = f32[6,3,4] gather(x, i), offset_dims={2}, collapsed_slice_dims={0}, "
                     "start_index_map={0}, index_vector_dim=2, slice_sizes={1,4}\n"
                     "  r = f32[6,12] reshape(g)\n"
                     "  ROOT c = f32[6,15] concatenate(p, r), dimensions={1}\n}\n"),
              ElementsAre("6 rows: 3 4* 4* 4*"));
}

TEST(ConcatenationCalls, TakeConcatenationsInOrder) {
  EXPECT_THAT(joined("ENTRY e {\n  p = f64[2,3,4] parameter(0)\n  x = f64[2,1,4] parameter(1)\n"
                     "  s = f64[2,2,4] slice(p), slice={[0:2], [1:3], [0:4]}\n"
                     "  c = f64[2,4,4] concatenate(p, x), dimensions={1}\n"
                     "  ROOT d = f64[2,6,4] concatenate(c, s), dimensions={1}\n}\n"),
              ElementsAre("2 rows: 12 4 8"));
}

// Slices that leave out more than the ends of a row.
TEST(ConcatenationCalls, CopyOtherSlices) {
  EXPECT_THAT(joined("ENTRY e {\n  p = f32[4,3,8] parameter(0)\n  x = f32[2,3,8] parameter(1)\n"
                     "  s = f32[2,3,8] slice(p), slice={[1:3], [0:3], [0:8]}\n"
                     "  t = f32[2,3,4] slice(p), slice={[0:2], [0:3], [0:8:2]}\n"
                     "  ROOT c = f32[2,3,20] concatenate(s, x, t), dimensions={2}\n}\n"),
              ElementsAre("6 rows: 8 8 4"));
}

// XLA computes them in the loop of the concatenation.
TEST(ConcatenationCalls, LeaveWhatIsMostlyComputed) {
  const std::string head =
      "ENTRY e {\n  p = f32[6,8] parameter(0)\n  x = f32[6,9] parameter(1)\n"
      "  n = f32[6,9] negate(x)\n";
  EXPECT_THAT(joined(head + "  ROOT c = f32[6,17] concatenate(p, n), dimensions={1}\n}\n"),
              IsEmpty());
  EXPECT_THAT(joined(head + "  c = f32[6,17] concatenate(p, n), dimensions={1}\n"
                            "  d = f32[6,17] concatenate(n, p), dimensions={1}\n"
                            "  ROOT s = f32[6,17] add(c, d)\n}\n"),
              ElementsAre("6 rows: 8 9", "6 rows: 9 8"));
}

TEST(ConcatenationCalls, LeaveOthersAlone) {
  // One row, single elements, integers, and what is put together while compiling.
  EXPECT_THAT(joined("ENTRY e {\n  p = f32[1,8] parameter(0)\n  x = f32[1,8] parameter(1)\n"
                     "  ROOT c = f32[1,16] concatenate(p, x), dimensions={1}\n}\n"),
              IsEmpty());
  EXPECT_THAT(joined("ENTRY e {\n  p = f32[6,2] parameter(0)\n  x = f32[6,1] parameter(1)\n"
                     "  ROOT c = f32[6,3] concatenate(p, x), dimensions={1}\n}\n"),
              IsEmpty());
  EXPECT_THAT(joined("ENTRY e {\n  p = f32[6,8] parameter(0)\n  x = f32[6,8] parameter(1)\n"
                     "  i = s32[6,8] convert(p)\n  j = s32[6,8] convert(x)\n"
                     "  ROOT c = s32[6,16] concatenate(i, j), dimensions={1}\n}\n"),
              IsEmpty());
  EXPECT_THAT(joined("ENTRY e {\n  p = f32[6,8] parameter(0)\n  x = f32[6,8] parameter(1)\n"
                     "  w = f32[6,8] parameter(2)\n"
                     "  ROOT c = f32[6,16] concatenate(w, w), dimensions={1}\n}\n"),
              IsEmpty());
}

}  // namespace
}  // namespace tfaot::toolkit::engine
