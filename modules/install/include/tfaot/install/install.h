// SPDX-License-Identifier: Apache-2.0
// Puts a package tree into a release area: plan, (the caller unpacks into plan.staging), commit or
// roll back. A kill at any moment leaves the old state or the new one; leftovers of a killed
// install are removed by the next. Two installs into one area wait for each other (AreaLock). Paths
// never leave the area.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "tfaot/base/file_lock.h"
#include "tfaot/base/file_system.h"
#include "tfaot/base/result.h"
#include "tfaot/install/install_types.h"

namespace tfaot::toolkit {

// Touches no disk but to look. Fails when another package (other contents) has this version and
// !replace, and when something that tfaot did not make is in the way.
Result<InstallPlan> plan_install(const FileSystem& fs, const Manifest& manifest,
                                 const InstallOptions& options);

// REQUIRES: plan.staging holds the verified tree, unless plan.already_installed. The
// area's runtime tool becomes this package's unless that of a newer toolkit is there.
Result<InstallReceipt> commit_install(FileSystem& fs, const InstallPlan& plan,
                                      const ToolFileTexts& tool_files);

// Removes what killed installs left in AREA/.tfaot. REQUIRES: no install runs; AreaLock::acquire()
// calls it.
Status remove_leftovers(FileSystem& fs, const Path& area);

// Removes what the install made in AREA/.tfaot. REQUIRES: the area's lock is held.
Status roll_back(FileSystem& fs, const InstallPlan& plan);

// Whether packages were installed into this folder once.
bool is_release_area(const FileSystem& fs, const Path& folder);

// Everything installed, by tool name, then version; what is broken apart from it.
Result<InstalledList> list_installed(const FileSystem& fs, const Path& area);

// Held while an install runs, from before plan_install() on: a lock on AREA/.tfaot/lock. acquire()
// makes the area, waits for other installs and removes leftovers of killed ones. At its end what
// acquire() made goes again, unless keep() was called.
class AreaLock {
 public:
  // `on_wait` is told which process holds the area; 0 when it has not said so yet.
  static Result<AreaLock> acquire(const Path& area, std::function<void(pid_t)> on_wait = {});
  AreaLock(AreaLock&&) noexcept = default;
  AreaLock& operator=(AreaLock&& other) noexcept;
  ~AreaLock();

  // Something was installed.
  void keep() { is_kept_ = true; }

 private:
  explicit AreaLock(FileLock lock) : lock_(std::move(lock)) {}

  FileLock lock_;
  bool is_kept_ = false;
};

}  // namespace tfaot::toolkit
