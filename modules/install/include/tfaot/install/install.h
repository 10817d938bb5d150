// SPDX-License-Identifier: Apache-2.0
// Puts a package tree into a release area: plan, (the caller unpacks into plan.staging), then
// commit, or remove_leftovers(). A kill at any moment leaves the old state or the new one. The next
// install removes leftovers of a killed one. Two installs into one area wait for each other
// (AreaLock). Paths never leave the area.
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

// Commits all of them or none. The area gets the runtime tool of the newest toolkit among the
// packages and itself. Of several versions of one tool, one at most may be made current. Adds lines
// to the history for what changes. Returns the receipts in the order of `installs`. REQUIRES: all
// plans are for one area.
Result<std::vector<InstallReceipt>> commit_installs(FileSystem& fs,
                                                    const std::vector<PreparedInstall>& installs,
                                                    const AreaActor& actor);

// What the commit of a plan will report. Only reads the disk.
InstallReceipt receipt_of(const FileSystem& fs, const InstallPlan& plan);

// A plan to make an installed version current. Error: the area has no such version, or it is
// damaged.
Result<InstallPlan> plan_use(const FileSystem& fs, const InstallOptions& options,
                             const std::string& tool_name, const std::string& version);

// A plan to remove an installed version, or all of them if `version` is empty. Only reads the disk.
// Error: the area has no such version; it is current while others stay; the other models have no
// runtime tool without it.
Result<RemovalPlan> plan_removal(const FileSystem& fs, const Path& area,
                                 const std::string& tool_name, const std::string& version);
// Removes completely or not at all; a kill leaves an area that works.
Status commit_removal(FileSystem& fs, const RemovalPlan& plan, const AreaActor& actor);

// The area's history with a line for each change that has none yet, such as an RPM's; these have
// the actor's time and no user. Only reads the disk.
Result<std::vector<AreaEvent>> read_history(const FileSystem& fs, const Path& area,
                                            const std::string& now);
// Writes the lines of changes that have none yet.
Status record_found(FileSystem& fs, const Path& area, const AreaActor& actor);
// The version that was current before the current one; nothing if the history knows none that is
// still there.
std::optional<std::string> version_before(const std::vector<AreaEvent>& history,
                                          const std::string& tool_name);

// Removes what killed or failed installs left in AREA/.tfaot. REQUIRES: no other install runs;
// AreaLock::acquire() calls it.
Status remove_leftovers(FileSystem& fs, const Path& area);

// What tells a reader without a lock that somebody changed the area meanwhile.
struct AreaMoment {
  bool is_changing = false;  // now, or a run was killed
  std::string history{};     // each change adds to it

  friend bool operator==(const AreaMoment&, const AreaMoment&) = default;
};
AreaMoment area_moment(const FileSystem& fs, const Path& area);

// Where an area says which archives may be installed (config/area_policy.h).
Path policy_file(const Path& area);

// True for the top folder of a release or developer area of scram.
bool is_scram_area(const FileSystem& fs, const Path& folder);

// True if this folder has installed packages, or had them.
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

// The versions of an area, as they are: broken ones too.
struct InstalledVersion {
  std::string tool_name;
  std::string version;
};
Result<std::vector<InstalledVersion>> installed_versions(const FileSystem& fs, const Path& area);
// How what an install wrote into the version's tree differs from what it wrote, and files that
// belong to no package. verify_tree() checks the package's own files.
std::vector<Error> verify_version(const FileSystem& fs, const Path& area,
                                  const InstalledVersion& installed);
// The same for what is around the trees: links, tool files, the history.
std::vector<Error> verify_area(const FileSystem& fs, const Path& area);

// The library of an installed model, which `tfaot install --link` puts into its tree: lib/NAME.so,
// and lib/NAME.so.sha256 with this text, for `tfaot verify` and sha256sum.
Result<std::string> library_hash_text(const FileSystem& fs, const Path& library,
                                      const std::string& model_name);
// True if the tree has one with the hash beside it.
bool has_whole_library(const FileSystem& fs, const Path& tree, const std::string& model_name);

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
