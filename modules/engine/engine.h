// SPDX-License-Identifier: Apache-2.0
// Does one job of the compile room (records/engine_job.h).
#pragma once

#include "tfaot/base/file_system.h"

namespace tfaot::toolkit::engine {

// Returns the program's exit code.
int run_engine(FileSystem& fs, int argc, char** argv);

}  // namespace tfaot::toolkit::engine
