// SPDX-License-Identifier: Apache-2.0
// Reads a model of any format by the folder of that format.
#pragma once

#include <memory>
#include <string>

#include "front/lowering/source_model.h"

namespace tfaot::toolkit::engine {

// Finds the functions in a folder or file of any format.
Result<ModelFunctions> find_functions(const std::string& source);

// Loads the model of the job. Errors name the folder or file and say what it contains.
Result<std::unique_ptr<SourceModel>> load_model(const EngineJob& job);

}  // namespace tfaot::toolkit::engine
