// SPDX-License-Identifier: Apache-2.0
// New weights for existing code. The engine lowers the new model without compiling it; the
// resulting HLO must equal the HLO that the code was made from. Never links TensorFlow.
#pragma once

#include "tfaot/compile/compile.h"

namespace tfaot::toolkit {

// `package` with the weights of spec.model.source; their object is written to
// options.work_directory. If the model's architecture differs, the Error says where. REQUIRES:
// weights are shared; except for source and version, spec is what the package was compiled from.
Result<CompiledModel> update_weights(FileSystem& fs, const ModelSpec& spec,
                                     const CompiledModel& package, const CompileOptions& options,
                                     Diagnostics& diagnostics);

}  // namespace tfaot::toolkit
