// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "area_layout.h"

namespace tfaot {
namespace {

tl::unexpected<Error> failed(const Path& file, const std::string& action) {
  const std::string reason = std::generic_category().message(errno);
  return fail(Error::at({file.string()}, "cannot " + action + " the release area's lock: " + reason)
                  .note("check that you may write into the release area"));
}

}  // namespace

Result<AreaLock> AreaLock::acquire(const Path& area) {
  RealFileSystem fs;
  const Path file = private_folder(area) / "lock";
  TFAOT_TRY(check_inside_area(fs, area, file));
  TFAOT_TRY(fs.create_directories(file.parent_path()));
  AreaLock lock(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666));
  if (lock.descriptor_ < 0) return failed(file, "open");
  while (::flock(lock.descriptor_, LOCK_EX) != 0) {
    if (errno != EINTR) return failed(file, "take");
  }
  TFAOT_TRY(remove_leftovers(fs, area));
  return lock;
}

AreaLock::AreaLock(AreaLock&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

AreaLock& AreaLock::operator=(AreaLock&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

AreaLock::~AreaLock() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

}  // namespace tfaot
