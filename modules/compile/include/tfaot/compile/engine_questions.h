// SPDX-License-Identifier: Apache-2.0
// Questions to the engine about models and programs, because their parsers are TensorFlow's and
// XLA's. Never links TensorFlow. Safe from many threads.
#pragma once

#include <chrono>
#include <vector>

#include "tfaot/base/file_system.h"
#include "tfaot/base/result.h"
#include "tfaot/compile/compile.h"
#include "tfaot/compile/engine_program.h"
#include "tfaot/records/engine_job.h"
#include "tfaot/records/hlo_graph.h"
#include "tfaot/records/model_check.h"
#include "tfaot/records/model_description.h"
#include "tfaot/records/model_spec.h"

namespace tfaot::toolkit {

// What a model contains, in any format. `model`: a SavedModel's folder, or the file of a frozen
// graph. Errors: it is no model, or has no signature.
Result<ModelDescription> describe_model(const FileSystem& fs, const Path& model,
                                        const EngineProgram& engine);

// The operations of models of this format, and which of them can be compiled. Sorted by name;
// without nodes.
Result<std::vector<CheckedOperation>> known_operations(const FileSystem& fs, ModelFormat format,
                                                       const EngineProgram& engine);

// Programs of XLA (HLO) as graphs with costs: a graph for each file of the question. Error: a file
// is not HLO.
Result<std::vector<HloGraph>> read_hlo(const FileSystem& fs, const HloQuestion& question,
                                       const EngineProgram& engine);

// Reads tfcompile's --config, a tensorflow.tf2xla.Config as text.
Result<Tf2xlaConfig> read_tf2xla_config(const FileSystem& fs, const Path& file,
                                        const EngineProgram& engine);

struct PredictionsRequest {
  std::vector<Path> folders;  // of PredictJob
  std::chrono::seconds limit{10};
};

// Predictions of the model in TensorFlow's session. One engine loads it once. The result has the
// model's signature, and a refusal for each folder. Error: what compile_model() refuses, too.
// REQUIRES: as compile_model().
Result<EngineResult> original_predictions(FileSystem& fs, const ModelSpec& spec,
                                          const PredictionsRequest& request,
                                          const CompileOptions& options, Diagnostics& diagnostics);

}  // namespace tfaot::toolkit
