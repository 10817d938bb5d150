// SPDX-License-Identifier: Apache-2.0
// Asks the engine which operations can be compiled. Safe from many threads.
#pragma once

#include <vector>

#include "tfaot/base/file_system.h"
#include "tfaot/base/result.h"
#include "tfaot/compile/engine_program.h"
#include "tfaot/records/model_check.h"

namespace tfaot::toolkit {

// Sorted by name; without nodes.
Result<std::vector<CheckedOperation>> known_operations(const FileSystem& fs,
                                                       const EngineProgram& engine);

}  // namespace tfaot::toolkit
