// SPDX-License-Identifier: Apache-2.0
#include "tfaot/arrays/match_ragged.h"

#include <gmock/gmock.h>

#include "tests/unit/arrays/array_samples.h"

namespace tfaot::toolkit {
namespace {

using ::testing::ElementsAre;

// x: [n, 3], y: [2, n + k], z: [2].
WantedInputs wanted_rows() {
  const SizeFormula n = {{{1, {1}}}}, sum = {{{1, {1}}, {1, {0, 1}}}}, two = {{{2}}},
                    three = {{{3}}};
  return {{{"x", DType::kFloat32, {8, 3}, {n, three}},
           {"y", DType::kFloat32, {2, 12}, {two, sum}},
           {"z", DType::kFloat32, {2}}},
          {{"n", 1, 8}, {"k", 0, 4}},
          true};
}

Array floats(const std::string& name, std::vector<std::int64_t> shape) {
  return make_array({name, DType::kFloat32, {shape.begin() + 1, shape.end()}}, shape.front());
}
Array offsets(const std::string& name, const std::vector<std::int64_t>& numbers) {
  return testing::array_of<std::int64_t>(name, DType::kInt64,
                                         {static_cast<std::int64_t>(numbers.size())}, numbers);
}

std::vector<Array> two_rows() {
  return {offsets("n", {0, 5, 6}), offsets("k", {0, 0, 4}), floats("x", {6, 3}),
          floats("y", {2 * 5 + 2 * 5}), floats("z", {2, 2})};
}

std::string ragged_error(std::size_t place, Array array) {
  std::vector<Array> arrays = two_rows();
  arrays[place] = std::move(array);
  const auto matched = match_ragged_inputs(std::move(arrays), wanted_rows(), "in.npz");
  return matched ? "" : matched.error().text();
}

TEST(MatchRagged, OffsetsTellTheSizesOfRows) {
  EXPECT_TRUE(has_offsets(two_rows(), wanted_rows()));
  EXPECT_FALSE(has_offsets({floats("x", {2, 5, 3})}, wanted_rows()));
  const auto matched = match_ragged_inputs(two_rows(), wanted_rows(), "in.npz");
  ASSERT_TRUE(matched) << matched.error().text();
  EXPECT_EQ(matched->rows, 2);
  EXPECT_THAT(matched->offsets, ElementsAre(ElementsAre(0, 5, 6), ElementsAre(0, 0, 4)));
  EXPECT_THAT(matched->arrays[0].shape, ElementsAre(6, 3));
  EXPECT_TRUE(matched->sizes.empty());
}

TEST(MatchRagged, RowsInOneDimensionAreTakenToo) {
  EXPECT_EQ(ragged_error(2, floats("x", {18})), "");
  EXPECT_EQ(ragged_error(3, floats("y", {2, 10})),
            "in.npz: array 'y' has the shape [2, 10], but all rows together have [20]");
  EXPECT_EQ(ragged_error(2, floats("x", {5, 3})),
            "in.npz: array 'x' has the shape [5, 3], but all rows together have [6, 3]");
  EXPECT_EQ(ragged_error(4, floats("z", {4})),
            "in.npz: array 'z' has the shape [4], but all rows together have [2, 2]");
}

TEST(MatchRagged, OffsetsAreChecked) {
  const std::string note =
      "\n  they are rows + 1 whole numbers, from 0 on: row i has the size offsets[i + 1] - "
      "offsets[i]";
  EXPECT_EQ(ragged_error(0, offsets("n", {1, 5, 6})),
            "in.npz: the offsets 'n' do not begin with 0" + note);
  EXPECT_EQ(ragged_error(0, offsets("n", {0, 5, 4})),
            "in.npz: the offsets 'n' fall at row 1" + note);
  EXPECT_EQ(ragged_error(0, offsets("n", {0, 5, 14})),
            "in.npz: the offsets 'n' give row 1 the size 9, but the code is for 1 to 8" + note);
  EXPECT_EQ(ragged_error(0, floats("n", {3})),
            "in.npz: the offsets 'n' have the type float32" + note);
  EXPECT_EQ(ragged_error(0, offsets("n", {0, 5})),
            "in.npz: the offsets 'k' are of 2 rows, and 'n' of 1");
  EXPECT_EQ(ragged_error(1, floats("label", {1})),
            "in.npz: there are no offsets 'k', but those of another free dimension");
}

TEST(MatchRagged, AnInputMayHaveTheNameOfADimension) {
  WantedInputs inputs = wanted_rows();
  inputs.tensors[2].name = "n";
  EXPECT_FALSE(has_offsets({offsets("n", {0, 5, 6})}, inputs));
}

}  // namespace
}  // namespace tfaot::toolkit
