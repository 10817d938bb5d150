// SPDX-License-Identifier: Apache-2.0
#include "tfaot/compile/update_weights.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tfaot::toolkit {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

CompiledModel sample() {
  CompiledModel model;
  model.signature.inputs = {{"x", DType::kFloat32, {4}}};
  model.signature.outputs = {{"y", DType::kFloat32, {2}}};
  model.variables = {{"a", "float32", {4, 8}}, {"b", "float32", {8}}};
  model.batch_sizes = {1, 4};
  model.codes.resize(2);
  model.codes[0].batch_size = 1;
  model.codes[0].hlo_sha256 = "one";
  model.codes[1].batch_size = 4;
  model.codes[1].hlo_sha256 = "four";
  model.hlo_text =
      "ENTRY computation.1 {\n"
      "  parameter.1 = f32[1,4] parameter(0)\n"
      "  ROOT tanh.2 = f32[1,4] tanh(parameter.1)\n"
      "}\n";
  return model;
}

TEST(ArchitectureDifferences, NamesOfWeightsDoNotMatter) {
  CompiledModel model = sample();
  model.variables[0].name = "dense_7/kernel";
  EXPECT_THAT(architecture_differences(sample(), model), IsEmpty());
}

TEST(ArchitectureDifferences, OfTheSignature) {
  CompiledModel model = sample();
  model.signature.inputs = {{"x", DType::kFloat64, {4}}};
  model.signature.outputs = {{"z", DType::kFloat32, {2}}};
  EXPECT_THAT(
      architecture_differences(sample(), model),
      ElementsAre("rows of input 'x' are float32 [4] in the package, float64 [4] in the "
                  "model",
                  "output 'y' is missing in the model", "output 'z' is missing in the package"));
}

TEST(ArchitectureDifferences, OfTheWeights) {
  CompiledModel model = sample();
  model.variables[0].shape = {4, 9};
  model.variables.push_back(model.variables[1]);
  model.codes[1].hlo_sha256 = "other";
  EXPECT_THAT(architecture_differences(sample(), model),
              ElementsAre("the package has 2 weights, the model 3",
                          "weight 'a' is float32 [4, 8] in the package, 'a' is float32 [4, 9] in "
                          "the model",
                          "the computation (HLO) of batch sizes 4 differs"));
}

TEST(ArchitectureDifferences, OfManyWeightsAreCut) {
  CompiledModel package = sample();
  package.variables.assign(9, package.variables[0]);
  CompiledModel model = package;
  for (Variable& variable : model.variables) variable.dtype = "float64";
  model.codes[1].hlo_sha256 = "other";
  const auto lines = architecture_differences(package, model);
  ASSERT_EQ(lines.size(), 7U);
  EXPECT_EQ(lines[5], "and 4 more weights");
  for (std::size_t i = 0; i < 3; ++i) model.variables[i] = package.variables[i];
  EXPECT_EQ(architecture_differences(package, model)[5], "and 1 more weight");
}

TEST(ArchitectureDifferences, OfTheComputation) {
  CompiledModel model = sample();
  model.codes[0].hlo_sha256 = model.codes[1].hlo_sha256 = "other";
  model.hlo_text =
      "ENTRY computation.1 {\n"
      "  parameter.1 = f32[1,4] parameter(0)\n"
      "  exponential.2 = f32[1,4] exponential(parameter.1)\n"
      "  ROOT exponential.3 = f32[1,4] exponential(exponential.2)\n"
      "}\n";
  EXPECT_THAT(
      architecture_differences(sample(), model),
      ElementsAre("the computation (HLO) of batch sizes 1, 4 differs",
                  "operations of the model: 2 exponential instead of 0, 0 tanh instead of 1",
                  "the first operation that differs:",
                  "  package: ROOT tanh.2 = f32[1,4] tanh(parameter.1)",
                  "  model:   exponential.2 = f32[1,4] exponential(parameter.1)"));
}

TEST(ArchitectureDifferences, OfConstantsAndOfOneBatchSize) {
  CompiledModel model = sample();
  model.codes[0].hlo_sha256 = "other";
  EXPECT_THAT(architecture_differences(sample(), model),
              ElementsAre("the computation (HLO) of batch sizes 1 differs",
                          "the operations are the same, but a constant inside the code differs"));
  model = sample();
  model.codes[1].hlo_sha256 = "other";
  EXPECT_THAT(architecture_differences(sample(), model),
              ElementsAre("the computation (HLO) of batch sizes 4 differs"));
}

}  // namespace
}  // namespace tfaot::toolkit
