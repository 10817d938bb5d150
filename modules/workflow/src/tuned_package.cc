// SPDX-License-Identifier: Apache-2.0
#include "tfaot/workflow/tuned_package.h"

#include <utility>

#include "output_checks.h"
#include "tfaot/generate/generate.h"
#include "tfaot/package/package.h"
#include "tfaot/package/repair_tree.h"
#include "tfaot/tune/tune.h"
#include "tfaot/workflow/named_paths.h"
#include "tfaot/workflow/work_folder.h"

namespace tfaot::toolkit {
namespace {

Status check_holds_costs(const Manifest& manifest, const Path& tree) {
  const std::string path = cost_header(manifest).path;
  for (const ManifestFile& file : manifest.files) {
    if (file.path == path) return {};
  }
  return fail(Error::at({tree.string()}, "the package has no " + path)
                  .note("it was made by an older tfaot; compile the model again"));
}

Result<Manifest> measure(Context& context, const Path& tree, const Path& work,
                         const TuneRequest& request) {
  TFAOT_ASSIGN(Manifest manifest, verify_tree(context.files, tree));
  TFAOT_TRY(check_holds_costs(manifest, tree));
  TuneOptions options;
  options.compiler = request.compiler;
  options.machine = context.environment.architecture;
  options.budget = request.budget;
  options.tree = tree;
  options.work_directory = work;
  options.program = measuring_program(manifest);
  TFAOT_ASSIGN(manifest.tuning,
               tune_package(context.files, manifest, options, context.diagnostics));
  return manifest;
}

// Writes the tree with the costs: only one header and the manifest change.
Status write_costs(FileSystem& files, const Path& tree, Manifest& manifest) {
  const GeneratedFile costs = cost_header(manifest);
  std::vector<StagedFile> staged;
  for (const ManifestFile& file : manifest.files) {
    staged.push_back(file.path == costs.path ? StagedFile{file.path, costs.text, {}}
                                             : StagedFile{file.path, "", tree / file.path});
  }
  TFAOT_ASSIGN(manifest.files, hash_staged_files(files, staged));
  return write_tree(files, staged, manifest, tree);
}

Result<Manifest> tune_tree(Context& context, const TuneRequest& request) {
  const Path& tree = request.package;
  if (!is_torn_tree(context.files, tree)) {
    TFAOT_TRY(read_tree(context.files, tree));  // before a work folder is made in it
  }
  TFAOT_TRY(check_not_installed(context.files, tree,
                                "tune the archive it was installed from: tfaot tune --package"));
  TFAOT_ASSIGN(const WorkFolder work, WorkFolder::create(context, tree));
  TFAOT_TRY(repair_tree(context.files, tree));
  TFAOT_ASSIGN(Manifest manifest, measure(context, tree, work.path(), request));
  TFAOT_TRY(write_costs(context.files, tree, manifest));
  return manifest;
}

Result<Manifest> tune_archive(Context& context, const TuneRequest& request) {
  FileSystem& files = context.files;
  const Path& output = request.output.empty() ? request.package : request.output;
  TFAOT_TRY(read_archive_manifest(files, request.package));
  TFAOT_ASSIGN(const WorkFolder work, WorkFolder::create(context, output.parent_path()));
  const Path tree = work.path() / "tree";
  TFAOT_TRY(extract_archive(files, request.package, tree, {.allow_large = request.allow_large}));
  TFAOT_ASSIGN(Manifest manifest, measure(context, tree, work.path(), request));
  TFAOT_TRY(write_costs(files, tree, manifest));
  TFAOT_ASSIGN(const Package package,
               make_archive(files, tree, work.path(), {archive_format(output)}));
  TFAOT_TRY(files.rename(package.archive, output));
  return manifest;
}

}  // namespace

Result<PackageForm> package_form(const Context& context, const Path& path) {
  if (is_package_tree(context.files, path) || is_torn_tree(context.files, path)) {
    return PackageForm::kTree;
  }
  if (is_archive(context.files, path)) return PackageForm::kArchive;
  return fail(
      wrong_input(context.files, path, {"'tfaot tune' takes a package tree or an archive", ""}));
}

Result<Manifest> write_tuned_package(Context& context, const TuneRequest& request) {
  TFAOT_ASSIGN(const PackageForm form, package_form(context, request.package));
  return form == PackageForm::kTree ? tune_tree(context, request) : tune_archive(context, request);
}

Result<Suggestion> suggest_for_package(const Context& context, const Path& package,
                                       const SuggestOptions& options, const std::string& name) {
  TFAOT_ASSIGN(const PackageForm form, package_form(context, package));
  TFAOT_ASSIGN(const Manifest manifest, form == PackageForm::kTree
                                            ? read_tree(context.files, package)
                                            : read_archive_manifest(context.files, package));
  if (manifest.rows == RowsMode::kCoupled) {
    return fail(Error::at({name},
                          "this model runs only batches of the sizes that it is compiled for "
                          "(compilation.rows: coupled)")
                    .note("compile the sizes that you run; no others can be suggested"));
  }
  return suggest_sizes(manifest, options, name);
}

}  // namespace tfaot::toolkit
