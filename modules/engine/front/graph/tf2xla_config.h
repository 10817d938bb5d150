// SPDX-License-Identifier: Apache-2.0
// tfaot-engine --tf2xla-config FILE: reads the text proto that tfcompile takes as --config and
// prints its contents as JSON (tf2xla_config_json.h). Compiles nothing.
#pragma once

#include <string>

#include "tfaot/base/result.h"

namespace tfaot::toolkit::engine {

// One line of JSON.
Result<std::string> tf2xla_config_json(const std::string& file);

}  // namespace tfaot::toolkit::engine
