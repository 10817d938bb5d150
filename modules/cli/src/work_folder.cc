// SPDX-License-Identifier: Apache-2.0
#include "work_folder.h"

#include <utility>

namespace tfaot {

Result<WorkFolder> WorkFolder::create(FileSystem& files, const Path& output) {
  const bool output_is_new = files.kind(output) == FileKind::kMissing;
  Path path = output / ".tfaot-work";
  TFAOT_TRY(files.remove_all(path));
  TFAOT_TRY(files.create_directories(path));
  return WorkFolder(files, std::move(path), output_is_new);
}

WorkFolder::WorkFolder(WorkFolder&& other) noexcept
    : files_(other.files_),
      path_(std::exchange(other.path_, {})),
      output_is_new_(other.output_is_new_) {}

WorkFolder::WorkFolder(FileSystem& files, Path path, bool output_is_new)
    : files_(files), path_(std::move(path)), output_is_new_(output_is_new) {}

WorkFolder::~WorkFolder() {
  if (path_.empty()) return;
  const Path output = path_.parent_path();
  static_cast<void>(files_.remove_all(path_));
  const auto left = files_.list(output);
  if (output_is_new_ && left && left->empty()) static_cast<void>(files_.remove_all(output));
}

}  // namespace tfaot
