// SPDX-License-Identifier: Apache-2.0
#include "bits_batches.h"

#include <gmock/gmock.h>

#include <cmath>

#include "tests/unit/arrays/array_samples.h"

namespace tfaot::toolkit {
namespace {

using testing::array_of;
using ::testing::ElementsAre;
using ::testing::IsSupersetOf;
using ::testing::UnorderedElementsAreArray;
using testing::values_of;

TEST(BitsSizes, AreTheCompiledOnesAndThoseWhereLoopsEnd) {
  Manifest manifest;
  manifest.batch_sizes = {1, 10, 100};
  EXPECT_THAT(bits_sizes(manifest), IsSupersetOf({1, 2, 3, 10, 16, 17, 63, 64, 100}));
  manifest.rows = RowsMode::kCoupled;
  EXPECT_THAT(bits_sizes(manifest), ElementsAre(1, 10, 100));
}

TEST(BitsRules, PadRepeatAndMixSizes) {
  EXPECT_THAT(bits_rules(7, {1, 4, 16}),
              ElementsAre("", "7:1,1,1,1,1,1,1", "7:4,4", "7:16", "7:4,1,1,1", "7:1,1,1,4"));
  EXPECT_THAT(bits_rules(4, {1, 4}), ElementsAre("", "4:1,1,1,1", "4:4"));
  EXPECT_THAT(bits_rules(1, {4}), ElementsAre("", "1:4"));
  // The padding must be in the last chunk.
  EXPECT_THAT(bits_rules(6, {4, 8}), ElementsAre("", "6:4,4", "6:8"));
}

TEST(RowsOf, TakesThemInOrder) {
  const Array array = array_of<float>("x", DType::kFloat32, {3, 2}, {0, 1, 2, 3, 4, 5});
  const Array picked = rows_of({array}, {2, 0, 2}).front();
  EXPECT_THAT(values_of<float>(picked), ElementsAre(4, 5, 0, 1, 4, 5));
  EXPECT_THAT(picked.shape, ElementsAre(3, 2));
}

TEST(WithOtherRows, ReplacesRealNumbersAlone) {
  const std::vector<Array> arrays = {
      array_of<float>("x", DType::kFloat32, {3, 2}, {1, 2, 3, 4, 5, 6}),
      array_of<std::int32_t>("i", DType::kInt32, {3}, {7, 8, 9})};
  const auto nans = with_other_rows(arrays, {0, 2}, OtherRows::kNan);
  const std::vector<float> x = values_of<float>(nans[0]);
  EXPECT_TRUE(std::isnan(x[0]) && std::isnan(x[1]) && std::isnan(x[4]) && std::isnan(x[5]));
  EXPECT_EQ(x[2], 3);
  EXPECT_THAT(values_of<std::int32_t>(nans[1]), ElementsAre(7, 8, 9));
  const auto infinities = with_other_rows(arrays, {1}, OtherRows::kInfinite);
  EXPECT_THAT(values_of<float>(infinities[0]), ElementsAre(1, 2, INFINITY, -INFINITY, 5, 6));
  const auto zeros = with_other_rows(arrays, {1}, OtherRows::kZeros);
  EXPECT_THAT(values_of<float>(zeros[0]), ElementsAre(1, 2, 0, 0, 5, 6));
  EXPECT_THAT(values_of<std::int32_t>(zeros[1]), ElementsAre(7, 0, 9));
}

TEST(ShuffledRows, HasEachRowOnce) {
  const std::vector<std::int64_t> order = shuffled_rows(5);
  EXPECT_THAT(order, UnorderedElementsAreArray({0, 1, 2, 3, 4}));
  EXPECT_NE(order, (std::vector<std::int64_t>{0, 1, 2, 3, 4}));
}

CompiledCode code_at(const std::string& level, std::vector<std::string> features) {
  CompiledCode code;
  code.cpu_level = level;
  code.cpu_features = std::move(features);
  return code;
}

TEST(ComparableLevels, AreThoseThatFuse) {
  CompiledModel model;
  model.target_triple = "x86_64-none-linux-gnu";
  model.codes = {code_at("x86-64", {"sse2"}), code_at("x86-64-v3", {"avx2", "fma"}),
                 code_at("x86-64-v4", {"avx512f", "fma"})};
  const std::vector<std::string> levels = {"x86-64", "x86-64-v3", "x86-64-v4"};
  EXPECT_THAT(comparable_levels(model, ComputeType::kFloat32, levels),
              ElementsAre(ElementsAre("x86-64"), ElementsAre("x86-64-v3", "x86-64-v4")));
  EXPECT_THAT(
      comparable_levels(model, ComputeType::kBfloat16, levels),
      ElementsAre(ElementsAre("x86-64"), ElementsAre("x86-64-v3"), ElementsAre("x86-64-v4")));
  model.target_triple = "aarch64-none-linux-gnu";
  EXPECT_THAT(comparable_levels(model, ComputeType::kFloat32, {"x86-64", "x86-64-v3"}),
              ElementsAre(ElementsAre("x86-64", "x86-64-v3")));
}

}  // namespace
}  // namespace tfaot::toolkit
