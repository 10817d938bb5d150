// SPDX-License-Identifier: Apache-2.0
// What the compiler makes of each operation: for `tfaot check`, of a model's nodes and of all that
// XLA has kernels for. It asks the same rules that refuse a model. Pure functions.
#pragma once

#include <vector>

#include "graph/model_graph.h"
#include "tfaot/records/model_check.h"

namespace tfaot::toolkit::engine {

// All nodes that the outputs need, down to the inputs and the variables. Sorted by operation.
std::vector<CheckedOperation> operation_table(const ModelGraph& model);

// Every operation that XLA has a kernel for. Without nodes.
std::vector<CheckedOperation> known_operations();

}  // namespace tfaot::toolkit::engine
