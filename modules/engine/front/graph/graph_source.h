// SPDX-License-Identifier: Apache-2.0
// TensorFlow's formats as a SourceModel, and the operations that can be compiled, for `tfaot
// check`: those of a model's nodes and all that XLA has kernels for, by the rules that refuse a
// model.
#pragma once

#include <memory>
#include <vector>

#include "compiler/hlo/lowering.h"
#include "front/graph/model_graph.h"
#include "front/graph/signature_function.h"
#include "front/lowering/source_model.h"
#include "tfaot/records/model_check.h"

namespace tfaot::toolkit::engine {

Result<std::unique_ptr<SourceModel>> load_graph_source(const EngineJob& job);

// Every operation that XLA has a kernel for. Without nodes.
std::vector<CheckedOperation> known_operations();

// SignatureFunction + batch size -> XLA computation (HLO). Checks the shapes, which XLA would not.
// The references must outlive the lowering. Errors: types and shapes of the signature that cannot
// be compiled.
Result<std::unique_ptr<Lowering>> make_graph_lowering(const ModelGraph& model,
                                                      const SignatureFunction& function,
                                                      const LoweringOptions& options);

}  // namespace tfaot::toolkit::engine
