// SPDX-License-Identifier: Apache-2.0
// One engine process: starts it, reads its lines, and turns every way it can end into a record or
// an Error. Safe from many threads if the Diagnostics are.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "tfaot/compile/compile.h"
#include "tfaot/records/engine_job.h"

namespace tfaot::toolkit {

// REQUIRES: job_file contains the job. `on_step` is called after each object with its description.
Result<EngineResult> run_engine(FileSystem& fs, const ModelSpec& spec, const EngineJob& job,
                                const Path& job_file, const CompileOptions& options,
                                const std::function<void(const std::string&)>& on_step,
                                Diagnostics& diagnostics);

// ModelSpec -> jobs for engine processes. Pure functions, except that "native" looks at this
// machine's CPU.

// The levels in the compiler's terms, without duplicates; "native" becomes the highest psABI level
// of this machine.
std::vector<JobLevel> job_levels(const std::vector<std::string>& cpu_levels);

// The environment of an engine process, with the flags for the compiler.
std::map<std::string, std::string> engine_environment(const ModelSpec& spec);

// Batch sizes distributed evenly over at most `jobs` processes.
std::vector<EngineJob> make_engine_jobs(const ModelSpec& spec, const CompileOptions& options);

}  // namespace tfaot::toolkit
