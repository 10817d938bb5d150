// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "pages/pages.h"

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

TEST(ValidationPage, NamesOutputsThatAreNotCompared) {
  const ValidationResult part = compared_with_a_file({"label"});
  EXPECT_THAT(report::text_of(validation_page(part, {})),
              HasSubstr("\n  not compared  probabilities: not in scores.npz\n"));
  EXPECT_EQ(validation_result_to_json(part, {})["not_compared"],
            nlohmann::ordered_json({"probabilities"}));
  const ValidationResult all = compared_with_a_file({"label", "probabilities"});
  EXPECT_THAT(report::text_of(validation_page(all, {})), Not(HasSubstr("not compared")));
  EXPECT_EQ(validation_result_to_json(all, {})["not_compared"], nlohmann::ordered_json::array());
}

}  // namespace
}  // namespace tfaot::toolkit
