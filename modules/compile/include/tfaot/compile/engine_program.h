// SPDX-License-Identifier: Apache-2.0
// The engine as a program to start, and the TensorFlow that it is started with.
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
  // LD_LIBRARY_PATH of its process, where the loader looks for TensorFlow after the engine's own
  // run path; empty: the parent's.
  std::string library_path;
};

// Its process with `variables`, and without arguments.
ProcessSpec engine_process(const EngineProgram& engine,
                           std::map<std::string, std::string> variables);

// The loader's words when it does not find TensorFlow's libraries, and what to do; nothing when the
// process ended otherwise.
std::optional<Error> missing_tensorflow(const FileSystem& fs, const EngineProgram& engine,
                                        const ProcessResult& result);

// Starts the engine without a job. Whether it finds TensorFlow; an Error if it cannot be started or
// lacks another library.
Result<bool> finds_tensorflow(const FileSystem& fs, const EngineProgram& engine);

}  // namespace tfaot::toolkit
