// SPDX-License-Identifier: Apache-2.0
// Operators of ai.onnx.ml around decision trees. The standard's own tests hold only two of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/unit/engine/onnx_models.h"

namespace tfaot::toolkit::engine {
namespace {

using ::testing::ElementsAre;
using ::testing::FloatNear;
using ::testing::HasSubstr;
using testing::OnnxFile;
using ::testing::Pointwise;
using testing::tensor_text;

constexpr float kMissing = std::numeric_limits<float>::quiet_NaN();

std::string feature_floats(const std::string& name, const std::string& values) {
  return "attribute { name: '" + name + "' type: FLOATS floats: [" + values + "] }";
}
std::string feature_ints(const std::string& name, const std::string& values) {
  return "attribute { name: '" + name + "' type: INTS ints: [" + values + "] }";
}
std::string feature_text(const std::string& name, const std::string& value) {
  return "attribute { name: '" + name + "' type: STRING s: '" + value + "' }";
}

struct FeatureModel {
  std::string operation;
  std::string attributes;
  std::string outputs = "output: 'y'";
};
std::string feature_graph(const FeatureModel& model) {
  return tensor_text("input", "x", {"batch", "2"}) + tensor_text("output", "y", {"batch", "2"}) +
         "node { name: 'n' domain: 'ai.onnx.ml' op_type: '" + model.operation + "' input: 'x' " +
         model.outputs + model.attributes + " }";
}

Result<std::vector<float>> feature_results(const FeatureModel& model, const xla::Literal& x) {
  const OnnxFile file(feature_graph(model),
                      "opset_import { version: 17 }"
                      "opset_import { domain: 'ai.onnx.ml' version: 3 }");
  TFAOT_ASSIGN(const auto source, file.load());
  TFAOT_ASSIGN(const auto lowering, source->lowering({}));
  std::vector<xla::Literal> inputs;
  inputs.push_back(x.Clone());
  TFAOT_ASSIGN(const auto outputs, testing::evaluate(*lowering, inputs, x.shape().dimensions(0)));
  const auto data = outputs.front().data<float>();
  return std::vector<float>(data.begin(), data.end());
}

std::vector<float> of_rows(const FeatureModel& model,
                           std::initializer_list<std::initializer_list<float>> rows) {
  const auto made = feature_results(model, xla::LiteralUtil::CreateR2<float>(rows));
  if (made) return *made;
  ADD_FAILURE() << made.error().text();
  return {};
}

std::string feature_error(const FeatureModel& model) {
  const auto made = feature_results(model, xla::LiteralUtil::CreateR2<float>({{1, 2}}));
  return made ? "no error" : made.error().text();
}

TEST(OnnxFeaturesTest, AScalerShiftsFirst) {
  EXPECT_THAT(
      of_rows({"Scaler", feature_floats("offset", "1, 2") + feature_floats("scale", "3, 4")},
              {{2, 4}, {0, 0}}),
      ElementsAre(3, 8, -3, -8));
  EXPECT_THAT(
      of_rows({"Scaler", feature_floats("offset", "1") + feature_floats("scale", "2")}, {{2, 4}}),
      ElementsAre(2, 6));
  EXPECT_THAT(feature_error({"Scaler", feature_floats("offset", "1, 2, 3")}),
              HasSubstr("node 'n' (operator ai.onnx.ml.Scaler, opset 3) has 3 values of 'offset'"));
}

TEST(OnnxFeaturesTest, ANormalizerLeavesRowsOfZeros) {
  const auto with = [](const std::string& norm) {
    return of_rows({"Normalizer", feature_text("norm", norm)}, {{3, -4}, {0, 0}});
  };
  EXPECT_THAT(with("MAX"), ElementsAre(0.75F, -1, 0, 0));
  EXPECT_THAT(with("L1"), Pointwise(FloatNear(1e-6F), {3.0F / 7, -4.0F / 7, 0.0F, 0.0F}));
  EXPECT_THAT(with("L2"), Pointwise(FloatNear(1e-6F), {0.6F, -0.8F, 0.0F, 0.0F}));
}

TEST(OnnxFeaturesTest, AnImputerFillsIn) {
  const std::string values = feature_floats("imputed_value_floats", "5, 6");
  EXPECT_THAT(of_rows({"Imputer", values + "attribute { name: 'replaced_value_float' type: FLOAT"
                                           " f: nan }"},
                      {{kMissing, 1}, {2, kMissing}}),
              ElementsAre(5, 1, 2, 6));
  EXPECT_THAT(of_rows({"Imputer", values}, {{0, 1}, {2, 0}}), ElementsAre(5, 1, 2, 6));
}

TEST(OnnxFeaturesTest, ABinarizerComparesWithItsThreshold) {
  EXPECT_THAT(
      of_rows({"Binarizer", "attribute { name: 'threshold' type: FLOAT f: 1 }"}, {{1, 1.5F}}),
      ElementsAre(0, 1));
}

TEST(OnnxFeaturesTest, ALabelEncoderFindsNumbers) {
  const std::string map = feature_floats("keys_floats", "1, nan, 1") +
                          feature_floats("values_floats", "10, 20, 30") +
                          "attribute { name: 'default_float' type: FLOAT f: -7 }";
  EXPECT_THAT(of_rows({"LabelEncoder", map}, {{1, kMissing}, {2, 3}}), ElementsAre(30, 20, -7, -7));
}

TEST(OnnxFeaturesTest, LinearModels) {
  const std::string matrix = feature_floats("coefficients", "1, 2, 3, 4");
  EXPECT_THAT(of_rows({"LinearRegressor", matrix + feature_floats("intercepts", "0.5, 0") +
                                              "attribute { name: 'targets' type: INT i: 2 }"},
                      {{1, 10}}),
              ElementsAre(21.5F, 43));
  const std::string two = feature_ints("classlabels_ints", "4, 9");
  EXPECT_THAT(of_rows({"LinearClassifier", feature_floats("coefficients", "1, 2") + two,
                       "output: 'label' output: 'y'"},
                      {{1, 10}}),
              ElementsAre(-21, 21))
      << "one score for two classes";
  EXPECT_THAT(feature_error({"LinearRegressor", matrix}),
              HasSubstr("has coefficients for 2 targets instead of 1"));
}

TEST(OnnxFeaturesTest, ASupportVectorMachine) {
  const std::string machine =
      feature_text("kernel_type", "RBF") + feature_floats("kernel_params", "0.5, 0, 0") +
      feature_floats("support_vectors", "0, 0, 1, 1") + feature_floats("coefficients", "2, -1") +
      feature_floats("rho", "3") + "attribute { name: 'n_supports' type: INT i: 2 }";
  EXPECT_THAT(of_rows({"SVMRegressor", machine}, {{1, 0}}),
              Pointwise(FloatNear(1e-6F), {3 + std::exp(-0.5F)}));
}

// Sums of squares would have no digits left for the distance.
TEST(OnnxFeaturesTest, DistancesOfFeaturesFarFromZero) {
  const std::string machine = feature_text("kernel_type", "RBF") +
                              feature_floats("kernel_params", "0.5, 0, 0") +
                              feature_floats("support_vectors", "5000, 5000, 5001, 5001") +
                              feature_floats("coefficients", "2, -1") + feature_floats("rho", "3") +
                              "attribute { name: 'n_supports' type: INT i: 2 }";
  EXPECT_THAT(of_rows({"SVMRegressor", machine}, {{5001, 5000}}),
              Pointwise(FloatNear(1e-6F), {3 + std::exp(-0.5F)}));
}

// The same where the first vector is far away from the others.
TEST(OnnxFeaturesTest, DistancesOfVectorsFarFromEachOther) {
  const std::string machine =
      feature_text("kernel_type", "RBF") + feature_floats("kernel_params", "0.5, 0, 0") +
      feature_floats("support_vectors", "0, 0, 5000, 5000, 5001, 5001") +
      feature_floats("coefficients", "7, 2, -1") + feature_floats("rho", "3") +
      "attribute { name: 'n_supports' type: INT i: 3 }";
  EXPECT_THAT(of_rows({"SVMRegressor", machine}, {{5001, 5000}}),
              Pointwise(FloatNear(1e-6F), {3 + std::exp(-0.5F)}));
}

// Three classes with one support vector each.
struct PairMachine {
  std::string vectors_per_class = "1, 1, 1";
  std::string coefficients = "1, -2, -3, 4, 5, -6";
  std::string rho = "0.5, 0, -1";
  std::string rest = "";
};
std::string pair_machine(const PairMachine& machine) {
  return feature_text("kernel_type", "LINEAR") + feature_ints("classlabels_ints", "4, 9, 2") +
         feature_floats("support_vectors", "1, 0, 0, 1, -1, -1") +
         feature_ints("vectors_per_class", machine.vectors_per_class) +
         feature_floats("coefficients", machine.coefficients) + feature_floats("rho", machine.rho) +
         machine.rest;
}

TEST(OnnxFeaturesTest, ASupportVectorClassifierComparesPairsOfClasses) {
  const std::string outputs = "output: 'label' output: 'y'";
  const std::initializer_list<std::initializer_list<float>> rows = {{1, 2}, {0, 0.1F}};
  EXPECT_THAT(of_rows({"SVMClassifier", pair_machine({}), outputs}, rows),
              Pointwise(FloatNear(1e-6F), {-2.5F, 13.0F, 27.0F, 0.3F, 0.3F, 0.1F}));
  // The class that most pairs choose, not the one with the largest score.
  const std::string as_numbers = pair_machine({}) +
                                 "} node { op_type: 'Cast' input: 'label' output: 'y' "
                                 "attribute { name: 'to' type: INT i: 1 }";
  EXPECT_THAT(of_rows({"SVMClassifier", as_numbers, "output: 'label' output: 'scores'"}, rows),
              ElementsAre(9, 4));
  // As ONNX Runtime.
  const std::string probabilities =
      pair_machine({.rest = feature_floats("prob_a", "-1, -0.5, -0.25") +
                            feature_floats("prob_b", "0, 0.1, 0.2")});
  EXPECT_THAT(of_rows({"SVMClassifier", probabilities, outputs}, rows),
              Pointwise(FloatNear(1e-5F),
                        {0.0753645F, 0.9239078F, 0.0007278F, 0.3704788F, 0.2834910F, 0.3460302F}));
}

TEST(OnnxFeaturesTest, ASupportVectorClassifierOfTwoClasses) {
  const std::string machine =
      feature_ints("classlabels_ints", "4, 9") + feature_floats("support_vectors", "1, 0, 0, 1") +
      feature_ints("vectors_per_class", "1, 1") + feature_floats("coefficients", "1, -2") +
      feature_floats("rho", "0.5");
  const std::string outputs = "output: 'label' output: 'y'";
  EXPECT_THAT(of_rows({"SVMClassifier", machine, outputs}, {{1, 2}}), ElementsAre(2.5F, -2.5F));
  const std::string linear = feature_ints("classlabels_ints", "4, 9") +
                             feature_floats("coefficients", "1, -2, 3, 4") +
                             feature_floats("rho", "0.5");
  EXPECT_THAT(of_rows({"SVMClassifier", linear, outputs}, {{1, 2}}), ElementsAre(-2.5F, 11.5F))
      << "no support vectors";
}

TEST(OnnxFeaturesTest, ErrorsOfSupportVectorClassifiers) {
  const auto error = [](const PairMachine& machine) {
    return feature_error({"SVMClassifier", pair_machine(machine), "output: 'label' output: 'y'"});
  };
  const std::string who = "node 'n' (operator ai.onnx.ml.SVMClassifier, opset 3) ";
  EXPECT_EQ(error({.vectors_per_class = "3"}), who + "has 1 vectors_per_class for 3 classes");
  EXPECT_EQ(error({.vectors_per_class = "1, 1, 0"}),
            who + "has 3 support vectors, but classes for 2");
  EXPECT_EQ(error({.vectors_per_class = "1, -1, 3"}),
            who + "has -1 vectors of one class, but 2 are left");
  EXPECT_EQ(error({.coefficients = "1, 2, 3"}),
            who + "has 3 coefficients for 3 support vectors of 3 classes");
  EXPECT_EQ(error({.rho = "1"}), who + "has 1 values of 'rho' for 3 pairs of classes");
}

}  // namespace
}  // namespace tfaot::toolkit::engine
