// SPDX-License-Identifier: Apache-2.0
// The manifest's `tuning` <-> JSON. Pure functions.
#pragma once

#include <nlohmann/json.hpp>

#include "json_reader.h"
#include "tfaot/base/result.h"
#include "tfaot/generate/generate_types.h"

namespace tfaot::toolkit {

nlohmann::ordered_json tuning_to_json(const Tuning& tuning);
Result<Tuning> read_tuning(const JsonReader& json);
// Refuses costs of what the package does not hold, or twice. `json` is the manifest.
Status check_tuning(const JsonReader& json, const Manifest& manifest);

}  // namespace tfaot::toolkit
