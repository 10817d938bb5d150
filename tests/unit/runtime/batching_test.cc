// SPDX-License-Identifier: Apache-2.0
#include "tfaot/runtime/batching.h"

#include <gtest/gtest.h>

#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include "tests/unit/runtime/expect_error.h"

namespace {

using tfaot::BatchRule;
using tfaot_test::error_of;
using Sizes = std::vector<std::size_t>;

TEST(BatchRule, KnowsItsParts) {
  const BatchRule rule(5, {2, 4}, 1);
  EXPECT_EQ(rule.getBatchSize(), 5U);
  EXPECT_EQ(rule.getSizes(), (Sizes{2, 4}));
  EXPECT_EQ(rule.nSizes(), 2U);
  EXPECT_EQ(rule.getSize(1), 4U);
  EXPECT_EQ(rule.getLastPadding(), 1U);
  std::ostringstream text;
  text << rule;
  EXPECT_EQ(text.str(), "BatchRule(batchSize=5, sizes=2,4, lastPadding=1)");
}

TEST(BatchRule, ReadsText) {
  EXPECT_EQ(BatchRule("5:2,4").getSizes(), (Sizes{2, 4}));
  EXPECT_EQ(BatchRule("5:2,4").getLastPadding(), 1U);
  EXPECT_EQ(BatchRule("5: 2, 2, 2").getSizes(), (Sizes{2, 2, 2}));
  EXPECT_EQ(BatchRule("1:1").getLastPadding(), 0U);
}

TEST(BatchRule, RefusesTextThatIsNoRule) {
  const std::string hint = "; a rule is 'batch size:size,...', like '5:2,4'";
  const auto error = [](const std::string& text) {
    return error_of([&] { BatchRule rule(text); });
  };
  EXPECT_EQ(error(""), "InvalidBatchRule: '': ':' is missing" + hint);
  EXPECT_EQ(error("5"), "InvalidBatchRule: '5': ':' is missing" + hint);
  EXPECT_EQ(error("5x:2,2y"), "InvalidBatchRule: '5x:2,2y': '5x' is not a number" + hint);
  EXPECT_EQ(error("5:3,2y"), "InvalidBatchRule: '5:3,2y': '2y' is not a number" + hint);
  EXPECT_EQ(error("a:2"), "InvalidBatchRule: 'a:2': 'a' is not a number" + hint);
  EXPECT_EQ(error("2:"), "InvalidBatchRule: '2:': '' is not a number" + hint);
  EXPECT_EQ(error("2:1,,1"), "InvalidBatchRule: '2:1,,1': '' is not a number" + hint);
  EXPECT_EQ(error("2:1,1,"), "InvalidBatchRule: '2:1,1,': '' is not a number" + hint);
  EXPECT_EQ(error("2:-2,4"), "InvalidBatchRule: '2:-2,4': '-2' is not a number" + hint);
  EXPECT_EQ(error("2:2:2"), "InvalidBatchRule: '2:2:2': '2:2' is not a number" + hint);
  EXPECT_EQ(
      error("2:99999999999999999999"),
      "InvalidBatchRule: '2:99999999999999999999': '99999999999999999999' is not a number" + hint);
  EXPECT_EQ(
      error("2:18446744073709551615,3"),
      "InvalidBatchRule: '2:18446744073709551615,3': the sum of the sizes is too large" + hint);
  EXPECT_EQ(error("7:2,4"), "InvalidBatchRule: '7:2,4': the sizes add up to 6 only" + hint);
  EXPECT_EQ(error("2:0,2"), "InvalidBatchRule: batch rule for 2 has a size 0");
}

TEST(BatchRule, RefusesSumsThatDoNotMatch) {
  const std::size_t huge = std::numeric_limits<std::size_t>::max();
  EXPECT_EQ(error_of([] { BatchRule(2, {}); }), "EmptySizes: batch rule for 2 has no sizes");
  EXPECT_EQ(error_of([] {
              BatchRule(2, {2, 2}, 2);
            }),
            "WrongPadding: batch rule for 2: padding 2 must be smaller than the last size, 2");
  EXPECT_EQ(error_of([] { BatchRule("4:4,0"); }),
            "WrongPadding: batch rule for 4: padding 0 must be smaller than the last size, 0");
  EXPECT_EQ(error_of([] { BatchRule("4:0,4"); }),
            "InvalidBatchRule: batch rule for 4 has a size 0");
  EXPECT_EQ(error_of([] { BatchRule("2:4,4"); }),
            "WrongPadding: batch rule for 2: padding 6 must be smaller than the last size, 4");
  EXPECT_EQ(error_of([] {
              BatchRule(5, {2, 2});
            }),
            "WrongBatchSize: batch rule for 5: the sizes minus the padding add up to 4");
  EXPECT_EQ(error_of([] {
              BatchRule(5, {2, 4});
            }),
            "WrongBatchSize: batch rule for 5: the sizes minus the padding add up to 6");
  EXPECT_EQ(
      error_of([&] {
        BatchRule(1, {huge, 2});
      }),
      "WrongBatchSize: batch rule for 1: the sizes minus the padding add up to more than fits "
      "a number");
}

TEST(BatchStrategy, HoldsRules) {
  tfaot::BatchStrategy strategy;
  EXPECT_FALSE(strategy.hasRule(5));
  EXPECT_EQ(error_of([&] { strategy.getRule(5); }),
            "UnknownBatchSize: the batch strategy has no rule for batch size 5");
  strategy.setRule(BatchRule(5, {2, 2, 2}, 1));
  strategy.setRule(BatchRule("5:4,1"));
  EXPECT_TRUE(strategy.hasRule(5));
  EXPECT_EQ(strategy.getRule(5).getSizes(), (Sizes{4, 1}));
}

TEST(BatchStrategy, MakesDefaultRules) {
  tfaot::BatchStrategy strategy;
  const auto rule = [&](std::size_t rows, const Sizes& available) {
    strategy.setDefaultRule(rows, available);
    return strategy.getRule(rows);
  };
  EXPECT_EQ(rule(4, {1, 4}).getSizes(), Sizes{4});
  EXPECT_EQ(rule(11, {8, 1, 2}).getSizes(), (Sizes{8, 2, 1}));
  EXPECT_EQ(rule(7, {4}).getSizes(), (Sizes{4, 4}));
  EXPECT_EQ(rule(7, {4}).getLastPadding(), 1U);
  EXPECT_EQ(rule(3, {0, 2}).getSizes(), (Sizes{2, 2}));
  EXPECT_EQ(error_of([&] { rule(3, {}); }), "EmptySizes: a batch plan needs at least one size");
  EXPECT_EQ(error_of([&] { rule(3, {0}); }), "EmptySizes: a batch plan needs at least one size");
  EXPECT_EQ(error_of([&] { rule(0, {2}); }), "EmptySizes: batch rule for 0 has no sizes");
}

}  // namespace
