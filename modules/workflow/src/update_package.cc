// SPDX-License-Identifier: Apache-2.0
#include "tfaot/workflow/update_package.h"

#include <fmt/format.h>

#include "archive_place.h"
#include "output_checks.h"
#include "tfaot/base/limits.h"
#include "tfaot/compile/update_weights.h"
#include "tfaot/generate/generate.h"
#include "tfaot/package/package.h"
#include "tfaot/records/file_names.h"
#include "tfaot/records/names.h"
#include "tfaot/records/package_record_json.h"
#include "tfaot/scram/tool_file.h"
#include "tfaot/workflow/model_tree.h"
#include "tfaot/workflow/named_paths.h"
#include "tfaot/workflow/work_folder.h"

namespace tfaot::toolkit {
namespace {

// An opened package: its tree and what the tree was made from.
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
                    .note("it was made by an older tfaot; compile the model again: tfaot compile"));
  }
  if (manifest.weights.storage != WeightsMode::kShared) {
    return fail(
        Error::at({tree.string()}, "the weights of this package are inside its code")
            .note("it was compiled with 'weights: embedded'; compile the model again: tfaot "
                  "compile"));
  }
  TFAOT_ASSIGN(const std::string text, read_limited(context.files, file, kRecordLimit));
  TFAOT_ASSIGN(PackagedModel model, package_record_from_json(manifest, text, file.string()));
  return Opened{tree, std::move(manifest), std::move(model)};
}

// The existing code, and everything else as `tfaot compile` would make it.
Result<Manifest> write_updated(const UpdateRequest& request, Context& context,
                               const Opened& package, const Path& work, const Path& output) {
  ModelSpec spec = package.model.spec;
  spec.model.source = request.model;
  if (!request.version.empty()) {
    spec.model.version = request.version;
    spec.model.record_version = 0;  // it was the old version's
  }
  TFAOT_ASSIGN(const FileKind kind, context.files.look(spec.model.source));
  if (kind == FileKind::kMissing) {
    return fail(
        Error::at({spec.model.source.string()}, "no such file or folder").note("named by --model"));
  }
  const auto format = named_path(context.files, request.model).format;
  if (format && *format != spec.model.format) {
    return fail(
        Error::at({request.model.string()}, fmt::format("{}, but the package was made from {}",
                                                        one_of(*format), one_of(spec.model.format)))
            .note("export the retrained model in the format of the first one, or compile "
                  "this one: tfaot compile"));
  }
  TFAOT_ASSIGN(CompileOptions compile, compile_options(context, request.engine));
  compile.work_directory = work;
  TFAOT_ASSIGN(
      const CompiledModel compiled,
      update_weights(context.files, spec, package.model.compiled, compile, context.diagnostics));

  ModelTreeOptions tree;
  tree.output_directory = output;
  TFAOT_ASSIGN(tree.runtime, runtime_files(context, processor_of(spec.compilation.target_triple)));
  tree.generate.tool_name = package.manifest.tool_name;
  const Path tool_file = package.tree / (package.manifest.tool_name + ".xml");
  TFAOT_ASSIGN(const std::string text, read_limited(context.files, tool_file, kToolFileLimit));
  TFAOT_ASSIGN(tree.generate.tool_base, tool_base_of({text, tool_file.string()}));
  tree.tuning = package.manifest.tuning;  // the code is the same
  tree.stores_check = true;
  return write_model_tree(context, spec, compiled, {package.tree / "lib", work}, tree);
}

// Repairs a tree that a killed run left incomplete; a complete one is only read.
Status repair(Context& context, const Path& tree) {
  if (!is_torn_tree(context.files, tree)) return {};
  TFAOT_ASSIGN(const WorkFolder work, WorkFolder::create(context, tree));
  return repair_tree(context.files, tree);
}

Result<UpdatedPackage> update_tree(Context& context, const UpdateRequest& request) {
  const Path& tree = request.package;
  const Path output = request.output_directory.empty() ? tree : request.output_directory;
  if (request.output_directory.empty()) {
    TFAOT_TRY(check_not_installed(context.files, output,
                                  "give the archive it was installed from instead, or write a new "
                                  "tree with -o and make an archive from it"));
  }
  TFAOT_TRY(repair(context, tree));
  TFAOT_ASSIGN(Manifest manifest, verify_tree(context.files, tree));
  TFAOT_ASSIGN(const Opened package, open_tree(context, tree, std::move(manifest)));
  ModelSection model = package.model.spec.model;
  model.source = request.model;
  TFAOT_TRY(check_new_tree(context.files, output, model));
  TFAOT_ASSIGN(const WorkFolder work, WorkFolder::create(context, output));
  TFAOT_ASSIGN(Manifest made, write_updated(request, context, package, work.path(), output));
  return UpdatedPackage{std::move(made), output};
}

Result<UpdatedPackage> update_archive(Context& context, const UpdateRequest& request) {
  const Path& archive = request.package;
  const Path output =
      request.output_directory.empty() ? archive.parent_path() : request.output_directory;
  TFAOT_ASSIGN(const WorkFolder work, WorkFolder::create(context, output));
  const Path unpacked = work.path() / "package";
  const Path updated = work.path() / "updated";
  TFAOT_ASSIGN(Manifest manifest, extract_archive(context.files, archive, unpacked,
                                                  {.allow_large = request.allow_large}));
  if (output == archive.parent_path() &&
      (request.version.empty() || request.version == manifest.version)) {
    return fail(
        Error::usage("update-weights: the new archive would replace the package itself")
            .note("give the new package a version with --version, or another folder with -o"));
  }
  TFAOT_ASSIGN(const Opened package, open_tree(context, unpacked, std::move(manifest)));
  const Path objects = work.path() / "objects";
  TFAOT_TRY(context.files.create_directories(objects));
  TFAOT_ASSIGN(Manifest made, write_updated(request, context, package, objects, updated));
  TFAOT_ASSIGN(const Package written,
               make_archive(context.files, updated, work.path(), {archive_format(archive)}));
  const Path place = output / written.archive.filename();
  TFAOT_TRY(put_archive(context.files, work.path(), written, place, Sums::kRenewed));
  return UpdatedPackage{std::move(made), place};
}

}  // namespace

Result<UpdatedPackage> update_package(Context& context, const UpdateRequest& request) {
  UpdateRequest found = request;
  const NamedPath named = named_path(context.files, request.package);
  found.package = named.path;
  if (named.is_tree()) return update_tree(context, found);
  if (named.kind == PathKind::kArchive) return update_archive(context, found);
  return fail(wrong_input(context.files, named.path,
                          {fmt::format("'tfaot update-weights' takes {}", kPackageForms), ""}));
}

}  // namespace tfaot::toolkit
