// SPDX-License-Identifier: Apache-2.0
// A module in XLA's interpreter, as an OriginalProgram. It computes what StableHLO says, one
// operation after the other, without XLA's compiler for CPUs, tfaot's rewriting and our kernels.
// What it shares with compiled code is the step from StableHLO to HLO.
#pragma once

#include <memory>

#include "lowering/original_program.h"
#include "tfaot/records/engine_job.h"

namespace tfaot::toolkit::engine {

// Refuses what compiling refuses.
Result<std::unique_ptr<OriginalProgram>> load_interpreted_program(const EngineJob& job);

}  // namespace tfaot::toolkit::engine
