// SPDX-License-Identifier: Apache-2.0
#include "tfaot/workflow/build_package.h"

#include <fmt/format.h>

#include "build_lists.h"
#include "output_checks.h"
#include "tfaot/base/interrupts.h"
#include "tfaot/compile/model_files.h"
#include "tfaot/records/cpp_names.h"
#include "tfaot/records/file_names.h"
#include "tfaot/records/names.h"
#include "tfaot/workflow/named_paths.h"

namespace tfaot::toolkit {
namespace {

Status check_expectations(const BuildRequest& request, const ModelSpec& spec) {
  const auto check = [&](const char* key, const std::string& expected,
                         const std::string& actual) -> Status {
    if (expected.empty() || expected == actual) return {};
    if (!request.place.file.empty()) {
      return fail(
          Error::at(request.place, fmt::format("{} of {} is '{}' but '{}' was expected", key,
                                               spec.config_file.string(), actual, expected)));
    }
    return fail(
        Error::at({spec.config_file.string()},
                  fmt::format("{} is '{}' but '{}' was expected", key, actual, expected))
            .note("a keyword of tfaot_add_model() says so, or the config did when CMake ran: "
                  "correct the keyword, or run CMake again"));
  };
  TFAOT_TRY(check("model.name", request.expected_name, spec.model.name));
  TFAOT_TRY(
      check("compilation.namespace", request.expected_namespace, spec.compilation.namespace_name));
  return check("model.version", request.expected_version, spec.model.version);
}

// Upstream prints the same with --dev.
void warn_of_foreign_target(const Context& context, const std::string& target) {
  const std::string& machine = context.environment.architecture;
  if (target == machine) return;
  context.diagnostics.warning(
      fmt::format("this machine's architecture is '{}', but the model is compiled for '{}' and "
                  "will not run here",
                  machine, target));
}

GenerateOptions generate_options(const BuildRequest& request, const ModelSpec& spec) {
  GenerateOptions options;
  options.tool_name =
      request.tool_name.empty() ? default_tool_name(spec.model.name) : request.tool_name;
  if (!request.tool_base.empty()) options.tool_base = request.tool_base;
  return options;
}

Status check_output_tree(const BuildRequest& request, const Context& context,
                         const ModelSpec& spec) {
  const bool is_of_a_build = !request.expected_name.empty();
  return is_of_a_build ? check_outside_model(request.output_directory, spec.model.source)
                       : check_new_tree(context.files, request.output_directory, spec.model);
}

// Everything that is known before compiling starts.
Result<ModelTreeOptions> plan_tree(const Context& context, const BuildRequest& request,
                                   const ModelSpec& spec) {
  TFAOT_TRY(check_expectations(request, spec));
  ModelTreeOptions tree;
  tree.output_directory = request.output_directory;
  TFAOT_TRY(check_output_tree(request, context, spec));
  const std::string target = processor_of(spec.compilation.target_triple);
  warn_of_foreign_target(context, target);
  tree.generate = generate_options(request, spec);
  TFAOT_TRY(check_names(spec, tree.generate));
  warn_of_blanks(context.diagnostics, tree.generate.tool_base);
  TFAOT_ASSIGN(tree.compile, compile_options(context, request.engine));
  tree.compile.cache = request.cache;
  tree.compile.check = request.check;
  tree.compile.counted = request.counted;
  tree.stores_check =
      request.stores_check && request.check == nullptr && request.counted == nullptr;
  TFAOT_ASSIGN(tree.runtime, runtime_files(context, target));
  return tree;
}

// Reports what is made from what.
void tell(const Context& context, const ModelSpec& spec, const ModelTreeOptions& tree) {
  const auto say = [&](const char* what, const std::string& text) {
    context.diagnostics.verbose(fmt::format("{:<10}{}", what, text));
  };
  if (!spec.config_file.empty()) say("config", spec.config_file.string());
  say("model", spec.model.source.string());
  say("class", cpp_class_of(spec));
  say("engine", tree.compile.engine.file.string());
  say("processes", fmt::format("{} at the same time", tree.compile.jobs));
  say("cache", tree.compile.cache.folder.empty() ? "none" : tree.compile.cache.folder.string());
  const RemoteCachePlace& remote = tree.compile.cache.remote;
  if (!remote.empty()) say("server", remote.address());
  say("runtime", fmt::format("{} files", tree.runtime.size()));
}

// Reports what was made.
void tell(const Context& context, const Manifest& manifest, const Path& output) {
  for (const ManifestFile& file : manifest.files) {
    context.diagnostics.verbose(
        fmt::format("wrote     {} ({} bytes)", (output / file.path).string(), file.size));
  }
}

Status write_depfile(const BuildRequest& request, Context& context, const ModelSpec& spec,
                     const ModelTreeOptions& tree) {
  if (request.depfile.empty()) return {};
  TFAOT_ASSIGN(std::vector<Path> read, model_files(context.files, spec.model.source));
  if (!spec.config_file.empty()) read.insert(read.begin(), spec.config_file);
  read.push_back(tree.compile.engine.file);
  for (const StagedFile& file : tree.runtime) read.push_back(file.source);
  const std::string text = depfile_text(tree.output_directory / kManifestName, read);
  return write_named_file(context.files, request.depfile, text);
}

Status write_object_list(const BuildRequest& request, Context& context, const Manifest& manifest) {
  if (request.object_list.empty()) return {};
  std::vector<Path> objects;
  for (const ManifestFile& file : manifest.files) {
    if (is_object_file(file.path)) objects.push_back(request.output_directory / file.path);
  }
  return write_named_file(context.files, request.object_list, response_file_text(objects));
}

Result<ModelTree> build(Context& context, const BuildRequest& request) {
  TFAOT_ASSIGN(const ModelSpec spec,
               request.model.empty()
                   ? load_model_spec(context.files, request.config, request.overrides)
                   : spec_at(context.files, request.model, request.overrides));
  TFAOT_ASSIGN(const ModelTreeOptions tree, plan_tree(context, request, spec));
  tell(context, spec, tree);
  const InterruptWatch watch;
  TFAOT_ASSIGN(ModelTree made, make_model_tree(context, spec, tree));
  tell(context, made.manifest, tree.output_directory);
  const DespiteInterrupts finish;  // the tree exists: a build needs all three or none
  TFAOT_TRY(write_depfile(request, context, spec, tree));
  TFAOT_TRY(write_object_list(request, context, made.manifest));
  return made;
}

}  // namespace

Result<ModelTree> build_package(Context& context, const BuildRequest& request) {
  Result<ModelTree> made = build(context, request);
  const Location& place = request.place;
  if (made || place.file.empty() || made.error().where().file == place.file) return made;
  if (made.error().where().file.empty()) return fail(std::move(made).error().moved_to(place));
  const std::string line = place.line > 0 ? fmt::format(":{}", place.line) : "";
  return fail(std::move(made).error().note(fmt::format("asked for in {}{}", place.file, line)));
}

}  // namespace tfaot::toolkit
