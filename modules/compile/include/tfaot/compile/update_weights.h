// SPDX-License-Identifier: Apache-2.0
// Other weights for code that is there already: the engine lowers the new model, compiles nothing,
// and its HLO must be that which the code was made from. Never links TensorFlow.
#pragma once

#include "tfaot/compile/compile.h"

namespace tfaot::toolkit {

// `package` with the weights of spec.model.source, whose object is written to
// options.work_directory. Names what differs when the model's architecture is another one.
// REQUIRES: weights are shared; spec says what the package was compiled from, source and version
// apart.
Result<CompiledModel> update_weights(FileSystem& fs, const ModelSpec& spec,
                                     const CompiledModel& package, const CompileOptions& options,
                                     Diagnostics& diagnostics);

}  // namespace tfaot::toolkit
