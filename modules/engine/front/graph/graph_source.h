// SPDX-License-Identifier: Apache-2.0
// TensorFlow's formats as a SourceModel, and the operations that can be compiled, for `tfaot
// check`: those of a model's nodes and all that XLA has kernels for, by the rules that refuse a
// model.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "front/graph/model_graph.h"
#include "front/graph/signature_function.h"
#include "front/lowering/source_model.h"
#include "tfaot/records/model_check.h"

namespace tfaot::toolkit::engine {

Result<std::unique_ptr<SourceModel>> load_graph_source(const EngineJob& job);

// By output: the name of the node, below calls and identities; empty if an input is handed on.
std::vector<std::string> output_origins(const SignatureFunction& function);

// All nodes that the outputs need, down to the inputs and the variables. Sorted by operation.
std::vector<CheckedOperation> operation_table(const ModelGraph& model);

// Every operation that XLA has a kernel for. Without nodes.
std::vector<CheckedOperation> known_operations();

}  // namespace tfaot::toolkit::engine
