// SPDX-License-Identifier: Apache-2.0
// A library to be preloaded, only for the program tfaot, not for programs that it starts. With
// TFAOT_FAULT_AT=N, TFAOT_FAULT takes effect at the Nth call that may change something on the disk:
// "kill", "interrupt" (SIGINT, then the call), "stall" (it never returns), or errno's value, with
// which the call fails; with "from 28" all later calls fail too. If tfaot ends by itself,
// TFAOT_FAULT_FILE gets the number of calls.
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>

namespace {

std::atomic<long> calls{0};

bool is_tfaot() { return ::strcmp(program_invocation_short_name, "tfaot") == 0; }

// Whether this call must fail; then errno says why.
bool fails() {
  static const char* const at = ::getenv("TFAOT_FAULT_AT");
  static const char* const fault = ::getenv("TFAOT_FAULT");
  if (at == nullptr || fault == nullptr || !is_tfaot()) return false;
  const long call = ++calls;
  const long wanted = ::atol(at);
  const bool from = ::strncmp(fault, "from ", 5) == 0;
  if (call < wanted || (call > wanted && !from)) return false;
  if (::strcmp(fault, "kill") == 0) ::kill(::getpid(), SIGKILL);
  if (::strcmp(fault, "interrupt") == 0) {
    ::raise(SIGINT);
    return false;
  }
  while (::strcmp(fault, "stall") == 0) ::pause();
  errno = ::atoi(from ? fault + 5 : fault);
  return true;
}

template <class Function>
Function next(Function /*same type*/, const char* name) {
  return reinterpret_cast<Function>(::dlsym(RTLD_NEXT, name));
}

template <class Result, class... Parameters, class... Arguments>
Result count(Result (*function)(Parameters...), const char* name, Arguments... arguments) {
  if (fails()) return -1;
  return next(function, name)(arguments...);
}

// Removing something takes no space, so it does not fail.
template <class Result, class... Parameters, class... Arguments>
Result remove(Result (*function)(Parameters...), const char* name, Arguments... arguments) {
  fails();
  return next(function, name)(arguments...);
}

int open_counted(const char* name, const char* path, int flags, mode_t mode) {
  using Open = int (*)(const char*, int, ...);
  if ((flags & (O_WRONLY | O_RDWR | O_CREAT)) != 0 && fails()) return -1;
  return reinterpret_cast<Open>(::dlsym(RTLD_NEXT, name))(path, flags, mode);
}

mode_t mode_of(int flags, va_list& rest) {
  return (flags & O_CREAT) != 0 ? va_arg(rest, mode_t) : 0;
}

struct AtEnd {
  ~AtEnd() {
    const char* const file = ::getenv("TFAOT_FAULT_FILE");
    if (file == nullptr || !is_tfaot()) return;
    if (FILE* const out = ::fopen(file, "w"); out != nullptr) {
      ::fprintf(out, "%ld\n", calls.load());
      ::fclose(out);
    }
  }
} at_end;

}  // namespace

extern "C" {

int open(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = mode_of(flags, rest);
  va_end(rest);
  return open_counted("open", path, flags, mode);
}
int open64(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = mode_of(flags, rest);
  va_end(rest);
  return open_counted("open64", path, flags, mode);
}
ssize_t write(int file, const void* bytes, size_t size) {
  struct stat status {};
  const bool is_pipe = ::fstat(file, &status) != 0 || !S_ISREG(status.st_mode);
  if (file <= STDERR_FILENO || is_pipe) return next(&write, "write")(file, bytes, size);
  return count(&write, "write", file, bytes, size);
}
// Waits for no disk, which is most of the time that these tests would take: the system goes on, so
// what was written is there.
int fsync(int) { return fails() ? -1 : 0; }
char* mkdtemp(char* name) noexcept { return fails() ? nullptr : next(&mkdtemp, "mkdtemp")(name); }
int mkdir(const char* path, mode_t mode) noexcept { return count(&mkdir, "mkdir", path, mode); }
int rmdir(const char* path) noexcept { return remove(&rmdir, "rmdir", path); }
int unlink(const char* path) noexcept { return remove(&unlink, "unlink", path); }
int unlinkat(int folder, const char* path, int flags) noexcept {
  return remove(&unlinkat, "unlinkat", folder, path, flags);
}
int rename(const char* from, const char* to) noexcept { return count(&rename, "rename", from, to); }
int renameat2(int folder, const char* from, int to_folder, const char* to,
              unsigned flags) noexcept {
  return count(&renameat2, "renameat2", folder, from, to_folder, to, flags);
}
int symlink(const char* target, const char* path) noexcept {
  return count(&symlink, "symlink", target, path);
}
int chmod(const char* path, mode_t mode) noexcept { return count(&chmod, "chmod", path, mode); }
int ftruncate(int file, off_t size) noexcept { return count(&ftruncate, "ftruncate", file, size); }
int utimensat(int folder, const char* path, const timespec* times, int flags) noexcept {
  return count(&utimensat, "utimensat", folder, path, times, flags);
}
}
