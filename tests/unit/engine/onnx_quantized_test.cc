// SPDX-License-Identifier: Apache-2.0
// Operators of com.microsoft and of QONNX, boxes, random numbers. The expected values are computed
// from the definitions: real = (integer - zero point) * scale.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/unit/engine/onnx_models.h"

namespace tfaot::toolkit::engine {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::OnnxFile;
using testing::tensor_text;

constexpr const char* kDomains =
    "opset_import { version: 17 } opset_import { domain: 'com.microsoft' version: 1 }"
    "opset_import { domain: 'qonnx.custom_op.general' version: 1 }";

// The types of ONNX's enum.
constexpr int kFloat = 1, kUint8 = 2, kInt8 = 3, kInt32 = 6, kInt64 = 7;

std::string values_text(const std::string& name, int type, const std::string& values,
                        const std::string& sizes = "") {
  const std::string field = type == kFloat   ? "float_data"
                            : type == kInt64 ? "int64_data"
                                             : "int32_data";
  return "initializer { name: '" + name + "' data_type: " + std::to_string(type) + " " + sizes +
         " " + field + ": [" + values + "] }";
}

std::string quantized_node(const std::string& operation, const std::vector<std::string>& inputs,
                           const std::string& more = "",
                           const std::string& domain = "com.microsoft") {
  std::string text =
      "node { name: 'n' domain: '" + domain + "' op_type: '" + operation + "' output: 'r' ";
  for (const std::string& input : inputs) text += "input: '" + input + "' ";
  return text + more + " }";
}

// Quantizes x by 0.5 and 3 to 'q', and dequantizes 'r' by the result's scale and zero point to y.
std::string around(const std::string& node, const std::string& columns = "4") {
  return tensor_text("input", "x", {"batch", "4"}) +
         tensor_text("output", "y", {"batch", columns}) + values_text("s", kFloat, "0.5") +
         values_text("z", kUint8, "3") + values_text("rs", kFloat, "0.25") +
         values_text("rz", kUint8, "10") +
         "node { op_type: 'QuantizeLinear' input: 'x' input: 's' input: 'z' output: 'q' }" + node +
         "node { op_type: 'DequantizeLinear' input: 'r' input: 'rs' input: 'rz' output: 'y' }";
}

Result<std::vector<float>> results_of(const std::string& graph, const xla::Literal& x) {
  const OnnxFile file(graph, kDomains);
  TFAOT_ASSIGN(const auto source, file.load());
  TFAOT_ASSIGN(const auto lowering, source->lowering({}));
  std::vector<xla::Literal> inputs;
  inputs.push_back(x.Clone());
  TFAOT_ASSIGN(const auto outputs, testing::evaluate(*lowering, inputs, x.shape().dimensions(0)));
  const auto converted = outputs.front().Convert(xla::F32);
  const auto data = converted->data<float>();
  return std::vector<float>(data.begin(), data.end());
}

std::vector<float> of_row(const std::string& graph, std::initializer_list<float> row) {
  const auto made = results_of(graph, xla::LiteralUtil::CreateR2<float>({row}));
  if (made) return *made;
  ADD_FAILURE() << made.error().text();
  return {};
}

std::string error_of(const std::string& graph) {
  const auto made = results_of(graph, xla::LiteralUtil::CreateR2<float>({{1, 2, 3, 4}}));
  return made ? "no error" : made.error().text();
}

TEST(OnnxQuantizedTest, SumsAndProductsOfIntegersAreThoseOfTheirReals) {
  const std::vector<std::string> both = {"q", "s", "z", "q", "s", "z", "rs", "rz"};
  // The largest real of the result is (255 - 10) / 4, the least -10 / 4.
  EXPECT_THAT(of_row(around(quantized_node("QLinearAdd", both)), {1, -1, 20, 40}),
              ElementsAre(2, -2, 40, 61.25));
  EXPECT_THAT(of_row(around(quantized_node("QLinearMul", both)), {1, -1.5, 3, 20}),
              ElementsAre(1, 2.25, 9, 61.25));
}

TEST(OnnxQuantizedTest, FunctionsOfIntegersAreThoseOfTheirReals) {
  const std::vector<std::string> one = {"q", "s", "z", "rs", "rz"};
  EXPECT_THAT(of_row(around(quantized_node("QLinearSigmoid", one)), {0, -1.5, 4, 50}),
              ElementsAre(0.5, 0.25, 1, 1));
  EXPECT_THAT(of_row(around(quantized_node("QLinearLeakyRelu", one,
                                           "attribute { name: 'alpha' type: FLOAT f: 0.5 }")),
                     {1, -1, -1.5, 0}),
              ElementsAre(1, -0.5, -0.75, 0));
  EXPECT_THAT(of_row(around(quantized_node("QLinearSoftmax", one,
                                           "attribute { name: 'axis' type: INT i: -1 }"
                                           "attribute { name: 'opset' type: INT i: 13 }")),
                     {0, 0, 0, 0}),
              ElementsAre(0.25, 0.25, 0.25, 0.25));
}

TEST(OnnxQuantizedTest, PartsOfAConcatenationHaveScalesOfTheirOwn) {
  EXPECT_THAT(
      of_row(around(quantized_node("QLinearConcat", {"rs", "rz", "q", "s", "z", "q", "rs", "z"},
                                   "attribute { name: 'axis' type: INT i: 1 }"),
                    "8"),
             {1, 2, 3, -1}),
      ElementsAre(1, 2, 3, -1, 0.5, 1, 1.5, -0.5));
}

TEST(OnnxQuantizedTest, AChoiceOfIntegers) {
  EXPECT_THAT(of_row(around("node { op_type: 'Greater' input: 'x' input: 's' output: 'c' }" +
                            quantized_node("QLinearWhere",
                                           {"c", "q", "s", "z", "z", "s", "z", "rs", "rz"})),
                     {1, -1, 2, 0}),
              ElementsAre(1, 0, 2, 0));
}

TEST(OnnxQuantizedTest, PoolsOfIntegers) {
  const std::string shapes = values_text("four", kInt64, "1, 1, 2, 2", "dims: 4") +
                             values_text("flat", kInt64, "1, 1", "dims: 2") +
                             "node { op_type: 'Reshape' input: 'q' input: 'four' output: 'i' }";
  const std::string flat = "node { op_type: 'Reshape' input: 'r' input: 'flat' output: 'f' }";
  for (const std::string pool : {"QLinearGlobalAveragePool", "QLinearAveragePool"}) {
    std::string node = quantized_node(pool, {"i", "s", "z", "rs", "rz"},
                                      "attribute { name: 'kernel_shape' type: INTS ints: [2, 2] }");
    std::string graph = around(shapes + node + flat, "1");
    graph.replace(graph.find("input: 'r' input: 'rs'"), 10, "input: 'f'");
    EXPECT_THAT(of_row(graph, {1, 2, 4, -1}), ElementsAre(1.5)) << pool;
  }
  EXPECT_THAT(
      error_of(around(quantized_node("QLinearAveragePool", {"q", "s", "z", "rs", "rz"},
                                     "attribute { name: 'channels_last' type: INT i: 1 }"))),
      HasSubstr("has channels_last"));
}

// Two columns of four weights; their scales are 0.5 and 2, their zero points 0 and 1.
const std::string kMatrix = values_text("w", kInt8, "1, 1, 2, 0, 0, 3, 0, -1", "dims: [4, 2]") +
                            values_text("ws", kFloat, "0.5, 2", "dims: 2") +
                            values_text("wz", kInt8, "0, 1", "dims: 2");

TEST(OnnxQuantizedTest, ADenseLayerOfIntegers) {
  // (1, 2, 3, 4) * ((0.5, 0), (1, -2), (0, 4), (0, -4)) + bias (4 * 0.25, -1 * 1)
  const std::string bias = values_text("b", kInt32, "4, -1", "dims: 2");
  EXPECT_THAT(
      of_row(around(kMatrix + bias +
                        quantized_node("QGemm", {"q", "s", "z", "w", "ws", "wz", "b", "rs", "rz"}),
                    "2"),
             {1, 2, 3, 4}),
      ElementsAre(3.5, -2.5));  // -9 is below the least
  // The same as floats: without a scale of the result.
  std::string graph =
      around(kMatrix + bias + quantized_node("QGemm", {"q", "s", "z", "w", "ws", "wz", "b"}), "2");
  graph.replace(graph.find("op_type: 'DequantizeLinear' input: 'r' input: 'rs' input: 'rz'"), 63,
                "op_type: 'Identity' input: 'r'");
  EXPECT_THAT(of_row(graph, {1, 2, 3, 4}), ElementsAre(3.5, -9));
}

TEST(OnnxQuantizedTest, RowsOfTheLeftMatrixMayHaveZeroPoints) {
  // ((5, 6), (7, 8)) minus 1 and 2 by row, times ((1, 0), (0, 2))
  const std::string graph =
      tensor_text("input", "x", {"batch", "4"}) + tensor_text("output", "y", {"batch", "4"}) +
      values_text("a", kUint8, "5, 6, 7, 8", "dims: [2, 2]") +
      values_text("b", kInt8, "1, 0, 0, 2", "dims: [2, 2]") +
      values_text("az", kUint8, "1, 2", "dims: 2") + values_text("to", kInt64, "1, 4", "dims: 2") +
      quantized_node("MatMulInteger", {"a", "b", "az"}, "", "") +
      "node { op_type: 'Cast' input: 'r' output: 'f' attribute { name: 'to' type: INT i: 1 } }"
      "node { op_type: 'Reshape' input: 'f' input: 'to' output: 'row' }"
      "node { op_type: 'Add' input: 'x' input: 'row' output: 'y' }";
  EXPECT_THAT(of_row(graph, {0, 0, 0, 0.5}), ElementsAre(4, 10, 5, 12.5));
}

TEST(OnnxQuantizedTest, ProductsOfIntegersAsFloats) {
  const std::string ends =
      tensor_text("input", "x", {"batch", "4"}) + tensor_text("output", "r", {"batch", "2"});
  const std::string bias = values_text("b", kFloat, "1, 100", "dims: 2");
  EXPECT_THAT(
      of_row(ends + kMatrix + bias + values_text("s", kFloat, "0.5") +
                 values_text("z", kUint8, "3") +
                 "node { op_type: 'QuantizeLinear' input: 'x' input: 's' input: 'z' output: 'q' }" +
                 quantized_node("MatMulIntegerToFloat", {"q", "w", "s", "ws", "z", "wz", "b"}),
             {1, 2, 3, 4}),
      ElementsAre(3.5, 92));
  // The scale is (255 - 0) / 255 = 1.
  EXPECT_THAT(of_row(ends + kMatrix + bias +
                         quantized_node("DynamicQuantizeMatMul", {"x", "w", "ws", "wz", "b"}),
                     {1, 2, 3, 255}),
              ElementsAre(3.5, -4 + 12 - 1020 + 100));
}

TEST(OnnxQuantizedTest, AQuantizedLstmIsThatOfItsWeights) {
  const std::string weights = values_text("w", kInt8, "2, 4, 0, 8", "dims: [1, 1, 4]") +
                              values_text("u", kInt8, "0, 0, 0, 0", "dims: [1, 1, 4]") +
                              values_text("ws", kFloat, "0.25", "dims: 1") +
                              values_text("wz", kInt8, "0", "dims: 1") +
                              values_text("flat", kInt64, "4, 1, 1", "dims: 3") +
                              values_text("back", kInt64, "1, 1", "dims: 2");
  const std::string net =
      "node { op_type: 'Reshape' input: 'x' input: 'flat' output: 'steps' }"
      "node { name: 'n' domain: 'com.microsoft' op_type: 'DynamicQuantizeLSTM' input: 'steps' "
      "input: 'w' input: 'u' input: '' input: '' input: '' input: '' input: '' input: 'ws' input: "
      "'wz' input: 'ws' input: 'wz' output: '' output: 'h' "
      "attribute { name: 'hidden_size' type: INT i: 1 } }"
      "node { op_type: 'Reshape' input: 'h' input: 'back' output: 'r' }";
  // Gates i, o, f, c of x = 1 alone: sigmoid(0.5), sigmoid(1), -, tanh(2).
  const auto made = of_row(tensor_text("input", "x", {"batch", "4"}) +
                               tensor_text("output", "r", {"batch", "1"}) + weights + net,
                           {0, 0, 0, 1});
  ASSERT_EQ(made.size(), 1U);
  EXPECT_NEAR(made[0], 0.7310586 * std::tanh(0.6224593 * 0.9640276), 1e-6);
}

std::string quant_graph(const std::string& settings, const std::string& attributes) {
  return tensor_text("input", "x", {"batch", "4"}) + tensor_text("output", "r", {"batch", "4"}) +
         settings +
         quantized_node("Quant", {"x", "s", "z", "bits"}, attributes, "qonnx.custom_op.general");
}
std::string integer_attribute(const std::string& name, int value) {
  return "attribute { name: '" + name + "' type: INT i: " + std::to_string(value) + " }";
}

TEST(OnnxQuantizedTest, QonnxRoundsToFewBits) {
  const std::string settings = values_text("s", kFloat, "0.5") + values_text("z", kFloat, "0") +
                               values_text("bits", kFloat, "3");
  EXPECT_THAT(
      of_row(quant_graph(settings, integer_attribute("signed", 1) + integer_attribute("narrow", 0)),
             {0.25, 0.75, 9, -9}),
      ElementsAre(0, 1, 1.5, -2));  // halves go to even
  EXPECT_THAT(
      of_row(quant_graph(settings, integer_attribute("signed", 1) + integer_attribute("narrow", 1)),
             {0.3, 0.7, 9, -9}),
      ElementsAre(0.5, 0.5, 1.5, -1.5));
  EXPECT_THAT(
      of_row(quant_graph(settings, integer_attribute("signed", 0) + integer_attribute("narrow", 0) +
                                       "attribute { name: 'rounding_mode' type: STRING "
                                       "s: 'FLOOR' }"),
             {0.3, 0.9, 9, -9}),
      ElementsAre(0, 0.5, 3.5, 0));
  EXPECT_THAT(error_of(quant_graph(settings,
                                   "attribute { name: 'rounding_mode' type: STRING s: "
                                   "'SOMEHOW' }")),
              HasSubstr("has the rounding_mode 'SOMEHOW', which is not known"));
}

TEST(OnnxQuantizedTest, QonnxHasOneBitWithoutZero) {
  const std::string scale = values_text("s", kFloat, "0.5");
  EXPECT_THAT(
      of_row(quant_graph(scale + values_text("z", kFloat, "0") + values_text("bits", kFloat, "1"),
                         integer_attribute("signed", 1)),
             {0.1, 0, 9, -9}),
      ElementsAre(0.5, 0.5, 0.5, -0.5));
  EXPECT_THAT(of_row(tensor_text("input", "x", {"batch", "4"}) +
                         tensor_text("output", "r", {"batch", "4"}) + scale +
                         quantized_node("BipolarQuant", {"x", "s"}, "", "qonnx.custom_op.general"),
                     {0.1, 0, 9, -9}),
              ElementsAre(0.5, 0.5, 0.5, -0.5));
}

// Four boxes of height 1: x from 0 to 2, 0.5 to 2.5, 5 to 6, 5 to 6. The scores are the input.
std::string boxes_graph(const std::string& rows, const std::string& score = "0.1") {
  return tensor_text("input", "x", {"batch", "4"}) +
         "output { name: 'y' type { tensor_type { elem_type: 7 shape { dim { dim_param: 'batch' } "
         "dim { "
         "dim_param: 'n' } } } } }"
         "value_info { name: 'r' type { tensor_type { elem_type: 7 shape { dim { " +
         rows + " } dim { dim_value: 3 } } } } }" +
         values_text("boxes", kFloat, "0, 0, 1, 2, 0, 0.5, 1, 2.5, 0, 6, 1, 5, 0, 5, 1, 6",
                     "dims: [1, 4, 4]") +
         values_text("most", kInt64, "3") + values_text("overlap", kFloat, "0.5") +
         values_text("score", kFloat, score) + values_text("form", kInt64, "1, 1, 4", "dims: 3") +
         values_text("flat", kInt64, "1, -1", "dims: 2") +
         "node { op_type: 'Reshape' input: 'r' input: 'flat' output: 'y' }" +
         "node { op_type: 'Reshape' input: 'x' input: 'form' output: 'scores' }"
         "node { name: 'n' op_type: 'NonMaxSuppression' input: 'boxes' input: 'scores' input: "
         "'most' input: 'overlap' input: 'score' output: 'r' }";
}

TEST(OnnxQuantizedTest, GelusOfOnnxRuntimesOptimiser) {
  const auto gelu = [](const std::string& operation, const std::vector<std::string>& inputs) {
    return of_row(tensor_text("input", "x", {"batch", "4"}) +
                      tensor_text("output", "r", {"batch", "4"}) +
                      values_text("b", kFloat, "1, -1, 0.5, -3", "dims: 4") +
                      quantized_node(operation, inputs),
                  {-2, -0.5, 0, 3});
  };
  const auto is_near = [](const std::vector<float>& expected) {
    return ::testing::Pointwise(::testing::FloatNear(1e-6F), expected);
  };
  EXPECT_THAT(gelu("Gelu", {"x"}), is_near({-0.04550026F, -0.15426877F, 0, 2.9959503F}));
  EXPECT_THAT(gelu("FastGelu", {"x"}), is_near({-0.04540231F, -0.15428599F, 0, 2.9963626F}));
  EXPECT_THAT(gelu("QuickGelu", {"x"}), is_near({-0.06434138F, -0.14961156F, 0, 2.9819287F}));
  EXPECT_THAT(gelu("BiasGelu", {"x", "b"}), is_near({-0.15865525F, -0.1002108F, 0.34573123F, 0}));
  EXPECT_THAT(gelu("FastGelu", {"x", "b"}), is_near({-0.15880801F, -0.10042842F, 0.34571401F, 0}));
}

TEST(OnnxQuantizedTest, BoxesOfADeclaredNumber) {
  // 0 and 1 overlap by 1.5 of 2.5, 2 and 3 are equal.
  EXPECT_THAT(of_row(boxes_graph("dim_value: 3"), {0.3F, 0.6F, 0.9F, 0.9F}),
              ElementsAre(0, 0, 2, 0, 0, 1, -1, -1, -1));
  EXPECT_THAT(of_row(boxes_graph("dim_value: 1"), {0.3F, 0.6F, 0.9F, 0.95F}), ElementsAre(0, 0, 3));
  EXPECT_THAT(of_row(boxes_graph("dim_value: 4", "0.7"), {0.3F, 0.6F, 0.9F, 0.9F}),
              ElementsAre(0, 0, 2, -1, -1, -1, -1, -1, -1, -1, -1, -1));
  EXPECT_THAT(error_of(boxes_graph("dim_param: 'n'")),
              HasSubstr("finds as many boxes as the data has"));
}

TEST(OnnxQuantizedTest, RandomNumbersAreRefusedInWords) {
  const std::string error = error_of(
      tensor_text("input", "x", {"batch", "4"}) + tensor_text("output", "r", {"batch", "4"}) +
      "node { name: 'noise' op_type: 'RandomNormalLike' input: 'x' output: 'r' }");
  EXPECT_EQ(error,
            "node 'noise' (operator RandomNormalLike, opset 17) draws random numbers when the "
            "model runs\n  compiled code would draw other numbers than ONNX Runtime\n  export the "
            "model for inference (no dropout, no noise), or make the noise an input");
}

}  // namespace
}  // namespace tfaot::toolkit::engine
