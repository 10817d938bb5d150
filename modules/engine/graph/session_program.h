// SPDX-License-Identifier: Apache-2.0
// A TensorFlow model in TensorFlow's session, as an OriginalProgram.
#pragma once

#include <memory>

#include "lowering/original_program.h"
#include "tfaot/records/engine_job.h"

namespace tfaot::toolkit::engine {

// Refuses what compiling refuses.
Result<std::unique_ptr<OriginalProgram>> load_session_program(const EngineJob& job);

}  // namespace tfaot::toolkit::engine
