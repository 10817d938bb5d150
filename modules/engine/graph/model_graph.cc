// SPDX-License-Identifier: Apache-2.0
#include "graph/model_graph.h"

#include "graph/frozen_graph.h"
#include "graph/saved_model_graph.h"

namespace tfaot::toolkit::engine {

Result<std::unique_ptr<ModelGraph>> ModelGraph::load(const EngineJob& job) {
  return job.format == ModelFormat::kFrozenGraph ? load_frozen_graph(job) : load_saved_model(job);
}

}  // namespace tfaot::toolkit::engine
