// SPDX-License-Identifier: Apache-2.0

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
  EXPECT_EQ(kinds_of_inputs(kTensors).size(), 14U);
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
  EXPECT_EQ(kinds_of_inputs(tensors).size(), 14U);
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

TEST(EdgeInputs, RowsOfOneNumber) {
  EXPECT_THAT(testing::values_of<float>(edges(InputKind::kMinusOnes)[0]), Each(-1));
  EXPECT_THAT(testing::values_of<double>(edges(InputKind::kPadding)[1]), Each(-999));
  EXPECT_THAT(testing::values_of<float>(edges(InputKind::kMillion)[0]), Each(1e6F));
  const auto half = edge_arrays({{"h", DType::kFloat16, {2}}}, {InputKind::kMillion, 1});
  EXPECT_THAT(testing::values_of<::tfaot::float16>(half[0]), Each(65504)) << "its largest";
}

// Every number of digits comes, with both signs: the squares of the largest overflow.
TEST(EdgeInputs, WholeNumbersOfEverySize) {
  const std::vector<TensorSpec> tensors = {
      {"i", DType::kInt32, {1000}}, {"b", DType::kInt8, {1000}}, {"u", DType::kUint64, {1000}}};
  const auto arrays = edge_arrays(tensors, {InputKind::kWide, 1});
  const auto wide = testing::values_of<std::int32_t>(arrays[0]);
  const auto count = [&](auto is_one) { return std::ranges::count_if(wide, is_one); };
  EXPECT_GT(count([](std::int32_t n) { return n > 46'340; }), 100);
  EXPECT_GT(count([](std::int32_t n) { return n < -46'340; }), 100);
  EXPECT_GT(count([](std::int32_t n) { return n >= -3 && n <= 3; }), 30);
  EXPECT_THAT(wide, Not(Contains(std::numeric_limits<std::int32_t>::min())));
  EXPECT_THAT(testing::values_of<std::int8_t>(arrays[1]), Contains(::testing::Lt(-63)));
  EXPECT_THAT(testing::values_of<std::uint64_t>(arrays[2]),
              Contains(::testing::Gt(std::uint64_t{1} << 62)));
}

// One share of each row counts in all inputs; the rest is at the end of the longest dimension.
TEST(EdgeInputs, MasksPaddingsAndIndicesAreDrawnAsTheyAreRead) {
  const std::vector<TensorSpec> tensors = {{"m", DType::kFloat32, {1, 8}},
                                           {"p", DType::kFloat32, {8, 2}},
                                           {"i", DType::kInt32, {50}},
                                           {"b", DType::kBool, {8}}};
  const std::vector<InputUse> uses = {{InputRole::kMask, 0},
                                      {InputRole::kPadded, -999},
                                      {InputRole::kIndex, 2},
                                      {InputRole::kMask, 0}};
  const auto arrays = edge_arrays(tensors, {InputKind::kRandom, 20, 1, uses});
  const auto mask = testing::values_of<float>(arrays[0]);
  const auto padded = testing::values_of<float>(arrays[1]);
  const auto truth = testing::values_of<std::uint8_t>(arrays[3]);
  for (std::size_t row = 0; row < 20; ++row) {
    for (std::size_t i = 0; i < 8; ++i) {
      const float number = mask[8 * row + i];
      EXPECT_TRUE(i < 4 ? number == 1 : number == 0 || number == 1);
      EXPECT_TRUE(i == 0 || number <= mask[8 * row + i - 1]);
      EXPECT_EQ(truth[8 * row + i], number);
      for (const std::size_t k : {0U, 1U}) {
        EXPECT_EQ(padded[16 * row + 2 * i + k] == -999, number == 0);
        EXPECT_LE(padded[16 * row + 2 * i + k], 1);
      }
    }
    EXPECT_EQ(mask[8 * row + 7], 0) << "something is left out";
  }
  const auto indices = testing::values_of<std::int32_t>(arrays[2]);
  EXPECT_THAT(indices, Each(::testing::AllOf(::testing::Ge(0), ::testing::Le(2))));
  for (const int place : {0, 1, 2}) EXPECT_THAT(indices, Contains(place));
  const auto zeros = edge_arrays(tensors, {InputKind::kZeros, 2, 1, uses});
  EXPECT_THAT(testing::values_of<float>(zeros[0]), Each(0));
}

TEST(EdgeInputs, NumbersMoveToTheirNeighboursAndEqualOnesTogether) {
  std::vector<TensorSpec> tensors = {{"f", DType::kFloat32, {100}}, {"i", DType::kInt32, {3}}};
  auto arrays = edge_arrays(tensors, {InputKind::kRandom, 1});
  const auto moved = moved_arrays(arrays, {}, 1);
  const auto before = testing::values_of<float>(arrays[0]);
  const auto after = testing::values_of<float>(moved[0]);
  std::size_t up = 0;
  for (std::size_t i = 0; i < 100; ++i) {
    const bool is_up = after[i] == std::nextafter(before[i], 2.0F);
    EXPECT_TRUE(is_up || after[i] == std::nextafter(before[i], -2.0F));
    up += is_up ? 1 : 0;
  }
  EXPECT_GT(up, 20U);
  EXPECT_LT(up, 80U);
  EXPECT_EQ(moved[1].bytes, arrays[1].bytes);
  EXPECT_NE(moved_arrays(arrays, {}, 2)[0].bytes, moved[0].bytes);
  EXPECT_EQ(moved_arrays(arrays, {{InputRole::kPadded, 0}, {}}, 1)[0].bytes, arrays[0].bytes);
  const auto zeros = edge_arrays(tensors, {InputKind::kZeros, 1});
  EXPECT_EQ(moved_arrays(zeros, {}, 1)[0].bytes, zeros[0].bytes);
  const auto padding = testing::values_of<float>(
      moved_arrays(edge_arrays(tensors, {InputKind::kPadding, 1}), {}, 1)[0]);
  EXPECT_NE(padding[0], -999);
  EXPECT_THAT(padding, Each(padding[0]));
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
