// SPDX-License-Identifier: Apache-2.0
// A lock between processes: flock() on a file that exists only for that. The kernel releases it
// when the process dies, for any reason. While the process waits for the lock or holds it, signals
// do not end it (interrupts.h). One thread at a time; one process must not take the same lock
// twice.
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
    // Called once when another process holds the lock, with its process id, or 0 if it is not known
    // yet.
    std::function<void(pid_t)> on_wait = {};
    // True if the lock lasts until all children started meanwhile have ended. Children that are
    // still writing survive our death.
    bool outlived_by_children = false;
    bool optional = false;  // do without the lock if the disk has none
  };

  // Makes the file and missing folders, then waits. If it fails, it removes what it made.
  static Result<FileLock> acquire(const Path& file, const Options& options);
  FileLock(FileLock&& other) noexcept { swap(other); }
  FileLock& operator=(FileLock&& other) noexcept {
    swap(other);
    return *this;
  }
  ~FileLock();  // releases it; the file stays

  // True if nobody had the lock before, as far as the disk shows.
  bool file_is_new() const { return is_new_; }
  // Releases the lock and removes the file. Also removes its folder and the folders that were made
  // above it, unless they hold something else.
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
