// SPDX-License-Identifier: Apache-2.0
#include "text/validation_report.h"

#include <gmock/gmock.h>

namespace tfaot::toolkit {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

ValidationResult compared_with_a_file(const std::vector<std::string>& outputs) {
  ValidationResult result;
  result.is_saved = true;
  result.summary.reference = "scores.npz";
  result.manifest.signature.outputs = {{"label", DType::kInt64, {}},
                                       {"probabilities", DType::kFloat32, {3}}};
  for (const std::string& name : outputs) {
    result.outputs.emplace_back().output = name;
  }
  result.summary.outputs = result.outputs;
  return result;
}

TEST(ValidationReport, NamesOutputsThatAreNotCompared) {
  const ValidationResult part = compared_with_a_file({"label"});
  EXPECT_THAT(validation_text(part, {}),
              HasSubstr("\n  not compared  probabilities: not in scores.npz\n"));
  EXPECT_EQ(validation_result_to_json(part, {})["not_compared"],
            nlohmann::ordered_json({"probabilities"}));
  const ValidationResult all = compared_with_a_file({"label", "probabilities"});
  EXPECT_THAT(validation_text(all, {}), Not(HasSubstr("not compared")));
  EXPECT_EQ(validation_result_to_json(all, {})["not_compared"], nlohmann::ordered_json::array());
}

}  // namespace
}  // namespace tfaot::toolkit
