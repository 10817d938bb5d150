// SPDX-License-Identifier: Apache-2.0
// Puts a package tree into a release area: plan, (the caller unpacks into plan.staging), then
// commit or roll back. A kill at any moment leaves the old state or the new one. The next install
// removes leftovers of a killed one. Two installs into one area wait for each other (AreaLock).
// Paths never leave the area.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tfaot/base/file_lock.h"
#include "tfaot/base/file_system.h"
#include "tfaot/base/result.h"
#include "tfaot/install/install_types.h"

namespace tfaot::toolkit {

// Only reads the disk. Fails if a package with other contents has this version and !replace, or if
// something that tfaot did not make is in the way.
Result<InstallPlan> plan_install(const FileSystem& fs, const Manifest& manifest,
                                 const InstallOptions& options);

// REQUIRES: plan.staging contains the verified tree, unless plan.already_installed. The area gets
// this package's runtime tool, unless it has one from a newer toolkit.
Result<InstallReceipt> commit_install(FileSystem& fs, const InstallPlan& plan,
                                      const ToolFileTexts& tool_files);

// Removes what killed installs left in AREA/.tfaot. REQUIRES: no install runs; AreaLock::acquire()
// calls it.
Status remove_leftovers(FileSystem& fs, const Path& area);

// Removes what the install made in AREA/.tfaot. REQUIRES: the caller holds the area's lock.
Status roll_back(FileSystem& fs, const InstallPlan& plan);

// True for the top folder of a release or developer area of scram.
bool is_scram_area(const FileSystem& fs, const Path& folder);

// True if packages were ever installed into this folder.
bool is_release_area(const FileSystem& fs, const Path& folder);

// The package tree of an installed version, if `path` is AREA/TOOL[/VERSION], or
// AREA/NAME[/VERSION] with a model's name; without VERSION the current one.
std::optional<Path> installed_tree(const FileSystem& fs, const Path& path);

// The paths AREA/NAME and AREA/NAME/VERSION of installed packages that begin with `word`, for
// shells. `word` is relative to `folder`, or absolute.
std::vector<std::string> installed_names(const FileSystem& fs, const Path& folder,
                                         const std::string& word);

// Everything installed, by tool name, then version; broken entries are listed separately.
Result<InstalledList> list_installed(const FileSystem& fs, const Path& area);

// Held while an install runs, starting before plan_install(): a lock on AREA/.tfaot/lock. acquire()
// makes the area, waits for other installs and removes leftovers of killed ones. At the end, what
// acquire() made is removed, unless keep() was called.
class AreaLock {
 public:
  // `on_wait` gets the id of the process that holds the area; 0 if it is not known yet.
  static Result<AreaLock> acquire(const Path& area, std::function<void(pid_t)> on_wait = {});
  AreaLock(AreaLock&&) noexcept = default;
  AreaLock& operator=(AreaLock&& other) noexcept;
  ~AreaLock();

  // Call it once something was installed.
  void keep() { is_kept_ = true; }

 private:
  explicit AreaLock(FileLock lock) : lock_(std::move(lock)) {}

  FileLock lock_;
  bool is_kept_ = false;
};

}  // namespace tfaot::toolkit
