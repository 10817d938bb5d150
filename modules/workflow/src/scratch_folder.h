// SPDX-License-Identifier: Apache-2.0
// A new folder for files that nobody keeps, in $TMPDIR or /tmp. It is removed at the end, also if a
// signal comes: signals are recorded from before it is made until after it is removed.
#pragma once

#include "tfaot/base/interrupts.h"
#include "tfaot/base/result.h"
#include "tfaot/workflow/context.h"

namespace tfaot::toolkit {

// Used by one thread.
class ScratchFolder {
 public:
  // Error: it cannot be made there, or a signal came.
  static Result<ScratchFolder> create(const Context& context);
  ScratchFolder(ScratchFolder&& other) noexcept;
  ScratchFolder& operator=(ScratchFolder&&) = delete;
  ~ScratchFolder();

  const Path& path() const { return path_; }

 private:
  explicit ScratchFolder(FileSystem& files) : files_(&files) {}

  InterruptWatch watch_;
  FileSystem* files_;
  Path path_{};  // empty: moved from
};

}  // namespace tfaot::toolkit
