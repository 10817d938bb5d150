// SPDX-License-Identifier: Apache-2.0
// ONNX files as a SourceModel.
#pragma once

#include <memory>
#include <string>

#include "lowering/source_model.h"

namespace tfaot::toolkit::engine {

// Whether the name of the file says that it is ONNX.
bool has_onnx_name(const std::string& file);

// The graph is the one function.
Result<ModelFunctions> onnx_functions(const std::string& file);

Result<std::unique_ptr<SourceModel>> load_onnx_source(const EngineJob& job);

}  // namespace tfaot::toolkit::engine
