// SPDX-License-Identifier: Apache-2.0
// Tf2xlaConfig <-> a line of JSON, {"config": {...}}. Both ends are of one build. Pure functions.
#pragma once

#include <optional>
#include <string>

#include "tfaot/records/tf2xla_config.h"

namespace tfaot::toolkit {

// With a line end.
std::string tf2xla_config_to_json(const Tf2xlaConfig& config);
// Nothing when the line is no such object.
std::optional<Tf2xlaConfig> tf2xla_config_from_json(const std::string& line);

}  // namespace tfaot::toolkit
