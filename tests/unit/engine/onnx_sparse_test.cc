// SPDX-License-Identifier: Apache-2.0
// Sparse initializers and constants of ONNX models: the same as dense ones.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/engine/evaluate_lowering.h"
#include "tests/unit/engine/onnx_models.h"

namespace tfaot::toolkit::engine {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::OnnxFile;
using testing::tensor_text;

// W = [[0, 2], [0, 0], [-3, 1.5]], of which `indices` are the places.
std::string sparse_text(const std::string& indices, const std::string& dims = "dims: [3, 2]") {
  return "values { name: 'W' data_type: 1 dims: 3 float_data: [2, -3, 1.5] } indices { name: "
         "'at' data_type: 7 " +
         indices + " } " + dims;
}
const std::string kLinear = "dims: 3 int64_data: [1, 4, 5]";
const std::string kTuples = "dims: [3, 2] int64_data: [0, 1, 2, 0, 2, 1]";

std::string product_with(const std::string& weight, const std::string& nodes = "") {
  return tensor_text("input", "x", {"N", "3"}) + tensor_text("output", "y", {"N", "2"}) + weight +
         nodes + "node { op_type: 'MatMul' input: 'x' input: 'W' output: 'y' }";
}

struct SparseMade {
  std::vector<std::string> weights;
  std::vector<float> values;  // for the row 1, 10, 100
  std::string error;
};
SparseMade made_of_sparse(const std::string& graph,
                          const std::string& rest = "opset_import { version: 17 }") {
  const OnnxFile file(graph, rest);
  const auto source = file.load();
  if (!source) return {{}, {}, source.error().text()};
  const auto lowering = (*source)->lowering({}).value();
  SparseMade made;
  for (const RawWeight& weight : lowering->weights()) made.weights.push_back(weight.name);
  std::vector<xla::Literal> inputs;
  inputs.push_back(xla::LiteralUtil::CreateR2<float>({{1, 10, 100}}));
  const auto outputs = testing::evaluate(*lowering, inputs, 1);
  if (!outputs) return {made.weights, {}, outputs.error().text()};
  const auto data = outputs->front().data<float>();
  made.values.assign(data.begin(), data.end());
  return made;
}

TEST(OnnxSparse, InitializersAreWeights) {
  for (const std::string& indices : {kLinear, kTuples}) {
    const SparseMade made =
        made_of_sparse(product_with("sparse_initializer { " + sparse_text(indices) + " }"));
    EXPECT_THAT(made.weights, ElementsAre("W"));
    EXPECT_THAT(made.values, ElementsAre(-300, 152));
    EXPECT_EQ(made.error, "");
  }
}

TEST(OnnxSparse, ConstantsInGraphsAndFunctions) {
  const std::string constant =
      "node { op_type: 'Constant' output: 'W' attribute { name: 'sparse_value' type: SPARSE_TENSOR "
      "sparse_tensor { " +
      sparse_text(kLinear) + " } } }";
  EXPECT_THAT(made_of_sparse(product_with("", constant)).values, ElementsAre(-300, 152));
  EXPECT_THAT(made_of_sparse(
                  tensor_text("input", "x", {"N", "3"}) + tensor_text("output", "y", {"N", "2"}) +
                      "node { op_type: 'f' domain: 'own' input: 'x' output: 'y' }",
                  "opset_import { version: 17 } opset_import { domain: 'own' version: 1 } "
                  "functions { name: 'f' domain: 'own' input: 'x' output: 'y' opset_import { "
                  "version: 17 } " +
                      constant + "node { op_type: 'MatMul' input: 'x' input: 'W' output: 'y' } }")
                  .values,
              ElementsAre(-300, 152));
}

TEST(OnnxSparse, WithoutValues) {
  const SparseMade made = made_of_sparse(product_with(
      "sparse_initializer { values { name: 'W' data_type: 1 dims: 0 } indices { data_type: 7 dims: "
      "0 } dims: [3, 2] }"));
  EXPECT_THAT(made.values, ElementsAre(0, 0));
}

TEST(OnnxSparse, WrongOnesAreRefused) {
  const auto error = [](const std::string& indices, const std::string& dims = "dims: [3, 2]") {
    return made_of_sparse(product_with("sparse_initializer { " + sparse_text(indices, dims) + " }"))
        .error;
  };
  EXPECT_THAT(error("dims: 3 int64_data: [1, 4, 6]"),
              HasSubstr("sparse tensor 'W' has no place for value 2"));
  EXPECT_THAT(error("dims: [3, 2] int64_data: [0, 1, 2, 0, 2, -1]"),
              HasSubstr("sparse tensor 'W' has no place for value 2"));
  EXPECT_THAT(error("dims: 3 int64_data: [1, 5, 4]"),
              HasSubstr("sparse tensor 'W' has value 2 out of order"));
  EXPECT_THAT(error("dims: 2 int64_data: [1, 4]"),
              HasSubstr("sparse tensor 'W' has indices of another type or shape"));
  EXPECT_THAT(error(kLinear, "dims: [1000000, 1000000]"),
              HasSubstr("sparse tensor 'W' has 3 values for 1000000000000 elements"));
}

}  // namespace
}  // namespace tfaot::toolkit::engine
