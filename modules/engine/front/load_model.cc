// SPDX-License-Identifier: Apache-2.0
#include "front/load_model.h"

#include <filesystem>

#include "front/graph/graph_source.h"
#include "front/graph/model_graph.h"
#include "front/lowering/signature.h"
#include "front/onnx/onnx_source.h"
#include "front/stablehlo/stablehlo_source.h"
#include "tfaot/records/model_files.h"

namespace tfaot::toolkit::engine {
namespace {

Result<std::unique_ptr<SourceModel>> read_model(const EngineJob& job) {
  switch (job.format) {
    case ModelFormat::kOnnx:
      return load_onnx_source(job);
    case ModelFormat::kStableHlo:
      return load_stablehlo_source(job);
    case ModelFormat::kSavedModel:
    case ModelFormat::kFrozenGraph:
      break;
  }
  return load_graph_source(job);
}

}  // namespace

Result<ModelFunctions> find_functions(const std::string& source) {
  if (std::filesystem::is_directory(source)) return saved_model_functions(source);
  switch (format_of_file(source).value_or(ModelFormat::kFrozenGraph)) {
    case ModelFormat::kOnnx:
      return onnx_functions(source);
    case ModelFormat::kStableHlo:
      return stablehlo_functions(source);
    case ModelFormat::kSavedModel:
    case ModelFormat::kFrozenGraph:
      break;
  }
  return frozen_graph_functions(source);
}

Result<std::unique_ptr<SourceModel>> load_model(const EngineJob& job) {
  TFAOT_ASSIGN(auto model, read_model(job));
  TFAOT_TRY(check_signature_limits(job, *model));
  return model;
}

}  // namespace tfaot::toolkit::engine
