// SPDX-License-Identifier: Apache-2.0
// Validation <-> JSON, for manifests and for people's programs. Pure functions.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "tfaot/base/result.h"
#include "tfaot/records/free_sizes.h"
#include "tfaot/records/json_reader.h"
#include "tfaot/records/manifest.h"
#include "tfaot/records/validation.h"

namespace tfaot::toolkit {

// {"n_pf": 37}
nlohmann::ordered_json sizes_to_json(const std::vector<DimensionSize>& sizes);
nlohmann::ordered_json validation_to_json(const Validation& validation);
nlohmann::ordered_json validated_outputs_to_json(const std::vector<ValidatedOutput>& outputs);

// Error: a value that no validation of this package can have.
Result<Validation> read_validation(const JsonReader& json, const Manifest& manifest);

}  // namespace tfaot::toolkit
