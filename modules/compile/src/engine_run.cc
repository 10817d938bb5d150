// SPDX-License-Identifier: Apache-2.0
#include "engine_run.h"

#include <fmt/format.h>

#include <csignal>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>

#include "engine_jobs.h"
#include "tfaot/base/process.h"
#include "tfaot/base/text.h"
#include "tfaot/compile/job_json.h"

namespace tfaot {
namespace {

constexpr std::size_t kShownLines = 12;

// What the engine itself says is wrong with the model.
std::optional<Error> reported_error(const ModelSpec& spec, const std::string& line) {
  const auto json = nlohmann::json::parse(line, nullptr, false);
  if (!json.is_object() || !json.contains(kJobErrorKey)) return std::nullopt;
  Error error = Error::at({spec.model.source.string()}, json[kJobErrorKey].get<std::string>());
  for (const auto& note : json.value(kJobNotesKey, std::vector<std::string>{})) error.note(note);
  return error;
}

Error crash_error(const ModelSpec& spec, const CompileOptions& options, const EngineJob& job,
                  const ProcessResult& result) {
  std::vector<std::string> sizes;
  for (const auto size : job.batch_sizes) sizes.push_back(std::to_string(size));
  const std::string what = fmt::format("batch sizes {}", join(sizes, ", "));
  if (result.timed_out) {
    return Error::at({spec.model.source.string()},
                     fmt::format("the compiler did not end within {} s ({})",
                                 options.timeout.count(), what))
        .note("raise the limit with --timeout SECONDS (0: none)");
  }
  const std::string how =
      result.signal != 0
          ? fmt::format("crashed with signal {} ({})", result.signal, strsignal(result.signal))
          : fmt::format("ended with exit code {}", result.exit_code);
  Error error =
      Error::at({spec.model.source.string()}, fmt::format("the compiler {} ({})", how, what));
  if (result.signal == SIGKILL)
    error.note("killed from outside: perhaps the machine has no memory left");
  const auto lines = last_lines(result.standard_error, kShownLines);
  if (!lines.empty()) error.note("its last words:");
  for (const auto& line : lines) error.note("  " + line);
  return error;
}

}  // namespace

Result<EngineResult> run_engine(FileSystem& fs, const ModelSpec& spec, const EngineJob& job,
                                const Path& job_file, const CompileOptions& options,
                                const std::function<void(const std::string&)>& on_step,
                                Diagnostics& diagnostics) {
  std::optional<Error> reported;
  ProcessSpec process;
  process.program = options.engine;
  process.arguments = {job_file.string()};
  process.environment = engine_environment(spec);
  process.timeout = options.timeout;
  process.on_stdout_line = [&](const std::string& line) {
    const auto json = nlohmann::json::parse(line, nullptr, false);
    if (json.is_object() && json.contains(kJobProgressKey)) {
      on_step(json[kJobProgressKey].get<std::string>());
    } else if (json.is_object() && json.contains(kJobNoteKey)) {
      diagnostics.verbose(json[kJobNoteKey].get<std::string>());
    } else if (auto error = reported_error(spec, line)) {
      reported = std::move(error);
    } else {
      diagnostics.verbose(line);
    }
  };
  TFAOT_ASSIGN(const auto result, run_process(process));
  if (!result.standard_error.empty()) diagnostics.verbose(result.standard_error);
  if (reported) return fail(std::move(*reported));
  if (!result.ok()) return fail(crash_error(spec, options, job, result));
  TFAOT_ASSIGN(const auto text, fs.read(job.result_file));
  return engine_result_from_json(text, job.result_file);
}

}  // namespace tfaot
