// SPDX-License-Identifier: Apache-2.0
#include "tree_update.h"

#include <algorithm>
#include <utility>

#include "tfaot/base/interrupts.h"

namespace tfaot::toolkit {

TreeUpdate::TreeUpdate(FileSystem& fs, Path root) : fs_(fs), root_(std::move(root)) {}

// What cannot be removed here, the next change of the tree removes.
TreeUpdate::~TreeUpdate() {
  const DespiteInterrupts cleaning;
  if (!kept_) {
    std::ranges::reverse(moves_);
    for (const Move& move : moves_) {
      if (!fs_.rename(move.to, move.from)) return;  // what is aside is needed to repair the tree
    }
  }
  static_cast<void>(fs_.remove_all(root_ / kAsideFolder));
  if (kept_) return;
  std::ranges::reverse(made_);
  for (const Path& folder : made_) static_cast<void>(fs_.remove_all(folder));
}

Status TreeUpdate::make_folder(const Path& folder) {
  Path first = folder;  // of those that are missing
  if (fs_.kind(first) != FileKind::kMissing) return {};
  while (first.has_parent_path() && fs_.kind(first.parent_path()) == FileKind::kMissing) {
    first = first.parent_path();
  }
  made_.push_back(first);
  return fs_.create_directories(folder);
}

Status TreeUpdate::put_aside(const StagedFile& file) {
  const Path path = new_files(root_) / file.path;
  TFAOT_TRY(make_folder(path.parent_path()));
  if (file.source.empty()) return fs_.replace_atomically(path, file.text);
  return file.movable ? fs_.move_file(file.source, path) : fs_.copy_file(file.source, path);
}

Status TreeUpdate::rename(const Path& from, const Path& to) {
  TFAOT_TRY(make_folder(to.parent_path()));
  TFAOT_TRY(fs_.rename(from, to));
  moves_.push_back({from, to});
  return {};
}

Status TreeUpdate::take_out(const std::string& path) {
  if (fs_.kind(root_ / path) == FileKind::kMissing) return {};
  return rename(root_ / path, old_files(root_) / path);
}

Status TreeUpdate::move_in(const std::string& path) {
  TFAOT_TRY(take_out(path));
  return rename(new_files(root_) / path, root_ / path);
}

}  // namespace tfaot::toolkit
