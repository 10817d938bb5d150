// SPDX-License-Identifier: Apache-2.0
// Models of newer opsets than are known are refused, unless the config wants them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "inspect/describe_model.h"
#include "tests/unit/engine/onnx_models.h"

namespace tfaot::toolkit::engine {
namespace {

using ::testing::HasSubstr;
using testing::OnnxFile;
using testing::tensor_text;

std::string outcome_of_versions(const std::string& rest, const LoweringOptions& options = {},
                                std::int64_t ir_version = 8) {
  const OnnxFile file(tensor_text("input", "x", {"N", "4"}) +
                          tensor_text("output", "y", {"N", "4"}) +
                          "node { op_type: 'Relu' input: 'x' output: 'y' }",
                      rest);
  {
    std::ofstream more(file.path(), std::ios::binary | std::ios::app);  // the last value counts
    onnx::ModelProto format;
    format.set_ir_version(ir_version);
    more << format.SerializeAsString();
  }
  const auto source = file.load();
  if (!source) return source.error().text();
  const auto lowering = (*source)->lowering(options);
  if (!lowering) return lowering.error().text();
  const auto lowered = (*lowering)->lower(2);
  return lowered ? "lowered" : lowered.error().text();
}

TEST(OnnxVersions, OpsetsOfTheStandard) {
  EXPECT_EQ(outcome_of_versions("opset_import { version: 27 }"), "lowered");
  EXPECT_EQ(
      outcome_of_versions("opset_import { version: 28 }"),
      "the model has opset 28, and the newest that tfaot knows is 27\n"
      "  export it with an older one, or convert it with onnx.version_converter\n"
      "  to compile it as if it were of the newest known one: 'model.opset: any', or '--opset "
      "any'; then compare it by 'tfaot validate'");
  EXPECT_EQ(outcome_of_versions("opset_import { version: 28 }", {.any_opset = true}), "lowered");
}

TEST(OnnxVersions, ADescriptionSaysThatTheOpsetIsNotKnown) {
  const auto newer_opset = [](const std::string& version) {
    const OnnxFile file(tensor_text("input", "x", {"N", "4"}) +
                            tensor_text("output", "y", {"N", "4"}) +
                            "node { op_type: 'Relu' input: 'x' output: 'y' }",
                        "opset_import { version: " + version + " }");
    ModelDescription model;
    EXPECT_TRUE(describe_model(file.path(), [&](const ModelDescription& said) { model = said; }));
    EXPECT_EQ(model.signatures.at(0).problem, "");
    return model.signatures.at(0).newer_opset;
  };
  EXPECT_EQ(newer_opset("27"), "");
  EXPECT_EQ(newer_opset("99"), "the model has opset 99, and the newest that tfaot knows is 27");
}

TEST(OnnxVersions, OpsetsOfOtherDomains) {
  const std::string own = "opset_import { version: 17 } ";
  EXPECT_THAT(
      outcome_of_versions(own + "opset_import { domain: 'ai.onnx.ml' version: 6 }"),
      HasSubstr("the model has opset of ai.onnx.ml 6, and the newest that tfaot knows is 5"));
  EXPECT_EQ(outcome_of_versions(own + "opset_import { domain: 'ai.onnx.ml' version: 5 }"),
            "lowered");
  // A domain of the model's own functions.
  EXPECT_EQ(outcome_of_versions(own + "opset_import { domain: 'own' version: 99 }"), "lowered");
  EXPECT_THAT(outcome_of_versions(own + "opset_import { domain: 'ai.onnx' version: 99 }"),
              HasSubstr("the model has opset 99"));
}

TEST(OnnxVersions, OfFunctionsAndOfTheFormat) {
  EXPECT_THAT(
      outcome_of_versions("opset_import { version: 17 } functions { name: 'f' domain: 'own' "
                          "opset_import { version: 28 } }"),
      HasSubstr("the model has opset 28"));
  EXPECT_EQ(outcome_of_versions("opset_import { version: 17 }", {}, 13), "lowered");
  EXPECT_THAT(outcome_of_versions("opset_import { version: 17 }", {}, 14),
              HasSubstr("the model has IR version 14, and the newest that tfaot knows is 13"));
}

}  // namespace
}  // namespace tfaot::toolkit::engine
