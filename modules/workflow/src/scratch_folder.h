// SPDX-License-Identifier: Apache-2.0
// A new folder for files that nobody keeps, in $TMPDIR or /tmp. It is removed at the end.
#pragma once

#include "tfaot/base/result.h"
#include "tfaot/workflow/context.h"

namespace tfaot::toolkit {

// Used by one thread.
class ScratchFolder {
 public:
  // Error: it cannot be made there.
  static Result<ScratchFolder> create(const Context& context);
  ScratchFolder(ScratchFolder&& other) noexcept;
  ScratchFolder& operator=(ScratchFolder&&) = delete;
  ~ScratchFolder();

  const Path& path() const { return path_; }

 private:
  ScratchFolder(FileSystem& files, Path path) : files_(&files), path_(std::move(path)) {}

  FileSystem* files_;
  Path path_;  // empty: moved from
};

}  // namespace tfaot::toolkit
