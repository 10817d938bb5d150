// SPDX-License-Identifier: Apache-2.0
// New weights for existing code. The engine lowers the new model without compiling it; the
// resulting HLO must equal the HLO that the code was made from. Never links TensorFlow.
#pragma once

#include <string>
#include <vector>

#include "tfaot/compile/compile.h"
#include "tfaot/records/compiled_model.h"

namespace tfaot::toolkit {

// `package` with the weights of spec.model.source; their object is written to
// options.work_directory. If the model's architecture differs, the Error says where. REQUIRES:
// weights are shared; except for source and version, spec is what the package was compiled from.
Result<CompiledModel> update_weights(FileSystem& fs, const ModelSpec& spec,
                                     const CompiledModel& package, const CompileOptions& options,
                                     Diagnostics& diagnostics);

// How a model differs from the one that code was made from, in words for the user: one line per
// difference, the most telling first; empty if the code fits the model too. Names of weights may
// differ. Of `model`, only what lowering produces matters: the signature, the weights, the HLO.
std::vector<std::string> architecture_differences(const CompiledModel& package,
                                                  const CompiledModel& model);

}  // namespace tfaot::toolkit
