// SPDX-License-Identifier: Apache-2.0
// Frozen GraphDef (.pb, or .pbtxt as text) -> ModelGraph. The config names inputs and outputs.
#pragma once

#include <memory>

#include "graph/model_graph.h"

namespace tfaot::toolkit::engine {

Result<std::unique_ptr<ModelGraph>> load_frozen_graph(const EngineJob& job);

}  // namespace tfaot::toolkit::engine
