// SPDX-License-Identifier: Apache-2.0
#include "first_operations.h"

#include <gmock/gmock.h>

#include <cmath>

#include "tests/unit/arrays/array_samples.h"

namespace tfaot::toolkit {
namespace {

using ::testing::ElementsAre;

Array numbers(const std::vector<float>& values) {
  return testing::array_of<float>("y", DType::kFloat32, {std::ssize(values)}, values);
}

TEST(CompareUnordered, AsksForTheNumbersAndNotForTheirOrder) {
  EXPECT_EQ(compare_unordered(numbers({1, -2, 3, -0.0F}), numbers({-0.0F, 3, -2, 1})).unequal, 0U);
  const BitsDifference found =
      compare_unordered(numbers({1, -2, 3}), numbers({3, std::nextafter(1.0F, 2.0F), -2}));
  EXPECT_EQ(found.numbers, 3U);
  EXPECT_EQ(found.unequal, 1U);
  EXPECT_EQ(found.ulps, 1U);
  EXPECT_EQ(compare_unordered(numbers({1, 2, 3, 4}), numbers({2, 3, 4, 5})).unequal, 1U);
}

TEST(SameResults, AreOfTheSameNode) {
  const std::vector<OperationResult> alone = {
      {"tfaot_gemv_f32", "dense", {1, 3}}, {"add", "", {1}}, {"tanh", "dense", {1, 3}}};
  const std::vector<OperationResult> batch = {{"tfaot_gemm_f32", "dense", {4, 3}},
                                              {"exponential", "softmax", {4, 3}},
                                              {"tanh", "dense", {4, 3}},
                                              {"add", "", {4}},
                                              {"add", "", {4}}};
  EXPECT_THAT(same_results(alone, batch), ElementsAre(0, -1, 2, 1, -1));
}

}  // namespace
}  // namespace tfaot::toolkit
