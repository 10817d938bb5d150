// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>
#include <vector>

#include "area_layout.h"

namespace tfaot {
namespace {

tl::unexpected<Error> failed(const Path& file, const std::string& action) {
  const std::string reason = std::generic_category().message(errno);
  return fail(Error::at({file.string()}, "cannot " + action + " the release area's lock: " + reason)
                  .note("check that you may write into the release area"));
}

// `folder` and those above it that are missing, deepest first.
std::vector<Path> missing_folders(Path folder) {
  std::vector<Path> missing;
  for (; RealFileSystem().kind(folder) == FileKind::kMissing; folder = folder.parent_path()) {
    missing.push_back(folder);
  }
  return missing;
}

// Whether the open file is still the one of that name.
bool is_open_file(int descriptor, const Path& file) {
  struct stat opened {};
  struct stat named {};
  return ::fstat(descriptor, &opened) == 0 && ::stat(file.c_str(), &named) == 0 &&
         opened.st_ino == named.st_ino && opened.st_dev == named.st_dev;
}

}  // namespace

Result<AreaLock> AreaLock::acquire(const Path& area) {
  RealFileSystem fs;
  const Path file = private_folder(area) / "lock";
  TFAOT_TRY(check_inside_area(fs, area, file));
  for (;;) {
    std::vector<Path> made = missing_folders(file.parent_path());
    TFAOT_TRY(fs.create_directories(file.parent_path()));
    constexpr int kFlags = O_RDWR | O_CLOEXEC | O_NOFOLLOW;
    AreaLock lock(::open(file.c_str(), kFlags | O_CREAT | O_EXCL, 0666), {});
    if (lock.descriptor_ < 0 && errno == EEXIST) {
      made.clear();  // the area is another install's
      lock.descriptor_ = ::open(file.c_str(), kFlags);
    }
    if (lock.descriptor_ < 0 && errno == ENOENT) continue;  // another install just failed
    if (lock.descriptor_ < 0) return failed(file, "open");
    while (::flock(lock.descriptor_, LOCK_EX) != 0) {
      if (errno != EINTR) return failed(file, "take");
    }
    if (!is_open_file(lock.descriptor_, file)) continue;
    lock.made_ = std::move(made);
    TFAOT_TRY(remove_leftovers(fs, area));
    return lock;
  }
}

AreaLock::AreaLock(AreaLock&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), made_(std::exchange(other.made_, {})) {}

AreaLock& AreaLock::operator=(AreaLock&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(made_, other.made_);
  return *this;
}

AreaLock::~AreaLock() {
  if (descriptor_ < 0) return;
  // While the lock is held; who waits for this file sees that it is gone and makes another.
  if (!made_.empty()) ::unlink((made_.front() / "lock").c_str());
  for (const Path& folder : made_) {
    if (::rmdir(folder.c_str()) != 0) break;  // others have put something there
  }
  ::close(descriptor_);
}

}  // namespace tfaot
