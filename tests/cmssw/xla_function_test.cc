// SPDX-License-Identifier: Apache-2.0
// The classes of NAME_bsN.h as users of TensorFlow's XlaCompiledCpuFunction see them: the model's
// inputs and nothing else, whatever the code has for parameters. With assertions.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <tuple>
#include <type_traits>
#include <vector>

#include "reference_rows.h"
#include "user_exception.h"

#include "tfaot-model-convolution/model.h"
#include "tfaot-model-dtypes/model.h"
#include "tfaot-model-minimal/model.h"
#include "tfaot-model-more-dtypes/model.h"

namespace {

namespace models = TFAOT_USER_MODELS;
using tensorflow::XlaCompiledCpuFunction;

TEST(XlaFunction, ShowsInputsOnly) {
  models::convolution_bs4 function;
  const XlaCompiledCpuFunction& base = function;
  ASSERT_FALSE(models::convolution_tables::description().weights == nullptr);
  EXPECT_EQ(base.num_args(), 1);
  EXPECT_EQ(base.num_variables(), 0);
  EXPECT_EQ(base.num_results(), 2);
  EXPECT_EQ(base.arg_size(0), 4 * 8 * 8 * 2 * 4);
  EXPECT_TRUE(base.HasNameIndices());
  EXPECT_STREQ(base.GetArgName(0), "feed_image_bs4");
  EXPECT_EQ(base.LookupArgIndex("feed_image_bs4"), 0);
  EXPECT_EQ(base.LookupArgIndex("kernel"), -1);
  EXPECT_EQ(base.LookupResultIndex("fetch_pooled"), 1);
  EXPECT_EQ(models::convolution_bs4::ArgSize(0), 4 * 8 * 8 * 2 * 4);
  EXPECT_EQ(models::convolution_bs4::kNumArgs, 1U);
  EXPECT_EQ(models::convolution_bs4::kNumResults, 2U);
}

TEST(XlaFunction, HasAccessorsByPosition) {
  models::convolution_bs4 function;
  EXPECT_EQ(function.arg0_count(), 4 * 8 * 8 * 2);
  EXPECT_EQ(function.arg0_size(), 4 * 8 * 8 * 2 * 4);
  EXPECT_EQ(&function.arg0(3, 2, 1, 1), function.arg0_data() + ((3 * 8 + 2) * 8 + 1) * 2 + 1);
  EXPECT_EQ(function.result0_count(), 4 * 3);
  static_assert(std::is_same_v<decltype(models::dtypes_bs1().arg0_data()), bool*>);
  static_assert(std::is_same_v<decltype(models::dtypes_bs1().result4_data()), std::int64_t*>);
  static_assert(std::is_same_v<decltype(models::more_dtypes_bs1().arg0_data()), tfaot::bfloat16*>);
  static_assert(std::is_same_v<decltype(models::more_dtypes_bs1().arg3_data()), std::int8_t*>);
  static_assert(tfaot::element_type<unsigned long long>() == tfaot::DType::kUint64);
  static_assert(tfaot::element_type<long>() == tfaot::element_type<long long>());
  static_assert(tfaot::element_type<unsigned char>() == tfaot::DType::kUint8);
  static_assert(tfaot::element_type<short>() == tfaot::DType::kInt16);
}

TEST(XlaFunction, EachObjectHasItsOwnMemory) {
  models::minimal_bs1 first;
  models::minimal_bs1 second;
  EXPECT_NE(first.arg0_data(), second.arg0_data());
  const auto cases = reference_of("minimal");
  const Rows<float> x = input_rows<float>(cases[0], "x");
  const Rows<float> other = input_rows<float>(cases[1], "x");
  std::copy(x[0].begin(), x[0].end(), first.arg0_data());
  std::copy(other[0].begin(), other[0].end(), second.arg0_data());
  EXPECT_TRUE(first.Run());
  EXPECT_TRUE(second.Run());
  EXPECT_TRUE(matches(Rows<float>{{first.result0(0, 0), first.result0(0, 1)}}, cases[0], "y"));
  EXPECT_TRUE(tfaot::toolkit::testing::is_close(
      std::vector<float>{second.result0(0, 0), second.result0(0, 1)},
      tfaot::toolkit::testing::Numbers{cases[1].outputs.at("y")[0], cases[1].outputs.at("y")[1]}));
}

TEST(XlaFunction, ReadsArgumentsOfTheCaller) {
  models::minimal_bs1 function(XlaCompiledCpuFunction::AllocMode::RESULTS_PROFILES_AND_TEMPS_ONLY);
  EXPECT_EQ(function.arg0_data(), nullptr);
  const auto one = reference_of("minimal").front();
  const Rows<float> rows = input_rows<float>(one, "x");
  alignas(64) float x[4];
  std::copy(rows[0].begin(), rows[0].end(), x);
  function.set_arg0_data(x);
  EXPECT_TRUE(function.Run());
  EXPECT_TRUE(matches(Rows<float>{{function.result0(0, 0), function.result0(0, 1)}}, one, "y"));
}

// The caller's setting is kept: after a call, denormal numbers are what they were.
TEST(XlaFunction, KeepsTheCallersDenormals) {
  using tfaot::detail::FloatScope;
  models::minimal_bs1 function;
  std::fill_n(function.arg0_data(), 4, 0.0F);
  EXPECT_TRUE(function.Run());
  EXPECT_EQ(FloatScope::of_this_thread(), tfaot::detail::Denormals::kKept);
}

TEST(XlaFunction, TheCheapestRuleTakesLargerSizes) {
  EXPECT_EQ(models::minimal::cheapestRule(6).getSize(0), 4U);
  EXPECT_EQ(models::minimal::cheapestRule(6).nSizes(), 2U);
  tfaot::BatchStrategy strategy;
  strategy.setRule(models::minimal::cheapestRule(3));
  tfaot::Model<models::minimal> model;
  model.setBatchStrategy(strategy);
  const auto one = reference_of("minimal").at(2);
  const Rows<float> x = input_rows<float>(one, "x");
  EXPECT_TRUE(matches(std::get<0>(model.run<Rows<float>>(3, x)), one, "y"));
}

// The way of cheapestRule is the cheapest where every call counts as a whole, as CMSSW's do.
TEST(XlaFunction, TheCheapestRuleCountsPaddingAsRows) {
  const auto plan =
      tfaot::Instance(models::minimal_tables::description()).batch_plan(tfaot::Padding::kComputed);
  for (std::size_t rows = 1; rows < 20; ++rows) {
    const tfaot::BatchRule rule = models::minimal::cheapestRule(rows);
    std::size_t rest = rows;
    for (const std::size_t size : rule.getSizes()) {
      ASSERT_GT(rest, 0U);
      EXPECT_EQ(size, plan.sizes()[plan.next(rest)]);
      rest -= std::min(size, rest);
    }
  }
}

TEST(XlaFunction, TheCheapestRuleThrowsWhatCmsswCatches) {
  EXPECT_EQ(category_of([] { models::minimal::cheapestRule(0); }), "EmptySizes");
}

TEST(XlaFunctionDeathTest, TheCheapestRuleOfAnotherCpu) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(
      {
        setenv("TFAOT_CPU_LEVEL", "x86-64-v9", 1);
        std::_Exit(category_of([] { models::minimal::cheapestRule(1); }) == "UnsupportedCpu" ? 0
                                                                                             : 1);
      },
      testing::ExitedWithCode(0), "");
}

TEST(XlaFunction, RunsTheBestLevelOfThisMachine) {
  const models::minimal_bs1 function;
  const tfaot::Program& program = models::minimal_bs1_tables::kProgram;
  const std::size_t best = tfaot::select_code("minimal", program, tfaot::this_cpu());
  EXPECT_STREQ(function.cpu_level(), program.codes[best].cpu_level);
}

}  // namespace
