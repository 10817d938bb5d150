// SPDX-License-Identifier: Apache-2.0
// SavedModel folder -> ModelGraph, with TensorFlow's own loader (which restores the variables).
#pragma once

#include <memory>

#include "front/graph/model_graph.h"
#include "front/lowering/source_model.h"

namespace tfaot::toolkit::engine {

Result<std::unique_ptr<ModelGraph>> load_saved_model(const EngineJob& job);

// A function for each signature, by name.
Result<ModelFunctions> saved_model_functions(const std::string& folder);

}  // namespace tfaot::toolkit::engine
