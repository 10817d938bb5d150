// SPDX-License-Identifier: Apache-2.0
// Runs the engine for a ModelSpec: splits batch sizes over child processes, waits with a timeout,
// turns crashes into Errors, merges what the children report and writes the weights object. Never
// links TensorFlow.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>

#include "tfaot/base/diagnostics.h"
#include "tfaot/base/file_system.h"
#include "tfaot/base/result.h"
#include "tfaot/compile/engine_program.h"
#include "tfaot/records/compiled_model.h"
#include "tfaot/records/model_spec.h"

namespace tfaot::toolkit {

// Where compiled code is kept for the next time, see docs/cli.md.
struct CodeCacheOptions {
  Path folder;                          // empty: no cache
  std::uint64_t limit = 1'000'000'000;  // bytes
};

struct CompileOptions {
  EngineProgram engine;
  Path work_directory;  // where objects are written; must exist, is the caller's to remove
  unsigned jobs = 1;    // engine processes at the same time
  std::chrono::seconds timeout{600};  // for each engine process; 0: none
  CodeCacheOptions cache;
  // Of a frozen graph: no dimension is the batch, the inputs' row_shape is the whole shape, and so
  // is that of the outputs in the record. REQUIRES: the batch sizes are {1}.
  bool fixed_shapes = false;
  // A model in which rows of a batch depend on each other is not an error of RowsMode::kAlone;
  // CompiledModel::coupled_rows tells.
  bool allow_coupled_rows = false;
};

// REQUIRES: spec came from load_model_spec(). Objects lie in options.work_directory under the names
// in the result.
Result<CompiledModel> compile_model(FileSystem& fs, const ModelSpec& spec,
                                    const CompileOptions& options, Diagnostics& diagnostics);

}  // namespace tfaot::toolkit
