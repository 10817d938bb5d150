// SPDX-License-Identifier: Apache-2.0
// ONNX files as a SourceModel.
#pragma once

#include <memory>
#include <string>

#include "lowering/source_model.h"

namespace tfaot::toolkit::engine {

// The graph is the one function.
Result<ModelFunctions> onnx_functions(const std::string& file);

Result<std::unique_ptr<SourceModel>> load_onnx_source(const EngineJob& job);

}  // namespace tfaot::toolkit::engine
