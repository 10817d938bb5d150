// SPDX-License-Identifier: Apache-2.0
#include "tfaot/base/program_start.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

namespace tfaot::toolkit {

void start_program() {
  int descriptor = 0;
  while (descriptor <= STDERR_FILENO && descriptor >= 0) descriptor = ::open("/dev/null", O_RDWR);
  if (descriptor >= 0) ::close(descriptor);  // after the standard ones: all were open
  ::signal(SIGXFSZ, SIG_IGN);
}

}  // namespace tfaot::toolkit
