// SPDX-License-Identifier: Apache-2.0
// Errors caused by the config, not by the model. They name a key of the config
// ("model.outputs[0]"); the compile room finds its line. Pure functions.
#pragma once

#include <string>
#include <utility>

#include "tfaot/base/result.h"

namespace tfaot::toolkit::engine {

inline Error config_fault(const std::string& key, std::string message) {
  return Error::at({.file = "", .key = key}, std::move(message));
}

}  // namespace tfaot::toolkit::engine
