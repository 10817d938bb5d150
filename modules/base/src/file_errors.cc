// SPDX-License-Identifier: Apache-2.0
#include "file_errors.h"

#include <cerrno>
#include <system_error>

namespace tfaot::toolkit {

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
