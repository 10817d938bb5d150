// SPDX-License-Identifier: Apache-2.0
// Places between the elements of an image: where the standard leaves a choice, or digits decide.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "tests/unit/engine/onnx_models.h"

namespace tfaot::toolkit::engine {
namespace {

using ::testing::ElementsAre;
using testing::OnnxFile;
using testing::tensor_text;

struct ImageCase {
  std::string graph;           // of x and y
  std::vector<float> x;        // one row
  std::int64_t made = 0;       // elements of a row of y
  std::size_t dimensions = 2;  // of x and y; those between the first and the last are 1
};

std::vector<float> of_image(const ImageCase& one) {
  const auto sizes = [&](std::size_t last) {
    std::vector<std::string> words(one.dimensions, "1");
    words.front() = "batch";
    words.back() = std::to_string(last);
    return words;
  };
  const OnnxFile file(tensor_text("input", "x", sizes(one.x.size())) +
                      tensor_text("output", "y", sizes(static_cast<std::size_t>(one.made))) +
                      one.graph);
  std::vector<std::int64_t> shape(one.dimensions, 1);
  shape.back() = std::ssize(one.x);
  const auto computed = [&]() -> Result<std::vector<xla::Literal>> {
    TFAOT_ASSIGN(const auto source, file.load());
    TFAOT_ASSIGN(const auto lowering, source->lowering({}));
    std::vector<xla::Literal> inputs;
    inputs.push_back(*xla::LiteralUtil::CreateR1<float>(one.x).Reshape(shape));
    return testing::evaluate(*lowering, inputs, 1);
  }();
  if (!computed) {
    ADD_FAILURE() << computed.error().text();
    return {};
  }
  const auto data = computed->front().data<float>();
  return {data.begin(), data.end()};
}

// By a scale of the last dimension.
std::string resize_text(const std::string& scale, const std::string& attributes = "") {
  return "node { op_type: 'Resize' input: 'x' input: '' input: 's' output: 'y' " + attributes +
         "} initializer { name: 's' data_type: 1 dims: 2 float_data: [1, " + scale + "] }";
}
std::string word_text(const std::string& name, const std::string& word) {
  return "attribute { name: '" + name + "' type: STRING s: '" + word + "' } ";
}

// As the standard's shape inference: 2.6 * 5 is 13 in single precision, and below it in double.
TEST(OnnxImagesTest, ASizeByAScaleIsOfSinglePrecision) {
  EXPECT_EQ(of_image({resize_text("2.6"), {1, 2, 3, 4, 5}, 13}).size(), 13U);
}

// Element 17 of 18, made of 11, is element 10: 17 / 1.7. The scale in double precision is more.
TEST(OnnxImagesTest, TheNearestElementIsOfSinglePrecision) {
  const std::string rules = word_text("coordinate_transformation_mode", "asymmetric") +
                            word_text("nearest_mode", "floor");
  const auto made = of_image({resize_text("1.7", rules), {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, 18});
  ASSERT_EQ(made.size(), 18U);
  EXPECT_EQ(made.back(), 10);
}

// The middle of 5 elements made of 7 is the operand's, whatever the scale.
TEST(OnnxImagesTest, TheMiddleStaysWhereItIs) {
  const std::string rules = word_text("coordinate_transformation_mode", "half_pixel_symmetric") +
                            word_text("nearest_mode", "ceil");
  EXPECT_THAT(of_image({resize_text("0.8", rules), {0, 1, 2, 3, 4, 5, 6}, 5}),
              ElementsAre(1, 2, 3, 5, 6));
}

// As the standard's text and ONNX Runtime; its reference begins half an element before the first.
TEST(OnnxImagesTest, OneElementIsTheFirst) {
  const std::string rules = word_text("coordinate_transformation_mode", "pytorch_half_pixel") +
                            word_text("mode", "cubic");
  EXPECT_THAT(of_image({resize_text("0.25", rules), {5, 1, 2, 3}, 1}), ElementsAre(5));
}

// As ONNX Runtime: a place lies between two elements, of which the second may have weight 0.
TEST(OnnxImagesTest, ANanIsInResultsThatHaveItAsANeighbour) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  using ::testing::IsNan;
  const std::string linear = word_text("mode", "linear");
  EXPECT_THAT(of_image({resize_text("2", linear), {1, 2, kNan, 3, 4}, 10}),
              ElementsAre(1, 1.25F, 1.75F, IsNan(), IsNan(), IsNan(), IsNan(), 3.25F, 3.75F, 4));
  const std::string corners = linear + word_text("coordinate_transformation_mode", "align_corners");
  EXPECT_THAT(of_image({resize_text("1.75", corners), {1, 2, kNan, 3}, 7}),
              ElementsAre(1, 1.5F, IsNan(), IsNan(), IsNan(), IsNan(), 3));
}

// As PyTorch: before the first element it sees that element thrice, and the second.
TEST(OnnxImagesTest, ACubicSampleBeyondTheBorder) {
  const std::string graph = "node { op_type: 'GridSample' input: 'x' input: 'grid' output: 'y' " +
                            word_text("mode", "bicubic") + word_text("padding_mode", "border") +
                            "attribute { name: 'align_corners' type: INT i: 1 } }"
                            "initializer { name: 'grid' data_type: 1 dims: [1, 1, 1, 2] "
                            "float_data: [-1.5, 0] }";
  EXPECT_THAT(of_image({graph, {0, 8, 8, 8}, 1, 4}), ElementsAre(::testing::FloatEq(-0.28125F)));
}

}  // namespace
}  // namespace tfaot::toolkit::engine
