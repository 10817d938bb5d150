// SPDX-License-Identifier: Apache-2.0
// One engine process: starts it, reads its lines, and turns every way it can end into a record or
// an Error. Safe from many threads if the Diagnostics are.
#pragma once

#include <functional>

#include "tfaot/compile/compile.h"
#include "tfaot/records/engine_job.h"

namespace tfaot::toolkit {

// REQUIRES: job_file contains the job. `on_step` is called after each object with its description.
Result<EngineResult> run_engine(FileSystem& fs, const ModelSpec& spec, const EngineJob& job,
                                const Path& job_file, const CompileOptions& options,
                                const std::function<void(const std::string&)>& on_step,
                                Diagnostics& diagnostics);

}  // namespace tfaot::toolkit
