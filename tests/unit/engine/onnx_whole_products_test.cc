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

// The types of ONNX's enum.
constexpr int kFloat = 1, kUint8 = 2, kInt8 = 3, kInt32 = 6;

template <typename T>
std::string tensor(const std::string& name, int type, const std::vector<T>& values,
                   const std::vector<int>& sizes) {
  return fmt::format("initializer {{ name: '{}' data_type: {} dims: [{}] {}: [{}] }}\n", name, type,
                     fmt::join(sizes, ", "), type == kFloat ? "float_data" : "int32_data",
                     fmt::join(values, ", "));
}

std::string op(const std::string& type, const std::string& inputs, const std::string& output,
               const std::string& more = "") {
  const bool is_microsoft = type == "QGemm";
  return fmt::format("node {{ op_type: '{}' domain: '{}' input: [{}] output: '{}' {} }}\n", type,
                     is_microsoft ? "com.microsoft" : "", inputs, output, more);
}

constexpr int kDepth = 6, kColumns = 5;
constexpr float kScale = 0.5F, kResultScale = 0.75F;
const std::vector<float> kWeightScales = {0.5F, 0.25F, 0.1F, 0.3F, 0.125F};
const std::vector<int> kBias = {4, -100, 30, 0, -7};

std::vector<int> whole_numbers(int count, int step, int most) {
  std::vector<int> numbers;
  for (int i = 0; i < count; ++i) numbers.push_back(i * step % (2 * most + 1) - most);
  return numbers;
}

// A type of activations, and the zero points of x and of the result.
struct Activations {
  const char* name;
  int type, zero, result_zero, least, most;
};
constexpr Activations kUnsigned{"u8", kUint8, 100, 10, 0, 255};
constexpr Activations kSigned{"s8", kInt8, -20, -100, -128, 127};

// From x to the real numbers of q, and from the bytes r to y.
std::string around(const Activations& a, const std::vector<std::string>& sizes,
                   const std::vector<std::string>& result_sizes, const std::string& nodes) {
  return tensor_text("input", "x", sizes) + tensor_text("output", "y", result_sizes) +
         tensor<float>("s", kFloat, {kScale}, {}) + tensor<int>("z", a.type, {a.zero}, {}) +
         tensor<float>("rs", kFloat, {kResultScale}, {}) +
         tensor<int>("rz", a.type, {a.result_zero}, {}) + tensor<float>("one", kFloat, {1}, {}) +
         tensor<int>("nought", a.type, {0}, {}) + op("QuantizeLinear", "'x', 's', 'z'", "q") +
         nodes + op("DequantizeLinear", "'r', 'one', 'nought'", "y");
}

const std::string kAxis0 = "attribute { name: 'axis' type: INT i: 0 }";
const std::string kAxis1 = "attribute { name: 'axis' type: INT i: 1 }";

// Weights of int8, a zero point of 0 for each column, and a bias of int32 in steps of the product.
std::string weights(const std::vector<int>& numbers, const std::vector<int>& sizes,
                    const std::string& axis) {
  std::vector<float> steps;
  for (const float scale : kWeightScales) steps.push_back(kScale * scale);
  const std::vector<int> zeros(kColumns, 0);
  return tensor("w", kInt8, numbers, sizes) + tensor("ws", kFloat, kWeightScales, {kColumns}) +
         tensor("wz", kInt8, zeros, {kColumns}) + tensor("b", kInt32, kBias, {kColumns}) +
         tensor("bs", kFloat, steps, {kColumns}) + tensor("bz", kInt32, zeros, {kColumns}) +
         op("DequantizeLinear", "'q', 's', 'z'", "xf") +
         op("DequantizeLinear", "'w', 'ws', 'wz'", "wf", axis) +
         op("DequantizeLinear", "'b', 'bs', 'bz'", "bf", kAxis0);
}

const std::string kQuantize = op("QuantizeLinear", "'real', 'rs', 'rz'", "r");
const std::string kTransposed = "attribute { name: 'transB' type: INT i: 1 }";

// The quantised number for a sum of whole numbers.
float quantised(const Activations& a, int sum, std::size_t column, bool relu) {
  const float scale = kScale * kWeightScales[column] / kResultScale;
  const float step = std::nearbyint(static_cast<float>(sum + kBias[column]) * scale);
  const int least = relu ? a.result_zero : a.least;
  return static_cast<float>(std::clamp(static_cast<int>(step) + a.result_zero, least, a.most));
}

int steps_of(const Activations& a, double x) {
  const int byte = static_cast<int>(std::nearbyint(x / kScale)) + a.zero;
  return std::clamp(byte, a.least, a.most) - a.zero;
}

// The result by the kernel, which is the only product left.
std::vector<double> computed(const std::string& graph, const std::vector<double>& x,
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
  for (std::size_t i = 0; i < kRows * kDepth; ++i) x.push_back(60 * std::sin(1.7 * i + 0.3));
  const std::vector<int> matrix = whole_numbers(kDepth * kColumns, 37, 127);
  std::vector<int> turned;
  for (int j = 0; j < kColumns; ++j) {
    for (int l = 0; l < kDepth; ++l) turned.push_back(matrix[l * kColumns + j]);
  }
  const std::string given = weights(matrix, {kDepth, kColumns}, kAxis1);
  const std::string given_turned = weights(turned, {kColumns, kDepth}, kAxis0);
  const std::string product =
      op("MatMul", "'xf', 'wf'", "m") + op("Add", "'m', 'bf'", "real") + kQuantize;
  const std::string with_relu = op("MatMul", "'xf', 'wf'", "m") + op("Add", "'m', 'bf'", "a") +
                                op("Relu", "'a'", "real") + kQuantize;
  const std::string quantised_inputs = "'q', 's', 'z', 'w', 'ws', 'wz', 'b', 'rs', 'rz'";
  for (const Activations& a : {kUnsigned, kSigned}) {
    for (const auto& [nodes, relu] :
         {std::pair{given + product, false},
          {given + with_relu, true},
          {given + op("Gemm", "'xf', 'wf', 'bf'", "real") + kQuantize, false},
          {given_turned + op("Gemm", "'xf', 'wf', 'bf'", "real", kTransposed) + kQuantize, false},
          {given + op("QGemm", quantised_inputs, "r"), false},
          {given_turned + op("QGemm", quantised_inputs, "r", kTransposed), false}}) {
      std::vector<double> expected;
      for (std::size_t row = 0; row < kRows; ++row) {
        for (std::size_t j = 0; j < kColumns; ++j) {
          int sum = 0;
          for (std::size_t l = 0; l < kDepth; ++l) {
            sum += steps_of(a, x[row * kDepth + l]) * matrix[l * kColumns + j];
          }
          expected.push_back(quantised(a, sum, j, relu));
        }
      }
      const auto sizes = [](int columns) {
        return std::vector<std::string>{"batch", std::to_string(columns)};
      };
      EXPECT_THAT(computed(around(a, sizes(kDepth), sizes(kColumns), nodes), x, kRows),
                  ElementsAreArray(expected))
          << a.name << nodes;
    }
  }
}

TEST(OnnxWholeProducts, ConvolutionsHaveTheBytesOfOnnxRuntime) {
  constexpr int kChannels = 2, kSize = 4, kTaps = 3;
  constexpr int kPoints = kSize * kSize;
  std::vector<double> x;
  for (int i = 0; i < kChannels * kPoints; ++i) x.push_back(60 * std::sin(1.7 * i + 0.3));
  const std::vector<int> filter = whole_numbers(kColumns * kChannels * kTaps * kTaps, 37, 127);
  const std::string given = weights(filter, {kColumns, kChannels, kTaps, kTaps}, kAxis0);
  const std::string pads = "attribute { name: 'pads' type: INTS ints: [1, 1, 1, 1] }";
  for (const Activations& a : {kUnsigned, kSigned}) {
    std::vector<double> expected;
    for (int j = 0; j < kColumns; ++j) {
      for (int point = 0; point < kPoints; ++point) {
        int sum = 0;
        for (int tap = 0; tap < kChannels * kTaps * kTaps; ++tap) {
          const int channel = tap / (kTaps * kTaps);
          const int row = point / kSize + tap / kTaps % kTaps - 1;
          const int column = point % kSize + tap % kTaps - 1;
          if (row < 0 || row >= kSize || column < 0 || column >= kSize) continue;
          sum += steps_of(a, x[channel * kPoints + row * kSize + column]) *
                 filter[j * kChannels * kTaps * kTaps + tap];
        }
        expected.push_back(quantised(a, sum, static_cast<std::size_t>(j), false));
      }
    }
    for (const std::string& nodes :
         {given + op("Conv", "'xf', 'wf', 'bf'", "real", pads) + kQuantize,
          given +
              op("QLinearConv", "'q', 's', 'z', 'w', 'ws', 'wz', 'rs', 'rz', 'b'", "r", pads)}) {
      EXPECT_THAT(
          computed(around(a, {"batch", "2", "4", "4"}, {"batch", "5", "4", "4"}, nodes), x, 1),
          ElementsAreArray(expected))
          << a.name << nodes;
    }
  }
}

// It has no bias.
TEST(OnnxWholeProducts, QLinearMatMulHasTheBytesOfOnnxRuntime) {
  const Activations a = kUnsigned;
  const std::vector<int> matrix = whole_numbers(kDepth * kColumns, 37, 127);
  const std::string given = weights(matrix, {kDepth, kColumns}, kAxis1);
  const std::vector<double> x = {10, -20, 30, 7.75, 0.25, -0.25};
  const std::string nodes =
      given + op("QLinearMatMul", "'q', 's', 'z', 'w', 'ws', 'wz', 'rs', 'rz'", "r");
  std::vector<double> expected;
  for (std::size_t j = 0; j < kColumns; ++j) {
    int sum = -kBias[j];
    for (std::size_t l = 0; l < kDepth; ++l) sum += steps_of(a, x[l]) * matrix[l * kColumns + j];
    expected.push_back(quantised(a, sum, j, false));
  }
  EXPECT_THAT(computed(around(a, {"batch", "6"}, {"batch", "5"}, nodes), x, 1),
              ElementsAreArray(expected));
}

}  // namespace
}  // namespace tfaot::toolkit::engine
