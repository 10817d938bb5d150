// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "tfaot/base/file_system.h"

namespace tfaot {
namespace {

Status collect_files(const FileSystem& fs, const Path& directory, const std::string& prefix,
                     std::vector<std::string>& files) {
  TFAOT_ASSIGN(const auto names, fs.list(directory));
  for (const std::string& name : names) {
    const Path path = directory / name;
    switch (fs.kind(path)) {
      case FileKind::kDirectory:
        TFAOT_TRY(collect_files(fs, path, prefix + name + "/", files));
        break;
      case FileKind::kFile:
        files.push_back(prefix + name);
        break;
      case FileKind::kSymlink:
        if (fs.size(path)) files.push_back(prefix + name);
        break;
      case FileKind::kMissing:
      case FileKind::kOther:
        break;
    }
  }
  return {};
}

}  // namespace

Result<bool> write_if_changed(FileSystem& fs, const Path& path, std::string_view contents) {
  if (const auto old_size = fs.size(path); old_size && *old_size == contents.size()) {
    if (const auto old = fs.read(path); old && *old == contents) return false;
  }
  TFAOT_TRY(fs.replace_atomically(path, contents));
  return true;
}

Result<std::vector<std::string>> list_files_recursively(const FileSystem& fs, const Path& root) {
  std::vector<std::string> files;
  TFAOT_TRY(collect_files(fs, root, "", files));
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace tfaot
