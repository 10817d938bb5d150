// SPDX-License-Identifier: Apache-2.0
// The same user code for both flavours of headers: built once with stand-ins for CMSSW's headers
// and TensorFlow's own XlaCompiledCpuFunction, once with the drop-in headers, where there is
// nothing of CMSSW.
#include <algorithm>
#include <cstdint>
#include <tuple>
#include <vector>

#include "PhysicsTools/TensorFlowAOT/interface/Model.h"

#include "reference_rows.h"
#include "user_code_more.h"
#include "user_exception.h"

#include "tfaot-model-convolution/model.h"
#include "tfaot-model-dtypes/model.h"
#include "tfaot-model-minimal/model.h"
#include "tfaot-model-more-dtypes/model.h"
#include "tfaot-model-unused-input/model.h"

namespace {

namespace models = TFAOT_USER_MODELS;
using tfaot::toolkit::testing::ReferenceCase;

// Before main(): a model needs nothing that another source file makes.
const float first_value_at_start = [] {
  tfaot::Model<models::minimal> model;
  const tfaot::FloatArrays x = {{0.09375F, 1.5625F, 1.984375F, 0.234375F}};
  return std::get<0>(model.run<tfaot::FloatArrays>(1, x))[0][0];
}();

TEST(UserCode, PredictsWhatTensorFlowDoes) {
  tfaot::Model<models::minimal> model;
  for (const ReferenceCase& one : reference_of("minimal")) {
    const tfaot::FloatArrays x = input_rows<float>(one, "x");
    tfaot::FloatArrays y;
    std::tie(y) = model.run<tfaot::FloatArrays>(one.batch_size, x);
    EXPECT_TRUE(matches(y, one, "y")) << one.batch_size;
    EXPECT_TRUE(model.getBatchStrategy().hasRule(one.batch_size));
  }
}

TEST(UserCode, ModelsWorkBeforeMain) {
  const ReferenceCase one = reference_of("minimal").front();
  EXPECT_TRUE(
      tfaot::toolkit::testing::is_close(std::vector<float>{first_value_at_start},
                                        tfaot::toolkit::testing::Numbers{one.outputs.at("y")[0]}));
}

TEST(UserCode, TakesTypesWithoutANameInCmssw) {
  using tfaot::bfloat16, tfaot::float16;
  tfaot::Model<models::more_dtypes> model;
  for (const ReferenceCase& one : reference_of("more_dtypes")) {
    const auto y = model.run<Rows<bfloat16>, Rows<bfloat16>, Rows<float16>, Rows<float16>,
                             Rows<std::int16_t>, Rows<std::int8_t>, Rows<float>, Rows<float16>,
                             Rows<std::int16_t>, Rows<std::uint8_t>, Rows<std::uint16_t>,
                             Rows<std::uint32_t>, Rows<std::uint64_t>, Rows<std::uint8_t>>(
        one.batch_size, input_rows<bfloat16>(one, "bfloat16"), input_rows<float16>(one, "float16"),
        input_rows<std::int16_t>(one, "int16"), input_rows<std::int8_t>(one, "int8"),
        input_rows<std::uint16_t>(one, "uint16"), input_rows<std::uint32_t>(one, "uint32"),
        input_rows<std::uint64_t>(one, "uint64"), input_rows<std::uint8_t>(one, "uint8"));
    EXPECT_TRUE(matches(std::get<0>(y), one, "bfloat16"));
    EXPECT_TRUE(matches(std::get<1>(y), one, "brain_dense"));
    EXPECT_TRUE(matches(std::get<2>(y), one, "float16"));
    EXPECT_TRUE(matches(std::get<3>(y), one, "half_dense"));
    EXPECT_TRUE(matches(std::get<4>(y), one, "int16"));
    EXPECT_TRUE(matches(std::get<5>(y), one, "int8"));
    EXPECT_TRUE(matches(std::get<6>(y), one, "to_float"));
    EXPECT_TRUE(matches(std::get<10>(y), one, "uint16"));
    EXPECT_TRUE(matches(std::get<11>(y), one, "uint32"));
    EXPECT_TRUE(matches(std::get<12>(y), one, "uint64"));
    EXPECT_TRUE(matches(std::get<13>(y), one, "uint8"));
  }
}

TEST(UserCode, TakesEveryType) {
  tfaot::Model<models::dtypes> model;
  for (const ReferenceCase& one : reference_of("dtypes")) {
    const tfaot::BoolArrays flag = input_rows<bool>(one, "flag");
    const tfaot::FloatArrays float32 = input_rows<float>(one, "float32");
    const tfaot::DoubleArrays float64 = input_rows<double>(one, "float64");
    const tfaot::Int32Arrays int32 = input_rows<std::int32_t>(one, "int32");
    const tfaot::Int64Arrays int64 = input_rows<std::int64_t>(one, "int64");
    const auto [y0, y1, y2, y3, y4, mixed] =
        model.run<tfaot::BoolArrays, tfaot::FloatArrays, tfaot::DoubleArrays, tfaot::Int32Arrays,
                  tfaot::Int64Arrays, tfaot::DoubleArrays>(one.batch_size, flag, float32, float64,
                                                           int32, int64);
    EXPECT_TRUE(matches(y0, one, "flag"));
    EXPECT_TRUE(matches(y1, one, "float32"));
    EXPECT_TRUE(matches(y2, one, "float64"));
    EXPECT_TRUE(matches(y3, one, "int32"));
    EXPECT_TRUE(matches(y4, one, "int64"));
    EXPECT_TRUE(matches(mixed, one, "mixed"));
  }
}

// Code that calls kernels of ours, with several outputs and weights.
TEST(UserCode, CallsKernels) {
  tfaot::Model<models::convolution> model;
  for (const ReferenceCase& one : reference_of("convolution")) {
    const tfaot::FloatArrays image = input_rows<float>(one, "image");
    const auto [category, pooled] =
        model.run<tfaot::FloatArrays, tfaot::FloatArrays>(one.batch_size, image);
    EXPECT_TRUE(matches(category, one, "class"));
    EXPECT_TRUE(matches(pooled, one, "pooled"));
  }
}

TEST(UserCode, AnInputThatTheCodeDoesNotReadIsAnInput) {
  tfaot::Model<models::unused_input> model;
  for (const ReferenceCase& one : reference_of("unused_input")) {
    const tfaot::Int64Arrays unused = input_rows<std::int64_t>(one, "unused");
    const tfaot::FloatArrays x = input_rows<float>(one, "x");
    EXPECT_TRUE(
        matches(std::get<0>(model.run<tfaot::FloatArrays>(one.batch_size, unused, x)), one, "y"));
  }
}

TEST(UserCode, FollowsRules) {
  tfaot::Model<models::minimal> model;
  model.setBatchRule(1, {1});
  model.setBatchRule(3, {2, 2}, 1);
  model.setBatchRule("4:1,1,2");
  EXPECT_FALSE(model.getBatchStrategy().hasRule(2));
  EXPECT_EQ(model.getBatchStrategy().getRule(3).getLastPadding(), 1U);
  EXPECT_EQ(model.getBatchStrategy().getRule(4).nSizes(), 3U);
  for (const ReferenceCase& one : reference_of("minimal")) {
    const tfaot::FloatArrays x = input_rows<float>(one, "x");
    EXPECT_TRUE(matches(std::get<0>(model.run<tfaot::FloatArrays>(one.batch_size, x)), one, "y"));
  }
  EXPECT_EQ(model.getBatchStrategy().getRule(3).getSizes(), (std::vector<std::size_t>{2, 2}));
}

TEST(UserCode, RefusesBadRulesByCategory) {
  using tfaot::BatchRule;
  tfaot::Model<models::minimal> model;
  EXPECT_EQ(category_of([] { BatchRule(2, {}); }), "EmptySizes");
  EXPECT_EQ(category_of([] { BatchRule("2:"); }), "InvalidBatchRule");
  EXPECT_EQ(category_of([] { BatchRule("2"); }), "InvalidBatchRule");
  EXPECT_EQ(category_of([] { BatchRule("5:2,2"); }), "InvalidBatchRule");
  EXPECT_EQ(category_of([] { BatchRule(2, {4}, 4); }), "WrongPadding");
  EXPECT_EQ(category_of([] { BatchRule(3, {2}); }), "WrongBatchSize");
  EXPECT_EQ(category_of([&] { model.getBatchStrategy().getRule(7); }), "UnknownBatchSize");
}

TEST(UserCode, RefusesWrongCallsByCategory) {
  tfaot::Model<models::minimal> model;
  const tfaot::FloatArrays x(2, std::vector<float>(4));
  const tfaot::DoubleArrays doubles(2, std::vector<double>(4));
  const tfaot::FloatArrays too_long(2, std::vector<float>(5));
  using F = tfaot::FloatArrays;
  EXPECT_EQ(category_of([&] { model.run<F>(2, doubles); }), "InputMismatch");
  EXPECT_EQ(category_of([&] { model.run<F>(2, too_long); }), "InputMismatch");
  EXPECT_EQ(category_of([&] { model.run<F>(2, x, x); }), "InputMismatch");
  EXPECT_EQ(category_of([&] { (model.run<F, F>(2, x)); }), "OutputMismatch");
  EXPECT_EQ(category_of([&] { model.run<tfaot::DoubleArrays>(2, x); }), "OutputMismatch");
}

TEST(UserCode, TheGeneratedClassKnowsTheModel) {
  models::dtypes wrapper;
  EXPECT_EQ(wrapper.batchSizes(), (std::vector<std::size_t>{1, 2, 4}));
  EXPECT_EQ(wrapper.nArgs(), 5U);
  EXPECT_EQ(wrapper.argCounts().at(4), std::vector<std::size_t>(5, 12));
  EXPECT_EQ(wrapper.argCountsNoBatch(), std::vector<std::size_t>(5, 3));
  EXPECT_EQ(wrapper.nResults(), 6U);
  EXPECT_EQ(wrapper.resultCounts().at(2), std::vector<std::size_t>(6, 6));
  EXPECT_EQ(wrapper.resultCountsNoBatch(), std::vector<std::size_t>(6, 3));
  EXPECT_EQ(wrapper.allocMode(), tfaot::AllocMode::ARGS_VARIABLES_RESULTS_PROFILES_AND_TEMPS);
  EXPECT_EQ(models::dtypes("mine").name(), "mine");
}

#define TEXT(word) #word
#define TEXT_OF(word) TEXT(word)

TEST(UserCode, AModelIsNamedAfterItsNamespaceAndClass) {
  EXPECT_EQ(models::minimal().name(), TEXT_OF(TFAOT_USER_MODELS) "_minimal");
  EXPECT_EQ(tfaot::Model<models::minimal>().name(), TEXT_OF(TFAOT_USER_MODELS) "_minimal");
}

TEST(UserCode, RunsTheGeneratedClassAlone) {
  models::minimal wrapper;
  const ReferenceCase one = reference_of("minimal").front();
  const tfaot::FloatArrays x = input_rows<float>(one, "x");
  std::copy(x[0].begin(), x[0].end(), wrapper.argData<float>(1, 0));
  EXPECT_TRUE(wrapper.runSilent(1));
  const models::minimal& same = wrapper;
  EXPECT_EQ(same.argData<float>(1, 0)[3], x[0][3]);
  const float* y = same.resultData<float>(1, 0);
  EXPECT_TRUE(matches(tfaot::FloatArrays{{y[0], y[1]}}, one, "y"));
}

TEST(UserCode, RefusesWrongCallsOfTheGeneratedClassByCategory) {
  models::minimal wrapper;
  EXPECT_EQ(category_of([&] { wrapper.argData<float>(3, 0); }), "UnknownBatchSize");
  EXPECT_EQ(category_of([&] { wrapper.resultData<float>(3, 0); }), "UnknownBatchSize");
  EXPECT_EQ(category_of([&] { wrapper.runSilent(3); }), "UnknownBatchSize");
  EXPECT_EQ(category_of([&] { wrapper.argData<float>(1, 1); }), "UnknownArgument");
  EXPECT_EQ(category_of([&] { wrapper.resultData<float>(1, 1); }), "UnknownResult");
  EXPECT_EQ(category_of([&] { wrapper.argData<double>(1, 0); }), "InputMismatch");
  EXPECT_EQ(category_of([&] { wrapper.resultData<std::int32_t>(1, 0); }), "OutputMismatch");
}

TEST(UserCode, TwoSourceFilesUseOneModel) {
  for (const ReferenceCase& one : reference_of("minimal")) {
    const tfaot::FloatArrays x = input_rows<float>(one, "x");
    EXPECT_TRUE(matches(predict_in_another_file(x), one, "y"));
  }
}

}  // namespace
