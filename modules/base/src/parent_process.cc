// SPDX-License-Identifier: Apache-2.0
#include "tfaot/base/parent_process.h"

#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

namespace tfaot::toolkit {

// The parent may have died before we asked for the signal, and then none comes. So check
// afterwards.
bool end_with_parent(long parent) {
  return ::prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && ::getppid() == parent;
}

}  // namespace tfaot::toolkit
