// SPDX-License-Identifier: Apache-2.0
// Files with StableHLO as a SourceModel. TensorFlow's XlaCallModule lowers a module for a batch
// size: it settles the open sizes, chooses the code for CPUs and checks what the module demands of
// its inputs. XLA's interpreter is the OriginalProgram: it computes one operation after the other,
// without XLA's compiler for CPUs, tfaot's rewriting and our kernels.
#pragma once

#include <memory>
#include <string>

#include "compiler/hlo/lowering.h"
#include "front/lowering/source_model.h"
#include "front/stablehlo/read_stablehlo.h"
#include "tfaot/records/engine_job.h"

namespace tfaot::toolkit::engine {

// Refuses what compiling refuses.
Result<std::unique_ptr<OriginalProgram>> load_interpreted_program(const EngineJob& job);

// The function 'main' is the one function.
Result<ModelFunctions> stablehlo_functions(const std::string& file);

Result<std::unique_ptr<SourceModel>> load_stablehlo_source(const EngineJob& job);

}  // namespace tfaot::toolkit::engine
