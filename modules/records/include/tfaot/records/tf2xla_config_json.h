// SPDX-License-Identifier: Apache-2.0
// Tf2xlaConfig <-> a line of JSON, {"config": {...}}. Both ends come from one build. Pure
// functions.
#pragma once

#include <optional>
#include <string>

#include "tfaot/records/tf2xla_config.h"

namespace tfaot::toolkit {

// Ends with a newline.
std::string tf2xla_config_to_json(const Tf2xlaConfig& config);
// Nothing if the line is not such an object.
std::optional<Tf2xlaConfig> tf2xla_config_from_json(const std::string& line);

}  // namespace tfaot::toolkit
