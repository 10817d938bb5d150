// SPDX-License-Identifier: Apache-2.0
#include "tfaot/base/program_start.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <initializer_list>
#include <string>

namespace tfaot::toolkit {

void start_program() {
  for (const int standard : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(standard, F_GETFD) >= 0) continue;
    // Gets this number, the lowest free one.
    static_cast<void>(::open("/dev/null", standard == STDOUT_FILENO ? O_RDONLY : O_RDWR));
  }
  ::signal(SIGXFSZ, SIG_IGN);
}

// The parent may have died before we asked for the signal, and then none comes. So check
// afterwards.
bool end_with_parent(std::string_view parent) {
  if (parent == kAnyParent) return true;
  return ::prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && std::to_string(::getppid()) == parent;
}

}  // namespace tfaot::toolkit
