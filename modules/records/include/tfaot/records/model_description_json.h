// SPDX-License-Identifier: Apache-2.0
// ModelDescription <-> a line of JSON, {"model": {...}}. Both ends come from one build. Pure
// functions.
#pragma once

#include <optional>
#include <string>

#include "tfaot/records/model_description.h"

namespace tfaot::toolkit {

// Ends with a newline.
std::string model_description_to_json(const ModelDescription& model);
// Nothing if the line is not such an object.
std::optional<ModelDescription> model_description_from_json(const std::string& line);

}  // namespace tfaot::toolkit
