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
  return R"(or { p = pred[] parameter(0)
 q = pred[] parameter(1)
 ROOT r = pred[] or(p, q) }
and { p = pred[] parameter(0)
 q = pred[] parameter(1)
 ROOT r = pred[] and(p, q) }
max { p = f32[] parameter(0)
 q = f32[] parameter(1)
 ROOT r = f32[] maximum(p, q) }
cond { s = (s32[], f32[$,2]) parameter(0)
 n = s32[] get-tuple-element(s), index=0
 x = f32[$,2] get-tuple-element(s), index=1
 one = f32[] constant(1)
 ones = f32[$,2] broadcast(one), dimensions={}
 most = s32[] constant(20)
 few = pred[] compare(n, most), direction=LT
 no = pred[] constant(false)
 yes = pred[] constant(true)
 low = f32[] constant(-inf)
)" + goes_on +
         R"( ROOT both = pred[] and(few, g) }
body { s = (s32[], f32[$,2]) parameter(0)
 n = s32[] get-tuple-element(s), index=0
 x = f32[$,2] get-tuple-element(s), index=1
 one = s32[] constant(1)
 half = f32[] constant(0.5)
 halves = f32[$,2] broadcast(half), dimensions={}
 m = s32[] add(n, one)
 y = f32[$,2] multiply(x, halves)
 ROOT t = (s32[], f32[$,2]) tuple(m, y) }
ENTRY e { x = f32[$,2] parameter(0)
 zero = s32[] constant(0)
 s = (s32[], f32[$,2]) tuple(zero, x)
 w = (s32[], f32[$,2]) while(s), condition=cond, body=body
 y = f32[$,2] get-tuple-element(w), index=1
 ROOT t = (f32[$,2]) tuple(y) }
)";
}

const std::string kAnyAbove =
    R"( big = pred[$,2] compare(x, ones), direction=GE
 g = pred[] reduce(big, no), dimensions={0,1}, to_apply=or
)";
const std::string kNotAllBelow =
    R"( small = pred[$,2] compare(x, ones), direction=LT
 all = pred[] reduce(small, yes), dimensions={0,1}, to_apply=and
 g = pred[] not(all)
)";
const std::string kLargestAbove =
    R"( largest = f32[] reduce(x, low), dimensions={0,1}, to_apply=max
 g = pred[] compare(largest, one), direction=GE
)";
// All rows stop when one is done: no row waits.
const std::string kAllAbove =
    R"( big = pred[$,2] compare(x, ones), direction=GE
 g = pred[] reduce(big, yes), dimensions={0,1}, to_apply=and
)";

// As XLA writes betainc: the state says whether the loop goes on, and the rows change in each turn.
const std::string kFlagInState =
    R"(or { p = pred[] parameter(0)
 q = pred[] parameter(1)
 ROOT r = pred[] or(p, q) }
cond { s = (u32[], pred[], f32[$,2]) parameter(0)
 n = u32[] get-tuple-element(s), index=0
 g = pred[] get-tuple-element(s), index=1
 most = u32[] constant(20)
 few = pred[] compare(n, most), direction=LT
 ROOT both = pred[] and(few, g) }
body { s = (u32[], pred[], f32[$,2]) parameter(0)
 n = u32[] get-tuple-element(s), index=0
 x = f32[$,2] get-tuple-element(s), index=2
 one = u32[] constant(1)
 half = f32[] constant(0.5)
 halves = f32[$,2] broadcast(half), dimensions={}
 m = u32[] add(n, one)
 y = f32[$,2] multiply(x, halves)
 unit = f32[] constant(1)
 units = f32[$,2] broadcast(unit), dimensions={}
 big = pred[$,2] compare(y, units), direction=GE
 no = pred[] constant(false)
 g = pred[] reduce(big, no), dimensions={0,1}, to_apply=or
 ROOT t = (u32[], pred[], f32[$,2]) tuple(m, g, y) }
ENTRY e { x = f32[$,2] parameter(0)
 zero = u32[] constant(0)
 yes = pred[] constant(true)
 s = (u32[], pred[], f32[$,2]) tuple(zero, yes, x)
 w = (u32[], pred[], f32[$,2]) while(s), condition=cond, body=body
 y = f32[$,2] get-tuple-element(w), index=2
 ROOT t = (f32[$,2]) tuple(y) }
)";

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

// For a kernel, and the row analysis reads what it calls.
TEST(WaitingLoops, OperationsKeepTheirNames) {
  std::string text = halving(kAnyAbove);
  text.insert(text.find("ENTRY"),
              "named { y = f32[$,2] parameter(0)\n ROOT r = f32[$,2] tanh(y) }\n");
  const std::string last = "ROOT t = (f32[$,2]) tuple(y)";
  text.replace(text.find(last), last.size(),
               R"(c = f32[$,2] call(y), to_apply=named, is_composite=true,
  frontend_attributes={composite.attributes="1",composite.name="tfaot.softmax",composite.version="0"}
 ROOT t = (f32[$,2]) tuple(c))");
  const auto module = testing::parse_hlo(with_rows(text, kRows));
  EXPECT_TRUE(freeze_done_rows(*module, 1, kRows).value());
  EXPECT_EQ(module->entry_computation()->root_instruction()->operand(0)->opcode(), kCall);
  EXPECT_TRUE(is_proved(text, true));
}

TEST(WaitingLoops, ARowThatEndsOthersMixesThem) {
  const auto module = testing::parse_hlo(with_rows(halving(kAllAbove), kRows));
  EXPECT_FALSE(freeze_done_rows(*module, 1, kRows).value());
  EXPECT_FALSE(is_proved(halving(kAllAbove), false));
}

}  // namespace
}  // namespace tfaot::toolkit::engine
