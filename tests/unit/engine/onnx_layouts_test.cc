// SPDX-License-Identifier: Apache-2.0
// ONNX nets have channels first, the kernels channels last: only what comes in is transposed.
#include <gtest/gtest.h>

#include <sstream>

#include "compiler/hlo/simplify.h"
#include "compiler/hlo/weight_values.h"
#include "tests/unit/engine/onnx_models.h"
#include "tests/unit/engine/run_pass.h"

namespace tfaot::toolkit::engine {
namespace {

using testing::OnnxFile;
using testing::tensor_text;

std::string weight_text(const std::string& name, const std::vector<int>& sizes) {
  std::string text = "initializer { name: '" + name + "' data_type: 1";
  for (const int size : sizes) text += " dims: " + std::to_string(size);
  return text + " }\n";
}

std::string node_text(const std::string& type, const std::string& inputs, const std::string& output,
                      const std::string& attributes = "") {
  std::string text = "node { op_type: '" + type + "' output: '" + output + "'";
  std::stringstream names(inputs);
  for (std::string name; names >> name;) text += " input: '" + name + "'";
  return text + " " + attributes + " }\n";
}

std::string numbers_text(const std::string& name, const std::string& numbers) {
  return "attribute { name: '" + name + "' type: INTS ints: [" + numbers + "] }";
}

// What transposes move, in bytes, of other values than weights.
std::int64_t bytes_transposed(const OnnxFile& file, std::int64_t batch = 2) {
  auto source = file.load();
  if (!source) {
    ADD_FAILURE() << source.error().text();
    return -1;
  }
  const auto lowering = (*source)->lowering({});
  EXPECT_TRUE(lowering) << lowering.error().text();
  const auto lowered = (*lowering)->lower(batch);
  EXPECT_TRUE(lowered) << lowered.error().text();
  const auto module = make_module(lowered->computation.proto());
  EXPECT_TRUE(module);
  EXPECT_TRUE(simplify(**module));
  EXPECT_TRUE(testing::run_pass("settle_layouts", **module, 1));
  const WeightValues values(**module, 1);
  std::int64_t bytes = 0;
  for (const auto* one : (*module)->entry_computation()->instructions()) {
    const bool is_moved = one->opcode() == xla::HloOpcode::kTranspose && !values.is_known(one);
    if (is_moved) bytes += xla::ShapeUtil::ByteSizeOf(one->shape());
  }
  return bytes;
}

// XLA's own layout of a transpose's result is the one in which nothing moves.
TEST(OnnxLayouts, OutputsAreRowMajorAfterATranspose) {
  const OnnxFile file(tensor_text("input", "x", {"batch", "3", "4"}) +
                      tensor_text("output", "y", {"batch", "4", "3"}) +
                      node_text("Transpose", "x", "y", numbers_text("perm", "0, 2, 1")));
  auto source = file.load();
  ASSERT_TRUE(source) << source.error().text();
  const auto lowering = (*source)->lowering({});
  ASSERT_TRUE(lowering) << lowering.error().text();
  const auto lowered = (*lowering)->lower(2);
  ASSERT_TRUE(lowered) << lowered.error().text();
  const auto module = make_module(lowered->computation.proto());
  ASSERT_TRUE(module) << module.error().text();
  const xla::Shape& result = (*module)->entry_computation_layout().result_shape();
  EXPECT_EQ(xla::ShapeUtil::HumanStringWithLayout(result), "(f32[2,4,3]{2,1,0})");
}

TEST(OnnxLayouts, NetsWithChannelsFirstTransposeTheirInputOnly) {
  const std::string same = numbers_text("pads", "1, 1, 1, 1");
  const OnnxFile file(
      tensor_text("input", "x", {"batch", "3", "8", "8"}) +
      tensor_text("output", "y", {"batch", "5"}) + weight_text("w1", {4, 3, 3, 3}) +
      weight_text("b1", {4}) + weight_text("w2", {4, 2, 3, 3}) + weight_text("scale", {4}) +
      weight_text("shift", {4}) + weight_text("mean", {4}) + weight_text("variance", {4}) +
      weight_text("w3", {8, 5}) + node_text("Conv", "x w1 b1", "c1", same) +
      node_text("BatchNormalization", "c1 scale shift mean variance", "n1") +
      node_text("Relu", "n1", "r1") +
      node_text("MaxPool", "r1", "p1",
                numbers_text("kernel_shape", "2, 2") + numbers_text("strides", "2, 2")) +
      node_text("Conv", "p1 w2", "c2", same + "attribute { name: 'group' type: INT i: 2 }") +
      node_text("Add", "c2 p1", "s2") + node_text("Sigmoid", "s2", "g2") +
      node_text("Mul", "s2 g2", "m2") +
      node_text("AveragePool", "m2", "a2", same + numbers_text("kernel_shape", "3, 3")) +
      node_text("Concat", "a2 p1", "j2", "attribute { name: 'axis' type: INT i: 1 }") +
      node_text("InstanceNormalization", "a2 scale shift", "i2") +
      node_text("Concat", "i2 p1", "k2", "attribute { name: 'axis' type: INT i: 1 }") +
      node_text("Add", "j2 k2", "l2") + node_text("GlobalAveragePool", "l2", "q") +
      node_text("Flatten", "q", "f") + node_text("Gemm", "f w3", "y"));
  EXPECT_EQ(bytes_transposed(file), std::int64_t{2 * 3 * 8 * 8 * sizeof(float)});
}

// As PyTorch exports it.
TEST(OnnxLayouts, GroupNormalisationBetweenConvolutionsTransposesNothing) {
  const std::string same = numbers_text("pads", "1, 1, 1, 1");
  const auto sizes = [](const std::string& name, const std::string& numbers, int count) {
    return "initializer { name: '" + name + "' data_type: 7 dims: " + std::to_string(count) +
           " int64_data: [" + numbers + "] }\n";
  };
  const OnnxFile file(
      tensor_text("input", "x", {"batch", "4", "6", "5"}) +
      tensor_text("output", "y", {"batch", "3"}) + weight_text("w1", {4, 4, 3, 3}) +
      weight_text("one", {2}) + weight_text("none", {2}) + weight_text("scale", {4, 1, 1}) +
      weight_text("bias", {4, 1, 1}) + weight_text("w2", {4, 4, 3, 3}) + weight_text("w3", {4, 3}) +
      sizes("cut", "0, 2, -1", 3) + sizes("whole", "0, 4, 6, 5", 4) +
      node_text("Conv", "x w1", "c1", same) + node_text("Reshape", "c1 cut", "g1") +
      node_text("InstanceNormalization", "g1 one none", "i1") +
      node_text("Reshape", "i1 whole", "n1") + node_text("Mul", "n1 scale", "m1") +
      node_text("Add", "m1 bias", "a1") + node_text("Relu", "a1", "r1") +
      node_text("Conv", "r1 w2", "c2", same) + node_text("GlobalAveragePool", "c2", "q") +
      node_text("Flatten", "q", "f") + node_text("Gemm", "f w3", "y"));
  EXPECT_EQ(bytes_transposed(file), std::int64_t{2 * 4 * 6 * 5 * sizeof(float)});
}

// The rows of the weight move instead.
TEST(OnnxLayouts, FlatteningChannelsBeforeAProductTransposesNothing) {
  for (const bool is_transposed : {false, true}) {
    SCOPED_TRACE(is_transposed);
    const OnnxFile file(tensor_text("input", "x", {"batch", "4", "3", "5"}) +
                        tensor_text("output", "y", {"batch", "7"}) +
                        weight_text("w", is_transposed ? std::vector{7, 60} : std::vector{60, 7}) +
                        node_text("Transpose", "x", "c", numbers_text("perm", "0, 3, 1, 2")) +
                        node_text("Relu", "c", "r") + node_text("Flatten", "r", "f") +
                        node_text("Gemm", "f w", "y",
                                  std::string("attribute { name: 'transB' type: INT i: ") +
                                      (is_transposed ? "1 }" : "0 }")));
    EXPECT_EQ(bytes_transposed(file, 1), 0);
    EXPECT_EQ(bytes_transposed(file), 0);
  }
}

}  // namespace
}  // namespace tfaot::toolkit::engine
