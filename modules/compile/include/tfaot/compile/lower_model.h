// SPDX-License-Identifier: Apache-2.0
// The engine's work without generating code. Otherwise like compile_model().
#pragma once

#include "tfaot/compile/compile.h"

namespace tfaot::toolkit {

// The codes in the result have only batch size, level and the HLO's hash.
Result<CompiledModel> lower_model(FileSystem& fs, const ModelSpec& spec,
                                  const CompileOptions& options, Diagnostics& diagnostics);

}  // namespace tfaot::toolkit
