// SPDX-License-Identifier: Apache-2.0
// The values of model.constants. Pure functions.
#pragma once

#include <yaml-cpp/yaml.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tfaot/records/model_spec.h"

namespace tfaot::toolkit::config {

// "true", "-3", "0.5", "inf": as ModelConstant::values has it. Nothing if the node is no number in
// decimal digits and no truth value.
std::optional<std::string> constant_text(const YAML::Node& node);

// Of lists in lists, by their first items; empty for what is no list.
std::vector<std::int64_t> shape_of_lists(const YAML::Node& node);

// REQUIRES: the lists in `value` have the same shape, and constant_text() knows their items.
ModelConstant constant_of(const std::string& name, const YAML::Node& value);

}  // namespace tfaot::toolkit::config
