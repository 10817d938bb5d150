// SPDX-License-Identifier: Apache-2.0
// A folder for temporary files, .tfaot-work inside the output folder, so that both are on one disk.
// Only one process at a time has it; another one reports what it waits for. What a killed run left
// is removed first. At the end the folder is removed, and also a new output folder that stayed
// empty. While it lives, a signal is recorded and ends the work (interrupts.h).
#pragma once

#include <functional>
#include <utility>

#include "tfaot/base/file_lock.h"
#include "tfaot/base/interrupts.h"
#include "tfaot/base/result.h"
#include "tfaot/workflow/context.h"

namespace tfaot::toolkit {

/// Used by one thread.
class WorkFolder {
 public:
  /// Waits for another process that has the folder. Error: it cannot be made or cleared.
  static Result<WorkFolder> create(Context& context, const Path& output);
  WorkFolder(WorkFolder&& other) noexcept;
  WorkFolder& operator=(WorkFolder&&) = delete;
  ~WorkFolder();

  /// Absolute if `output` was.
  const Path& path() const { return path_; }

 private:
  WorkFolder(FileSystem& files, Path path, FileLock lock)
      : files_(&files), path_(std::move(path)), lock_(std::move(lock)) {}
  Status clear();

  FileSystem* files_;
  Path path_;  // empty: moved from
  FileLock lock_;
};

/// For FileLock: warns that another process has `folder`, and says which.
std::function<void(pid_t)> tell_of_waiting(Diagnostics& diagnostics, const Path& folder);

// A new folder for files that nobody keeps, in $TMPDIR or /tmp. It is removed at the end, also if a
// signal comes: signals are recorded from before it is made until after it is removed.

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
