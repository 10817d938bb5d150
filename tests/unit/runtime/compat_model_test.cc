// SPDX-License-Identifier: Apache-2.0
// What user code of CMSSW's PhysicsTools/TensorFlowAOT relies on, and the checks beyond that.
#include "tfaot/runtime/compat_model.h"

#include <gtest/gtest.h>

#include <array>
#include <tuple>
#include <utility>
#include <vector>

#include "tests/unit/runtime/allocations.h"
#include "tests/unit/runtime/expect_error.h"
#include "tests/unit/runtime/fake_model.h"

namespace {

using tfaot::BoolArrays;
using tfaot::DoubleArrays;
using tfaot::FloatArrays;
using tfaot::Int32Arrays;
using tfaot::Int64Arrays;
using tfaot_test::calls;
using tfaot_test::error_of;
using Fake = tfaot::Model<tfaot_model::fake>;
using Plain = tfaot::Model<tfaot_model::plain>;

struct Rows {
  explicit Rows(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      const float value = static_cast<float>(i % 2 == 0 ? i : 1) - 2;
      x.push_back({value, 1, 2});
      n.push_back({static_cast<std::int64_t>(i), 5});
      sum.push_back({tfaot_test::kWeight * (value + 3), static_cast<float>(i + 5)});
      flag.push_back({value > 0});
    }
  }
  FloatArrays x;
  Int64Arrays n;
  FloatArrays sum;
  BoolArrays flag;
};

TEST(CompatModel, RunsEveryBatchSize) {
  Fake model;
  calls() = {};
  for (std::size_t count = 0; count < 40; ++count) {
    const Rows rows(count);
    const auto [sum, flag] = model.run<FloatArrays, BoolArrays>(count, rows.x, rows.n);
    EXPECT_EQ(sum, rows.sum) << count;
    EXPECT_EQ(flag, rows.flag) << count;
  }
  EXPECT_EQ(calls().failure, nullptr);
}

TEST(CompatModel, WorksAsInCmssw) {
  auto model = tfaot::Model<tfaot_model::plain>();
  EXPECT_EQ(model.name(), "plain");
  FloatArrays input = {{0, 1, 2, 3}};
  FloatArrays output;
  std::tie(output) = model.run<FloatArrays>(1, input);
  EXPECT_EQ(output, (FloatArrays{{1, 2, 3, 4}}));
  EXPECT_EQ(std::get<0>(model.run<FloatArrays>(1, FloatArrays{{1, 1, 1, 1}})),
            (FloatArrays{{2, 2, 2, 2}}));
}

TEST(CompatModel, KnowsARuleForEverySizeThatWasRun) {
  Fake model;
  EXPECT_FALSE(model.getBatchStrategy().hasRule(2));
  const Rows rows(2);
  model.run<FloatArrays, BoolArrays>(2, rows.x, rows.n);
  EXPECT_TRUE(model.getBatchStrategy().hasRule(2));
  EXPECT_FALSE(model.getBatchStrategy().hasRule(4));
}

TEST(CompatModel, FollowsRules) {
  Fake model;
  model.setBatchRule(3, {2, 2}, 1);
  model.setBatchRule("5:2,2,2");
  EXPECT_EQ(model.getBatchStrategy().getRule(3).nSizes(), 2U);
  EXPECT_EQ(model.getBatchStrategy().getRule(5).getLastPadding(), 1U);
  calls() = {};
  const Rows rows(5);
  EXPECT_EQ(std::get<0>(model.run<FloatArrays, BoolArrays>(5, rows.x, rows.n)), rows.sum);
  EXPECT_EQ(calls().count, 3);
  tfaot::BatchStrategy strategy;
  strategy.setRule(tfaot::BatchRule("5:4,1"));
  model.setBatchStrategy(strategy);
  EXPECT_EQ(std::get<0>(model.run<FloatArrays, BoolArrays>(5, rows.x, rows.n)), rows.sum);
  EXPECT_EQ(calls().count, 5);
}

TEST(CompatModel, ChecksRules) {
  Fake model;
  const std::string text =
      "UnknownBatchSize: model 'fake': the rule for batch size 5 uses size 5, but compiled sizes "
      "are 1, 2, "
      "4, 8";
  EXPECT_EQ(error_of([&] { model.setBatchRule(5, {5}); }), text);
  EXPECT_EQ(error_of([&] { model.setBatchRule("5:5"); }), text);
  tfaot::BatchStrategy strategy;
  strategy.setRule(tfaot::BatchRule("5:5"));
  EXPECT_EQ(error_of([&] { model.setBatchStrategy(strategy); }), text);
  EXPECT_FALSE(model.getBatchStrategy().hasRule(5));
  EXPECT_EQ(error_of([&] { model.setBatchRule("5x:2,2y"); }).substr(0, 17), "InvalidBatchRule:");
}

// plain adds 1: the wrapper's result memory is not visible here, but the entry's output is.
TEST(CompatModel, PadsWithZeros) {
  Plain model;
  model.run<FloatArrays>(4, FloatArrays(4, {7, 7, 7, 7}));
  model.run<FloatArrays>(1, FloatArrays(1, {7, 7, 7, 7}));
  const float* seen = static_cast<const float*>(calls().last_output);
  EXPECT_EQ(std::vector<float>(seen, seen + 16),
            (std::vector<float>{8, 8, 8, 8, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}));
}

TEST(CompatModel, SaysWhichNegativeNumberOfRowsItGot) {
  Plain model;
  const int rows = -3;
  const FloatArrays x(1, std::vector<float>(4));
  EXPECT_EQ(error_of([&] { model.run<FloatArrays>(static_cast<std::size_t>(rows), x); }),
            "InputMismatch: model 'plain': run() was called with -3 rows; the number of rows is 0 "
            "or more");
}

TEST(CompatModel, GivesEmptyOutputsForNoRows) {
  Fake model;
  calls() = {};
  const auto [sum, flag] = model.run<FloatArrays, BoolArrays>(0, FloatArrays(), Int64Arrays());
  EXPECT_TRUE(sum.empty());
  EXPECT_TRUE(flag.empty());
  EXPECT_EQ(calls().count, 0);
}

TEST(CompatModel, ChecksTheNumberOfTensors) {
  Fake model;
  const Rows rows(1);
  EXPECT_EQ(error_of([&] { model.run<FloatArrays, BoolArrays>(1, rows.x); }),
            "InputMismatch: model 'fake' takes 2 inputs, not 1");
  EXPECT_EQ(error_of([&] { model.run<FloatArrays, BoolArrays>(1, rows.x, rows.n, rows.n); }),
            "InputMismatch: model 'fake' takes 2 inputs, not 3");
  EXPECT_EQ(error_of([&] { model.run<FloatArrays>(1, rows.x, rows.n); }),
            "OutputMismatch: model 'fake' gives 2 outputs, not 1");
}

TEST(CompatModel, ChecksElementTypes) {
  Fake model;
  const Rows rows(1);
  EXPECT_EQ(error_of([&] {
              model.run<FloatArrays, BoolArrays>(1, DoubleArrays{{1, 2, 3}}, rows.n);
            }),
            "InputMismatch: model 'fake': input 0 ('x') is of type float32, not float64");
  EXPECT_EQ(error_of([&] {
              model.run<FloatArrays, BoolArrays>(1, rows.x, Int32Arrays{{1, 2}});
            }),
            "InputMismatch: model 'fake': input 1 ('n') is of type int64, not int32");
  EXPECT_EQ(error_of([&] { model.run<FloatArrays, FloatArrays>(1, rows.x, rows.n); }),
            "OutputMismatch: model 'fake': output 1 ('flag') is of type bool, not float32");
}

TEST(CompatModel, ChecksRowsBeforeAnythingIsRun) {
  Fake model;
  Rows rows(3);
  calls() = {};
  EXPECT_EQ(error_of([&] { model.run<FloatArrays, BoolArrays>(2, rows.x, rows.n); }),
            "InputMismatch: model 'fake': input 0 ('x') holds 3 rows, but the batch size is 2");
  EXPECT_EQ(error_of([&] { model.run<FloatArrays, BoolArrays>(4, rows.x, rows.n); }),
            "InputMismatch: model 'fake': input 0 ('x') holds 3 rows, but the batch size is 4");
  EXPECT_EQ(error_of([&] { model.run<FloatArrays, BoolArrays>(0, rows.x, rows.n); }),
            "InputMismatch: model 'fake': input 0 ('x') holds 3 rows, but the batch size is 0");
  rows.n[2].pop_back();
  EXPECT_EQ(
      error_of([&] { model.run<FloatArrays, BoolArrays>(3, rows.x, rows.n); }),
      "InputMismatch: model 'fake': input 1 ('n') holds 1 elements in row 2, but 2 are expected");
  EXPECT_EQ(calls().count, 0);
}

TEST(CompatModel, AllocatesForItsOutputsAlone) {
  Plain model;
  const FloatArrays input(7, {1, 2, 3, 4});
  model.run<FloatArrays>(7, input);
  const std::size_t before = tfaot_test::allocations();
  model.run<FloatArrays>(7, input);
  EXPECT_EQ(tfaot_test::allocations() - before, 1U + 7U);
}

TEST(CompatModel, TakesRowsOfAnyContainer) {
  Plain model;
  const std::vector<std::array<float, 4>> input = {{1, 2, 3, 4}};
  EXPECT_EQ(std::get<0>(model.run<FloatArrays>(1, input)), (FloatArrays{{2, 3, 4, 5}}));
}

TEST(CompatModel, RunsAfterAMove) {
  Plain first;
  first.setBatchRule("2:4");
  Plain second = std::move(first);
  EXPECT_TRUE(second.getBatchStrategy().hasRule(2));
  EXPECT_EQ(std::get<0>(second.run<FloatArrays>(2, FloatArrays(2, {1, 2, 3, 4}))),
            FloatArrays(2, {2, 3, 4, 5}));
}

TEST(CompatModel, FollowsMeasuredCostsUnlessARuleSaysOtherwise) {
  tfaot::Model<tfaot_model::tuned> model;
  const tfaot::FloatArrays x(16, std::vector<float>(4, 1));
  tfaot_test::calls() = {};
  const auto [y] = model.run<tfaot::FloatArrays>(16, x);
  EXPECT_EQ(tfaot_test::calls().count, 4);
  EXPECT_EQ(y, tfaot::FloatArrays(16, std::vector<float>(4, 2)));
  model.setBatchRule("16:16");
  model.run<tfaot::FloatArrays>(16, x);
  EXPECT_EQ(tfaot_test::calls().count, 5);
}

TEST(CompatModel, RunsCoupledRowsInOneCallOrNotAtAll) {
  tfaot::Model<tfaot_model::coupled> model;
  const FloatArrays x(16, std::vector<float>(4, 1));
  calls() = {};
  EXPECT_EQ(std::get<0>(model.run<FloatArrays>(16, x)), FloatArrays(16, std::vector<float>(4, 2)));
  EXPECT_EQ(calls().count, 1) << "although four calls of 4 cost less";
  const FloatArrays five(5, std::vector<float>(4, 1));
  EXPECT_EQ(
      error_of([&] { model.run<FloatArrays>(5, five); }),
      "UnknownBatchSize: model 'plain': 5 rows cannot be run, because rows of a batch depend on "
      "each other (compilation.rows: coupled); compiled batch sizes: 4, 16");
  EXPECT_EQ(error_of([&] { model.setBatchRule("5:4,4"); }),
            "InvalidBatchRule: model 'plain': the rule for batch size 5 composes it, but rows of a "
            "batch depend on each other (compilation.rows: coupled)");
}

}  // namespace
