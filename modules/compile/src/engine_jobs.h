// SPDX-License-Identifier: Apache-2.0
// ModelSpec -> jobs for engine processes. Pure functions but for the look at this machine's CPU
// ("native").
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tfaot/compile/compile.h"
#include "tfaot/records/engine_job.h"

namespace tfaot::toolkit {

// The levels in the compiler's words, without doubles; "native" becomes this machine's highest
// psABI level.
std::vector<JobLevel> job_levels(const std::vector<std::string>& cpu_levels);

// What the environment of an engine process tells the compiler.
std::map<std::string, std::string> engine_environment(const ModelSpec& spec);

// Batch sizes dealt out evenly over at most `jobs` processes.
std::vector<EngineJob> make_engine_jobs(const ModelSpec& spec, const CompileOptions& options);

}  // namespace tfaot::toolkit
