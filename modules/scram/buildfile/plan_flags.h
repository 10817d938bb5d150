// SPDX-License-Identifier: Apache-2.0
// What the <flags> of a product mean. Pure functions.
#pragma once

#include <string>
#include <vector>

#include "tfaot/base/result.h"
#include "tfaot/scram/buildfile_types.h"

namespace tfaot::toolkit {

// Applies the flags to `target`, except for the plugin flags; adds to `warnings`.
Status apply_flags(const std::string& file, const std::vector<BuildFlag>& flags,
                   BuildTarget& target, std::vector<std::string>& warnings);

enum class PluginFlag { kNotSaid, kNo, kYes };
Result<PluginFlag> plugin_flag(const std::string& file, const std::vector<BuildFlag>& flags);

// All values of a flag, split at spaces.
std::vector<std::string> flag_words(const std::vector<BuildFlag>& flags, const std::string& name);

}  // namespace tfaot::toolkit
