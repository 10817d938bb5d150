// SPDX-License-Identifier: Apache-2.0
// Errors caused by the config, not by the model. They name a key of the config
// ("model.outputs[0]"); the compile room finds its line. Pure functions.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tfaot/base/result.h"
#include "tfaot/base/text.h"

namespace tfaot::toolkit::engine {

inline Error config_fault(const std::string& key, std::string message) {
  return Error::at({.file = "", .key = key}, std::move(message));
}

// "placeholders: a, b, c", for a config that names what does not exist.
inline std::string listed(const std::string& what, std::vector<std::string> names) {
  constexpr std::size_t kMostNames = 10;
  if (names.size() > kMostNames) {
    names.resize(kMostNames);
    names.emplace_back("...");
  }
  return what + ": " + (names.empty() ? "none" : join(names, ", "));
}

}  // namespace tfaot::toolkit::engine
