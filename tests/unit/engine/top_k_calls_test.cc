// SPDX-License-Identifier: Apache-2.0
// Sorts of which the first elements are used: as calls of a kernel they give the same.

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

constexpr std::int64_t kSelectionWeight = 2;  // its parameter

constexpr std::int64_t kAscending = kernels::kTopKAscending;
constexpr std::int64_t kDescending = kernels::kTopKDescending;
constexpr std::int64_t kTotal = kernels::kTopKTotalOrder;

// "2 of 5 in 3 rows, order 1" for each call of the kernel, if the module computes the same as
// before.
std::vector<std::string> selected(const std::string& text) {
  const auto module = testing::parse_hlo(text);
  const xla::Literal before = testing::result_with_kernels(*module);
  EXPECT_TRUE(testing::run_pass("replace_sorts", *module, kSelectionWeight));
  EXPECT_EQ(before, testing::result_with_kernels(*module)) << module->ToString();
  std::vector<std::string> calls;
  for (const auto* one : module->entry_computation()->MakeInstructionPostOrder()) {
    if (!is_call_of(*one, Kernel::kTopK)) continue;
    const auto call = call_of<kernels::TopKCall>(*one);
    calls.push_back(
        fmt::format("{} of {} in {} rows, order {}", call.count, call.size, call.rows, call.order));
  }
  return calls;
}

std::string call_text(int count, int size, int rows, std::int64_t order) {
  return fmt::format("{} of {} in {} rows, order {}", count, size, rows, order);
}

// The comparator's parameters, and what `text` makes of them.
std::string comparator(const std::string& text, const std::string& type = "f32",
                       const std::string& places = "s32") {
  return fmt::format(
      "before {{\n  a = {0}[] parameter(0)\n  b = {0}[] parameter(1)\n"
      "  i = {1}[] parameter(2)\n  j = {1}[] parameter(3)\n{2}}}\n",
      type, places, text);
}

// Both results of `count` elements; few values of the input are different.
std::string top(const std::string& comparator_text, int count, bool is_stable = true) {
  return fmt::format(
      "{}ENTRY e {{\n  p = f32[3,21] parameter(0)\n  x = f32[3,21] floor(p)\n"
      "  n = s32[3,21] iota(), iota_dimension=1\n"
      "  s = (f32[3,21], s32[3,21]) sort(x, n), dimensions={{1}}, is_stable={}, to_apply=before\n"
      "  v = f32[3,21] get-tuple-element(s), index=0\n"
      "  i = s32[3,21] get-tuple-element(s), index=1\n"
      "  v1 = f32[3,{}] slice(v), slice={{[0:3],[0:{}]}}\n"
      "  i1 = s32[2,1] slice(i), slice={{[1:3],[1:2]}}\n"
      "  ROOT r = (f32[3,{}], s32[2,1]) tuple(v1, i1)\n}}\n",
      comparator(comparator_text), is_stable, count, count, count);
}

// As TensorFlow's TopKV2 is lowered.
TEST(TopKCalls, TakeSortsInTotalOrder) {
  EXPECT_THAT(selected(top("  ROOT c = pred[] compare(a, b), direction=GT, type=TOTALORDER\n", 5)),
              ElementsAre(call_text(5, 21, 3, kDescending | kTotal)));
  EXPECT_THAT(selected(top("  ROOT c = pred[] compare(a, b), direction=LT, type=TOTALORDER\n", 1)),
              ElementsAre(call_text(2, 21, 3, kAscending | kTotal)));
  EXPECT_THAT(selected(top("  ROOT c = pred[] compare(b, a), direction=LT, type=TOTALORDER\n", 3)),
              ElementsAre(call_text(3, 21, 3, kDescending | kTotal)));
}

// As onnx/operators/shapes.cc has it, largest and smallest first.
constexpr const char* kNanLargest =
    "  c = pred[] compare(a, b), direction={0}\n  n = pred[] compare({1}, {1}), direction=NE\n"
    "  o = pred[] compare({2}, {2}), direction=EQ\n  d = pred[] and(n, o)\n"
    "  ROOT r = pred[] or(c, d)\n";

TEST(TopKCalls, TakeSortsInWhichNanIsLarger) {
  EXPECT_THAT(selected(top(fmt::format(kNanLargest, "GT", "a", "b"), 5)),
              ElementsAre(call_text(5, 21, 3, kDescending)));
  EXPECT_THAT(selected(top(fmt::format(kNanLargest, "LT", "b", "a"), 5)),
              ElementsAre(call_text(5, 21, 3, kAscending)));
}

// Where NaN goes is open, or is elsewhere.
TEST(TopKCalls, LeaveOtherComparatorsAlone) {
  EXPECT_THAT(selected(top("  ROOT c = pred[] compare(a, b), direction=GT\n", 5)), IsEmpty());
  EXPECT_THAT(selected(top("  ROOT c = pred[] compare(i, j), direction=GT\n", 5)), IsEmpty());
  EXPECT_THAT(selected(top("  ROOT c = pred[] compare(a, b), direction=GE, type=TOTALORDER\n", 5)),
              IsEmpty());
  EXPECT_THAT(selected(top("  m = f32[] abs(a)\n  n = f32[] abs(b)\n"
                           "  ROOT c = pred[] compare(m, n), direction=LT, type=TOTALORDER\n",
                           5)),
              IsEmpty());
  EXPECT_THAT(selected(top(fmt::format(kNanLargest, "GT", "b", "a"), 5)), IsEmpty());
  EXPECT_THAT(selected(top(fmt::format(kNanLargest, "LT", "a", "b"), 5)), IsEmpty());
}

TEST(TopKCalls, LeaveSortsAloneThatNeedNotKeepTheOrderOfEqualElements) {
  EXPECT_THAT(
      selected(top("  ROOT c = pred[] compare(a, b), direction=GT, type=TOTALORDER\n", 5, false)),
      IsEmpty());
}

// As JAX sorts: one zero and one NaN. The axis is not the last one, and all elements are used.
std::string jax_sort(const std::string& zero, const std::string& nan) {
  std::string text;
  for (const char* one : {"a", "b"}) {
    text += fmt::format(
        "  {0}0 = f64[] constant(0)\n  {0}z = f64[] constant({1})\n  {0}q = f64[] constant({2})\n"
        "  {0}e = pred[] compare({0}, {0}0), direction=EQ\n"
        "  {0}s = f64[] select({0}e, {0}z, {0})\n"
        "  {0}n = pred[] compare({0}, {0}), direction=NE\n"
        "  {0}k = f64[] select({0}n, {0}q, {0}s)\n",
        one, zero, nan);
  }
  text += "  ROOT c = pred[] compare(ak, bk), direction=LT, type=TOTALORDER\n";
  return comparator(text, "f64", "s64") +
         "ENTRY e {\n  p = f64[2,9,4] parameter(0)\n  x = f64[2,9,4] floor(p)\n"
         "  n = s64[2,9,4] iota(), iota_dimension=1\n"
         "  ROOT s = (f64[2,9,4], s64[2,9,4]) sort(x, n), dimensions={1}, is_stable=true, "
         "to_apply=before\n}\n";
}

TEST(TopKCalls, TakeSortsAlongAnyAxis) {
  const std::string text = jax_sort("0", "nan");
  const std::string root = "  ROOT s = (";
  std::string used = text;
  used.replace(used.find(root), root.size(), "  s = (");
  used.replace(used.rfind("}"), 1,
               "  v = f64[2,9,4] get-tuple-element(s), index=0\n"
               "  i = s64[2,9,4] get-tuple-element(s), index=1\n"
               "  ROOT r = (f64[2,9,4], s64[2,9,4]) tuple(v, i)\n}");
  EXPECT_THAT(selected(used), ElementsAre(call_text(9, 9, 8, kAscending)));
  used.replace(used.find("constant(nan)"), 13, "constant(7)");
  EXPECT_THAT(selected(used), IsEmpty());
}

TEST(TopKCalls, TakeSortsOfNumbersAlone) {
  const std::string sort =
      "before {{\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n"
      "  ROOT c = pred[] compare(a, b), direction=LT, type=TOTALORDER\n}}\n"
      "ENTRY e {{\n  x = f32[3,21] parameter(0)\n"
      "  {}s = f32[3,21] sort(x), dimensions={{1}}, to_apply=before\n{}}}\n";
  EXPECT_THAT(selected(fmt::format(fmt::runtime(sort), "ROOT ", "")),
              ElementsAre(call_text(21, 21, 3, kTotal)));
  EXPECT_THAT(selected(fmt::format(fmt::runtime(sort), "",
                                   "  ROOT r = f32[3,4] slice(s), slice={[0:3],[2:6]}\n")),
              ElementsAre(call_text(6, 21, 3, kTotal)));
}

TEST(TopKCalls, LeaveSortsOfOtherThingsAlone) {
  // The second operand has no places along the axis.
  std::string text = top("  ROOT c = pred[] compare(a, b), direction=GT, type=TOTALORDER\n", 5);
  text.replace(text.find("iota_dimension=1"), 16, "iota_dimension=0");
  EXPECT_THAT(selected(text), IsEmpty());
}

}  // namespace
}  // namespace tfaot::toolkit::engine
