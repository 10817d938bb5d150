// SPDX-License-Identifier: Apache-2.0
#include "area_layout.h"
#include "tfaot/base/real_file_system.h"

namespace tfaot::toolkit {

Result<AreaLock> AreaLock::acquire(const Path& area, std::function<void(pid_t)> on_wait) {
  RealFileSystem fs;
  const Path file = private_folder(area) / "lock";
  TFAOT_TRY(check_inside_area(fs, area, file));
  FileLock::Options options{.name = "the release area's lock", .on_wait = std::move(on_wait)};
  TFAOT_ASSIGN(FileLock lock, FileLock::acquire(file, options));
  AreaLock area_lock(std::move(lock));
  TFAOT_TRY(remove_leftovers(fs, area));
  return area_lock;
}

AreaLock& AreaLock::operator=(AreaLock&& other) noexcept {
  std::swap(lock_, other.lock_);
  std::swap(is_kept_, other.is_kept_);
  return *this;
}

AreaLock::~AreaLock() {
  if (!is_kept_ && lock_.file_is_new()) lock_.remove();
}

}  // namespace tfaot::toolkit
