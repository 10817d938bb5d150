// SPDX-License-Identifier: Apache-2.0
// A library to be preloaded. TFAOT_KILL_AT=N ends the process by SIGKILL at its Nth call that
// changes a folder; with TFAOT_FULL_AT=N the disk is full from its Nth write on.
#include <dlfcn.h>
#include <sys/types.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>

namespace {

int changes = 0;
int writes = 0;

bool is_reached(const char* variable, int& calls) {
  const char* const wanted = ::getenv(variable);
  return wanted != nullptr && ++calls >= std::atoi(wanted);
}

template <class Function, class... Arguments>
auto pass_on(Function /*same type*/, const char* name, Arguments... arguments) {
  return reinterpret_cast<Function>(::dlsym(RTLD_NEXT, name))(arguments...);
}

template <class Function, class... Arguments>
auto count(Function function, const char* name, Arguments... arguments) {
  if (is_reached("TFAOT_KILL_AT", changes)) ::raise(SIGKILL);
  return pass_on(function, name, arguments...);
}

}  // namespace

extern "C" {

int mkdirat(int folder, const char* path, mode_t mode) noexcept {
  return count(&mkdirat, "mkdirat", folder, path, mode);
}
int renameat(int from, const char* old_path, int to, const char* new_path) noexcept {
  return count(&renameat, "renameat", from, old_path, to, new_path);
}
int rename(const char* old_path, const char* new_path) noexcept {
  return count(&rename, "rename", old_path, new_path);
}
int unlinkat(int folder, const char* path, int flags) noexcept {
  return count(&unlinkat, "unlinkat", folder, path, flags);
}
int symlinkat(const char* target, int folder, const char* path) noexcept {
  return count(&symlinkat, "symlinkat", target, folder, path);
}
int symlink(const char* target, const char* path) noexcept {
  return count(&symlink, "symlink", target, path);
}
ssize_t write(int file, const void* bytes, size_t size) {
  if (is_reached("TFAOT_FULL_AT", writes)) {
    errno = ENOSPC;
    return -1;
  }
  return pass_on(&write, "write", file, bytes, size);
}
}
