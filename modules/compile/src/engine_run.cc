// SPDX-License-Identifier: Apache-2.0
#include "engine_run.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "engine_jobs.h"
#include "tfaot/base/parent_process.h"
#include "tfaot/base/process.h"
#include "tfaot/base/text.h"
#include "tfaot/base/time_limit.h"
#include "tfaot/compile/compile.h"
#include "tfaot/config/config.h"
#include "tfaot/records/engine_job.h"
#include "tfaot/records/engine_job_json.h"
#include "tfaot/records/engine_line.h"
#include "tfaot/records/model_check.h"
#include "tfaot/records/model_check_json.h"

namespace tfaot::toolkit {
namespace {

// The error for the user when an engine process fails: the engine's own report, or else XLA's
// message, or else the last lines of output. Safe from many threads.

constexpr std::size_t kShownLines = 12;

// The config's two lists of flags, by their keys.
constexpr const char* kXlaFlags = "compilation.xla_flags";
constexpr const char* kTfXlaFlags = "compilation.tf_xla_flags";

// An error at the place of the first flag that fits, which replaces '%'; nothing if none fits.
template <class Fits>
std::optional<Error> flag_error(const FileSystem& fs, const ModelSpec& spec,
                                const std::string& what, const Fits& fits) {
  for (const std::string key : {kXlaFlags, kTfXlaFlags}) {
    const CompilationSection& section = spec.compilation;
    const auto& flags = key == kXlaFlags ? section.xla_flags : section.tf_xla_flags;
    for (std::size_t i = 0; i < flags.size(); ++i) {
      if (!fits(key, flags[i])) continue;
      return config_error(fs, spec, fmt::format("{}[{}]", key, i),
                          replace_all(what, "%", flags[i]));
    }
  }
  return std::nullopt;
}

bool is_among(std::string_view words, const std::string& flag) {
  return (" " + std::string(words) + " ").find(" " + flag + " ") != std::string::npos;
}

// The rest of the line after the first of `marks` in the text; nothing if there is none. No
// std::regex: its recursion grows with the text, and the flags come from the user.
std::optional<std::string_view> line_after(std::string_view text,
                                           std::initializer_list<std::string_view> marks) {
  for (const std::string_view mark : marks) {
    const auto place = text.find(mark);
    if (place == std::string_view::npos) continue;
    text.remove_prefix(place + mark.size());
    return text.substr(0, text.find('\n'));
  }
  return std::nullopt;
}

// The name of the flag in "Couldn't interpret value X for flag NAME".
std::string flag_of_bad_value(std::string_view line) {
  constexpr std::string_view kMark = " for flag ";
  const auto place = line.rfind(kMark);
  if (place == std::string_view::npos) return "";
  line.remove_prefix(place + kMark.size());
  const auto end = std::find_if_not(line.begin(), line.end(),
                                    [](char c) { return is_letter_or_digit(c) || c == '_'; });
  return {line.begin(), end};
}

// XLA ends the process if it cannot read a flag in the environment.
std::optional<Error> wrong_flag(const FileSystem& fs, const ModelSpec& spec,
                                const std::string& last_words) {
  for (const std::string list : {kTfXlaFlags, kXlaFlags}) {
    const std::string name = list == kXlaFlags ? "XLA_FLAGS: " : "TF_XLA_FLAGS: ";
    auto flags = line_after(last_words, {"Unknown flag in " + name, "Unknown flags in " + name});
    if (!flags) continue;
    flags = flags->substr(0, flags->find("  "));  // the flags after it were fine
    return flag_error(fs, spec, "XLA does not know '%'",
                      [&](const std::string& key, const std::string& flag) {
                        return key == list && is_among(*flags, flag);
                      });
  }
  if (const auto line = line_after(last_words, {"Couldn't interpret value "})) {
    const std::string name = "--" + flag_of_bad_value(*line);
    return flag_error(fs, spec, "XLA cannot read the value of '%'",
                      [&](const std::string&, const std::string& flag) {
                        return flag == name || flag.starts_with(name + "=");
                      });
  }
  const auto refused = last_words.find("Flag parsing failed");
  if (refused == std::string::npos) return std::nullopt;
  const auto flags = line_after(std::string_view(last_words).substr(refused), {"\nusage: "});
  if (!flags) return std::nullopt;
  return flag_error(
      fs, spec, "XLA cannot read the value of '%', or of a flag after it",
      [&](const std::string&, const std::string& flag) { return is_among(*flags, flag); });
}

// The engine's own report of what is wrong with the model or the config.
// REQUIRES: line.word is kError.
Error reported_error(const FileSystem& fs, const ModelSpec& spec, const EngineLine& line) {
  const std::string& file = line.file;
  Error error = line.config_key.empty()
                    ? Error::at({file.empty() ? spec.model.source.string() : file}, line.text)
                    : config_error(fs, spec, line.config_key, line.text);
  for (const auto& note : line.notes) error.note(note);
  return error;
}

// REQUIRES: !result.ok(), and the engine reported nothing.
Error engine_failure(const FileSystem& fs, const ModelSpec& spec, const CompileOptions& options,
                     const EngineJob& job, const ProcessResult& result) {
  std::vector<std::string> sizes;
  for (const auto size : job.batch_sizes) sizes.push_back(std::to_string(size));
  const std::string what = job.predictions.empty()
                               ? fmt::format("batch sizes {}", join(sizes, ", "))
                               : "predictions of the model as it is";
  const char* const who = job.predictions.empty() ? "the compiler" : "TensorFlow";
  if (result.timed_out) {
    return Error::at({spec.model.source.string()}, fmt::format("{} did not end within {} s ({})",
                                                               who, options.timeout.count(), what))
        .note(kTimeLimitAdvice)
        .about(word_of(ProblemKind::kCompiler));
  }
  if (result.over_memory) {
    return over_memory(options.engine, spec.model.source, fmt::format("{} ({})", who, what))
        .about(word_of(ProblemKind::kCompiler));
  }
  if (auto flag = wrong_flag(fs, spec, result.standard_error)) return *flag;
  const std::string how =
      result.signal != 0
          ? fmt::format("crashed with signal {} ({})", result.signal, strsignal(result.signal))
          : fmt::format("ended with exit code {}", result.exit_code);
  Error error = Error::at({spec.model.source.string()}, fmt::format("{} {} ({})", who, how, what));
  if (result.signal == SIGKILL)
    error.note("killed from outside: the machine may have run out of memory");
  if (!options.launcher.empty()) error.note("started by: " + join(options.launcher, " "));
  const auto lines = last_lines(result.standard_error, kShownLines);
  if (!lines.empty()) error.note("its last output:");
  for (const auto& line : lines) error.note("  " + line);
  return std::move(error).about(word_of(ProblemKind::kCompiler));
}

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
