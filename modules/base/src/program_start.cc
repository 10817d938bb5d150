// SPDX-License-Identifier: Apache-2.0
#include "tfaot/base/program_start.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <initializer_list>

namespace tfaot::toolkit {

void start_program() {
  for (const int standard : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(standard, F_GETFD) >= 0) continue;
    // Gets this number, the lowest free one.
    static_cast<void>(::open("/dev/null", standard == STDOUT_FILENO ? O_RDONLY : O_RDWR));
  }
  ::signal(SIGXFSZ, SIG_IGN);
}

}  // namespace tfaot::toolkit
