// SPDX-License-Identifier: Apache-2.0
// The error for the user when an engine process fails: the engine's own report, or else XLA's
// message, or else the last lines of output. Safe from many threads.
#pragma once

#include <optional>
#include <string>

#include "tfaot/base/process.h"
#include "tfaot/compile/compile.h"
#include "tfaot/records/engine_job.h"
#include "tfaot/records/engine_line.h"

namespace tfaot::toolkit {

// The engine's own report of what is wrong with the model or the config.
// REQUIRES: line.word is kError.
Error reported_error(const FileSystem& fs, const ModelSpec& spec, const EngineLine& line);

// REQUIRES: !result.ok(), and the engine reported nothing.
Error engine_failure(const FileSystem& fs, const ModelSpec& spec, const CompileOptions& options,
                     const EngineJob& job, const ProcessResult& result);

}  // namespace tfaot::toolkit
