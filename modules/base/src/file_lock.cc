// SPDX-License-Identifier: Apache-2.0
#include "tfaot/base/file_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "aside_file.h"
#include "descriptor.h"
#include "tfaot/base/real_file_system.h"
#include "tfaot/base/time_limit.h"

namespace tfaot::toolkit {
namespace {

tl::unexpected<Error> failed(const Path& file, const std::string& action, const std::string& name) {
  return fail(file_error(file, {action + " " + name, errno}));
}

// True if the open file is still the one with that name.
bool is_open_file(int descriptor, const Path& file) {
  struct stat opened {};
  struct stat named {};
  return ::fstat(descriptor, &opened) == 0 && ::stat(file.c_str(), &named) == 0 &&
         opened.st_ino == named.st_ino && opened.st_dev == named.st_dev;
}

// True if making a folder failed because another process removed it or one of its parents
// meanwhile.
bool may_pass(std::error_code error) {
  return error == std::errc::no_such_file_or_directory || error == std::errc::file_exists;
}

bool has_no_locks(int error) { return error == ENOLCK || error == ENOSYS || error == EOPNOTSUPP; }

pid_t holder(int descriptor) {
  std::array<char, 16> text{};
  if (::pread(descriptor, text.data(), text.size() - 1, 0) <= 0) return 0;
  return static_cast<pid_t>(std::strtol(text.data(), nullptr, 10));
}

// Writes our process id for those who wait. If it fails, they just do not learn it.
void sign(int descriptor) {
  const std::string text = fmt::format("{}\n", ::getpid());
  if (::ftruncate(descriptor, 0) != 0) return;
  static_cast<void>(::pwrite(descriptor, text.data(), text.size(), 0));
}

// errno's value, or 0 once it is locked. Retries in a loop, because a signal may reach another
// thread than the one that waits in flock(), or come before it waits.
int lock(int descriptor, const FileLock::Options& options) {
  constexpr std::chrono::milliseconds kPause{20};
  const TimeLimitPause waiting;
  for (bool told = false; ::flock(descriptor, LOCK_EX | LOCK_NB) != 0; told = true) {
    if (errno != EWOULDBLOCK) return errno;
    if (!told && options.on_wait) options.on_wait(holder(descriptor));
    if (wait_for_interrupt(kPause)) return EINTR;
  }
  return 0;
}

tl::unexpected<Error> not_own(const Path& file, const std::string& name) {
  return fail(Error::at({file.string()}, "is not a separate file, so it cannot be " + name)
                  .note("it is a link or a folder, or it has a second name: remove it"));
}

// The file that we write into must be our own, not a second name of another file.
Status check_own(int descriptor, const Path& file, const std::string& name) {
  struct stat status {};
  if (::fstat(descriptor, &status) != 0) return failed(file, "open", name);
  if (S_ISREG(status.st_mode) && status.st_nlink <= 1) return {};
  return not_own(file, name);
}

}  // namespace

Result<FileLock> FileLock::acquire(const Path& file, const Options& options) {
  const InterruptWatch watch;  // from before anything is made
  Options quiet = options;     // after the one report
  int retries = 10'000;  // a dangling link looks like a folder that is being removed, but stays
  for (;;) {
    FileLock made;
    TFAOT_TRY(check_interrupts());
    made.file_ = file;
    made.made_ = missing_folders(RealFileSystem(), file.parent_path());
    auto locked = made.try_lock(quiet, --retries > 0);
    if (!locked) {
      for (const Path& folder : made.made_)
        ::rmdir(folder.c_str());  // unless it has something in it
      return fail(std::move(locked).error());
    }
    if (*locked) return made;
    quiet.on_wait = nullptr;
  }
}

// False: another process removed the file or a folder meanwhile, so try again.
Result<bool> FileLock::try_lock(const Options& options, bool may_retry) {
  const int flags = O_RDWR | O_NOFOLLOW | (options.outlived_by_children ? 0 : O_CLOEXEC);
  std::error_code error;
  std::filesystem::create_directories(file_.parent_path(), error);
  if (error) {
    if (may_retry && may_pass(error)) return false;
    return fail(file_error(file_.parent_path(), {"make the folder", error.value()}));
  }
  Descriptor descriptor(::open(file_.c_str(), flags | O_CREAT | O_EXCL, 0666));
  is_new_ = descriptor.valid();
  if (!is_new_ && errno == EEXIST) {
    descriptor = Descriptor(::open(file_.c_str(), flags | O_NONBLOCK));  // whatever it is
  }
  if (!descriptor.valid() && errno == ENOENT && may_retry) return false;
  if (!descriptor.valid() && (errno == ELOOP || errno == EISDIR || errno == ENXIO)) {
    return not_own(file_, options.name);
  }
  if (!descriptor.valid()) return failed(file_, "open", options.name);
  TFAOT_TRY(check_own(descriptor.get(), file_, options.name));
  errno = lock(descriptor.get(), options);
  if (errno != 0 && !(options.optional && has_no_locks(errno))) {
    const int reason = errno;
    if (is_new_ && reason != EINTR) ::unlink(file_.c_str());  // else another process has it
    TFAOT_TRY(check_interrupts());
    errno = reason;
    return failed(file_, "take", options.name);
  }
  if (!is_open_file(descriptor.get(), file_)) return false;
  if (!is_new_) made_.clear();  // another process made them
  sign(descriptor.get());
  descriptor_ = descriptor.release();
  return true;
}

FileLock::~FileLock() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void FileLock::remove() {
  if (descriptor_ < 0) return;
  // While the lock is held: a process that waits for this file sees that it is gone and makes
  // another.
  ::unlink(file_.c_str());
  if (made_.empty()) made_ = {file_.parent_path()};
  for (const Path& folder : made_) {
    if (::rmdir(folder.c_str()) != 0) break;
  }
  ::close(std::exchange(descriptor_, -1));
}

void FileLock::swap(FileLock& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(is_new_, other.is_new_);
  std::swap(file_, other.file_);
  std::swap(made_, other.made_);
}

}  // namespace tfaot::toolkit
