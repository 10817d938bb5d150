// SPDX-License-Identifier: Apache-2.0
// Leaves in a graph what TensorFlow may be shown of a stranger's model. TensorFlow computes what is
// constant as soon as it reads a graph, with its own kernels and on this machine: shapes when it
// reads, constants when it compiles, whole functions when their arguments are constant. So
// everything that could act goes before it reads. Pure functions.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tensorflow/core/framework/graph.pb.h"
#include "tfaot/base/result.h"

namespace tfaot::toolkit::engine {

struct GraphRules {
  // Operations that may be in the graph.
  std::function<bool(const std::string& operation)> allows;
  // What is wrong with the nodes that may not, each as describe_node() tells it.
  std::function<Error(const std::vector<std::string>& nodes)> refuse;
};

// Removes functions that nothing calls and nodes of functions that no result needs, refuses what
// is not allowed in the rest, and has calls, loops and branches around operations with state say
// that they have state, too, so that they are not computed ahead.
Status make_safe(tensorflow::GraphDef& graph, const GraphRules& rules);

}  // namespace tfaot::toolkit::engine
