// SPDX-License-Identifier: Apache-2.0
#include "compiler/hlo/lowering.h"

#include <gtest/gtest.h>

#include <limits>

namespace tfaot::toolkit::engine {
namespace {

TEST(WeightRule, GoesByTypeAndSize) {
  EXPECT_TRUE(is_weight_constant(DType::kFloat32, {4, 4}));
  EXPECT_TRUE(is_weight_constant(DType::kBfloat16, {16}));
  EXPECT_TRUE(is_weight_constant(DType::kInt8, {1, 16}));
  EXPECT_TRUE(is_weight_constant(DType::kUint8, {1 << 20}));
  EXPECT_TRUE(is_weight_constant(DType::kInt64, {64, 64}));
  EXPECT_TRUE(is_weight_constant(DType::kBool, {4096}));
  EXPECT_FALSE(is_weight_constant(DType::kFloat64, {15}));
  EXPECT_FALSE(is_weight_constant(DType::kUint8, {15}));
  EXPECT_FALSE(is_weight_constant(DType::kInt32, {4095}));
  EXPECT_FALSE(is_weight_constant(DType::kBool, {63, 65}));
}

TEST(WeightRule, PlacesAreFewWholeNumbersOrTruthValues) {
  EXPECT_TRUE(is_place_constant(DType::kInt64, {4, 4}));
  EXPECT_TRUE(is_place_constant(DType::kBool, {}));
  EXPECT_FALSE(is_place_constant(DType::kInt64, {4096}));
  EXPECT_FALSE(is_place_constant(DType::kFloat32, {1}));
  EXPECT_FALSE(is_place_constant(DType::kUint8, {1}));
  EXPECT_FALSE(is_place_constant(std::nullopt, {1}));
}

TEST(WeightRule, TakesNothingThatCannotBeStored) {
  EXPECT_FALSE(is_weight_constant(std::nullopt, {1000}));
  EXPECT_FALSE(is_weight_constant(DType::kFloat32, {}));
  EXPECT_FALSE(is_weight_constant(DType::kFloat32, {1000, 0}));
  EXPECT_FALSE(is_weight_constant(DType::kFloat32, {-1, 1000}));
}

TEST(WeightRule, SizesMayBeOfAnySize) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  EXPECT_TRUE(is_weight_constant(DType::kInt64, {kMost, kMost, kMost}));
}

}  // namespace
}  // namespace tfaot::toolkit::engine
