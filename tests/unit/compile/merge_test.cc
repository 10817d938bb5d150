// SPDX-License-Identifier: Apache-2.0
#include "merge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tfaot/base/hash.h"

namespace tfaot {
namespace {

using ::testing::ElementsAre;

Weight weight(const std::string& name, std::uint64_t offset, std::uint64_t size = 4) {
  return {name, DType::kFloat32, {1}, offset, size};
}

CompiledCode code(std::int64_t batch_size, const std::vector<std::uint32_t>& weights) {
  CompiledCode made;
  made.batch_size = batch_size;
  made.cpu_level = "x86-64";
  made.weights = weights;
  return made;
}

ModelPart part(std::vector<Weight> weights, std::vector<CompiledCode> codes, std::string blob) {
  ModelPart made;
  made.model.signature.outputs = {{"y", DType::kFloat32, {2}}};
  made.model.weights = std::move(weights);
  made.model.codes = std::move(codes);
  made.blob = std::move(blob);
  return made;
}

std::string padded(const std::string& text) { return text + std::string(64 - text.size(), '\0'); }

std::vector<std::string> names(const CompiledModel& model) {
  std::vector<std::string> result;
  for (const auto& one : model.weights) result.push_back(one.name);
  return result;
}

TEST(MergeParts, OrdersWeightsByTheirFirstUse) {
  const auto merged = merge_parts(
      {part({weight("a", 0), weight("b", 64)}, {code(4, {0, 1})}, padded("aaaa") + "bbbb"),
       part({weight("b", 0), weight("c", 64)}, {code(2, {1, 0})}, padded("bbbb") + "cccc")});
  ASSERT_TRUE(merged) << merged.error().text();
  EXPECT_THAT(names(merged->model), ElementsAre("c", "b", "a"));
  EXPECT_EQ(merged->blob, padded("cccc") + padded("bbbb") + "aaaa");
  EXPECT_EQ(merged->model.weights_size, merged->blob.size());
  EXPECT_EQ(merged->model.weights_sha256, sha256_of(merged->blob));
  ASSERT_EQ(merged->model.codes.size(), 2U);
  EXPECT_EQ(merged->model.codes[0].batch_size, 2);
  EXPECT_THAT(merged->model.codes[0].weights, ElementsAre(0, 1));
  EXPECT_THAT(merged->model.codes[1].weights, ElementsAre(2, 1));
}

TEST(MergeParts, DoesNotDependOnWhoMadeWhat) {
  const std::string blob = padded("aaaa") + "bbbb";
  const std::vector<Weight> weights = {weight("a", 0), weight("b", 64)};
  const auto one = merge_parts({part(weights, {code(1, {1}), code(2, {0, 1})}, blob)});
  const auto two = merge_parts(
      {part(weights, {code(2, {0, 1})}, blob), part({weight("b", 0)}, {code(1, {0})}, "bbbb")});
  ASSERT_TRUE(one && two);
  EXPECT_EQ(one->blob, two->blob);
  EXPECT_EQ(names(one->model), names(two->model));
  EXPECT_EQ(one->model.codes[1].weights, two->model.codes[1].weights);
}

TEST(MergeParts, KeepsEqualWeightsOnce) {
  const std::string large(1000, 'x');
  const auto merged = merge_parts({part({weight("a", 0, 1000), weight("b", 1024, 1000)},
                                        {code(1, {0, 1})}, large + std::string(24, '\0') + large)});
  ASSERT_TRUE(merged);
  EXPECT_THAT(names(merged->model), ElementsAre("a"));
  EXPECT_EQ(merged->blob, large);
  EXPECT_THAT(merged->model.codes[0].weights, ElementsAre(0, 0));
}

TEST(MergeParts, TellsDerivedWeightsOfOneNameApart) {
  const auto merged = merge_parts({part({weight("k, packed", 0), weight("k, packed", 64)},
                                        {code(1, {0, 1})}, padded("aaaa") + "bbbb")});
  ASSERT_TRUE(merged);
  EXPECT_THAT(names(merged->model), ElementsAre("k, packed", "k, packed (2)"));
}

TEST(MergeParts, RefusesRowsThatDiffer) {
  auto other = part({}, {}, "");
  other.model.signature.outputs[0].row_shape = {3};
  const auto merged = merge_parts({part({}, {}, ""), std::move(other)});
  ASSERT_FALSE(merged);
  EXPECT_EQ(merged.error().message(), "the shape of an output row depends on the batch size");
}

}  // namespace
}  // namespace tfaot
