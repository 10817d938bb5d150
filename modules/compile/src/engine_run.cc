// SPDX-License-Identifier: Apache-2.0
#include "engine_run.h"

#include <unistd.h>

#include <nlohmann/json.hpp>
#include <optional>

#include "engine_failure.h"
#include "engine_jobs.h"
#include "tfaot/base/process.h"
#include "tfaot/compile/job_json.h"

namespace tfaot::toolkit {
Result<EngineResult> run_engine(FileSystem& fs, const ModelSpec& spec, const EngineJob& job,
                                const Path& job_file, const CompileOptions& options,
                                const std::function<void(const std::string&)>& on_step,
                                Diagnostics& diagnostics) {
  std::optional<Error> reported;
  ProcessSpec process;
  process.program = options.engine;
  process.arguments = {job_file.string(), std::to_string(::getpid())};
  process.environment = engine_environment(spec);
  process.timeout = options.timeout;
  process.on_stdout_line = [&](const std::string& line) {
    const auto json = nlohmann::json::parse(line, nullptr, false);
    if (json.is_object() && json.contains(kJobProgressKey)) {
      on_step(json[kJobProgressKey].get<std::string>());
    } else if (json.is_object() && json.contains(kJobNoteKey)) {
      diagnostics.verbose(json[kJobNoteKey].get<std::string>());
    } else if (json.is_object() && json.contains(kJobWarningKey)) {
      diagnostics.warning(json[kJobWarningKey].get<std::string>());
    } else if (auto error = reported_error(fs, spec, line)) {
      reported = std::move(error);
    } else {
      diagnostics.verbose(line);
    }
  };
  TFAOT_ASSIGN(const auto result, run_process(process));
  if (!result.standard_error.empty()) diagnostics.verbose(result.standard_error);
  if (reported) return fail(std::move(*reported));
  if (auto error = missing_tensorflow(fs, options.engine, result)) return fail(std::move(*error));
  if (!result.ok()) return fail(engine_failure(fs, spec, options, job, result));
  TFAOT_ASSIGN(const auto text, fs.read(job.result_file));
  return engine_result_from_json(text, job.result_file);
}

}  // namespace tfaot::toolkit
