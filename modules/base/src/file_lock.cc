// SPDX-License-Identifier: Apache-2.0
#include "tfaot/base/file_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "aside_file.h"
#include "descriptor.h"
#include "file_errors.h"

namespace tfaot {
namespace {

tl::unexpected<Error> failed(const Path& file, const std::string& action, const std::string& name) {
  return fail(file_error(file, {action + " " + name, errno}));
}

tl::unexpected<Error> not_own(const Path& file, const std::string& name) {
  return fail(Error::at({file.string()}, "is no file of its own, so it cannot be " + name)
                  .note("it is a link or a folder, or another file has this name, too: remove it"));
}

// What we write into must be a file of ours, not a second name of somebody else's.
Status check_own(int descriptor, const Path& file, const std::string& name) {
  struct stat status {};
  if (::fstat(descriptor, &status) != 0) return failed(file, "open", name);
  if (S_ISREG(status.st_mode) && status.st_nlink <= 1) return {};
  return not_own(file, name);
}

// Of those above the file's own folder, deepest first.
std::vector<Path> missing_folders(const Path& file) {
  std::vector<Path> missing;
  for (Path folder = file.parent_path().parent_path();
       RealFileSystem().kind(folder) == FileKind::kMissing; folder = folder.parent_path()) {
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

// What making a folder says when another process removes it or one above it meanwhile.
bool may_pass(std::error_code error) {
  return error == std::errc::no_such_file_or_directory || error == std::errc::file_exists;
}

bool has_no_locks(int error) { return error == ENOLCK || error == ENOSYS || error == EOPNOTSUPP; }

pid_t holder(int descriptor) {
  std::array<char, 16> text{};
  if (::pread(descriptor, text.data(), text.size() - 1, 0) <= 0) return 0;
  return static_cast<pid_t>(std::strtol(text.data(), nullptr, 10));
}

// For those who wait; that they are not told is no harm.
void sign(int descriptor) {
  const std::string text = fmt::format("{}\n", ::getpid());
  if (::ftruncate(descriptor, 0) != 0) return;
  static_cast<void>(::pwrite(descriptor, text.data(), text.size(), 0));
}

// errno's value, 0 when it is locked.
int lock(int descriptor, const FileLock::Options& options) {
  if (::flock(descriptor, LOCK_EX | LOCK_NB) == 0) return 0;
  if (errno == EWOULDBLOCK && options.on_wait) options.on_wait(holder(descriptor));
  while (::flock(descriptor, LOCK_EX) != 0) {
    if (errno != EINTR) return errno;
  }
  return 0;
}

}  // namespace

Result<FileLock> FileLock::acquire(const Path& file, const Options& options) {
  Options quiet = options;  // once it has told
  const int flags = O_RDWR | O_NOFOLLOW | (options.outlived_by_children ? 0 : O_CLOEXEC);
  int retries = 1000;  // a dangling link looks the same, and stays
  for (;;) {
    FileLock made;
    made.file_ = file;
    made.made_ = missing_folders(file);
    std::error_code error;
    std::filesystem::create_directories(file.parent_path(), error);
    if (may_pass(error) && --retries > 0) continue;
    if (error) {
      return fail(file_error(file.parent_path(), {"make the folder", error.value()}));
    }
    Descriptor descriptor(::open(file.c_str(), flags | O_CREAT | O_EXCL, 0666));
    made.is_new_ = descriptor.valid();
    if (!made.is_new_ && errno == EEXIST) {
      descriptor = Descriptor(::open(file.c_str(), flags | O_NONBLOCK));  // whatever it is
    }
    if (!descriptor.valid() && errno == ENOENT) continue;  // it was removed meanwhile
    if (!descriptor.valid() && (errno == ELOOP || errno == EISDIR || errno == ENXIO)) {
      return not_own(file, options.name);
    }
    if (!descriptor.valid()) return failed(file, "open", options.name);
    TFAOT_TRY(check_own(descriptor.get(), file, options.name));
    errno = lock(descriptor.get(), quiet);
    if (errno != 0 && !(options.optional && has_no_locks(errno))) {
      return failed(file, "take", options.name);
    }
    quiet.on_wait = nullptr;
    if (!is_open_file(descriptor.get(), file)) continue;
    if (!made.is_new_) made.made_.clear();  // they are of others
    sign(descriptor.get());
    made.descriptor_ = descriptor.release();
    return made;
  }
}

FileLock::~FileLock() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void FileLock::remove() {
  if (descriptor_ < 0) return;
  // While the lock is held; who waits for this file sees that it is gone and makes another.
  ::unlink(file_.c_str());
  bool empty = ::rmdir(file_.parent_path().c_str()) == 0;
  for (auto folder = made_.begin(); empty && folder != made_.end(); ++folder) {
    empty = ::rmdir(folder->c_str()) == 0;
  }
  ::close(std::exchange(descriptor_, -1));
}

void FileLock::swap(FileLock& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(is_new_, other.is_new_);
  std::swap(file_, other.file_);
  std::swap(made_, other.made_);
}

Status remove_half_written(FileSystem& fs, const Path& folder) {
  if (fs.kind(folder) != FileKind::kDirectory) return {};
  TFAOT_ASSIGN(const std::vector<std::string> names, fs.list(folder));
  for (const std::string& name : names) {
    if (is_aside_name(name)) TFAOT_TRY(fs.remove_all(folder / name));
  }
  return {};
}

}  // namespace tfaot
