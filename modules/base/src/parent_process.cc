// SPDX-License-Identifier: Apache-2.0
#include "tfaot/base/parent_process.h"

#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <string>

namespace tfaot::toolkit {

// The parent may have died before we asked for the signal, and then none comes. So check
// afterwards.
bool end_with_parent(std::string_view parent) {
  if (parent == kAnyParent) return true;
  return ::prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && std::to_string(::getppid()) == parent;
}

}  // namespace tfaot::toolkit
