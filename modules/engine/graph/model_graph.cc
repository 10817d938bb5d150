// SPDX-License-Identifier: Apache-2.0
#include "graph/model_graph.h"

#include <filesystem>

#include "graph/frozen_graph.h"
#include "graph/saved_model_graph.h"

namespace tfaot::toolkit::engine {

Result<ModelFunctions> find_functions(const std::string& source) {
  const bool is_saved_model = std::filesystem::is_directory(source);
  return is_saved_model ? saved_model_functions(source) : frozen_graph_functions(source);
}

Result<std::unique_ptr<ModelGraph>> ModelGraph::load(const EngineJob& job) {
  return job.format == ModelFormat::kFrozenGraph ? load_frozen_graph(job) : load_saved_model(job);
}

}  // namespace tfaot::toolkit::engine
