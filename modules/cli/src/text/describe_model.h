// SPDX-License-Identifier: Apache-2.0
// ModelDescription -> the text and the JSON that `tfaot info MODEL` prints. Pure functions.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "tfaot/records/model_description.h"

namespace tfaot::toolkit {

// "[?, 28, 28]", or "of unknown shape"
std::string shape_text(const DescribedTensor& tensor);
std::int64_t elements_of(const Variable& weight);
// All elements of its weights.
std::int64_t parameters_of(const DescribedSignature& signature);

std::string describe_model_text(const ModelDescription& model);
nlohmann::ordered_json model_to_json(const ModelDescription& model);

}  // namespace tfaot::toolkit
