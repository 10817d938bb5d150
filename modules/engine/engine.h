// SPDX-License-Identifier: Apache-2.0
// What tfaot-engine does: compiles a share of a model's batch sizes for all CPU levels
// (records/engine_job.h), or answers what the compile room asks.
#pragma once

#include "tfaot/base/file_system.h"

namespace tfaot::toolkit::engine {

// Returns the program's exit code.
int run_engine(FileSystem& fs, int argc, char** argv);

}  // namespace tfaot::toolkit::engine
