// SPDX-License-Identifier: Apache-2.0
// Asks the engine which operations can be compiled. Safe from many threads.
#pragma once

#include <vector>

#include "tfaot/base/file_system.h"
#include "tfaot/base/result.h"
#include "tfaot/compile/engine_program.h"
#include "tfaot/records/model_check.h"
#include "tfaot/records/model_spec.h"

namespace tfaot::toolkit {

// Of models of this format. Sorted by name; without nodes.
Result<std::vector<CheckedOperation>> known_operations(const FileSystem& fs, ModelFormat format,
                                                       const EngineProgram& engine);

}  // namespace tfaot::toolkit
