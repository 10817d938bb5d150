// SPDX-License-Identifier: Apache-2.0
#include "command_compile.h"

#include <fmt/format.h>

#include <charconv>
#include <memory>

#include "build_lists.h"
#include "compile_options.h"
#include "model_tree.h"
#include "next_steps.h"
#include "output_checks.h"
#include "tfaot/base/interrupts.h"
#include "tfaot/base/text.h"
#include "tfaot/config/config.h"
#include "tfaot/records/cpu_levels.h"
#include "tfaot/records/file_names.h"
#include "tfaot/records/names.h"
#include "tool_layout.h"
#include "wrong_input.h"

namespace tfaot::toolkit {
namespace {

constexpr std::uint64_t kMegabyte = 1'000'000;

// For callers that had to name the C++ class before the config was read (CMake).
Status check_expectations(const CompileCommand& command, const ModelSpec& spec) {
  const auto check = [&](const char* key, const std::string& expected,
                         const std::string& actual) -> Status {
    if (expected.empty() || expected == actual) return {};
    return fail(
        Error::at({spec.config_file.string()},
                  fmt::format("{} is '{}' but '{}' was expected", key, actual, expected))
            .note("CMake was told so by a keyword of tfaot_add_model(), or by the config as it "
                  "was: correct the keyword, or run CMake again"));
  };
  TFAOT_TRY(check("model.name", command.expect_name, spec.model.name));
  return check("compilation.namespace", command.expect_namespace, spec.compilation.namespace_name);
}

// As upstream says with --dev.
void warn_of_foreign_target(Context& context, const std::string& target) {
  const std::string& machine = context.environment.architecture;
  if (target == machine) return;
  context.console.warning(
      fmt::format("this machine's architecture is '{}', but the model is compiled for '{}' and "
                  "will not run here",
                  machine, target));
}

GenerateOptions generate_options(const CompileCommand& command, const ModelSpec& spec,
                                 const Context& context, const Path& output) {
  GenerateOptions options;
  options.tool_name =
      command.tool_name.empty() ? default_tool_name(spec.model.name) : command.tool_name;
  if (!command.tool_base.empty()) {
    options.tool_base = command.tool_base;
  } else if (command.dev) {
    options.tool_base = cmssw_relative(context.environment, output);
  }
  return options;
}

Status write_depfile(const CompileCommand& command, Context& context, const ModelSpec& spec,
                     const ModelTreeOptions& tree) {
  if (command.depfile.empty()) return {};
  TFAOT_ASSIGN(std::vector<Path> read, source_files(context.files, spec));
  read.insert(read.begin(), spec.config_file);
  read.push_back(tree.compile.engine.file);
  for (const StagedFile& file : tree.runtime) read.push_back(file.source);
  const std::string text = depfile_text(tree.output_directory / kManifestName, read);
  return context.files.replace_atomically(context.absolute(command.depfile), text);
}

Status write_object_list(const CompileCommand& command, Context& context, const Manifest& manifest,
                         const Path& output) {
  if (command.object_list.empty()) return {};
  std::vector<Path> objects;
  for (const ManifestFile& file : manifest.files) {
    if (is_object_file(file.path)) objects.push_back(output / file.path);
  }
  return context.files.replace_atomically(context.absolute(command.object_list),
                                          response_file_text(objects));
}

// "12 objects, 9 from the cache"
std::string objects_text(const ModelTree& made) {
  std::string text = fmt::format("{} object{}", made.objects, made.objects == 1 ? "" : "s");
  if (made.cached_objects > 0) text += fmt::format(", {} from the cache", made.cached_objects);
  return text;
}

Status check_output_tree(const CompileCommand& command, const Context& context,
                         const ModelSpec& spec, const Path& output) {
  // A build's folder is its own, whatever the model was called when it was built last.
  const bool is_of_a_build = !command.expect_name.empty();
  return is_of_a_build ? check_outside_model(output, spec.model.source)
                       : check_new_tree(context.files, output, spec.model);
}

CodeCacheOptions cache_options(const CompileCommand& command, const Context& context) {
  CodeCacheOptions options;
  const std::string& folder =
      command.cache.empty() ? context.environment.code_cache : command.cache;
  if (!command.no_cache && !folder.empty()) options.folder = context.absolute(folder);
  options.limit = command.cache_limit * kMegabyte;
  return options;
}

void report(const CompileCommand& command, Context& context, const ModelTree& made,
            const Path& output) {
  const Manifest& manifest = made.manifest;
  if (command.dev) {
    const auto tool_file = [&](const std::string& name) {
      return cmssw_relative(context.environment, output / (name + ".xml"));
    };
    context.console.report(next_steps_text(
        {manifest.name, manifest.cpp_class, manifest.tool_name, tool_file(manifest.tool_name),
         tool_file(std::string(kRuntimeToolName)), manifest.headers == HeadersMode::kCmssw,
         cmssw_relative(context.environment, output).starts_with('$'), manifest.batch_sizes}));
    return;
  }
  context.console.report(
      fmt::format("compiled model '{}' for batch sizes {} and CPU levels {} into {}\n{}\n",
                  manifest.name, fmt::join(manifest.batch_sizes, ","),
                  join(manifest.cpu_levels, ","), output.string(), objects_text(made)));
}

// For -v: what is made from what.
void tell(Context& context, const ModelSpec& spec, const ModelTreeOptions& tree) {
  const auto say = [&](const char* what, const std::string& text) {
    context.console.verbose(fmt::format("{:<10}{}", what, text));
  };
  say("config", spec.config_file.string());
  say("model", spec.model.source.string());
  say("class", cpp_class_of(spec));
  say("engine", tree.compile.engine.file.string());
  say("processes", fmt::format("{} at the same time", tree.compile.jobs));
  say("cache", tree.compile.cache.folder.empty() ? "none" : tree.compile.cache.folder.string());
  say("runtime", fmt::format("{} files", tree.runtime.size()));
}

// For -v: what was made.
void tell(Context& context, const Manifest& manifest, const Path& output) {
  for (const ManifestFile& file : manifest.files) {
    context.console.verbose(
        fmt::format("wrote     {} ({} bytes)", (output / file.path).string(), file.size));
  }
}

// The config's place for messages, when the user has written it elsewhere: "FILE:LINE" of a
// BuildFile, of which the config was made.
Error placed(Error error, const CompileCommand& command, const Context& context) {
  const bool is_of_config = error.where().file == context.absolute(command.config).string();
  if (command.config_place.empty() || !is_of_config) return error;
  const std::size_t colon = command.config_place.rfind(':');
  Location place{command.config_place.substr(0, colon)};
  if (colon != std::string::npos) {
    const char* end = command.config_place.data() + command.config_place.size();
    std::from_chars(command.config_place.data() + colon + 1, end, place.line);
  }
  Error moved = Error::at(std::move(place), error.message());
  for (const std::string& note : error.notes()) moved.note(note);
  return moved;
}

Status compile(const CompileCommand& command, Context& context) {
  TFAOT_ASSIGN(const ConfigOverrides overrides, config_overrides(command));
  TFAOT_ASSIGN(const ModelSpec spec,
               load_model_spec(context.files, context.absolute(command.config), overrides));
  TFAOT_TRY(check_expectations(command, spec));
  ModelTreeOptions tree;
  tree.output_directory = context.absolute(command.output_directory);
  TFAOT_TRY(check_output_folder(context.files, "--output-directory", tree.output_directory));
  TFAOT_TRY(check_output_tree(command, context, spec, tree.output_directory));
  TFAOT_TRY(check_output_file(context, "--depfile", command.depfile));
  const std::string target = processor_of(spec.compilation.target_triple);
  warn_of_foreign_target(context, target);
  tree.compile.jobs = command.jobs == 0 ? context.environment.cores : command.jobs;
  tree.compile.timeout = std::chrono::seconds(command.timeout_seconds);
  tree.compile.cache = cache_options(command, context);
  tree.generate = generate_options(command, spec, context, tree.output_directory);
  TFAOT_TRY(check_names(spec, tree.generate));
  warn_of_blanks(context.console, tree.generate.tool_base);
  TFAOT_ASSIGN(tree.compile.engine, find_engine(context, command.engine));
  TFAOT_ASSIGN(tree.runtime, runtime_files(context, target, spec.compilation.headers));

  tell(context, spec, tree);
  const InterruptWatch watch;
  TFAOT_ASSIGN(const ModelTree made, make_model_tree(context, spec, tree));
  tell(context, made.manifest, tree.output_directory);
  const DespiteInterrupts finish;  // the tree is there: a build wants all three or none
  for (const std::string& file : {command.depfile, command.object_list}) {
    if (file.empty()) continue;  // else: of runs that were killed
    static_cast<void>(context.files.remove_half_written(context.absolute(file).parent_path()));
  }
  TFAOT_TRY(write_depfile(command, context, spec, tree));
  TFAOT_TRY(write_object_list(command, context, made.manifest, tree.output_directory));
  report(command, context, made, tree.output_directory);
  return {};
}

}  // namespace

Action add_compile(CLI::App& app) {
  auto command = std::make_shared<CompileCommand>();
  add_compile_options(app, *command);
  return [command](Context& context) -> Status {
    command->verbosity.apply(context.console);
    Status status = compile(*command, context);
    if (!status) return fail(placed(std::move(status).error(), *command, context));
    return status;
  };
}

}  // namespace tfaot::toolkit
