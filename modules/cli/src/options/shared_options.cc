// SPDX-License-Identifier: Apache-2.0
#include "options/shared_options.h"

#include <fmt/format.h>

#include "tfaot/base/printable.h"
#include "tfaot/base/text.h"
#include "tfaot/workflow/model_tree.h"
#include "tfaot/workflow/named_paths.h"

namespace tfaot::toolkit {

OptionName option_name(const std::string& spelling) {
  const std::size_t space = spelling.find(' ');
  if (space == std::string::npos) return {spelling, " "};
  return {spelling.substr(0, space), spelling.substr(space + 1), spelling.ends_with("(required)")};
}

CLI::Option* add_flag(CLI::App& app, const std::string& name, const std::string& help) {
  return app.add_flag_function(
      name, [](std::int64_t) {}, help);
}

void add_jobs(CLI::App& app, unsigned& jobs, const std::string& help) {
  app.add_option("-j,--jobs", jobs, help + " at the same time [one per core]")
      ->check(WholeNumber{"", 1, 1024})
      ->option_text("N");
}

void add_engine_limits(CLI::App& app) {
  app.add_option_function<unsigned>(
         "--timeout", [](unsigned) {},
         "for each engine process [600], and for tfaot's own work\n[none]; 0: none")
      ->check(kSecondsRule)
      ->option_text("SECONDS");
  app.add_option_function<std::uint64_t>(
         "--memory", [](std::uint64_t) {},
         "for all engine processes together, in megabytes, 0: any\n[half of the machine's]")
      ->check(WholeNumber{"megabytes", 0, 1'000'000'000})
      ->option_text("MB");
}

void add_engine_options(CLI::App& app, EngineRun& run) {
  add_jobs(app, run.jobs, "engine processes");
  add_engine_program(app, run);
}

void add_engine_program(CLI::App& app, EngineRun& run) {
  add_engine_limits(app);
  add_value(app, "--engine PATH", run.engine,
            "engine to run [$TFAOT_ENGINE, else this tfaot's own]");
  add_value(app, "--launcher COMMAND", run.launcher,
            "command that starts the engine process, such as 'srun -c 2'; without -j\n"
            "it is one for all sizes [$TFAOT_COMPILE_LAUNCHER]");
  // For the CMake functions: one word, which may hold blanks.
  app.add_option("--launcher-word", run.launcher_words)->allow_extra_args(false)->group("");
}

void add_dimensions(CLI::App& app, std::vector<std::string>& dimensions, const std::string& help) {
  const auto rule = [](const std::string& text) {
    const std::size_t mark = text.rfind('=');
    const bool fits = mark != std::string::npos && mark > 0;
    return fits ? "" : fmt::format("'{}' is not NAME=SIZE", text);
  };
  add_repeated(app, "--dimension NAME=SIZE", dimensions, help)->check(rule);
}

void add_model_modes(CLI::App& app, ConfigOverrides& overrides) {
  add_word_option<RowsMode>(app, "--rows", overrides.rows,
                            "coupled: rows of a batch depend on each other");
  add_word_option<BatchMode>(app, "--batch", overrides.batch,
                             "none: the model has no batch, one run computes whole\ntensors");
  add_word_option<OpsetMode>(app, "--opset", overrides.opset,
                             "of an ONNX model; any: also newer ones than tfaot knows");
}

std::string WholeNumber::operator()(const std::string& text) const {
  const auto number = parse_number<std::uint64_t>(text);
  if (number && *number >= least && *number <= most) return "";
  return fmt::format("expects a whole number{}{}, from {} to {}, not '{}'",
                     of.empty() ? "" : " of ", of, least, most, shown(text));
}

void add_allow_large(CLI::App& app, bool& allow_large) {
  app.add_flag("--allow-large", allow_large, "unpack an archive with far larger files")
      ->option_text(" ");
}

void add_scram_arch(CLI::App& app, std::string& scram_arch, const std::string& help) {
  app.add_option("--scram-arch", scram_arch,
                 "the tool file goes to config/toolbox/ARCH/tools/selected\n" + help)
      ->option_text("ARCH");
}

void add_version(CLI::App& app, std::string& version, const std::string& help) {
  app.add_option("--version", version, help)->check(version_rule)->option_text("V");
}

void make_absolute(const Context& context, std::initializer_list<Path*> paths) {
  for (Path* const path : paths) {
    if (!path->empty()) *path = context.absolute(*path);
  }
}

Status check_output_folder(const FileSystem& files, const std::string& option, const Path& path) {
  Path there = path;
  for (;; there = there.parent_path()) {
    TFAOT_ASSIGN(const FileKind kind, files.look(there));
    if (kind != FileKind::kMissing || !there.has_relative_path()) break;
  }
  if (is_folder(files, there)) return {};
  return fail(
      Error::usage(fmt::format("{}: '{}' is {}, but must be a folder", option, there.string(),
                               is_file(files, there) ? "a file" : "not a folder"))
          .note("choose another folder; it is made if missing"));
}

Status check_output_file(const FileSystem& files, const std::string& option, const Path& file) {
  if (file.empty()) return {};
  if (is_folder(files, file)) {
    return fail(Error::usage(
        fmt::format("{}: '{}' is a folder, but must be a file", option, file.string())));
  }
  TFAOT_TRY(check_output_folder(files, option, file.parent_path()));
  return check_outside_packages(files, option, file);
}

}  // namespace tfaot::toolkit
