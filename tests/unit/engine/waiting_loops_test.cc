// SPDX-License-Identifier: Apache-2.0
// A row of a loop that goes on until all rows are done has the bits that it has alone.
#include "compiler/rows/waiting_loops.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "compiler/hlo/simplify.h"
#include "compiler/rows/row_flow.h"
#include "tests/unit/engine/parse_hlo.h"
#include "xla/hlo/evaluator/hlo_evaluator.h"
#include "xla/literal_util.h"

namespace tfaot::toolkit::engine {
namespace {

constexpr std::int64_t kRows = 5;
const std::vector<std::vector<float>> kInput = {{9, 2}, {700, 1}, {3, 3}, {0.5, 0}, {81, 6}};

// The text with the number of rows in place of each '$'.
std::string with_rows(std::string text, std::int64_t rows) {
  for (std::size_t at = text.find('$'); at != std::string::npos; at = text.find('$', at)) {
    text.replace(at, 1, std::to_string(rows));
  }
  return text;
}

// Halves x until it is below 1, in at most 20 turns; `goes_on` makes a truth value g of n and x.
std::string halving(const std::string& goes_on) {
  return "or { p = pred[] parameter(0)\n q = pred[] parameter(1)\n ROOT r = pred[] or(p, q) }\n"
         "and { p = pred[] parameter(0)\n q = pred[] parameter(1)\n ROOT r = pred[] and(p, q) }\n"
         "max { p = f32[] parameter(0)\n q = f32[] parameter(1)\n ROOT r = f32[] maximum(p, q) }\n"
         "cond { s = (s32[], f32[$,2]) parameter(0)\n n = s32[] get-tuple-element(s), index=0\n"
         " x = f32[$,2] get-tuple-element(s), index=1\n one = f32[] constant(1)\n"
         " ones = f32[$,2] broadcast(one), dimensions={}\n most = s32[] constant(20)\n"
         " few = pred[] compare(n, most), direction=LT\n no = pred[] constant(false)\n"
         " yes = pred[] constant(true)\n low = f32[] constant(-inf)\n" +
         goes_on +
         " ROOT both = pred[] and(few, g) }\n"
         "body { s = (s32[], f32[$,2]) parameter(0)\n n = s32[] get-tuple-element(s), index=0\n"
         " x = f32[$,2] get-tuple-element(s), index=1\n one = s32[] constant(1)\n"
         " half = f32[] constant(0.5)\n halves = f32[$,2] broadcast(half), dimensions={}\n"
         " m = s32[] add(n, one)\n y = f32[$,2] multiply(x, halves)\n"
         " ROOT t = (s32[], f32[$,2]) tuple(m, y) }\n"
         "ENTRY e { x = f32[$,2] parameter(0)\n zero = s32[] constant(0)\n"
         " s = (s32[], f32[$,2]) tuple(zero, x)\n"
         " w = (s32[], f32[$,2]) while(s), condition=cond, body=body\n"
         " y = f32[$,2] get-tuple-element(w), index=1\n ROOT t = (f32[$,2]) tuple(y) }\n";
}

const std::string kAnyAbove =
    " big = pred[$,2] compare(x, ones), direction=GE\n"
    " g = pred[] reduce(big, no), dimensions={0,1}, to_apply=or\n";
const std::string kNotAllBelow =
    " small = pred[$,2] compare(x, ones), direction=LT\n"
    " all = pred[] reduce(small, yes), dimensions={0,1}, to_apply=and\n g = pred[] not(all)\n";
const std::string kLargestAbove =
    " largest = f32[] reduce(x, low), dimensions={0,1}, to_apply=max\n"
    " g = pred[] compare(largest, one), direction=GE\n";
// All rows stop when one is done: no row waits.
const std::string kAllAbove =
    " big = pred[$,2] compare(x, ones), direction=GE\n"
    " g = pred[] reduce(big, yes), dimensions={0,1}, to_apply=and\n";

// As XLA writes betainc: the state says whether the loop goes on, and the rows change in each turn.
const std::string kFlagInState =
    "or { p = pred[] parameter(0)\n q = pred[] parameter(1)\n ROOT r = pred[] or(p, q) }\n"
    "cond { s = (u32[], pred[], f32[$,2]) parameter(0)\n n = u32[] get-tuple-element(s), index=0\n"
    " g = pred[] get-tuple-element(s), index=1\n most = u32[] constant(20)\n"
    " few = pred[] compare(n, most), direction=LT\n ROOT both = pred[] and(few, g) }\n"
    "body { s = (u32[], pred[], f32[$,2]) parameter(0)\n n = u32[] get-tuple-element(s), index=0\n"
    " x = f32[$,2] get-tuple-element(s), index=2\n one = u32[] constant(1)\n"
    " half = f32[] constant(0.5)\n halves = f32[$,2] broadcast(half), dimensions={}\n"
    " m = u32[] add(n, one)\n y = f32[$,2] multiply(x, halves)\n unit = f32[] constant(1)\n"
    " units = f32[$,2] broadcast(unit), dimensions={}\n"
    " big = pred[$,2] compare(y, units), direction=GE\n no = pred[] constant(false)\n"
    " g = pred[] reduce(big, no), dimensions={0,1}, to_apply=or\n"
    " ROOT t = (u32[], pred[], f32[$,2]) tuple(m, g, y) }\n"
    "ENTRY e { x = f32[$,2] parameter(0)\n zero = u32[] constant(0)\n yes = pred[] constant(true)\n"
    " s = (u32[], pred[], f32[$,2]) tuple(zero, yes, x)\n"
    " w = (u32[], pred[], f32[$,2]) while(s), condition=cond, body=body\n"
    " y = f32[$,2] get-tuple-element(w), index=2\n ROOT t = (f32[$,2]) tuple(y) }\n";

std::vector<float> first_output(const xla::HloModule& module, const std::vector<float>& input) {
  const auto rows = std::ssize(input) / 2;
  const std::vector<xla::Literal> arguments = [&] {
    std::vector<xla::Literal> made;
    made.push_back(xla::LiteralUtil::CreateR1<float>(input).Reshape({rows, 2}).value());
    return made;
  }();
  xla::HloEvaluator evaluator;
  const auto outputs = evaluator.Evaluate(module, arguments).value().DecomposeTuple();
  const auto data = outputs.front().data<float>();
  return {data.begin(), data.end()};
}

bool is_proved(const std::string& text, bool freeze) {
  const auto module = testing::parse_hlo(with_rows(text, kRows));
  if (freeze) {
    EXPECT_TRUE(freeze_done_rows(*module, 1, kRows).value());
  }
  EXPECT_TRUE(simplify(*module));
  const RowSizes sizes;
  RowStudy study(kRows, sizes);
  return follow_rows(*module, 1, study) == std::vector<const RowCause*>{nullptr};
}

// The whole batch at once, after freezing, beside each row alone.
void expect_rows_alone(const std::string& text) {
  const auto module = testing::parse_hlo(with_rows(text, kRows));
  const auto changed = freeze_done_rows(*module, 1, kRows);
  ASSERT_TRUE(changed) << changed.error().text();
  EXPECT_TRUE(*changed);
  const auto one = testing::parse_hlo(with_rows(text, 1));
  std::vector<float> all;
  std::vector<float> alone;
  for (const std::vector<float>& row : kInput) {
    all.insert(all.end(), row.begin(), row.end());
    for (const float number : first_output(*one, row)) alone.push_back(number);
  }
  EXPECT_EQ(first_output(*module, all), alone) << module->ToString();
  EXPECT_EQ(alone[0], 0.5625F);  // 9 / 16
  EXPECT_FALSE(is_proved(text, false));
  EXPECT_TRUE(is_proved(text, true)) << text;
}

TEST(WaitingLoops, AnyRowIsNotDone) { expect_rows_alone(halving(kAnyAbove)); }
TEST(WaitingLoops, NotAllRowsAreDone) { expect_rows_alone(halving(kNotAllBelow)); }
TEST(WaitingLoops, TheLargestOfAllRows) { expect_rows_alone(halving(kLargestAbove)); }
TEST(WaitingLoops, TheStateSaysIt) { expect_rows_alone(kFlagInState); }

TEST(WaitingLoops, ARowThatEndsOthersMixesThem) {
  const auto module = testing::parse_hlo(with_rows(halving(kAllAbove), kRows));
  EXPECT_FALSE(freeze_done_rows(*module, 1, kRows).value());
  EXPECT_FALSE(is_proved(halving(kAllAbove), false));
}

}  // namespace
}  // namespace tfaot::toolkit::engine
