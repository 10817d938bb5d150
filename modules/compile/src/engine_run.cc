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
constexpr const char* kStandardInput = "/dev/stdin";

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
                        return key == list && is_one_of(*flags, flag);
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
      [&](const std::string&, const std::string& flag) { return is_one_of(*flags, flag); });
}

// REQUIRES: !result.ok(), and the engine reported nothing.
Error engine_failure(const FileSystem& fs, const ModelSpec& spec, const CompileOptions& options,
                     const EngineCall& call, const ProcessResult& result) {
  const Path& model = spec.model.source;
  if (result.timed_out) {
    return Error::at({model.string()}, fmt::format("{} did not end within {} s ({})", call.who,
                                                   options.timeout.count(), call.what))
        .note(kTimeLimitAdvice)
        .about(word_of(ProblemKind::kCompiler));
  }
  if (result.over_memory) {
    return over_memory(options.engine, model, fmt::format("{} ({})", call.who, call.what))
        .about(word_of(ProblemKind::kCompiler));
  }
  if (auto flag = wrong_flag(fs, spec, result.standard_error)) return *flag;
  const std::string how =
      result.signal != 0
          ? fmt::format("crashed with signal {} ({})", result.signal, strsignal(result.signal))
          : fmt::format("ended with exit code {}", result.exit_code);
  Error error = Error::at({model.string()}, fmt::format("{} {} ({})", call.who, how, call.what));
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

Result<ProcessResult> run_launcher(const ProcessSpec& process) {
  return run_tool(process,
                  {fmt::format("the launcher '{}' cannot be started", process.program.string()),
                   "correct --launcher, TFAOT_COMPILE_LAUNCHER in the environment, or "
                   "the property of the CMake target"});
}

struct EngineEnd {
  ProcessResult process;
  std::optional<Error> error;  // the engine reports it, or has no TensorFlow
};

// Runs an engine, and hands its lines to `take`, which returns false for those that it leaves.
Result<EngineEnd> run_engine_process(const FileSystem& fs, const EngineProgram& engine,
                                     ProcessSpec process,
                                     const std::function<bool(const std::string&)>& take,
                                     const std::function<Error(const EngineLine&)>& error_of) {
  std::optional<Error> reported;
  process.on_stdout_line = [&](const std::string& line) {
    if (take(line)) return;
    const auto said = engine_line_from_json(line);
    if (!said || said->word != EngineWord::kError || reported) return;
    reported = error_of(*said);
    for (const std::string& note : said->notes) reported->note(note);
  };
  TFAOT_ASSIGN(auto result,
               process.program == engine.file ? run_process(process) : run_launcher(process));
  if (!reported) reported = missing_tensorflow(fs, engine, result);
  return EngineEnd{std::move(result), std::move(reported)};
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

Result<EngineResult> run_engine(FileSystem& fs, const ModelSpec& spec, const EngineCall& call,
                                const CompileOptions& options,
                                const std::function<void(const std::string&)>& on_step,
                                Diagnostics& diagnostics) {
  TFAOT_TRY(fs.replace_atomically(call.file, engine_job_to_json(call.job), Durability::kScratch));
  const auto take = [&](const std::string& line) {
    const auto said = engine_line_from_json(line);
    if (!said) {
      auto found = options.check == nullptr ? std::nullopt : engine_check_from_json(line);
      found ? add_check(*options.check, *std::move(found)) : diagnostics.verbose(line);
      return true;
    }
    switch (said->word) {
      case EngineWord::kProgress:
        on_step(said->text);
        break;
      case EngineWord::kNote:
        diagnostics.verbose(said->text);
        break;
      case EngineWord::kWarning:
        diagnostics.warning(said->text);
        break;
      case EngineWord::kError:
        return false;
    }
    return true;
  };
  const auto error_of = [&](const EngineLine& line) {
    return line.config_key.empty()
               ? Error::at({line.file.empty() ? spec.model.source.string() : line.file}, line.text)
               : config_error(fs, spec, line.config_key, line.text);
  };
  TFAOT_ASSIGN(const EngineEnd end,
               run_engine_process(fs, options.engine, job_process(spec, call.file, options), take,
                                  error_of));
  if (!end.process.standard_error.empty()) diagnostics.verbose(end.process.standard_error);
  if (end.error) return fail(*end.error);
  if (!end.process.ok()) return fail(engine_failure(fs, spec, options, call, end.process));
  const Path file = result_file(call.file);
  if (!is_file(fs, file)) {
    return fail(Error::at({options.engine.file.string()}, "the engine ended without a result")
                    .note("is this the tfaot-engine of this tfaot? --engine or TFAOT_ENGINE in the "
                          "environment may name another program"));
  }
  TFAOT_ASSIGN(const auto text, fs.read(file));
  return engine_result_from_json(text, file.string());
}

Status ask_engine(const FileSystem& fs, const EngineProgram& engine, const EngineJob& job,
                  const Path& subject, const std::function<bool(const std::string& line)>& take) {
  ProcessSpec process = engine_process(engine, {{"TF_CPP_MIN_LOG_LEVEL", "3"}});
  process.standard_input = engine_job_to_json(job);
  process.arguments = {kStandardInput, std::to_string(::getpid())};
  process.timeout = engine.answer_time;
  bool answered = false;
  const auto note_answer = [&](const std::string& line) {
    if (!take(line)) return false;
    answered = true;
    return true;
  };
  const auto error_of = [&](const EngineLine& line) {
    return Error::at({line.file.empty() ? subject.string() : line.file, line.line}, line.text);
  };
  TFAOT_ASSIGN(const EngineEnd end, run_engine_process(fs, engine, process, note_answer, error_of));
  if (end.error) return fail(*end.error);
  if (answered) return {};
  const ProcessResult& result = end.process;
  if (result.timed_out) {
    return fail(Error::at({subject.string()}, fmt::format("the engine did not read it within {} s",
                                                          engine.answer_time.count()))
                    .note(kTimeLimitAdvice));
  }
  if (result.over_memory) return fail(over_memory(engine, subject, "the engine"));
  return fail(with_last_words(
      Error::internal(fmt::format("the engine did not read {}", subject.string())), result));
}

std::vector<JobLevel> job_levels(const std::vector<std::string>& cpu_levels) {
  std::vector<JobLevel> levels;
  for (const auto& word : cpu_levels) {
    const std::string name = word == "native" ? native_cpu_level() : word;
    if (contains(levels, name, &JobLevel::name)) continue;
    const CpuLevel& level = cpu_level(name);
    levels.push_back({name, name, compiler_features(level), level.kernels});
  }
  std::ranges::sort(levels, ascend, &JobLevel::name);
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

JobModel job_model(const ModelSpec& spec) {
  JobModel model;
  model.format = spec.model.format;
  model.source = spec.model.source.string();
  model.serving_key = spec.model.serving_key;
  model.inputs = job_inputs(spec);
  model.outputs = spec.model.outputs;
  model.dimensions = spec.model.dimensions;
  model.free_dimensions = spec.compilation.dimensions;
  model.constants = spec.model.constants;
  model.any_opset = spec.model.opset == OpsetMode::kAny;
  model.fixed_shapes = spec.compilation.batch == BatchMode::kNone;
  return model;
}

std::vector<CompileJob> make_compile_jobs(const ModelSpec& spec, const CompileOptions& options) {
  const CompilationSection& compilation = spec.compilation;
  CompileJob common;
  common.hlo.model = job_model(spec);
  common.hlo.levels = job_levels(compilation.cpu_levels);
  common.hlo.embed_weights = compilation.weights == WeightsMode::kEmbedded;
  common.hlo.weights_type = compilation.weights_type;
  common.hlo.compute = compilation.compute;
  common.hlo.fast_math = has_fast_math(spec);
  common.hlo.optimize = compilation.optimize;
  const bool are_alone =
      compilation.rows == RowsMode::kAlone && compilation.batch == BatchMode::kFirst;
  const bool are_reported = are_alone && options.coupled_rows == CoupledRows::kReported;
  if (are_alone) common.hlo.rows = are_reported ? RowsRule::kReported : RowsRule::kAlone;
  common.hlo.weights_directory = (options.work_directory / kWeightsFolder).string();
  common.code = {spec.model.name, symbol_prefix(compilation.namespace_name, spec.model.name),
                 compilation.target_triple, options.work_directory.string()};
  common.cache = {options.cache.folder.string(), options.cache.remote, {}};
  for (const auto& [name, value] : engine_environment(spec)) {
    common.cache.compiler_flags += fmt::format("{}={}\n", name, value);
  }

  const auto& sizes = compilation.batch_sizes;
  // One process that checks finds the problems of the sizes in their order.
  // So does one of a model with free sizes, which compares weights that it made at several sizes.
  // And what rows are must be known before the form of batches is looked for.
  const bool is_one = options.check != nullptr || !compilation.dimensions.empty() || are_reported;
  const std::size_t processes = is_one ? 1 : options.jobs;
  const std::size_t count = std::clamp<std::size_t>(processes, 1, sizes.size());
  std::vector<CompileJob> jobs(count, common);
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    jobs[i % count].hlo.batch_sizes.push_back(sizes[i]);
  }
  // One process checks for all.
  if (are_alone && options.coupled_rows != CoupledRows::kNotChecked)
    jobs.front().hlo.row_sizes = sizes;
  return jobs;
}

}  // namespace tfaot::toolkit
