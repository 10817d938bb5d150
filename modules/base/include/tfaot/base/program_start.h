// SPDX-License-Identifier: Apache-2.0
// What a program that writes files must do first.
#pragma once

#include <string_view>

namespace tfaot::toolkit {

// Opens /dev/null for each standard descriptor (0 to 2) that our parent closed, as daemons do.
// Otherwise a file that we open could get that number, and our output would go into it. Writing to
// a closed standard output still fails, as whoever reads it would miss what we print. Also makes
// writing beyond a limit on file size fail instead of ending the process at once.
void start_program();

// For programs that must end when the process that started them ends, whatever ends it: SIGKILL
// leaves it no time to stop its children.

// Instead of the parent's process id: another program started this one for it, perhaps on another
// machine, and stops it.
inline constexpr const char* kAnyParent = "any";

// From now on the kernel kills this process when the thread that started it ends; run_process()
// waits in that thread. Call it first in main(). False: `parent`, its process id or kAnyParent, is
// already dead.
bool end_with_parent(std::string_view parent);

}  // namespace tfaot::toolkit
