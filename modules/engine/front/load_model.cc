// SPDX-License-Identifier: Apache-2.0
#include "front/load_model.h"

#include <filesystem>

#include "graph/frozen_graph.h"
#include "graph/graph_source.h"
#include "graph/saved_model_graph.h"
#include "onnx/onnx_source.h"

namespace tfaot::toolkit::engine {

Result<ModelFunctions> find_functions(const std::string& source) {
  if (std::filesystem::is_directory(source)) return saved_model_functions(source);
  return has_onnx_name(source) ? onnx_functions(source) : frozen_graph_functions(source);
}

Result<std::unique_ptr<SourceModel>> load_model(const EngineJob& job) {
  return job.format == ModelFormat::kOnnx ? load_onnx_source(job) : load_graph_source(job);
}

}  // namespace tfaot::toolkit::engine
