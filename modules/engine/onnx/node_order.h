// SPDX-License-Identifier: Apache-2.0
// The order and the names of a model's nodes, before anything else reads the graph.
#pragma once

#include "onnx-ml.pb.h"
#include "onnx/onnx_scope.h"
#include "tfaot/base/result.h"

namespace tfaot::toolkit::engine {

// Puts nodes after those whose results they read, as the standard wants it, which not all exporters
// do; also in graphs inside of nodes. Fails if nodes need each other's results, or if two values of
// a graph have the same name, and says which.
Status sort_nodes(onnx::GraphProto& model, const Opsets& opsets);

}  // namespace tfaot::toolkit::engine
