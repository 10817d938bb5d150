// SPDX-License-Identifier: Apache-2.0
#include "aside_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <random>
#include <system_error>

#include "tfaot/base/real_file_system.h"

namespace tfaot::toolkit {
namespace {

// The name of a temporary file: START, a number of kDigits hexadecimal digits, END.
constexpr std::string_view kStart = ".tfaot-";
constexpr std::string_view kEnd = ".tmp";
constexpr std::size_t kDigits = 8;

// Locks a file that was just made. False: a cleanup took it for a leftover before we had the lock.
// A disk without locks does without.
bool is_ours(int descriptor) {
  struct stat status {};
  if (::flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) return false;
  return ::fstat(descriptor, &status) != 0 || status.st_nlink > 0;
}

}  // namespace

Path without_trailing_slash(const Path& path) {
  return path.has_filename() || !path.has_relative_path() ? path : path.parent_path();
}

Path folder_of(const Path& path) { return path.has_parent_path() ? path.parent_path() : Path("."); }

Path aside_path(const Path& path) {
  return folder_of(path) / fmt::format("{}{:08x}{}", kStart, std::random_device()(), kEnd);
}

bool is_aside_name(std::string_view name) {
  if (name.size() != kStart.size() + kDigits + kEnd.size()) return false;
  const std::string_view number = name.substr(kStart.size(), kDigits);
  return name.starts_with(kStart) && name.ends_with(kEnd) &&
         number.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

AsideFile::AsideFile(AsideFile&& other) noexcept
    : descriptor_(std::move(other.descriptor_)),
      aside_(std::exchange(other.aside_, Path())),
      target_(std::move(other.target_)),
      made_(std::exchange(other.made_, {})) {}

AsideFile::~AsideFile() {
  if (!aside_.empty()) ::unlink(aside_.c_str());
  for (const Path& folder : made_) ::rmdir(folder.c_str());  // unless it has something in it
}

Result<AsideFile> AsideFile::create(const Path& path, mode_t mode) {
  TFAOT_TRY(check_interrupts());
  AsideFile file(without_trailing_slash(path));
  const Path folder = folder_of(file.target_);
  file.made_ = missing_folders(RealFileSystem(), folder);
  std::error_code ec;
  std::filesystem::create_directories(folder, ec);
  if (ec) return fail(file_error(folder, {"make the folder", ec.value()}));
  for (;;) {
    Path aside = aside_path(file.target_);
    Descriptor descriptor(::open(aside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode));
    if (!descriptor.valid() && errno != EEXIST) return fail(file_error(path, {"write", errno}));
    if (!descriptor.valid() || !is_ours(descriptor.get())) continue;
    file.descriptor_ = std::move(descriptor);
    file.aside_ = std::move(aside);
    return file;
  }
}

Status AsideFile::write(std::string_view bytes) {
  TFAOT_TRY(check_interrupts());
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

Status AsideFile::take_after(const struct stat& other) {
  const std::array<timespec, 2> times = {other.st_atim, other.st_mtim};
  if (::fchmod(descriptor_.get(), other.st_mode & 0777) == 0 &&
      ::futimens(descriptor_.get(), times.data()) == 0) {
    return {};
  }
  return fail(file_error(target_, {"keep the permissions and the time", errno}));
}

Status AsideFile::commit(Durability durability) {
  TFAOT_TRY(check_interrupts());
  const Descriptor lock(::fcntl(descriptor_.get(), F_DUPFD_CLOEXEC, 0));  // until it is renamed
  const bool synced = durability == Durability::kScratch || ::fsync(descriptor_.get()) == 0;
  if (!synced || descriptor_.close() != 0) {
    return fail(file_error(target_, {"write", errno}));
  }
  if (::rename(aside_.c_str(), target_.c_str()) != 0) {
    return fail(file_error(target_, {"replace", errno}));
  }
  aside_.clear();
  made_.clear();
  return {};
}

Error file_error(const Path& path, const FileFailure& failure) {
  Error error =
      Error::at({path.string()}, "cannot " + failure.action + ": " +
                                     std::generic_category().message(failure.error_number));
  switch (failure.error_number) {
    case ENOSPC:
      return error.note(
          "free some space on that disk, or choose a folder on another one, and run again");
    case EDQUOT:
      return error.note(
          "your quota there is used up: remove files, or choose another folder, and run again");
    case EACCES:
    case EPERM:
      return error.note(
          "check the permissions and the owner of the path and of the folders above it");
    case EROFS:
      return error.note("that disk is mounted read-only: choose a folder on another one");
    case ENAMETOOLONG:
      return error.note("choose a folder with a shorter path, or a shorter name");
    case EMFILE:
    case ENFILE:
      return error.note("too many files are open: raise the limit (ulimit -n), or use fewer jobs");
    case EIO:
    case ESTALE:
      return error.note("the disk, or the network to it, is failing: see the system's log");
    default:
      return error;
  }
}

bool is_absence(int error_number) { return error_number == ENOENT || error_number == ENOTDIR; }

}  // namespace tfaot::toolkit
