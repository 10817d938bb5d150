// SPDX-License-Identifier: Apache-2.0
#include "tfaot/arrays/fill.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "tests/unit/arrays/array_samples.h"

namespace tfaot::toolkit {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Ge;
using ::testing::Lt;

const std::vector<TensorSpec> kAllTypes = {{"f", DType::kFloat32, {2}},
                                           {"d", DType::kFloat64, {}},
                                           {"i", DType::kInt32, {2}},
                                           {"l", DType::kInt64, {}},
                                           {"b", DType::kBool, {}}};

TEST(Fill, CountsInEachArray) {
  const auto arrays = filled_arrays(kAllTypes, {Filling::kIncremental, 2});
  EXPECT_THAT(testing::values_of<float>(arrays[0]), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(testing::values_of<double>(arrays[1]), ElementsAre(0, 1));
  EXPECT_THAT(testing::values_of<std::int32_t>(arrays[2]), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(testing::values_of<char>(arrays[4]), ElementsAre(0, 1));
  EXPECT_THAT(arrays[0].shape, ElementsAre(2, 2));
  EXPECT_THAT(arrays[1].shape, ElementsAre(2));
}

// Neither a negative number nor one that the type has not.
TEST(Fill, CountsFromTheStartAgainWhereATypeEnds) {
  const auto arrays = filled_arrays({{"i", DType::kInt8, {}},
                                     {"u", DType::kUint8, {}},
                                     {"h", DType::kFloat16, {}},
                                     {"b", DType::kBfloat16, {}}},
                                    {Filling::kIncremental, 3000});
  EXPECT_EQ(testing::values_of<std::int8_t>(arrays[0])[127], 127);
  EXPECT_EQ(testing::values_of<std::int8_t>(arrays[0])[128], 0);
  EXPECT_EQ(testing::values_of<std::uint8_t>(arrays[1])[255], 255);
  EXPECT_EQ(testing::values_of<std::uint8_t>(arrays[1])[256], 0);
  EXPECT_EQ(testing::values_of<::tfaot::float16>(arrays[2])[2047], 2047.0F);
  EXPECT_EQ(testing::values_of<::tfaot::float16>(arrays[2])[2048], 0.0F);
  EXPECT_EQ(testing::values_of<::tfaot::bfloat16>(arrays[3])[255], 255.0F);
  EXPECT_EQ(testing::values_of<::tfaot::bfloat16>(arrays[3])[257], 1.0F);
}

TEST(Fill, HasOneNumberEverywhere) {
  for (const auto& array : filled_arrays(kAllTypes, {Filling::kZeros, 3})) {
    EXPECT_EQ(array.bytes.find_first_not_of('\0'), std::string::npos);
  }
  const auto ones = filled_arrays(kAllTypes, {Filling::kOnes, 2});
  EXPECT_THAT(testing::values_of<float>(ones[0]), Each(1));
  EXPECT_THAT(testing::values_of<std::int64_t>(ones[3]), Each(1));
  EXPECT_THAT(testing::values_of<char>(ones[4]), Each(1));
}

// The numbers are the same on every machine and in every version.
TEST(Fill, IsRandomBySeed) {
  const auto arrays = filled_arrays(kAllTypes, {Filling::kRandom, 1000, 7});
  const auto reals = testing::values_of<float>(arrays[0]);
  EXPECT_THAT(reals, Each(AllOf(Ge(-1.0F), Lt(1.0F))));
  EXPECT_THAT(std::vector<float>(reals.begin(), reals.begin() + 3),
              ElementsAre(0.5087706F, 0.8986024F, -0.7651714F));
  const auto whole = testing::values_of<std::int32_t>(arrays[2]);
  EXPECT_THAT(whole, Each(AllOf(Ge(0), Lt(2))));
  EXPECT_NEAR(static_cast<double>(std::count(whole.begin(), whole.end(), 1)), 1000, 100);
  EXPECT_EQ(filled_arrays(kAllTypes, {Filling::kRandom, 1000, 7})[1].bytes, arrays[1].bytes);
  EXPECT_NE(filled_arrays(kAllTypes, {Filling::kRandom, 1000, 8})[1].bytes, arrays[1].bytes);
}

// By the program in docs/reproducibility.md, in another language.
TEST(CountedArrays, AreThoseOfTheDocs) {
  const auto arrays =
      counted_arrays({{"a", DType::kFloat32, {2}}, {"b", DType::kFloat64, {2}}}, 5, 1);
  const std::vector<float> floats = testing::values_of<float>(arrays[0]);
  const std::vector<float> first(floats.begin(), floats.begin() + 8);
  EXPECT_THAT(first, ElementsAre(0x1.8a0658p-1F, 0x1.1c86c8p-1F, 0x1.1df2b2p+1F, 0x1.058d22p+1F,
                                 0x1.abdca4p-2F, -0x1.49ebe6p-1F, 0x1.4b3b44p-8F, -0x1.60070cp-7F));
  EXPECT_EQ(testing::values_of<double>(arrays[1])[3], 0x1.ce25dc66ee6c6p+3);
  EXPECT_EQ(testing::values_of<double>(arrays[1])[8], -0x1.370e75b32264cp-2);
}

TEST(CountedArrays, ArePartsOfMoreRows) {
  const std::vector<TensorSpec> tensors = {
      {"f", DType::kFloat32, {3}}, {"i", DType::kInt64, {2}}, {"b", DType::kBool, {}}};
  const auto few = counted_arrays(tensors, 3, 7);
  const auto many = counted_arrays(tensors, 40, 7);
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    EXPECT_EQ(few[i].bytes, many[i].bytes.substr(0, few[i].bytes.size()));
  }
  EXPECT_NE(few[0].bytes, counted_arrays(tensors, 3, 8)[0].bytes);
  EXPECT_THAT(testing::values_of<std::int64_t>(many[1]), Each(AllOf(Ge(0), Lt(2))));
  EXPECT_THAT(testing::values_of<char>(many[2]), ::testing::IsSupersetOf({0, 1}));
}

}  // namespace
}  // namespace tfaot::toolkit
