// SPDX-License-Identifier: Apache-2.0
// What `tfaot validate` found -> the text and the JSON that it prints. Pure functions.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tfaot/workflow/validate_package.h"

namespace tfaot::toolkit {

// "1.2e-07"
std::string amount_text(double amount);
// "x86-64-v3, batch of 9 (stitched), row 3, [0, 2]"; empty if nothing differs.
std::string place_text(const ValidatedOutput& output);
// "are equal", "agree", "DIFFER" or "differ, do not count".
std::string outcome_text(const ValidatedOutput& output);
// A line for each output that the model's own rounding decided.
std::vector<std::string> moves_lines(const std::vector<ValidatedOutput>& outputs);
// "37 %": the largest difference as a share of what is allowed.
std::string allowed_text(const ValidatedOutput& output);
// "0.0001 of the output's largest number, plus 1e-06"
std::string tolerance_text(const Tolerance& tolerance);
// "tensorflow 2.18.1, with the model that the package was made from"
std::string reference_text(const ValidationResult& result);
// "a, b: not in scores.npz"; empty if all outputs are compared.
std::string not_compared_text(const ValidationResult& result);

// Paths as the user wrote them.
struct ValidatedPaths {
  std::string package;
  std::string model;
};
std::string validation_text(const ValidationResult& result, const ValidatedPaths& paths);
nlohmann::ordered_json validation_result_to_json(const ValidationResult& result,
                                                 const ValidatedPaths& paths);

// The lines of `tfaot info`; empty without a validation.
std::string validation_summary(const Manifest& manifest);

}  // namespace tfaot::toolkit
