// SPDX-License-Identifier: Apache-2.0
// The engine's work without the code. Like compile_model() otherwise.
#pragma once

#include "tfaot/compile/compile.h"

namespace tfaot::toolkit {

// The codes of the result have no object: batch size, level and the HLO's hash only.
Result<CompiledModel> lower_model(FileSystem& fs, const ModelSpec& spec,
                                  const CompileOptions& options, Diagnostics& diagnostics);

}  // namespace tfaot::toolkit
