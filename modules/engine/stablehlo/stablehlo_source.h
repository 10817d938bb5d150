// SPDX-License-Identifier: Apache-2.0
// Files with StableHLO as a SourceModel.
#pragma once

#include <memory>
#include <string>

#include "lowering/source_model.h"

namespace tfaot::toolkit::engine {

// The function 'main' is the one function.
Result<ModelFunctions> stablehlo_functions(const std::string& file);

Result<std::unique_ptr<SourceModel>> load_stablehlo_source(const EngineJob& job);

}  // namespace tfaot::toolkit::engine
