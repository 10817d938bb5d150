// SPDX-License-Identifier: Apache-2.0
#include "engine_failure.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <initializer_list>
#include <string_view>

#include "tfaot/base/text.h"
#include "tfaot/base/time_limit.h"
#include "tfaot/config/config.h"
#include "tfaot/records/engine_line.h"
#include "tfaot/records/model_check.h"

namespace tfaot::toolkit {
namespace {

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

}  // namespace

Error reported_error(const FileSystem& fs, const ModelSpec& spec, const EngineLine& line) {
  const std::string& file = line.file;
  Error error = line.config_key.empty()
                    ? Error::at({file.empty() ? spec.model.source.string() : file}, line.text)
                    : config_error(fs, spec, line.config_key, line.text);
  for (const auto& note : line.notes) error.note(note);
  return error;
}

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

}  // namespace tfaot::toolkit
