// SPDX-License-Identifier: Apache-2.0
// EngineCheck <-> a line of JSON, {"check": {...}}, and problems <-> errors. Both ends come from
// one build. Pure functions.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "tfaot/base/result.h"
#include "tfaot/records/model_check.h"

namespace tfaot::toolkit {

// Ends with a newline.
std::string engine_check_to_json(const EngineCheck& check);
// Nothing if the line is not such an object.
std::optional<EngineCheck> engine_check_from_json(const std::string& line);

// For people's programs, with keys in the order of the members.
nlohmann::ordered_json operations_to_json(const std::vector<CheckedOperation>& operations);
nlohmann::ordered_json problems_to_json(const std::vector<ModelProblem>& problems);

// The error and its others(). Without a topic a problem is of the kind kModel. `batch_size`: 0 if
// the problem is not of one size alone.
std::vector<ModelProblem> problems_of(const Error& error, std::int64_t batch_size);

}  // namespace tfaot::toolkit
