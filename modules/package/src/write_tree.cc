// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "package_path.h"
#include "tfaot/base/hash.h"
#include "tfaot/generate/manifest_json.h"
#include "tfaot/package/package.h"

namespace tfaot {
namespace {

constexpr std::string_view kOldManifestName = ".manifest.json.old";

std::set<std::string> paths_of(const Manifest& manifest) {
  std::set<std::string> paths;
  for (const ManifestFile& file : manifest.files) paths.insert(file.path);
  return paths;
}

// What an older manifest lists and the new one does not. An unreadable manifest lists nothing.
std::vector<std::string> stale_files(const FileSystem& fs, const Path& old_manifest,
                                     const Manifest& manifest) {
  std::vector<std::string> stale;
  const auto text = fs.read(old_manifest);
  if (!text) return stale;
  const auto old = manifest_from_json(*text, old_manifest.string());
  if (!old) return stale;
  std::ranges::set_difference(paths_of(*old), paths_of(manifest), std::back_inserter(stale));
  return stale;
}

bool is_equal(const FileSystem& fs, const Path& path, const ManifestFile& listed) {
  if (fs.kind(path) != FileKind::kFile) return false;
  const auto size = fs.size(path);
  if (!size || *size != listed.size) return false;
  const auto sha256 = sha256_of_file(fs, path);
  return sha256 && *sha256 == listed.sha256;
}

Status write_file(FileSystem& fs, const StagedFile& file, const Path& path) {
  if (file.source.empty()) return fs.replace_atomically(path, file.text);
  return file.movable ? fs.move_file(file.source, path) : fs.copy_file(file.source, path);
}

}  // namespace

Status write_tree(FileSystem& fs, const std::vector<StagedFile>& files, const Manifest& manifest,
                  const Path& root) {
  std::vector<const StagedFile*> changed;
  std::set<std::string> staged;
  for (const StagedFile& file : files) {
    staged.insert(file.path);
    const auto listed = std::ranges::find(manifest.files, file.path, &ManifestFile::path);
    if (listed == manifest.files.end()) break;
    if (!is_equal(fs, root / file.path, *listed)) changed.push_back(&file);
  }
  if (staged != paths_of(manifest) || staged.size() != files.size()) {
    return fail(Error::internal("the manifest does not list just the files of the package"));
  }

  // While files change there is no manifest; the old one is kept beside, for a run after a kill to
  // tidy up from.
  const Path manifest_file = root / kManifestName;
  const Path old_manifest = root / kOldManifestName;
  const bool had_manifest = fs.kind(manifest_file) == FileKind::kFile;
  const std::vector<std::string> stale =
      stale_files(fs, had_manifest ? manifest_file : old_manifest, manifest);
  if (had_manifest && !(changed.empty() && stale.empty())) {
    TFAOT_TRY(fs.rename(manifest_file, old_manifest));
  }
  for (const std::string& path : stale) TFAOT_TRY(fs.remove_all(root / path));
  for (const StagedFile* file : changed) {
    TFAOT_TRY(write_file(fs, *file, root / file->path));
  }
  TFAOT_TRY(write_if_changed(fs, manifest_file, manifest_to_json(manifest)));
  return fs.kind(old_manifest) == FileKind::kMissing ? Status() : fs.remove_all(old_manifest);
}

}  // namespace tfaot
