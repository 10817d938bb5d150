// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tfaot/base/file_system.h"
#include "tfaot/base/hash.h"
#include "tfaot/base/interrupts.h"
#include "tfaot/base/staged_update.h"
#include "tfaot/package/package.h"
#include "tfaot/package/package_types.h"
#include "tfaot/records/file_names.h"
#include "tfaot/records/manifest.h"
#include "tfaot/records/manifest_json.h"
#include "tfaot/records/package_record_json.h"

namespace tfaot::toolkit {
namespace {

// A change of a package tree that happens completely or not at all. New files are first written to
// a side folder inside the tree, then everything is renamed (base/staged_update.h). repair_tree()
// finishes what a kill interrupted, or what could not be undone. One at a time per tree; one
// thread.

// Exists inside the tree while it changes. The new manifest is written there last: once it is
// there, all files are.
inline constexpr std::string_view kAsideFolder = ".tfaot-aside";
// The old manifest's name during the renames.
inline constexpr std::string_view kOldManifestName = ".manifest.json.old";

inline Path new_files(const Path& root) { return root / kAsideFolder / "new"; }
inline Path old_files(const Path& root) { return root / kAsideFolder / "old"; }

class TreeUpdate {
 public:
  TreeUpdate(FileSystem& fs, Path root) : fs_(fs), root_(std::move(root)), renames_(fs) {}
  TreeUpdate(const TreeUpdate&) = delete;
  TreeUpdate& operator=(const TreeUpdate&) = delete;
  // What cannot be removed here is removed by the next change of the tree.
  ~TreeUpdate() {
    const DespiteInterrupts cleaning;
    if (!renames_.take_back()) {
      renames_.keep();
      return;  // the side folder is needed to repair the tree
    }
    static_cast<void>(fs_.remove_all(root_ / kAsideFolder));
  }

  Status put_aside(const StagedFile& file) {
    const Path path = new_files(root_) / file.path;
    TFAOT_TRY(renames_.make_folders(path.parent_path()));
    if (file.source.empty()) return fs_.replace_atomically(path, file.text);
    return file.movable ? fs_.move_file(file.source, path) : fs_.copy_file(file.source, path);
  }
  Status take_out(const std::string& path) {
    if (fs_.kind(root_ / path) == FileKind::kMissing) return {};
    return rename(root_ / path, old_files(root_) / path);
  }
  // Moves the file of that path from the side folder into the tree; an existing file is kept aside.
  Status move_in(const std::string& path) {
    TFAOT_TRY(take_out(path));
    return rename(new_files(root_) / path, root_ / path);
  }
  Status rename(const Path& from, const Path& to) {
    TFAOT_TRY(renames_.make_folders(to.parent_path()));
    return renames_.rename(from, to);
  }
  void keep() { renames_.keep(); }

 private:
  FileSystem& fs_;
  Path root_;
  Renames renames_;
};

std::set<std::string> paths_of(const Manifest& manifest) {
  std::set<std::string> paths;
  for (const ManifestFile& file : manifest.files) paths.insert(file.path);
  return paths;
}

// The files that the manifest at `file` lists; nothing if it is missing or unreadable.
std::set<std::string> listed_in(const FileSystem& fs, const Path& file) {
  const auto manifest = read_manifest(fs, file);
  return manifest ? paths_of(*manifest) : std::set<std::string>();
}

// The files that earlier runs made: the complete tree's, or those that a killed run took out.
std::set<std::string> earlier_files(const FileSystem& fs, const Path& root) {
  const bool is_whole = fs.kind(root / kManifestName) == FileKind::kFile;
  return listed_in(fs, root / (is_whole ? kManifestName : kOldManifestName));
}

bool is_equal(const FileSystem& fs, const Path& path, const ManifestFile& listed) {
  if (fs.kind(path) != FileKind::kFile) return false;
  const auto size = fs.size(path);
  if (!size || *size != listed.size) return false;
  const auto sha256 = sha256_of_file(fs, path);
  return sha256 && *sha256 == listed.sha256;
}

Status remove_if_there(FileSystem& fs, const Path& path) {
  return fs.kind(path) == FileKind::kMissing ? Status() : fs.remove_all(path);
}

// Removes the folders that became empty without `path`.
void remove_empty_folders(FileSystem& fs, const Path& root, const std::string& path) {
  for (Path folder = (root / path).parent_path(); folder != root; folder = folder.parent_path()) {
    const auto names = fs.list(folder);
    if (!names || !names->empty() || !fs.remove_all(folder)) return;
  }
}

// True if an earlier run made the tree, although its manifest is gone, for example after a build's
// `clean`.
bool has_record(const FileSystem& fs, const Path& root) {
  const auto text = fs.read(root / kRecordName);
  return text && is_package_record(*text);
}

// A file that nothing lists is not ours to replace.
Status check_foreign(const FileSystem& fs, const std::vector<StagedFile>& changed,
                     const std::set<std::string>& earlier, const Path& root) {
  if (earlier.empty() && has_record(fs, root)) return {};
  std::vector<std::string> paths;
  if (earlier.empty()) paths.emplace_back(kManifestName);
  for (const StagedFile& file : changed) paths.push_back(file.path);
  for (const std::string& path : paths) {
    if (earlier.contains(path)) continue;
    TFAOT_ASSIGN(const FileKind kind, fs.look(root / path));
    if (kind == FileKind::kMissing) continue;
    return fail(
        Error::at({(root / path).string()},
                  "does not belong to a package, but a file of the package would replace it")
            .note("move it away, or choose another folder for the package"));
  }
  return {};
}

// While files change there is no manifest; the old one is kept beside it, for repair_tree().
Status replace_files(FileSystem& fs, const std::vector<StagedFile>& changed,
                     const std::vector<std::string>& stale, const Path& root) {
  TreeUpdate update(fs, root);
  for (const StagedFile& file : changed) TFAOT_TRY(update.put_aside(file));
  TFAOT_TRY(check_interrupts());
  const DespiteInterrupts commit;  // only renames
  if (fs.kind(root / kManifestName) != FileKind::kMissing) {
    TFAOT_TRY(update.rename(root / kManifestName, root / kOldManifestName));
  }
  for (const std::string& path : stale) TFAOT_TRY(update.take_out(path));
  for (const StagedFile& file : changed) TFAOT_TRY(update.move_in(file.path));
  update.keep();
  return {};
}

// What is written and removed must be inside the tree, whatever was done to its folders.
Status check_folders(const FileSystem& fs, const std::set<std::string>& paths, const Path& root) {
  for (const std::string& path : paths) {
    Status own = check_own_folders(fs, root, root / path);
    if (own) continue;
    return fail(
        std::move(own).error().note("move it away, or choose another folder for the package"));
  }
  return {};
}

// The new tree, from what a killed run left. A kill after any of these steps is safe.
Status go_on(FileSystem& fs, const Path& root) {
  const std::set<std::string> coming = listed_in(fs, new_files(root) / kManifestName);
  const std::set<std::string> old = listed_in(fs, root / kOldManifestName);
  TFAOT_TRY(check_folders(fs, coming, root));
  TFAOT_TRY(check_folders(fs, old, root));
  for (const std::string& path : old) {
    if (coming.contains(path)) continue;
    TFAOT_TRY(remove_if_there(fs, root / path));
    remove_empty_folders(fs, root, path);
  }
  TFAOT_ASSIGN(const auto files, list_files_recursively(fs, new_files(root)));
  for (const std::string& path : files) {
    if (path == kManifestName) continue;
    TFAOT_TRY(fs.create_directories((root / path).parent_path()));
    TFAOT_TRY(fs.rename(new_files(root) / path, root / path));
  }
  return fs.rename(new_files(root) / kManifestName, root / kManifestName);
}

}  // namespace

bool is_torn_tree(const FileSystem& fs, const Path& root) {
  const Path manifest = new_files(root) / kManifestName;
  return fs.kind(root / kManifestName) == FileKind::kMissing &&
         check_own_folders(fs, root, manifest) && fs.kind(manifest) == FileKind::kFile;
}

Result<Manifest> read_torn_tree(const FileSystem& fs, const Path& root) {
  return read_tree(fs, new_files(root));
}

Status repair_tree(FileSystem& fs, const Path& root) {
  const InterruptWatch watch;
  TFAOT_TRY(check_interrupts());
  const DespiteInterrupts commit;  // only renames
  TFAOT_ASSIGN(const FileKind manifest, fs.look(root / kManifestName));
  if (manifest == FileKind::kMissing && is_torn_tree(fs, root)) TFAOT_TRY(go_on(fs, root));
  TFAOT_TRY(remove_if_there(fs, root / kAsideFolder));
  const bool is_whole = fs.kind(root / kManifestName) == FileKind::kFile;
  return is_whole ? remove_if_there(fs, root / kOldManifestName) : Status();
}

Status write_tree(FileSystem& fs, const std::vector<StagedFile>& files, const Manifest& manifest,
                  const Path& root) {
  const InterruptWatch watch;
  TFAOT_TRY(repair_tree(fs, root));
  std::vector<StagedFile> changed;
  std::set<std::string> staged;
  for (const StagedFile& file : files) {
    staged.insert(file.path);
    const auto listed = std::ranges::find(manifest.files, file.path, &ManifestFile::path);
    if (listed == manifest.files.end()) break;
    if (!is_equal(fs, root / file.path, *listed)) changed.push_back(file);
  }
  if (staged != paths_of(manifest) || staged.size() != files.size()) {
    return fail(Error::internal("the manifest does not list just the files of the package"));
  }
  const std::set<std::string> earlier = earlier_files(fs, root);
  TFAOT_TRY(check_folders(fs, staged, root));
  TFAOT_TRY(check_folders(fs, earlier, root));
  TFAOT_TRY(check_foreign(fs, changed, earlier, root));
  std::vector<std::string> stale;
  std::ranges::set_difference(earlier, staged, std::back_inserter(stale));
  std::string text = manifest_to_json(manifest);
  const auto old_text = fs.read(root / kManifestName);
  if (!changed.empty() || !stale.empty() || !old_text || *old_text != text) {
    changed.push_back({std::string(kManifestName), std::move(text), {}});  // last
    TFAOT_TRY(replace_files(fs, changed, stale, root));
    for (const std::string& path : stale) remove_empty_folders(fs, root, path);
  }
  // The tree is complete; what cannot be removed now is removed by the next run.
  for (const std::string_view name : {kAsideFolder, kOldManifestName}) {
    static_cast<void>(remove_if_there(fs, root / name));
  }
  return {};
}

}  // namespace tfaot::toolkit
