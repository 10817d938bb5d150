// SPDX-License-Identifier: Apache-2.0
// For programs that must not outlive the one that started them, whatever ends that one: SIGKILL
// leaves it no time to stop its children.
#pragma once

namespace tfaot::toolkit {

// From now on this process is killed when the thread that started it ends; run_process() waits in
// that thread. Call it first in main(). False: `parent` (its process id) is dead already.
bool end_with_parent(long parent);

}  // namespace tfaot::toolkit
