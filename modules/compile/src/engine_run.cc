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

#include "tfaot/base/process.h"
#include "tfaot/base/program_start.h"
#include "tfaot/base/text.h"
#include "tfaot/base/time_limit.h"
#include "tfaot/compile/compile.h"
#include "tfaot/config/config.h"
#include "tfaot/records/cpu_levels.h"
#include "tfaot/records/engine_job.h"
#include "tfaot/records/engine_job_json.h"
#include "tfaot/records/engine_line.h"
#include "tfaot/records/model_check.h"
#include "tfaot/records/model_check_json.h"
#include "tfaot/records/symbols.h"

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

std::vector<JobInput> job_inputs(const ModelSpec& spec) {
  std::vector<JobInput> inputs;
  for (const auto& input : spec.model.inputs) {
    JobInput job{input.name, input.dtype, input.row_shape.has_value(), {}};
    if (input.row_shape) {
      if (spec.compilation.batch == BatchMode::kFirst) job.shape.push_back(-1);
      job.shape.insert(job.shape.end(), input.row_shape->begin(), input.row_shape->end());
    }
    inputs.push_back(std::move(job));
  }
  return inputs;
}

// What the config says, if it does: the last flag counts, in any spelling that XLA reads.
bool has_fast_math(const ModelSpec& spec) {
  const std::string flag = "--xla_cpu_enable_fast_math";
  bool has = true;
  for (const std::string& one : spec.compilation.xla_flags) {
    if (one == flag) has = true;
    if (!one.starts_with(flag + "=")) continue;
    const std::string value = lower_case(one.substr(flag.size() + 1));
    has = value != "false" && value != "0";
  }
  return has;
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

std::vector<JobLevel> job_levels(const std::vector<std::string>& cpu_levels) {
  std::vector<JobLevel> levels;
  for (const auto& word : cpu_levels) {
    const std::string name = word == "native" ? native_cpu_level() : word;
    const bool known = std::any_of(levels.begin(), levels.end(),
                                   [&](const JobLevel& level) { return level.name == name; });
    const CpuLevel& level = cpu_level(name);
    if (!known) levels.push_back({name, name, compiler_features(level), level.kernels});
  }
  std::sort(levels.begin(), levels.end(),
            [](const JobLevel& a, const JobLevel& b) { return ascend(a.name, b.name); });
  return levels;
}

std::map<std::string, std::string> engine_environment(const ModelSpec& spec) {
  std::vector<std::string> xla_flags = {
      // Otherwise objects call the multi-threaded kernels, which crash without a thread pool.
      "--xla_cpu_multi_thread_eigen=false",
      // Otherwise a maximum drops NaNs, which TensorFlow keeps. Costs nothing.
      "--xla_cpu_enable_fast_min_max=false",
      // XLA's fast_math stays off: it reorders sums, so that x + (1 - m) * -1e9 loses x, and nets
      // take 0.97 to 1.04 of their time with it.
  };
  if (spec.compilation.optimize == Optimization::kSize) {
    xla_flags.push_back("--xla_backend_extra_options=xla_cpu_optimize_for_size");
  }
  xla_flags.insert(xla_flags.end(), spec.compilation.xla_flags.begin(),
                   spec.compilation.xla_flags.end());
  return {{"XLA_FLAGS", join(xla_flags, " ")},
          {"TF_XLA_FLAGS", join(spec.compilation.tf_xla_flags, " ")},
          {"TF_CPP_MIN_LOG_LEVEL", "2"},
          {"TF_ENABLE_ONEDNN_OPTS", "0"}};
}

std::vector<EngineJob> make_engine_jobs(const ModelSpec& spec, const CompileOptions& options) {
  EngineJob common;
  common.model_name = spec.model.name;
  common.format = spec.model.format;
  common.source = spec.model.source.string();
  common.serving_key = spec.model.serving_key;
  common.inputs = job_inputs(spec);
  common.outputs = spec.model.outputs;
  common.dimensions = spec.model.dimensions;
  common.constants = spec.model.constants;
  common.any_opset = spec.model.opset == OpsetMode::kAny;
  common.fixed_shapes = spec.compilation.batch == BatchMode::kNone;
  common.allow_coupled_rows = options.allow_coupled_rows;
  common.check = options.check != nullptr;
  common.symbol_prefix = symbol_prefix(spec.compilation.namespace_name, spec.model.name);
  common.target_triple = spec.compilation.target_triple;
  common.levels = job_levels(spec.compilation.cpu_levels);
  common.weights_type = spec.compilation.weights_type;
  common.optimize = spec.compilation.optimize;
  common.fast_math = has_fast_math(spec);
  common.embed_weights = spec.compilation.weights == WeightsMode::kEmbedded;
  for (const auto& [name, value] : engine_environment(spec)) {
    common.compiler_flags += fmt::format("{}={}\n", name, value);
  }
  common.count_operations = options.counted != nullptr;
  if (!common.count_operations) {
    common.cache_directory = options.cache.folder.string();
    common.remote_cache = options.cache.remote;
  }
  common.output_directory = options.work_directory.string();
  common.weights_directory = (options.work_directory / "weights").string();
  common.dump_directory = options.dump_directory.string();
  common.dump_passes = options.dump_passes;

  const auto& sizes = spec.compilation.batch_sizes;
  // One process that checks finds the problems of the sizes in their order.
  const std::size_t processes = options.check != nullptr ? 1 : options.jobs;
  const std::size_t count = std::clamp<std::size_t>(processes, 1, sizes.size());
  std::vector<EngineJob> jobs(count, common);
  for (std::size_t i = 0; i < sizes.size(); ++i) jobs[i % count].batch_sizes.push_back(sizes[i]);
  for (std::size_t i = 0; i < count; ++i) {
    jobs[i].result_file = (options.work_directory / fmt::format("result_{}.json", i)).string();
  }
  // One process checks for all.
  if (spec.compilation.rows == RowsMode::kAlone && spec.compilation.batch == BatchMode::kFirst) {
    jobs.front().row_sizes = sizes;
  }
  return jobs;
}

}  // namespace tfaot::toolkit
