// SPDX-License-Identifier: Apache-2.0
// ModelDescription -> the text and the JSON that `tfaot info MODEL` prints. Pure functions.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "tfaot/records/model_description.h"

namespace tfaot::toolkit {

std::string describe_model_text(const ModelDescription& model);
nlohmann::ordered_json model_to_json(const ModelDescription& model);

}  // namespace tfaot::toolkit
