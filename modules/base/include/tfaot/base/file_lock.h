// SPDX-License-Identifier: Apache-2.0
// A lock between processes: flock() on a file that exists for it. The kernel releases it when the
// process dies, however that happens. While it is held, or waited for, a signal does not end the
// process (interrupts.h). One thread at a time; not for two users in one process.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "tfaot/base/file_system.h"
#include "tfaot/base/interrupts.h"
#include "tfaot/base/result.h"

namespace tfaot::toolkit {

class FileLock {
 public:
  struct Options {
    std::string name = "lock";  // for errors: "the release area's lock"
    // Told once when another process holds the lock: which one, 0 when it has not said so yet.
    std::function<void(pid_t)> on_wait = {};
    // Whether it lasts until all children have ended that were started meanwhile. Killed, we leave
    // such as go on to write.
    bool outlived_by_children = false;
    bool optional = false;  // go without where the disk has no locks
  };

  // Makes the file and missing folders, then waits. What it made goes when it fails.
  static Result<FileLock> acquire(const Path& file, const Options& options);
  FileLock(FileLock&& other) noexcept { swap(other); }
  FileLock& operator=(FileLock&& other) noexcept {
    swap(other);
    return *this;
  }
  ~FileLock();  // releases it; the file stays

  // Whether nobody had the lock before, as far as the disk tells.
  bool file_is_new() const { return is_new_; }
  // Releases it; the file goes, and so do its folder and those that were made above it, unless
  // something is in them.
  void remove();

 private:
  FileLock() = default;
  Result<bool> try_lock(const Options& options, bool may_retry);
  void swap(FileLock& other) noexcept;

  InterruptWatch watch_;
  int descriptor_ = -1;
  bool is_new_ = false;
  Path file_;
  std::vector<Path> made_;  // folders for the file, deepest first
};

}  // namespace tfaot::toolkit
