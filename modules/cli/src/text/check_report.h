// SPDX-License-Identifier: Apache-2.0
// What `tfaot check` found -> the text and the JSON that it prints. Pure functions.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tfaot/workflow/check_model.h"

namespace tfaot::toolkit {

// `path`: as the user wrote it.
std::string check_text(const ModelCheck& check, const std::string& path);
nlohmann::ordered_json check_to_json(const ModelCheck& check, const std::string& path);

// Of one operation: "yes" or why not, "float32, int32", "T: float32, int32".
std::string support_text(const CheckedOperation& row);
std::string used_types(const CheckedOperation& row);
std::string allowed_types(const CheckedOperation& row);
// "draws random numbers"
std::string trait_text(OperationTrait trait);
// The batch sizes that have code for a level.
std::vector<std::int64_t> sizes_made(const SignatureCheck& check, const std::string& level);

// What can be compiled of models of one format: `tfaot check --ops`.
struct KnownOperations {
  ModelFormat format = ModelFormat::kSavedModel;
  std::vector<CheckedOperation> operations;
};
std::string operations_text(const KnownOperations& known);
nlohmann::ordered_json known_operations_to_json(const KnownOperations& known);

}  // namespace tfaot::toolkit
