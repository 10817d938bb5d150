// SPDX-License-Identifier: Apache-2.0
// Errors for which the config is to blame, not the model. They name a key of the config
// ("model.outputs[0]"); the room compile finds its line. Pure functions.
#pragma once

#include <string>
#include <utility>

#include "tfaot/base/result.h"

namespace tfaot::toolkit::engine {

inline Error config_fault(const std::string& key, std::string message) {
  return Error::at({.file = "", .key = key}, std::move(message));
}

}  // namespace tfaot::toolkit::engine
