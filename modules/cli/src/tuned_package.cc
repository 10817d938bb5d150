// SPDX-License-Identifier: Apache-2.0
#include "tuned_package.h"

#include <utility>

#include "output_checks.h"
#include "tfaot/generate/generate.h"
#include "tfaot/package/package.h"
#include "tfaot/package/repair_tree.h"
#include "work_folder.h"

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
                         TuneOptions options) {
  TFAOT_ASSIGN(Manifest manifest, verify_tree(context.files, tree));
  TFAOT_TRY(check_holds_costs(manifest, tree));
  options.tree = tree;
  options.work_directory = work;
  options.program = measuring_program(manifest);
  TFAOT_ASSIGN(manifest.tuning, tune_package(context.files, manifest, options, context.console));
  return manifest;
}

// The tree with the manifest's costs: one header changes, and the manifest.
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

}  // namespace

Result<Manifest> tune_tree(Context& context, const Path& tree, const TuneOptions& options) {
  if (!is_torn_tree(context.files, tree)) {
    TFAOT_TRY(read_tree(context.files, tree));  // before a work folder is made in whatever it is
  }
  TFAOT_TRY(check_not_installed(context.files, tree,
                                "tune the archive it was installed from: tfaot tune --package"));
  TFAOT_ASSIGN(const WorkFolder work, WorkFolder::create(context, tree));
  TFAOT_TRY(repair_tree(context.files, tree));
  TFAOT_ASSIGN(Manifest manifest, measure(context, tree, work.path(), options));
  TFAOT_TRY(write_costs(context.files, tree, manifest));
  return manifest;
}

Result<Manifest> tune_archive(Context& context, const ArchivePaths& paths,
                              const TuneOptions& options) {
  FileSystem& files = context.files;
  TFAOT_TRY(read_archive_manifest(files, paths.input));
  TFAOT_ASSIGN(const WorkFolder work, WorkFolder::create(context, paths.output.parent_path()));
  const Path tree = work.path() / "tree";
  TFAOT_TRY(extract_archive(files, paths.input, tree, {.allow_large = paths.allow_large}));
  TFAOT_ASSIGN(Manifest manifest, measure(context, tree, work.path(), options));
  TFAOT_TRY(write_costs(files, tree, manifest));
  const ArchiveFormat format =
      paths.output.extension() == ".gz" ? ArchiveFormat::kTarGz : ArchiveFormat::kTarZst;
  TFAOT_ASSIGN(const Package package, make_archive(files, tree, work.path(), {format}));
  TFAOT_TRY(files.rename(package.archive, paths.output));
  return manifest;
}

}  // namespace tfaot::toolkit
