// SPDX-License-Identifier: Apache-2.0
// Quantised products and convolutions of ONNX are one kernel call, and have the bytes of ONNX
// Runtime: sums are exact, are scaled once in float32, and are rounded to nearest, ties to even.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "tests/unit/engine/onnx_models.h"
#include "tests/unit/engine/run_kernels.h"
#include "tests/unit/engine/run_pass.h"

namespace tfaot::toolkit::engine {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using testing::OnnxFile;
using testing::tensor_text;

template <typename T>
std::string stored_tensor(const std::string& name, int type, const std::vector<T>& values,
                          const std::vector<int>& sizes) {
  return fmt::format("initializer {{ name: '{}' data_type: {} dims: [{}] {}: [{}] }}\n", name, type,
                     fmt::join(sizes, ", "),
                     type == onnx::TensorProto::FLOAT ? "float_data" : "int32_data",
                     fmt::join(values, ", "));
}

std::string layer_node(const std::string& type, const std::string& inputs,
                       const std::string& output, const std::string& more = "") {
  const bool is_microsoft = type == "QGemm";
  return fmt::format("node {{ op_type: '{}' domain: '{}' input: [{}] output: '{}' {} }}\n", type,
                     is_microsoft ? "com.microsoft" : "", inputs, output, more);
}

constexpr int kLayerDepth = 6, kLayerColumns = 5;
constexpr float kInputScale = 0.5F, kResultScale = 0.75F;
const std::vector<float> kColumnScales = {0.5F, 0.25F, 0.1F, 0.3F, 0.125F};
const std::vector<int> kLayerBias = {4, -100, 30, 0, -7};

std::vector<int> spread_integers(int count, int step, int most) {
  std::vector<int> numbers;
  for (int i = 0; i < count; ++i) numbers.push_back(i * step % (2 * most + 1) - most);
  return numbers;
}

// A type of activations, and the zero points of x and of the result.
struct Activations {
  const char* name;
  int type, zero, result_zero, least, most;
};
constexpr Activations kUnsignedBytes{"u8", onnx::TensorProto::UINT8, 100, 10, 0, 255};
constexpr Activations kSignedBytes{"s8", onnx::TensorProto::INT8, -20, -100, -128, 127};

// From x to the real numbers of q, and from the bytes r to y.
std::string bytes_around(const Activations& a, const std::vector<std::string>& sizes,
                         const std::vector<std::string>& result_sizes, const std::string& nodes) {
  return tensor_text("input", "x", sizes) + tensor_text("output", "y", result_sizes) +
         stored_tensor<float>("s", onnx::TensorProto::FLOAT, {kInputScale}, {}) +
         stored_tensor<int>("z", a.type, {a.zero}, {}) +
         stored_tensor<float>("rs", onnx::TensorProto::FLOAT, {kResultScale}, {}) +
         stored_tensor<int>("rz", a.type, {a.result_zero}, {}) +
         stored_tensor<float>("one", onnx::TensorProto::FLOAT, {1}, {}) +
         stored_tensor<int>("nought", a.type, {0}, {}) +
         layer_node("QuantizeLinear", "'x', 's', 'z'", "q") + nodes +
         layer_node("DequantizeLinear", "'r', 'one', 'nought'", "y");
}

const std::string kAlongRows = "attribute { name: 'axis' type: INT i: 0 }";
const std::string kAlongColumns = "attribute { name: 'axis' type: INT i: 1 }";

// Weights of int8, a zero point of 0 for each column, and a bias of int32 in steps of the product.
std::string layer_weights(const std::vector<int>& numbers, const std::vector<int>& sizes,
                          const std::string& axis) {
  std::vector<float> steps;
  for (const float scale : kColumnScales) steps.push_back(kInputScale * scale);
  const std::vector<int> zeros(kLayerColumns, 0);
  return stored_tensor("w", onnx::TensorProto::INT8, numbers, sizes) +
         stored_tensor("ws", onnx::TensorProto::FLOAT, kColumnScales, {kLayerColumns}) +
         stored_tensor("wz", onnx::TensorProto::INT8, zeros, {kLayerColumns}) +
         stored_tensor("b", onnx::TensorProto::INT32, kLayerBias, {kLayerColumns}) +
         stored_tensor("bs", onnx::TensorProto::FLOAT, steps, {kLayerColumns}) +
         stored_tensor("bz", onnx::TensorProto::INT32, zeros, {kLayerColumns}) +
         layer_node("DequantizeLinear", "'q', 's', 'z'", "xf") +
         layer_node("DequantizeLinear", "'w', 'ws', 'wz'", "wf", axis) +
         layer_node("DequantizeLinear", "'b', 'bs', 'bz'", "bf", kAlongRows);
}

const std::string kQuantizeReal = layer_node("QuantizeLinear", "'real', 'rs', 'rz'", "r");
const std::string kTransposedRight = "attribute { name: 'transB' type: INT i: 1 }";

// The quantised number for a sum of whole numbers.
float byte_of_sum(const Activations& a, int sum, std::size_t column, bool relu) {
  const float scale = kInputScale * kColumnScales[column] / kResultScale;
  const float step = std::nearbyint(static_cast<float>(sum + kLayerBias[column]) * scale);
  const int least = relu ? a.result_zero : a.least;
  return static_cast<float>(std::clamp(static_cast<int>(step) + a.result_zero, least, a.most));
}

int steps_of_real(const Activations& a, double x) {
  const int byte = static_cast<int>(std::nearbyint(x / kInputScale)) + a.zero;
  return std::clamp(byte, a.least, a.most) - a.zero;
}

// The result by the kernel, which is the only product left.
std::vector<double> bytes_computed(const std::string& graph, const std::vector<double>& x,
                                   std::int64_t rows) {
  const OnnxFile file(graph,
                      "opset_import { version: 17 } "
                      "opset_import { domain: 'com.microsoft' version: 1 }");
  const auto source = file.load();
  EXPECT_TRUE(source) << source.error().text();
  const auto lowering = (*source)->lowering({});
  EXPECT_TRUE(lowering) << lowering.error().text();
  const auto lowered = (*lowering)->lower(rows);
  EXPECT_TRUE(lowered) << lowered.error().text();
  const auto module = make_module(lowered->computation.proto());
  std::vector<std::string> numbers = {fmt::format("{}", fmt::join(x, " "))};
  for (const RawWeight& weight : (*lowering)->weights()) {
    const auto value = weight.read();
    const auto wide = (*value)->Convert(xla::F64);
    numbers.push_back(fmt::format("{}", fmt::join(wide->data<double>(), " ")));
  }
  EXPECT_TRUE(testing::run_passes("widen_whole_mean", "replace_whole_product", **module, 1));
  EXPECT_THAT(testing::called_kernels(**module), ElementsAre("low_precision_f32"));
  return testing::numbers_of(testing::result_with_kernels(**module, numbers));
}

TEST(OnnxWholeProducts, DenseLayersHaveTheBytesOfOnnxRuntime) {
  constexpr std::size_t kRows = 3;
  std::vector<double> x;
  for (std::size_t i = 0; i < kRows * kLayerDepth; ++i)
    x.push_back(60 * std::sin(1.7 * static_cast<double>(i) + 0.3));
  const std::vector<int> matrix = spread_integers(kLayerDepth * kLayerColumns, 37, 127);
  std::vector<int> turned;
  for (int j = 0; j < kLayerColumns; ++j) {
    for (int l = 0; l < kLayerDepth; ++l) turned.push_back(matrix[l * kLayerColumns + j]);
  }
  const std::string given = layer_weights(matrix, {kLayerDepth, kLayerColumns}, kAlongColumns);
  const std::string given_turned = layer_weights(turned, {kLayerColumns, kLayerDepth}, kAlongRows);
  const std::string product = layer_node("MatMul", "'xf', 'wf'", "m") +
                              layer_node("Add", "'m', 'bf'", "real") + kQuantizeReal;
  const std::string with_relu = layer_node("MatMul", "'xf', 'wf'", "m") +
                                layer_node("Add", "'m', 'bf'", "a") +
                                layer_node("Relu", "'a'", "real") + kQuantizeReal;
  const std::string quantised_inputs = "'q', 's', 'z', 'w', 'ws', 'wz', 'b', 'rs', 'rz'";
  for (const Activations& a : {kUnsignedBytes, kSignedBytes}) {
    for (const auto& [nodes, relu] :
         {std::pair{given + product, false},
          {given + with_relu, true},
          {given + layer_node("Gemm", "'xf', 'wf', 'bf'", "real") + kQuantizeReal, false},
          {given_turned + layer_node("Gemm", "'xf', 'wf', 'bf'", "real", kTransposedRight) +
               kQuantizeReal,
           false},
          {given + layer_node("QGemm", quantised_inputs, "r"), false},
          {given_turned + layer_node("QGemm", quantised_inputs, "r", kTransposedRight), false}}) {
      std::vector<double> expected;
      for (std::size_t row = 0; row < kRows; ++row) {
        for (std::size_t j = 0; j < kLayerColumns; ++j) {
          int sum = 0;
          for (std::size_t l = 0; l < kLayerDepth; ++l) {
            sum += steps_of_real(a, x[row * kLayerDepth + l]) * matrix[l * kLayerColumns + j];
          }
          expected.push_back(byte_of_sum(a, sum, j, relu));
        }
      }
      const auto sizes = [](int columns) {
        return std::vector<std::string>{"batch", std::to_string(columns)};
      };
      EXPECT_THAT(bytes_computed(bytes_around(a, sizes(kLayerDepth), sizes(kLayerColumns), nodes),
                                 x, kRows),
                  ElementsAreArray(expected))
          << a.name << nodes;
    }
  }
}

TEST(OnnxWholeProducts, ConvolutionsHaveTheBytesOfOnnxRuntime) {
  constexpr int kChannels = 2, kSize = 4, kTaps = 3;
  constexpr int kPoints = kSize * kSize;
  std::vector<double> x;
  for (int i = 0; i < kChannels * kPoints; ++i)
    x.push_back(60 * std::sin(1.7 * static_cast<double>(i) + 0.3));
  const std::vector<int> filter =
      spread_integers(kLayerColumns * kChannels * kTaps * kTaps, 37, 127);
  const std::string given =
      layer_weights(filter, {kLayerColumns, kChannels, kTaps, kTaps}, kAlongRows);
  const std::string pads = "attribute { name: 'pads' type: INTS ints: [1, 1, 1, 1] }";
  for (const Activations& a : {kUnsignedBytes, kSignedBytes}) {
    std::vector<double> expected;
    for (int j = 0; j < kLayerColumns; ++j) {
      for (int point = 0; point < kPoints; ++point) {
        int sum = 0;
        for (int tap = 0; tap < kChannels * kTaps * kTaps; ++tap) {
          const int channel = tap / (kTaps * kTaps);
          const int row = point / kSize + tap / kTaps % kTaps - 1;
          const int column = point % kSize + tap % kTaps - 1;
          if (row < 0 || row >= kSize || column < 0 || column >= kSize) continue;
          sum += steps_of_real(a, x[channel * kPoints + row * kSize + column]) *
                 filter[j * kChannels * kTaps * kTaps + tap];
        }
        expected.push_back(byte_of_sum(a, sum, static_cast<std::size_t>(j), false));
      }
    }
    for (const std::string& nodes :
         {given + layer_node("Conv", "'xf', 'wf', 'bf'", "real", pads) + kQuantizeReal,
          given + layer_node("QLinearConv", "'q', 's', 'z', 'w', 'ws', 'wz', 'rs', 'rz', 'b'", "r",
                             pads)}) {
      EXPECT_THAT(
          bytes_computed(bytes_around(a, {"batch", "2", "4", "4"}, {"batch", "5", "4", "4"}, nodes),
                         x, 1),
          ElementsAreArray(expected))
          << a.name << nodes;
    }
  }
}

// It has no bias.
TEST(OnnxWholeProducts, QLinearMatMulHasTheBytesOfOnnxRuntime) {
  const Activations a = kUnsignedBytes;
  const std::vector<int> matrix = spread_integers(kLayerDepth * kLayerColumns, 37, 127);
  const std::string given = layer_weights(matrix, {kLayerDepth, kLayerColumns}, kAlongColumns);
  const std::vector<double> x = {10, -20, 30, 7.75, 0.25, -0.25};
  const std::string nodes =
      given + layer_node("QLinearMatMul", "'q', 's', 'z', 'w', 'ws', 'wz', 'rs', 'rz'", "r");
  std::vector<double> expected;
  for (std::size_t j = 0; j < kLayerColumns; ++j) {
    int sum = -kLayerBias[j];
    for (std::size_t l = 0; l < kLayerDepth; ++l)
      sum += steps_of_real(a, x[l]) * matrix[l * kLayerColumns + j];
    expected.push_back(byte_of_sum(a, sum, j, false));
  }
  EXPECT_THAT(bytes_computed(bytes_around(a, {"batch", "6"}, {"batch", "5"}, nodes), x, 1),
              ElementsAreArray(expected));
}

}  // namespace
}  // namespace tfaot::toolkit::engine
