// SPDX-License-Identifier: Apache-2.0
// Frozen GraphDef (.pb, or .pbtxt as text) -> ModelGraph. The config names inputs and outputs.
#pragma once

#include <memory>

#include "front/graph/model_graph.h"
#include "front/lowering/source_model.h"

namespace tfaot::toolkit::engine {

Result<std::unique_ptr<ModelGraph>> load_frozen_graph(const EngineJob& job);

// One function: from the placeholders to the nodes that no other node reads.
Result<ModelFunctions> frozen_graph_functions(const std::string& file);

}  // namespace tfaot::toolkit::engine
