// SPDX-License-Identifier: Apache-2.0
// What the user is told when an engine process does not end well: what it says itself, what XLA or
// the loader say before they end it, else its last words. Safe from many threads.
#pragma once

#include <optional>
#include <string>

#include "tfaot/base/process.h"
#include "tfaot/compile/compile.h"
#include "tfaot/records/engine_job.h"
#include "tfaot/records/engine_line.h"

namespace tfaot::toolkit {

// What the engine itself says is wrong with the model or the config.
// REQUIRES: line.word is kError.
Error reported_error(const FileSystem& fs, const ModelSpec& spec, const EngineLine& line);

// The loader's words when it does not find TensorFlow's libraries, and what to do; nothing when the
// process ended otherwise.
std::optional<Error> missing_tensorflow(const FileSystem& fs, const Path& engine,
                                        const ProcessResult& result);

// REQUIRES: !result.ok(), and the engine reported nothing.
Error engine_failure(const FileSystem& fs, const ModelSpec& spec, const CompileOptions& options,
                     const EngineJob& job, const ProcessResult& result);

}  // namespace tfaot::toolkit
