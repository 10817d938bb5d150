// SPDX-License-Identifier: Apache-2.0
// Checks one text against its ConfigKey. Pure functions.
#pragma once

#include <optional>
#include <string>

#include "tfaot/config/config_keys.h"
#include "tfaot/records/cpp_names.h"

namespace tfaot::toolkit::config {

// The message follows the key's name; the note says what is allowed.
std::optional<TextProblem> check_text(const ConfigKey& key, const std::string& text);

}  // namespace tfaot::toolkit::config
