// SPDX-License-Identifier: Apache-2.0
#include "tfaot/workflow/work_folder.h"

#include <fmt/format.h>
#include <signal.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace tfaot::toolkit {
namespace {

constexpr const char* kLockName = "lock";

bool is_alive(pid_t process) { return ::kill(process, 0) == 0 || errno == EPERM; }

}  // namespace

std::function<void(pid_t)> tell_of_waiting(Diagnostics& diagnostics, const Path& folder) {
  return [&diagnostics, folder](pid_t process) {
    const std::string who =
        process == 0 ? "another tfaot is"
        : is_alive(process)
            ? fmt::format("another tfaot (process {}) is", process)
            : fmt::format("what a killed tfaot (process {}) had started is", process);
    diagnostics.warning(
        fmt::format("{}: {} working there; waiting for it to end", folder.string(), who));
  };
}

Result<WorkFolder> WorkFolder::create(Context& context, const Path& output) {
  Path path = output / ".tfaot-work";
  Status own = check_own_folders(context.files, output, path / kLockName);
  if (!own) return fail(std::move(own).error().note("remove it, then try again"));
  FileLock::Options options{.name = "the work folder's lock",
                            .on_wait = tell_of_waiting(context.diagnostics, output),
                            .outlived_by_children = true,
                            .optional = true};
  TFAOT_ASSIGN(FileLock lock, FileLock::acquire(path / kLockName, options));
  WorkFolder work(context.files, std::move(path), std::move(lock));
  TFAOT_TRY(work.clear());
  return work;
}

WorkFolder::WorkFolder(WorkFolder&& other) noexcept
    : files_(other.files_), path_(std::exchange(other.path_, {})), lock_(std::move(other.lock_)) {}

Status WorkFolder::clear() {
  TFAOT_ASSIGN(const std::vector<std::string> names, files_->list(path_));
  for (const std::string& name : names) {
    if (name != kLockName) TFAOT_TRY(files_->remove_all(path_ / name));
  }
  return {};
}

WorkFolder::~WorkFolder() {
  if (path_.empty()) return;
  static_cast<void>(clear());
  lock_.remove();
}

Result<ScratchFolder> ScratchFolder::create(const Context& context) {
  const std::string wanted = context.environment.variable("TMPDIR");
  const Path parent = wanted.empty() ? Path("/tmp") : context.absolute(wanted);
  ScratchFolder folder(context.files);
  TFAOT_TRY(check_interrupts());
  std::string name = (parent / "tfaot-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) {
    return fail(
        Error::at({parent.string()}, fmt::format("no folder for temporary files can be made "
                                                 "here: {}",
                                                 std::strerror(errno)))
            .note("TMPDIR in the environment names another place"));
  }
  folder.path_ = name;
  return folder;
}

ScratchFolder::ScratchFolder(ScratchFolder&& other) noexcept
    : files_(other.files_), path_(std::exchange(other.path_, {})) {}

ScratchFolder::~ScratchFolder() {
  if (!path_.empty()) static_cast<void>(files_->remove_all(path_));
}

}  // namespace tfaot::toolkit
