// SPDX-License-Identifier: Apache-2.0
// What the user is told when an engine process does not end well: what it says itself, what XLA
// says before it ends it, else its last words. Safe from many threads.
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

// REQUIRES: !result.ok(), and the engine reported nothing.
Error engine_failure(const FileSystem& fs, const ModelSpec& spec, const CompileOptions& options,
                     const EngineJob& job, const ProcessResult& result);

}  // namespace tfaot::toolkit
