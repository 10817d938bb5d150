// SPDX-License-Identifier: Apache-2.0
#include "tree_update.h"

#include <utility>

#include "tfaot/base/interrupts.h"

namespace tfaot::toolkit {

TreeUpdate::TreeUpdate(FileSystem& fs, Path root) : fs_(fs), root_(std::move(root)), renames_(fs) {}

// What cannot be removed here is removed by the next change of the tree.
TreeUpdate::~TreeUpdate() {
  const DespiteInterrupts cleaning;
  if (!renames_.take_back()) {
    renames_.keep();
    return;  // the side folder is needed to repair the tree
  }
  static_cast<void>(fs_.remove_all(root_ / kAsideFolder));
}

Status TreeUpdate::put_aside(const StagedFile& file) {
  const Path path = new_files(root_) / file.path;
  TFAOT_TRY(renames_.make_folders(path.parent_path()));
  if (file.source.empty()) return fs_.replace_atomically(path, file.text);
  return file.movable ? fs_.move_file(file.source, path) : fs_.copy_file(file.source, path);
}

Status TreeUpdate::rename(const Path& from, const Path& to) {
  TFAOT_TRY(renames_.make_folders(to.parent_path()));
  return renames_.rename(from, to);
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
