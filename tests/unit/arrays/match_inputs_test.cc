// SPDX-License-Identifier: Apache-2.0
#include "tfaot/arrays/match_inputs.h"

#include <gmock/gmock.h>

#include "tests/unit/arrays/array_samples.h"

namespace tfaot::toolkit {
namespace {

using ::testing::ElementsAre;

const TensorSpec kX = {"x", DType::kFloat64, {2}};
const TensorSpec kIds = {"ids", DType::kInt64, {}};

Array x_of(const std::string& name = "x") {
  return testing::array_of<double>(name, DType::kFloat64, {1, 2}, {1, 2});
}
Array ids_of(std::vector<std::int64_t> ids = {7}) {
  return testing::array_of<std::int64_t>("ids", DType::kInt64,
                                         {static_cast<std::int64_t>(ids.size())}, ids);
}

std::string match_error(std::vector<Array> arrays, const std::vector<TensorSpec>& inputs) {
  const auto matched = match_inputs(std::move(arrays), {inputs}, "in.npz");
  return matched ? "" : matched.error().text();
}

TEST(MatchInputs, FindsThemByName) {
  const auto matched = match_inputs({ids_of(), x_of("labels"), x_of()}, {{kX, kIds}}, "in.npz");
  ASSERT_TRUE(matched) << matched.error().text();
  EXPECT_EQ(matched->rows, 1);
  ASSERT_EQ(matched->arrays.size(), 2U);
  EXPECT_EQ(matched->arrays[0].name, "x");
  EXPECT_THAT(testing::values_of<double>(matched->arrays[0]), ElementsAre(1, 2));
  EXPECT_THAT(testing::values_of<std::int64_t>(matched->arrays[1]), ElementsAre(7));
}

TEST(MatchInputs, TakesTheOnlyArrayOfANpy) {
  const auto matched = match_inputs({x_of("")}, {{kX}}, "in.npy");
  ASSERT_TRUE(matched) << matched.error().text();
  EXPECT_EQ(matched->arrays[0].name, "x");
  EXPECT_EQ(match_error({x_of("")}, {kX, kIds}),
            "in.npz: a .npy holds one array, and the model has several inputs\n"
            "  write a .npz: numpy.savez(file, **{name: array, ...})");
}

TEST(MatchInputs, WidensOnlyWithoutLoss) {
  const auto matched =
      match_inputs({testing::array_of<float>("x", DType::kFloat32, {1, 2}, {0.5F, -3}),
                    testing::array_of<std::int32_t>("ids", DType::kInt32, {1}, {-2})},
                   {{kX, kIds}}, "in.npz");
  ASSERT_TRUE(matched) << matched.error().text();
  EXPECT_THAT(testing::values_of<double>(matched->arrays[0]), ElementsAre(0.5, -3));
  EXPECT_EQ(matched->arrays[0].dtype, DType::kFloat64);
  EXPECT_THAT(testing::values_of<std::int64_t>(matched->arrays[1]), ElementsAre(-2));
  EXPECT_EQ(match_error({x_of()}, {{"x", DType::kFloat32, {2}}}),
            "in.npz: array 'x' has elements of the type float64, and the model takes float32\n"
            "  convert it: a.astype('float32')");
  EXPECT_NE(match_error({ids_of()}, {{"ids", DType::kFloat64, {}}}), "");
}

TEST(MatchInputs, WidensSmallTypes) {
  const auto matched = match_inputs(
      {testing::array_of<::tfaot::bfloat16>("x", DType::kBfloat16, {1, 2},
                                            {::tfaot::bfloat16(0.5), ::tfaot::bfloat16(-3)}),
       testing::array_of<std::uint8_t>("ids", DType::kUint8, {1}, {255})},
      {{kX, kIds}}, "in.npz");
  ASSERT_TRUE(matched) << matched.error().text();
  EXPECT_THAT(testing::values_of<double>(matched->arrays[0]), ElementsAre(0.5, -3));
  EXPECT_THAT(testing::values_of<std::int64_t>(matched->arrays[1]), ElementsAre(255));
  EXPECT_EQ(match_error({ids_of()}, {{"ids", DType::kUint64, {}}}),
            "in.npz: array 'ids' has elements of the type int64, and the model takes uint64\n"
            "  convert it: a.astype('uint64')");
}

TEST(MatchInputs, SaysWhatIsWrong) {
  EXPECT_EQ(match_error({ids_of()}, {kX, kIds}),
            "in.npz: there is no array 'x', which the model takes\n  arrays in the file: ids");
  EXPECT_EQ(match_error({ids_of(), x_of("labels")}, {kIds, kX}),
            "in.npz: there is no array 'x', which the model takes\n"
            "  arrays in the file: ids, labels");
  EXPECT_EQ(match_error({}, {kX}),
            "in.npz: there is no array 'x', which the model takes\n  the file holds no array");
  EXPECT_EQ(match_error({x_of()}, {{"x", DType::kFloat64, {2, 1}}}),
            "in.npz: array 'x' has the shape [1, 2], and the model takes [rows, 2, 1]");
  EXPECT_EQ(match_error({x_of("")}, {{"x", DType::kFloat64, {}}}),
            "in.npz: the array has the shape [1, 2], and the model takes [rows]");
  EXPECT_EQ(match_error({x_of(), ids_of({1, 2})}, {kX, kIds}),
            "in.npz: array 'ids' has 2 rows, and array 'x' has 1");
}

// Free sizes follow from the shapes.

const WantedInputs kFree = {{{"x", DType::kFloat32, {8, 3}, {{{{1, {1}}}}, {{{3}}}}},
                             {"mask", DType::kFloat32, {8}, {{{{1, {1}}}}}}},
                            {{"n", 1, 8}}};

Array zeros(const std::string& name, std::vector<std::int64_t> shape) {
  std::int64_t elements = 1;
  for (const std::int64_t size : shape) elements *= size;
  return testing::array_of<float>(name, DType::kFloat32, std::move(shape),
                                  std::vector<float>(static_cast<std::size_t>(elements)));
}

std::string free_error(std::vector<std::int64_t> x, std::vector<std::int64_t> mask) {
  const auto matched =
      match_inputs({zeros("x", std::move(x)), zeros("mask", std::move(mask))}, kFree, "in.npz");
  return matched ? "" : matched.error().text();
}

TEST(MatchInputs, ShapesTellFreeSizes) {
  const auto matched = match_inputs({zeros("x", {2, 5, 3}), zeros("mask", {2, 5})}, kFree, "a");
  ASSERT_TRUE(matched) << matched.error().text();
  EXPECT_EQ(matched->rows, 2);
  EXPECT_THAT(matched->sizes, ElementsAre(5));
  EXPECT_THAT(matched->arrays[1].shape, ElementsAre(2, 5));
}

TEST(MatchInputs, ShapesThatFitNoSizeAreNamed) {
  EXPECT_EQ(free_error({2, 9, 3}, {2, 9}),
            "in.npz: input 'x', axis 1: 'n' is 9, but the code is for 1 to 8");
  EXPECT_EQ(free_error({2, 5, 3}, {2, 4}),
            "in.npz: input 'mask', axis 1: the size of 'n' is 4, but 5 by input 'x', axis 1");
  EXPECT_EQ(free_error({2, 5, 4}, {2, 5}),
            "in.npz: array 'x' has the shape [2, 5, 4], and the model takes [rows, 5, 3]");
  EXPECT_EQ(free_error({2, 5}, {2, 5}),
            "in.npz: input 'x' has 2 dimensions, and the model takes [rows, n, 3]");
  EXPECT_EQ(free_error({2, 5, 3}, {1, 5}), "in.npz: array 'mask' has 1 rows, and array 'x' has 2");
}

}  // namespace
}  // namespace tfaot::toolkit
