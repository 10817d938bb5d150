// SPDX-License-Identifier: Apache-2.0
// Compares one text with what its ConfigKey says. Pure functions.
#pragma once

#include <optional>
#include <string>

#include "tfaot/config/config_keys.h"

namespace tfaot::toolkit::config {

struct TextProblem {
  std::string message;  // goes behind the key's name
  std::string note;     // what is allowed
};

std::optional<TextProblem> check_text(const ConfigKey& key, const std::string& text);

}  // namespace tfaot::toolkit::config
