// SPDX-License-Identifier: Apache-2.0
// For programs that must end when the process that started them ends, whatever ends it: SIGKILL
// leaves it no time to stop its children.
#pragma once

namespace tfaot::toolkit {

// From now on the kernel kills this process when the thread that started it ends; run_process()
// waits in that thread. Call it first in main(). False: `parent` (its process id) is already dead.
bool end_with_parent(long parent);

}  // namespace tfaot::toolkit
