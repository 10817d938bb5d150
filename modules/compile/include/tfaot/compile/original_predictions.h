// SPDX-License-Identifier: Apache-2.0
// What TensorFlow itself predicts with a model: the engine runs it in TensorFlow's session. Never
// links TensorFlow.
#pragma once

#include <chrono>
#include <vector>

#include "tfaot/compile/compile.h"
#include "tfaot/records/engine_job.h"

namespace tfaot::toolkit {

struct PredictionsRequest {
  std::vector<Path> folders;       // with inputs, where the outputs go: EngineJob::predictions
  std::chrono::seconds limit{10};  // EngineJob::prediction_seconds
};

// One engine loads the model once. The result has the model's signature, and a refusal for each
// folder. Error: what compile_model() refuses, too. REQUIRES: as compile_model().
Result<EngineResult> original_predictions(FileSystem& fs, const ModelSpec& spec,
                                          const PredictionsRequest& request,
                                          const CompileOptions& options, Diagnostics& diagnostics);

}  // namespace tfaot::toolkit
