// SPDX-License-Identifier: Apache-2.0
// The decision about models that are not proved to treat each row alone: by the findings of the
// trial, or without a trial.
#include "compiler/rows/row_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/unit/engine/parse_hlo.h"

namespace tfaot::toolkit::engine {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class RowVerdict : public ::testing::Test {
 protected:
  Status judge(const std::vector<RowDoubt>& doubts, const Result<TrialFindings>& tried) {
    return judge_rows(doubts, tried,
                      {[this](const std::string& text) { warnings.push_back(text); },
                       [this](const std::string& text) { details.push_back(text); }});
  }

  std::string error_of(const std::vector<RowDoubt>& doubts, const Result<TrialFindings>& tried) {
    const Status status = judge(doubts, tried);
    return status ? "" : status.error().text();
  }

  std::unique_ptr<xla::HloModule> module = testing::parse_hlo(
      R"(less {
  p = f32[] parameter(0)
  q = f32[] parameter(1)
  ROOT s = pred[] compare(p, q), direction=LT
}
ENTRY e {
  x = f32[5,3] parameter(0)
  t = f32[5,3] sort(x), dimensions={0}, to_apply=less
  ROOT g = f32[5,3] negate(t), metadata={op_type="Scan" op_name="net/scan"}
}
)");
  RowCause mixing{module->entry_computation()->root_instruction()->operand(0),
                  "puts the rows of the batch in order", true};
  RowCause unclear{module->entry_computation()->root_instruction(), "is not understood", false};
  std::vector<RowDoubt> both = {{"y", 0, &mixing}, {"z", 2, &unclear}};
  std::vector<std::string> warnings;
  std::vector<std::string> details;
};

constexpr const char* kWhy =
    "\n  batches are composed of the compiled sizes, which is right only when each row is treated "
    "alone\n  export the model so that it treats each row alone, for example in inference mode "
    "(training=False), or set 'compilation.rows: coupled', or '--rows coupled': then only batches "
    "of the compiled sizes run";

TEST_F(RowVerdict, WhatWasSeenIsRefused) {
  EXPECT_EQ(error_of(both, TrialFindings{"row 0 changed", std::nullopt, "row 1 changed"}),
            std::string("output 'y' mixes the rows of a batch: HLO sort 't' puts the rows of the "
                        "batch in order\n  seen in a trial run: row 0 changed\n  so does output "
                        "'z': op 'Scan' (node 'net/scan', HLO negate 'g') is not understood") +
                kWhy);
  EXPECT_THAT(warnings, IsEmpty());
}

TEST_F(RowVerdict, WhatWasNotSeenPassesWithAWarningIfItsOperationMixes) {
  EXPECT_EQ(error_of(both, TrialFindings{std::nullopt, std::nullopt, std::nullopt}), "");
  EXPECT_THAT(
      warnings,
      ElementsAre(
          "output 'y' is not proved to treat each row alone, since HLO sort 't' puts the "
          "rows of the batch in order; in trial runs each row was treated alone. If rows do "
          "mix, batches of other sizes than the compiled ones give wrong results: set "
          "'compilation.rows: coupled', or '--rows coupled'"));
  EXPECT_THAT(details, ElementsAre("output 'z' is not proved to treat each row alone, since op "
                                   "'Scan' (node 'net/scan', HLO negate 'g') is not understood; in "
                                   "trial runs each row was treated alone"));
}

TEST_F(RowVerdict, WithoutATrialAWarningNamesTheOperation) {
  EXPECT_EQ(error_of({both[1]}, fail(Error("no code for this machine"))), "");
  EXPECT_THAT(warnings,
              ElementsAre("output 'z' may mix the rows of a batch: op 'Scan' (node 'net/scan', HLO "
                          "negate 'g') is not understood, and it could not be tried (no code for "
                          "this machine). If rows do mix, batches of other sizes than the compiled "
                          "ones give wrong results: set 'compilation.rows: coupled', or '--rows "
                          "coupled'"));
}

}  // namespace
}  // namespace tfaot::toolkit::engine
