// SPDX-License-Identifier: Apache-2.0
// One engine process: starts it with its job, reads its lines, and turns every way it can end into
// a record or an Error. Safe from many threads if the Diagnostics are.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "tfaot/compile/compile.h"
#include "tfaot/records/engine_job.h"

namespace tfaot::toolkit {

// In the work directory.
inline constexpr const char* kWeightsFolder = "weights";

// A job with an EngineResult, and how errors name it.
struct EngineCall {
  EngineJob job;
  Path file;         // the job is written here, and the result next to it
  std::string what;  // "batch sizes 1, 4"
  std::string who = "the compiler";
};

// `on_step` is called after each step with its description.
Result<EngineResult> run_engine(FileSystem& fs, const ModelSpec& spec, const EngineCall& call,
                                const CompileOptions& options,
                                const std::function<void(const std::string&)>& on_step,
                                Diagnostics& diagnostics);

// A job that is answered by lines; `subject` is what it is about, for errors. Hands each line to
// `take`, which returns true if it is an answer. An answer counts even if the process crashes after
// it. Errors: what the engine reports; no answer.
Status ask_engine(const FileSystem& fs, const EngineProgram& engine, const EngineJob& job,
                  const Path& subject, const std::function<bool(const std::string& line)>& take);

// ModelSpec -> jobs for engine processes. Pure functions, except that "native" looks at this
// machine's CPU.

// The levels in the compiler's terms, without duplicates; "native" becomes the highest psABI level
// of this machine.
std::vector<JobLevel> job_levels(const std::vector<std::string>& cpu_levels);

// The environment of an engine process, with the flags for the compiler.
std::map<std::string, std::string> engine_environment(const ModelSpec& spec);

// The model as an engine loads it.
JobModel job_model(const ModelSpec& spec);

// Batch sizes distributed evenly over at most `jobs` processes.
std::vector<CompileJob> make_compile_jobs(const ModelSpec& spec, const CompileOptions& options);

}  // namespace tfaot::toolkit
