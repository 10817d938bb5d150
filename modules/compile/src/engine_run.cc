// SPDX-License-Identifier: Apache-2.0
#include "engine_run.h"

#include <unistd.h>

#include <optional>

#include "engine_failure.h"
#include "engine_jobs.h"
#include "tfaot/base/process.h"
#include "tfaot/records/engine_job_json.h"
#include "tfaot/records/engine_line.h"

namespace tfaot::toolkit {
Result<EngineResult> run_engine(FileSystem& fs, const ModelSpec& spec, const EngineJob& job,
                                const Path& job_file, const CompileOptions& options,
                                const std::function<void(const std::string&)>& on_step,
                                Diagnostics& diagnostics) {
  std::optional<Error> reported;
  ProcessSpec process = engine_process(options.engine, engine_environment(spec));
  process.arguments = {job_file.string(), std::to_string(::getpid())};
  process.timeout = options.timeout;
  process.on_stdout_line = [&](const std::string& line) {
    const auto said = engine_line_from_json(line);
    if (!said) return diagnostics.verbose(line);
    switch (said->word) {
      case EngineWord::kProgress:
        return on_step(said->text);
      case EngineWord::kNote:
        return diagnostics.verbose(said->text);
      case EngineWord::kWarning:
        return diagnostics.warning(said->text);
      case EngineWord::kError:
        reported = reported_error(fs, spec, *said);
    }
  };
  TFAOT_ASSIGN(const auto result, run_process(process));
  if (!result.standard_error.empty()) diagnostics.verbose(result.standard_error);
  if (reported) return fail(std::move(*reported));
  if (auto error = missing_tensorflow(fs, options.engine, result)) return fail(std::move(*error));
  if (!result.ok()) return fail(engine_failure(fs, spec, options, job, result));
  if (!is_file(fs, job.result_file)) {
    return fail(Error::at({options.engine.file.string()}, "the engine ended without a result")
                    .note("is this the tfaot-engine of this tfaot? --engine or TFAOT_ENGINE in the "
                          "environment may name another program"));
  }
  TFAOT_ASSIGN(const auto text, fs.read(job.result_file));
  return engine_result_from_json(text, job.result_file);
}

}  // namespace tfaot::toolkit
