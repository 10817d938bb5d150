// SPDX-License-Identifier: Apache-2.0
// Reduces a graph from an untrusted model to what TensorFlow may see. TensorFlow computes constants
// as soon as it reads a graph, with its own kernels on this machine: shapes when it reads,
// constants when it compiles, whole functions if their arguments are constant. So everything that
// could act is removed before TensorFlow reads the graph. Pure functions.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "graph/diagnosis.h"
#include "tensorflow/core/framework/graph.pb.h"
#include "tfaot/base/result.h"

namespace tfaot::toolkit::engine {

struct GraphRules {
  // Operations that may be in the graph.
  std::function<bool(const std::string& operation)> allows;
  // The error for forbidden nodes.
  std::function<Error(const std::vector<BlamedNode>& nodes)> refuse;
};

// Removes functions that nothing calls, and nodes of functions that no result needs. Refuses
// forbidden operations in the rest. Marks calls, loops and branches around operations with state as
// having state too, so that they are not computed ahead.
Status make_safe(tensorflow::GraphDef& graph, const GraphRules& rules);

}  // namespace tfaot::toolkit::engine
