// SPDX-License-Identifier: Apache-2.0
// ModelSpec -> jobs for engine processes. Pure functions, except that "native" looks at this
// machine's CPU.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tfaot/compile/compile.h"
#include "tfaot/records/engine_job.h"

namespace tfaot::toolkit {

// The levels in the compiler's terms, without duplicates; "native" becomes the highest psABI level
// of this machine.
std::vector<JobLevel> job_levels(const std::vector<std::string>& cpu_levels);

// The environment of an engine process, with the flags for the compiler.
std::map<std::string, std::string> engine_environment(const ModelSpec& spec);

// Batch sizes distributed evenly over at most `jobs` processes.
std::vector<EngineJob> make_engine_jobs(const ModelSpec& spec, const CompileOptions& options);

}  // namespace tfaot::toolkit
