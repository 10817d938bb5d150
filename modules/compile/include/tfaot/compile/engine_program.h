// SPDX-License-Identifier: Apache-2.0
// How to start the engine, and the TensorFlow that it is started with.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "tfaot/base/file_system.h"
#include "tfaot/base/process.h"
#include "tfaot/base/result.h"

namespace tfaot::toolkit {

struct EngineProgram {
  Path file;  // the tfaot-engine executable
  // LD_LIBRARY_PATH of its process: where the loader looks for TensorFlow after the engine's own
  // run path. Empty: the parent's.
  std::string library_path;
};

// How to start it with `variables` in its environment, and without arguments.
ProcessSpec engine_process(const EngineProgram& engine,
                           std::map<std::string, std::string> variables);

// If the process ended because the loader did not find TensorFlow's libraries: its message, and
// what to do. Otherwise nothing.
std::optional<Error> missing_tensorflow(const FileSystem& fs, const EngineProgram& engine,
                                        const ProcessResult& result);

// Starts the engine without a job to see whether it finds TensorFlow. Error: it cannot be started,
// or lacks another library.
Result<bool> finds_tensorflow(const FileSystem& fs, const EngineProgram& engine);

}  // namespace tfaot::toolkit
