// SPDX-License-Identifier: Apache-2.0
// Errors that the config is to blame for, not the model: they name its key ("model.outputs[0]")
// instead of a file, and compile finds the line. Pure functions.
#pragma once

#include <string>
#include <utility>

#include "tfaot/base/result.h"

namespace tfaot::toolkit::engine {

inline constexpr const char* kConfigPlace = "config:";

inline Error config_fault(const std::string& key, std::string message) {
  return Error::at({kConfigPlace + key}, std::move(message));
}

// Empty for all other errors.
inline std::string config_key_of(const Error& error) {
  const std::string place = kConfigPlace;
  const std::string& file = error.where().file;
  return file.starts_with(place) ? file.substr(place.size()) : "";
}

}  // namespace tfaot::toolkit::engine
