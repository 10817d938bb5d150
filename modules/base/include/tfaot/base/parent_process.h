// SPDX-License-Identifier: Apache-2.0
// For programs that must end when the process that started them ends, whatever ends it: SIGKILL
// leaves it no time to stop its children.
#pragma once

#include <string_view>

namespace tfaot::toolkit {

// Instead of the parent's process id: another program started this one for it, perhaps on another
// machine, and stops it.
inline constexpr const char* kAnyParent = "any";

// From now on the kernel kills this process when the thread that started it ends; run_process()
// waits in that thread. Call it first in main(). False: `parent`, its process id or kAnyParent, is
// already dead.
bool end_with_parent(std::string_view parent);

}  // namespace tfaot::toolkit
