// SPDX-License-Identifier: Apache-2.0
#include "tfaot/arrays/edge_inputs.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/unit/arrays/array_samples.h"
#include "tfaot/arrays/fill.h"

namespace tfaot::toolkit {
namespace {

using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Not;

const std::vector<TensorSpec> kTensors = {{"f", DType::kFloat32, {3}},
                                          {"d", DType::kFloat64, {}},
                                          {"i", DType::kInt32, {2}},
                                          {"l", DType::kInt64, {2}},
                                          {"b", DType::kBool, {2}}};

std::vector<Array> edges(InputKind kind) { return edge_arrays(kTensors, {kind, 4}); }

template <class Number>
std::size_t count_nan(const Array& array) {
  const auto numbers = testing::values_of<Number>(array);
  return static_cast<std::size_t>(
      std::ranges::count_if(numbers, [](Number number) { return std::isnan(number); }));
}

TEST(EdgeInputs, KindsFitTheTypes) {
  EXPECT_EQ(kinds_of_inputs(kTensors).size(), 10U);
  EXPECT_THAT(kinds_of_inputs({kTensors[4]}),
              ElementsAre(InputKind::kRandom, InputKind::kZeros, InputKind::kOnes));
  EXPECT_THAT(kinds_of_inputs({kTensors[0]}), Not(Contains(InputKind::kLargest)));
  EXPECT_THAT(kinds_of_inputs({kTensors[3]}), Contains(InputKind::kSmallest));
  EXPECT_THAT(kinds_of_inputs({kTensors[3]}), Not(Contains(InputKind::kNan)));
}

TEST(EdgeInputs, OneNumberOfEachRowIsNone) {
  const auto arrays = edges(InputKind::kNan);
  EXPECT_EQ(count_nan<float>(arrays[0]), 4U);
  EXPECT_EQ(count_nan<double>(arrays[1]), 4U);
  const auto numbers = testing::values_of<float>(arrays[0]);
  for (const std::size_t place : {0U, 4U, 8U, 9U}) EXPECT_TRUE(std::isnan(numbers[place])) << place;
  // What has no NaN is random.
  const auto random = filled_arrays(kTensors, {.filling = Filling::kRandom, .rows = 4, .seed = 1});
  for (const std::size_t whole : {2U, 3U, 4U}) EXPECT_EQ(arrays[whole].bytes, random[whole].bytes);
}

TEST(EdgeInputs, InfinitiesAndHugeNumbersOfBothSigns) {
  const auto infinite = testing::values_of<double>(edges(InputKind::kInfinity)[1]);
  const double most = std::numeric_limits<double>::infinity();
  EXPECT_THAT(infinite, ElementsAre(most, -most, most, -most));
  const auto huge = testing::values_of<float>(edges(InputKind::kHuge)[0]);
  EXPECT_GT(huge[0], 1e38F);
  EXPECT_LT(huge[4], -1e38F);
  EXPECT_LT(std::abs(huge[1]), 2);
}

TEST(EdgeInputs, DenormalAndLargeNumbersEverywhere) {
  const auto small = edges(InputKind::kDenormal);
  for (const float number : testing::values_of<float>(small[0])) {
    EXPECT_EQ(std::fpclassify(number), FP_SUBNORMAL) << number;
  }
  for (const double number : testing::values_of<double>(small[1])) {
    EXPECT_EQ(std::fpclassify(number), FP_SUBNORMAL) << number;
  }
  const auto large = testing::values_of<float>(edges(InputKind::kLarge)[0]);
  EXPECT_GT(*std::ranges::max_element(large), 1000);
  EXPECT_LE(*std::ranges::max_element(large), 10'000);
}

TEST(EdgeInputs, HaveTheEndsOfSmallTypes) {
  const std::vector<TensorSpec> tensors = {
      {"h", DType::kFloat16, {2}}, {"b", DType::kBfloat16, {2}}, {"u", DType::kUint8, {2}}};
  EXPECT_EQ(kinds_of_inputs(tensors).size(), 10U);
  const auto edge = [&](InputKind kind) { return edge_arrays(tensors, {kind, 2}); };
  EXPECT_EQ(testing::values_of<::tfaot::float16>(edge(InputKind::kHuge)[0])[0], 32752.0F);
  EXPECT_EQ(count_nan<::tfaot::bfloat16>(edge(InputKind::kNan)[1]), 2U);
  for (const float number : testing::values_of<::tfaot::float16>(edge(InputKind::kDenormal)[0])) {
    EXPECT_LT(std::abs(number), 0x1p-14F);
  }
  for (const float number : testing::values_of<::tfaot::float16>(edge(InputKind::kLarge)[0])) {
    EXPECT_TRUE(std::isfinite(number));
  }
  EXPECT_THAT(testing::values_of<std::uint8_t>(edge(InputKind::kLargest)[2]), Each(255));
  EXPECT_THAT(testing::values_of<std::uint8_t>(edge(InputKind::kSmallest)[2]), Each(0));
}

TEST(EdgeInputs, EndsOfWholeNumbers) {
  const auto largest = edges(InputKind::kLargest);
  EXPECT_THAT(testing::values_of<std::int32_t>(largest[2]),
              Each(std::numeric_limits<std::int32_t>::max()));
  EXPECT_THAT(testing::values_of<std::int64_t>(largest[3]),
              Each(std::numeric_limits<std::int64_t>::max()));
  EXPECT_THAT(testing::values_of<std::int32_t>(edges(InputKind::kSmallest)[2]),
              Each(std::numeric_limits<std::int32_t>::min()));
  EXPECT_THAT(testing::values_of<float>(edges(InputKind::kZeros)[0]), Each(0));
  EXPECT_THAT(testing::values_of<float>(edges(InputKind::kOnes)[0]), Each(1));
}

}  // namespace
}  // namespace tfaot::toolkit
