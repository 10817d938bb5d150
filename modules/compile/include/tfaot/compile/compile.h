// SPDX-License-Identifier: Apache-2.0
// Runs the engine for a ModelSpec: distributes the batch sizes over child processes, waits with a
// timeout, turns crashes into Errors, merges what the children report and writes the weights
// object. Never links TensorFlow.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tfaot/base/diagnostics.h"
#include "tfaot/base/file_system.h"
#include "tfaot/base/result.h"
#include "tfaot/compile/engine_program.h"
#include "tfaot/records/compiled_model.h"
#include "tfaot/records/counted_code.h"
#include "tfaot/records/engine_job.h"
#include "tfaot/records/model_check.h"
#include "tfaot/records/model_spec.h"
#include "tfaot/records/operation_result.h"
#include "tfaot/records/remote_cache.h"

namespace tfaot::toolkit {

// Where compiled code is kept for later runs; see docs/cli.md.
struct CodeCacheOptions {
  Path folder;                          // empty: no cache
  std::uint64_t limit = 1'000'000'000;  // bytes
  RemoteCachePlace remote;              // empty: none
};

// What is done about rows that depend on each other, in spite of RowsMode::kAlone.
enum class CoupledRows {
  kRefused,
  kReported,    // in CompiledModel::coupled_rows
  kNotChecked,  // the model was compiled before, with rows that are alone
};

struct CompileOptions {
  EngineProgram engine;
  // A program and its arguments that start the engine for a job, with the engine's command line
  // after them; empty: none.
  std::vector<std::string> launcher;
  // Of all engines that it starts, in bytes, 0: any; empty: half of what their machine has.
  std::optional<std::uint64_t> launched_memory;
  Path work_directory;    // where objects are written; must exist; the caller removes it
  unsigned jobs = 1;      // engine processes at the same time, at most
  std::string makeflags;  // of make, if only as many may run as it has free slots for
  std::chrono::seconds timeout{600};  // for each engine process; 0: none
  CodeCacheOptions cache;
  CoupledRows coupled_rows = CoupledRows::kRefused;
  // Not null: it receives all that the engine finds, and work goes on after problems where it can.
  // The result is the same as without.
  EngineCheck* check = nullptr;
  // The result of each step of the compiler is written into this folder, which must exist; empty:
  // nowhere. REQUIRES then: one batch size and one CPU level.
  JobDump dump;
  // Not null: makes code that counts the ticks of its operations, and receives what the counters
  // mean. Nothing is cached.
  std::vector<CountedCode>* counted = nullptr;
  // Not null: makes code whose outputs are followed by the results of its operations, and receives
  // what these are. Nothing is cached. REQUIRES then: one batch size.
  std::vector<OperationResult>* results = nullptr;
};

// REQUIRES: spec came from load_model_spec(). The objects are in options.work_directory under the
// names in the result.
Result<CompiledModel> compile_model(FileSystem& fs, const ModelSpec& spec,
                                    const CompileOptions& options, Diagnostics& diagnostics);

// The engine's work without generating code. Otherwise like compile_model().

// The codes in the result have only batch size, level and the HLO's hash.
Result<CompiledModel> lower_model(FileSystem& fs, const ModelSpec& spec,
                                  const CompileOptions& options, Diagnostics& diagnostics);

}  // namespace tfaot::toolkit
