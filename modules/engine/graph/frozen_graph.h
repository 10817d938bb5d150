// SPDX-License-Identifier: Apache-2.0
// Frozen GraphDef (.pb, or .pbtxt as text) -> ModelGraph. Inputs and outputs are those the config
// names.
#pragma once

#include <memory>

#include "graph/model_graph.h"

namespace tfaot::toolkit::engine {

Result<std::unique_ptr<ModelGraph>> load_frozen_graph(const EngineJob& job);

}  // namespace tfaot::toolkit::engine
