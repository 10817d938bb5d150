// SPDX-License-Identifier: Apache-2.0
// How to start the engine, and the TensorFlow that it is started with.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "tfaot/base/file_system.h"
#include "tfaot/base/memory_budget.h"
#include "tfaot/base/process.h"
#include "tfaot/base/result.h"

namespace tfaot::toolkit {

struct EngineProgram {
  Path file;  // the tfaot-engine executable
  // LD_LIBRARY_PATH of its process: where the loader looks for TensorFlow. The engine's own run
  // path does not name it. Empty: the parent's.
  std::string library_path;
  std::shared_ptr<MemoryBudget> memory;   // of all its processes on this machine; null: any
  std::chrono::seconds answer_time{600};  // for a question about a file; 0: any
};

// How to start it with `variables` in its environment, and without arguments.
ProcessSpec engine_process(const EngineProgram& engine,
                           std::map<std::string, std::string> variables);

// The error for a process that needed more than engine.memory. `who` says which.
Error over_memory(const EngineProgram& engine, const Path& model, const std::string& who);

// If the process ended because the loader did not find TensorFlow's libraries: its message, and
// what to do. Otherwise nothing.
std::optional<Error> missing_tensorflow(const FileSystem& fs, const EngineProgram& engine,
                                        const ProcessResult& result);

// Starts the engine without a job to see whether it finds TensorFlow. Error: it cannot be started,
// or lacks another library.
Result<bool> finds_tensorflow(const FileSystem& fs, const EngineProgram& engine);

}  // namespace tfaot::toolkit
