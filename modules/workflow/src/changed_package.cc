// SPDX-License-Identifier: Apache-2.0
#include "changed_package.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "archive_place.h"
#include "output_checks.h"
#include "tfaot/package/package.h"
#include "tfaot/records/manifest_json.h"
#include "tfaot/workflow/named_paths.h"
#include "tfaot/workflow/work_folder.h"

namespace tfaot::toolkit {
namespace {

constexpr const char* kInsteadOfInstalled =
    "validate the archive it was installed from, with --record, and install that";

Result<Manifest> write_changed(FileSystem& files, const Path& tree, ChangedContents changed) {
  Manifest& manifest = changed.manifest;
  std::vector<StagedFile> staged;
  for (const ManifestFile& file : manifest.files) {
    const auto text = std::ranges::find(changed.files, file.path, &GeneratedFile::path);
    staged.push_back(text == changed.files.end() ? StagedFile{file.path, "", tree / file.path}
                                                 : StagedFile{file.path, text->text, {}});
  }
  TFAOT_ASSIGN(manifest.files, hash_staged_files(files, staged));
  TFAOT_TRY(write_tree(files, staged, manifest, tree));
  return std::move(manifest);
}

Result<Manifest> change_tree(Context& context, const NamedPath& named, const ChangedPlace& place,
                             const PackageChange& change) {
  FileSystem& files = context.files;
  const Path& tree = named.path;
  if (named.kind != PathKind::kTornTree) {
    TFAOT_TRY(read_tree(files, tree));  // before a work folder is made in it
  }
  TFAOT_TRY(check_not_installed(files, tree, place.instead));
  TFAOT_ASSIGN(const WorkFolder work, WorkFolder::create(context, tree));
  TFAOT_TRY(repair_tree(files, tree));
  TFAOT_ASSIGN(Manifest manifest, verify_tree(files, tree));
  TFAOT_ASSIGN(ChangedContents changed, change(std::move(manifest), tree, work.path()));
  return write_changed(files, tree, std::move(changed));
}

Result<Manifest> change_archive(Context& context, const ChangedPlace& place,
                                const PackageChange& change) {
  FileSystem& files = context.files;
  const Path& output = place.output.empty() ? place.package : place.output;
  TFAOT_TRY(read_archive_manifest(files, place.package));
  TFAOT_ASSIGN(const WorkFolder work, WorkFolder::create(context, output.parent_path()));
  const Path tree = work.path() / "tree";
  TFAOT_ASSIGN(Manifest manifest,
               extract_archive(files, place.package, tree, {.allow_large = place.allow_large}));
  TFAOT_ASSIGN(ChangedContents changed, change(std::move(manifest), tree, work.path()));
  TFAOT_ASSIGN(Manifest written, write_changed(files, tree, std::move(changed)));
  TFAOT_ASSIGN(const Package package,
               make_archive(files, tree, work.path(), {archive_format(output)}));
  TFAOT_TRY(put_archive(files, work.path(), package, output, Sums::kRenewed));
  return written;
}

}  // namespace

Result<Manifest> change_package(Context& context, const ChangedPlace& place,
                                const PackageChange& change) {
  const NamedPath named = named_path(context.files, place.package);
  return named.kind == PathKind::kArchive ? change_archive(context, place, change)
                                          : change_tree(context, named, place, change);
}

Result<FoundPackage> find_validated(const Context& context, const LoadRequest& request,
                                    bool record) {
  TFAOT_ASSIGN(FoundPackage found, find_package(context, request));
  if (record && !found.is_archive) {
    TFAOT_TRY(check_not_installed(context.files, found.path, kInsteadOfInstalled));
  }
  return found;
}

Status record_in_manifest(Context& context, const ValidatedPackage& package,
                          const std::function<void(Manifest& manifest)>& change) {
  const auto record = [&](Manifest manifest, const Path&, const Path&) -> Result<ChangedContents> {
    if (manifest_to_json(manifest) != manifest_to_json(package.manifest)) {
      return fail(Error::at({package.path.string()}, "the package changed while it was validated")
                      .note("validate it again"));
    }
    change(manifest);
    return ChangedContents{std::move(manifest), {}};
  };
  TFAOT_TRY(change_package(context,
                           {.package = package.path,
                            .output = {},
                            .allow_large = package.allow_large,
                            .instead = kInsteadOfInstalled},
                           record));
  return {};
}

}  // namespace tfaot::toolkit
