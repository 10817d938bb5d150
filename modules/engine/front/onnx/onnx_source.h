// SPDX-License-Identifier: Apache-2.0
// ONNX files as a SourceModel. Lowers a graph for a batch size: initializers are the weights; those
// that are scalars, or that shapes depend on, are constants of the code (read_onnx.h).
#pragma once

#include <memory>
#include <string>

#include "compiler/hlo/lowering.h"
#include "front/lowering/source_model.h"
#include "front/onnx/node.h"

namespace tfaot::toolkit::engine {

// The graph is the one function.
Result<ModelFunctions> onnx_functions(const std::string& file);

Result<std::unique_ptr<SourceModel>> load_onnx_source(const EngineJob& job);

}  // namespace tfaot::toolkit::engine
