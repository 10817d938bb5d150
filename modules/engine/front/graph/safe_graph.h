// SPDX-License-Identifier: Apache-2.0
// Reduces a graph from an untrusted model to what TensorFlow may see. TensorFlow computes constants
// as soon as it reads a graph, with its own kernels on this machine, and some of these read and
// write files, open connections or keep state. So only operations of our lists reach TensorFlow,
// and everything else is removed or refused before TensorFlow reads the graph. Pure functions.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "front/graph/diagnosis.h"
#include "tensorflow/core/framework/graph.pb.h"
#include "tensorflow/core/protobuf/meta_graph.pb.h"
#include "tfaot/base/result.h"

namespace tensorflow {
class KernelDef;
}  // namespace tensorflow

namespace tfaot::toolkit::engine {

// Computes its outputs from its inputs and attributes, and does nothing else.
bool is_pure(const std::string& operation);

// XLA compiles it, or it connects parts of a graph (functions, loops and branches of TensorFlow 1).
bool is_compiled(const std::string& operation);

// It connects parts of a graph; Placeholder too.
bool connects(const std::string& operation);

// XLA has a kernel, but would compile it to a call of a function whose name the model chooses.
bool calls_by_name(const std::string& operation);

// XLA's kernels of the operation: several for different types, or none.
std::vector<const tensorflow::KernelDef*> kernels_of(const std::string& operation);

// All that have a kernel, those that call by name too. Sorted.
std::vector<std::string> operations_with_kernel();

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

struct LoadingGraph {
  tensorflow::GraphDef graph;
  std::string file_tensor;           // the tensor that takes the checkpoint's path; empty: none
  std::vector<std::string> restore;  // operations to run first
  std::vector<std::string> initialize;
};

// `whole` is the model's graph, which may be stored elsewhere. Errors: operations that do more than
// compute, by name.
Result<LoadingGraph> loading_graph(const tensorflow::MetaGraphDef& model,
                                   const tensorflow::GraphDef& whole);

}  // namespace tfaot::toolkit::engine
