// SPDX-License-Identifier: Apache-2.0
#include "aside_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <random>
#include <system_error>

#include "file_errors.h"

namespace tfaot {

Path without_trailing_slash(const Path& path) {
  return path.has_filename() || !path.has_relative_path() ? path : path.parent_path();
}

Path folder_of(const Path& path) { return path.has_parent_path() ? path.parent_path() : Path("."); }

Path aside_path(const Path& path) {
  return folder_of(path) / fmt::format(".tfaot-{:08x}.tmp", std::random_device()());
}

bool is_aside_name(std::string_view name) {
  return name.starts_with(".tfaot-") && name.ends_with(".tmp");
}

AsideFile::AsideFile(Descriptor descriptor, Path aside, Path target)
    : descriptor_(std::move(descriptor)), aside_(std::move(aside)), target_(std::move(target)) {}

AsideFile::AsideFile(AsideFile&& other) noexcept
    : descriptor_(std::move(other.descriptor_)),
      aside_(std::exchange(other.aside_, Path())),
      target_(std::move(other.target_)) {}

AsideFile::~AsideFile() {
  if (!aside_.empty()) ::unlink(aside_.c_str());
}

Result<AsideFile> AsideFile::create(const Path& path, mode_t mode) {
  const Path target = without_trailing_slash(path);
  std::error_code ec;
  std::filesystem::create_directories(folder_of(target), ec);
  if (ec) return fail(file_error(folder_of(target), {"make the folder", ec.value()}));
  for (;;) {
    const Path aside = aside_path(target);
    const int fd = ::open(aside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (fd >= 0) return AsideFile(Descriptor(fd), aside, target);
    if (errno != EEXIST) return fail(file_error(path, {"write", errno}));
  }
}

Status AsideFile::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor_.get(), bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return fail(file_error(target_, {"write", errno}));
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

Status AsideFile::keep_permissions() {
  struct stat old {};
  if (::lstat(target_.c_str(), &old) != 0 || !S_ISREG(old.st_mode)) return {};
  if (::fchmod(descriptor_.get(), old.st_mode & 0777) == 0) return {};
  return fail(file_error(target_, {"keep the permissions", errno}));
}

Status AsideFile::commit(Sync sync) {
  if ((sync == Sync::kYes && ::fsync(descriptor_.get()) != 0) || descriptor_.close() != 0) {
    return fail(file_error(target_, {"write", errno}));
  }
  if (::rename(aside_.c_str(), target_.c_str()) != 0) {
    return fail(file_error(target_, {"replace", errno}));
  }
  aside_.clear();
  return {};
}

}  // namespace tfaot
