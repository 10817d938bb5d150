// SPDX-License-Identifier: Apache-2.0
#include "engine_run.h"

#include <fmt/format.h>
#include <unistd.h>

#include <optional>

#include "engine_failure.h"
#include "engine_jobs.h"
#include "tfaot/base/parent_process.h"
#include "tfaot/base/process.h"
#include "tfaot/records/engine_job_json.h"
#include "tfaot/records/engine_line.h"
#include "tfaot/records/model_check_json.h"

namespace tfaot::toolkit {
namespace {

// On another machine there is no parent to end with: the launcher stops the engine.
ProcessSpec job_process(const ModelSpec& spec, const Path& job_file,
                        const CompileOptions& options) {
  ProcessSpec process = engine_process(options.engine, engine_environment(spec));
  process.timeout = options.timeout;
  if (options.launcher.empty()) {
    process.arguments = {job_file.string(), std::to_string(::getpid())};
    return process;
  }
  process.memory = nullptr;  // the engine is not a child of ours, and watches itself
  process.program = options.launcher.front();
  process.arguments.assign(options.launcher.begin() + 1, options.launcher.end());
  process.arguments.insert(process.arguments.end(),
                           {options.engine.file.string(), job_file.string(), kAnyParent});
  if (options.launched_memory) {
    process.arguments.push_back(std::to_string(*options.launched_memory / options.jobs));
  }
  return process;
}

Result<ProcessResult> run_job(const ProcessSpec& process, const CompileOptions& options) {
  if (options.launcher.empty()) return run_process(process);
  return run_tool(process,
                  {fmt::format("the launcher '{}' cannot be started", process.program.string()),
                   "correct --launcher, TFAOT_COMPILE_LAUNCHER in the environment, or "
                   "the property of the CMake target"});
}

}  // namespace

Result<EngineResult> run_engine(FileSystem& fs, const ModelSpec& spec, const EngineJob& job,
                                const Path& job_file, const CompileOptions& options,
                                const std::function<void(const std::string&)>& on_step,
                                Diagnostics& diagnostics) {
  std::optional<Error> reported;
  ProcessSpec process = job_process(spec, job_file, options);
  process.on_stdout_line = [&](const std::string& line) {
    const auto said = engine_line_from_json(line);
    if (!said && options.check != nullptr) {
      if (auto found = engine_check_from_json(line)) {
        return add_check(*options.check, *std::move(found));
      }
    }
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
  TFAOT_ASSIGN(const auto result, run_job(process, options));
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
