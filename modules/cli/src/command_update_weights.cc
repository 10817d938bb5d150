// SPDX-License-Identifier: Apache-2.0
#include "command_update_weights.h"

#include <fmt/format.h>

#include <memory>

#include "allow_large.h"
#include "model_tree.h"
#include "output_checks.h"
#include "tfaot/base/limits.h"
#include "tfaot/compile/update_weights.h"
#include "tfaot/generate/generate.h"
#include "tfaot/generate/tool_file_xml.h"
#include "tfaot/package/package.h"
#include "tfaot/package/repair_tree.h"
#include "tfaot/records/cpu_levels.h"
#include "tfaot/records/file_names.h"
#include "tfaot/records/names.h"
#include "tfaot/records/package_record_json.h"
#include "tool_layout.h"
#include "version_option.h"
#include "work_folder.h"
#include "wrong_input.h"

namespace tfaot::toolkit {
namespace {

struct Options {
  VerbosityOption verbosity;
  std::string package;
  std::string model;
  std::string output_directory;
  std::string version;
  std::string engine;
  bool allow_large = false;
  unsigned jobs = 0;
  unsigned timeout_seconds = 600;
};

// A package that was opened: its tree and what that was made from.
struct Opened {
  Path tree;
  Manifest manifest;
  PackagedModel model;
};

Result<Opened> open_tree(const Context& context, const Path& tree, Manifest manifest) {
  const Path file = tree / kRecordName;
  TFAOT_ASSIGN(const FileKind kind, context.files.look(file));
  if (kind != FileKind::kFile) {
    return fail(Error::at({tree.string()}, fmt::format("the package has no {}", kRecordName))
                    .note("it was made by an older tfaot; compile the model anew: tfaot compile"));
  }
  if (manifest.weights != WeightsMode::kShared) {
    return fail(Error::at({tree.string()}, "the weights of this package are inside its code")
                    .note("it was compiled with 'weights: embedded'; compile the model anew: tfaot "
                          "compile"));
  }
  TFAOT_ASSIGN(const std::string text, read_limited(context.files, file, kRecordLimit));
  TFAOT_ASSIGN(PackagedModel model, package_record_from_json(manifest, text, file.string()));
  return Opened{tree, std::move(manifest), std::move(model)};
}

// The code as it is, the rest as `tfaot compile` would make it.
Result<Manifest> write_updated(const Options& options, Context& context, const Opened& package,
                               const Path& work, const Path& output) {
  ModelSpec spec = package.model.spec;
  spec.model.source = context.absolute(options.model);
  if (!options.version.empty()) spec.model.version = options.version;
  TFAOT_ASSIGN(const FileKind kind, context.files.look(spec.model.source));
  if (kind == FileKind::kMissing) {
    return fail(
        Error::at({spec.model.source.string()}, "no such file or folder").note("named by --model"));
  }
  CompileOptions compile;
  TFAOT_ASSIGN(compile.engine, find_engine(context, options.engine));
  compile.work_directory = work;
  compile.jobs = options.jobs == 0 ? context.environment.cores : options.jobs;
  compile.timeout = std::chrono::seconds(options.timeout_seconds);
  TFAOT_ASSIGN(
      const CompiledModel compiled,
      update_weights(context.files, spec, package.model.compiled, compile, context.console));

  ModelTreeOptions tree;
  tree.output_directory = output;
  TFAOT_ASSIGN(tree.runtime, runtime_files(context, processor_of(spec.compilation.target_triple),
                                           spec.compilation.headers));
  tree.generate.tool_name = package.manifest.tool_name;
  const Path tool_file = package.tree / (package.manifest.tool_name + ".xml");
  TFAOT_ASSIGN(const std::string text, read_limited(context.files, tool_file, kToolFileLimit));
  TFAOT_ASSIGN(tree.generate.tool_base, tool_base_of({text, tool_file.string()}));
  tree.tuning = package.manifest.tuning;  // the code is the same
  return write_model_tree(context, spec, compiled, {package.tree / "lib", work}, tree);
}

void report(Context& context, const Manifest& manifest, const Path& output) {
  context.console.report(fmt::format("updated the weights of model '{}', version {}: {}\n",
                                     manifest.name, manifest.version, output.string()));
}

// What a killed run left in pieces; a whole tree is only read.
Status repair(Context& context, const Path& tree) {
  if (!is_torn_tree(context.files, tree)) return {};
  TFAOT_ASSIGN(const WorkFolder work, WorkFolder::create(context, tree));
  return repair_tree(context.files, tree);
}

Status update_tree(const Options& options, Context& context, const Path& tree) {
  const Path output =
      options.output_directory.empty() ? tree : context.absolute(options.output_directory);
  if (options.output_directory.empty()) {
    TFAOT_TRY(check_not_installed(context.files, output,
                                  "give the archive it was installed from instead, or write a new "
                                  "tree by -o and make an archive of it"));
  }
  TFAOT_TRY(repair(context, tree));
  TFAOT_ASSIGN(Manifest manifest, verify_tree(context.files, tree));
  TFAOT_ASSIGN(const Opened package, open_tree(context, tree, std::move(manifest)));
  ModelSection model = package.model.spec.model;
  model.source = context.absolute(options.model);
  TFAOT_TRY(check_new_tree(context.files, output, model));
  TFAOT_ASSIGN(const WorkFolder work, WorkFolder::create(context, output));
  TFAOT_ASSIGN(const Manifest made, write_updated(options, context, package, work.path(), output));
  report(context, made, output);
  return {};
}

Status update_archive(const Options& options, Context& context, const Path& archive) {
  const Path output = options.output_directory.empty() ? archive.parent_path()
                                                       : context.absolute(options.output_directory);
  TFAOT_ASSIGN(const WorkFolder work, WorkFolder::create(context, output));
  const Path unpacked = work.path() / "package";
  const Path updated = work.path() / "updated";
  TFAOT_ASSIGN(Manifest manifest, extract_archive(context.files, archive, unpacked,
                                                  {.allow_large = options.allow_large}));
  if (output == archive.parent_path() &&
      (options.version.empty() || options.version == manifest.version)) {
    return fail(Error::usage("update-weights: the new archive would replace the package itself")
                    .note("give the new package a version by --version, or another folder by -o"));
  }
  TFAOT_ASSIGN(const Opened package, open_tree(context, unpacked, std::move(manifest)));
  const Path objects = work.path() / "objects";
  TFAOT_TRY(context.files.create_directories(objects));
  TFAOT_ASSIGN(const Manifest made, write_updated(options, context, package, objects, updated));
  const bool is_gz = archive.extension() == ".gz";
  TFAOT_ASSIGN(const Package written,
               make_archive(context.files, updated, output,
                            {is_gz ? ArchiveFormat::kTarGz : ArchiveFormat::kTarZst}));
  report(context, made, written.archive);
  return {};
}

Status update(const Options& options, Context& context) {
  const Path package = context.absolute(options.package);
  if (!options.output_directory.empty()) {
    TFAOT_TRY(check_output_folder(context.files, "--output-directory",
                                  context.absolute(options.output_directory)));
  }
  if (is_package_tree(context.files, package) || is_torn_tree(context.files, package)) {
    return update_tree(options, context, package);
  }
  if (is_archive(context.files, package)) return update_archive(options, context, package);
  return fail(wrong_input(context.files, package,
                          {"'tfaot update-weights' takes an archive or a package tree", ""}));
}

}  // namespace

Action add_update_weights(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.add_option("PACKAGE", options->package, "an archive or a package tree")
      ->required()
      ->option_text(" ");
  app.add_option("--model", options->model,
                 "the retrained model, a SavedModel's folder or a frozen\ngraph, as the package's")
      ->required()
      ->option_text("PATH (required)");
  app.add_option("-o,--output-directory", options->output_directory,
                 "where the new tree or archive goes [a tree: in its place;\nan archive: beside "
                 "it]")
      ->option_text("DIR");
  app.add_option("--version", options->version, "version of the new package [the package's]")
      ->check(check_version)
      ->option_text("V");
  app.add_option("-j,--jobs", options->jobs, "engine processes at the same time [one per core]")
      ->check(CLI::Range(1, 1024))
      ->option_text("N");
  app.add_option("--timeout", options->timeout_seconds, "for each engine process, 0: none [600]")
      ->option_text("SECONDS");
  app.add_option("--engine", options->engine,
                 "engine to run [$TFAOT_ENGINE, else the one of this tfaot]")
      ->option_text("PATH");
  add_allow_large(app, options->allow_large);
  options->verbosity.add_to(app);
  app.footer(
      "Nothing is compiled: the new model must have the architecture of the package's code. What "
      "differs\n"
      "is named. The package's version stays when none is given.\n"
      "Examples:\n"
      "  tfaot update-weights build/tagger --model retrained/saved_model\n"
      "  tfaot update-weights dist/tfaot-model-tagger-1.0.0-x86_64-linux.tar.zst \\\n"
      "      --model retrained/saved_model --version 1.0.1");
  return [options](Context& context) {
    options->verbosity.apply(context.console);
    return update(*options, context);
  };
}

}  // namespace tfaot::toolkit
