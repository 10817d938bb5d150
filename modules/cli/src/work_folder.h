// SPDX-License-Identifier: Apache-2.0
// A folder for files on their way, .tfaot-work inside the output folder, so that both lie on one
// disk. What a killed run left is removed first; at the end the folder goes, and the output folder
// with it when it is new and nothing was put into it. One at a time for an output folder.
#pragma once

#include "tfaot/base/file_system.h"
#include "tfaot/base/result.h"

namespace tfaot {

class WorkFolder {
 public:
  static Result<WorkFolder> create(FileSystem& files, const Path& output);
  WorkFolder(WorkFolder&& other) noexcept;
  WorkFolder& operator=(WorkFolder&&) = delete;
  ~WorkFolder();

  const Path& path() const { return path_; }

 private:
  WorkFolder(FileSystem& files, Path path, bool output_is_new);

  FileSystem& files_;
  Path path_;
  bool output_is_new_;
};

}  // namespace tfaot
