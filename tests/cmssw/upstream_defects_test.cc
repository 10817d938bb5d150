// SPDX-License-Identifier: Apache-2.0
// What went wrong with upstream's headers, by the same calls: refused, or done right. That two
// source files may include a model, user_code_more.cc shows by linking.
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "PhysicsTools/TensorFlowAOT/interface/AOT.h"
#include "PhysicsTools/TensorFlowAOT/interface/Wrapper.h"

#include "reference_rows.h"
#include "tests/unit/runtime/allocations.h"
#include "user_exception.h"

#include "tfaot-model-minimal/model.h"

namespace {

namespace models = TFAOT_USER_MODELS;
using tfaot::toolkit::testing::ReferenceCase;
using Minimal = tfaot::Model<models::minimal>;
using F = tfaot::FloatArrays;

ReferenceCase four_rows() { return reference_of("minimal").at(3); }

// The model still predicts, so nothing was overwritten.
void expect_whole(Minimal& model) {
  const ReferenceCase one = four_rows();
  const F x = input_rows<float>(one, "x");
  EXPECT_TRUE(matches(std::get<0>(model.run<F>(one.batch_size, x)), one, "y"));
}

TEST(UpstreamDefects, DoublesDoNotOverrunAFloatArgument) {
  Minimal model;
  const tfaot::DoubleArrays doubles(4, std::vector<double>(4, 1.0));
  EXPECT_EQ(category_of([&] { model.run<F>(4, doubles); }), "InputMismatch");
  EXPECT_EQ(category_of([&] {
              model.run<tfaot::DoubleArrays>(4, F(4, {0, 0, 0, 0}));
            }),
            "OutputMismatch");
  expect_whole(model);
}

TEST(UpstreamDefects, TheNumberOfRowsIsChecked) {
  Minimal model;
  for (const std::size_t rows : {0U, 3U, 5U}) {
    const F x(rows, std::vector<float>(4));
    EXPECT_EQ(category_of([&] { model.run<F>(4, x); }), "InputMismatch") << rows;
  }
  expect_whole(model);
}

TEST(UpstreamDefects, RulesAreCheckedAgainstTheCompiledSizes) {
  Minimal model;
  EXPECT_EQ(category_of([&] { model.setBatchRule(6, {3, 3}); }), "UnknownBatchSize");
  EXPECT_EQ(category_of([&] { model.setBatchRule("3:3"); }), "UnknownBatchSize");
  tfaot::BatchStrategy strategy;
  strategy.setRule("8:8");
  EXPECT_EQ(category_of([&] { model.setBatchStrategy(strategy); }), "UnknownBatchSize");
  EXPECT_FALSE(model.getBatchStrategy().hasRule(8));
  expect_whole(model);
}

TEST(UpstreamDefects, TextsThatAreNoRulesAreRefusedAsSuch) {
  Minimal model;
  for (const char* text : {"5x:2,2y", "a:2", "4:2,b", "4:-4", "99999999999999999999:1", ":", ""}) {
    EXPECT_EQ(category_of([&] { model.setBatchRule(text); }), "InvalidBatchRule") << text;
  }
}

TEST(UpstreamDefects, ABatchOfNoRowsGivesNoRows) {
  Minimal model;
  EXPECT_TRUE(std::get<0>(model.run<F>(0, F())).empty());
  expect_whole(model);
}

TEST(UpstreamDefects, ModelsAreMovable) {
  static_assert(std::is_move_constructible_v<Minimal> && std::is_move_assignable_v<Minimal>);
  Minimal model;
  model.setBatchRule("4:2,2");
  Minimal moved = std::move(model);
  EXPECT_TRUE(moved.getBatchStrategy().hasRule(4));
  expect_whole(moved);
}

TEST(UpstreamDefects, LargerSizesGoFirst) {
  Minimal model;
  const ReferenceCase one = reference_of("minimal").at(2);
  const F three = input_rows<float>(one, "x");
  F x = three;
  x.insert(x.end(), three.begin(), three.end());
  const F y = std::get<0>(model.run<F>(6, x));
  EXPECT_EQ(model.getBatchStrategy().getRule(6).getSize(0), 4U);
  EXPECT_EQ(model.getBatchStrategy().getRule(6).nSizes(), 2U);
  EXPECT_TRUE(matches(F(y.begin(), y.begin() + 3), one, "y"));
  EXPECT_TRUE(matches(F(y.begin() + 3, y.end()), one, "y"));
}

// The generated class, which a test can look into while a model has it.
class Spy : public models::minimal {
 public:
  Spy() { seen = this; }
  static inline const Spy* seen = nullptr;
};

TEST(UpstreamDefects, RowsOfPaddingAreZero) {
  tfaot::Model<Spy> model;
  model.setBatchRule(3, {4}, 1);
  const ReferenceCase four = four_rows();
  const ReferenceCase three = reference_of("minimal").at(2);
  const F x = input_rows<float>(four, "x");
  EXPECT_TRUE(matches(std::get<0>(model.run<F>(4, x)), four, "y"));
  const float* last_row = Spy::seen->argData<float>(4, 0) + 12;
  ASSERT_EQ(std::vector<float>(last_row, last_row + 4), x[3]);
  EXPECT_TRUE(matches(std::get<0>(model.run<F>(3, input_rows<float>(three, "x"))), three, "y"));
  EXPECT_EQ(std::vector<float>(last_row, last_row + 4), std::vector<float>(4, 0.0F));
}

TEST(UpstreamDefects, ACallAllocatesItsOutputsAlone) {
  Minimal model;
  const ReferenceCase one = four_rows();
  const F x = input_rows<float>(one, "x");
  model.run<F>(4, x);  // the rule of this size is made once
  const std::size_t before = tfaot_test::allocations();
  const auto y = model.run<F>(4, x);
  EXPECT_EQ(tfaot_test::allocations() - before, 4U + 1U);  // a vector per row, and that of the rows
  EXPECT_TRUE(matches(std::get<0>(y), one, "y"));
}

}  // namespace
