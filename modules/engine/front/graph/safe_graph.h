// SPDX-License-Identifier: Apache-2.0
// Reduces a graph from an untrusted model to what TensorFlow may see. TensorFlow computes constants
// as soon as it reads a graph, with its own kernels on this machine, and some of these read and
// write files, open connections or keep state. So only operations on our lists reach TensorFlow;
// everything else is removed or refused first. Pure functions.
//
// Finds the node to blame if a graph cannot be compiled. Looks only after a failure, because XLA
// first drops dead nodes: a bad node alone is not a failure. Pure functions.
#pragma once

#include "compiler/hlo/foreign_operations.h"
#include "front/graph/graph_source.h"

namespace tensorflow {
class KernelDef;
}  // namespace tensorflow

namespace tfaot::toolkit::engine {

// True if the operation only computes its outputs from its inputs and attributes.
bool is_pure(const std::string& operation);

// True if XLA compiles the operation, or if it connects parts of a graph (functions, loops and
// branches of TensorFlow 1).
bool is_compiled(const std::string& operation);

// True if it connects parts of a graph; also for Placeholder.
bool connects(const std::string& operation);

// True if XLA would compile the operation to a call of a function whose name the model chooses.
bool calls_by_name(const std::string& operation);

// XLA's kernels of the operation: several for different types, or none.
std::vector<const tensorflow::KernelDef*> kernels_of(const std::string& operation);

// All operations with a kernel, including those that call by name. Sorted.
std::vector<std::string> operations_with_kernel();

// A node to blame: its name, and describe_node() of it.
struct BlamedNode {
  std::string name;
  std::string text;
};

struct GraphRules {
  // Operations that may be in the graph.
  std::function<bool(const std::string& operation)> allows;
  // The error for forbidden nodes.
  std::function<Error(const std::vector<BlamedNode>& nodes)> refuse;
};

// Removes functions that nothing calls, and nodes of functions that no result needs. Refuses
// forbidden operations in the rest. Makes calls, loops and branches around stateful operations
// stateful too, so that TensorFlow does not fold them.
Status make_safe(tensorflow::GraphDef& graph, const GraphRules& rules);

struct LoadingGraph {
  tensorflow::GraphDef graph;
  std::string file_tensor;           // the tensor that takes the checkpoint's path; empty: none
  std::vector<std::string> restore;  // operations to run first
  std::vector<std::string> initialize;
};

// `whole`: the model's graph, which may be stored elsewhere. Errors name operations that do more
// than compute.
Result<LoadingGraph> loading_graph(const tensorflow::MetaGraphDef& model,
                                   const tensorflow::GraphDef& whole);

// "op 'Where' (node 'mask/Where' in function '__inference_f_12')"
std::string describe_node(const tensorflow::NodeDef& node, const std::string& function);

std::vector<std::string> names_of(const std::vector<BlamedNode>& nodes);

// The names in TensorFlow's "{{node NAME}}", without duplicates.
std::vector<std::string> nodes_named_in(std::string_view message);

// The function and all functions that it calls, in an order that depends only on the calls.
std::vector<std::string> called_functions(const tensorflow::FunctionLibraryDefinition& library,
                                          const std::string& function);

// Calls `visit` for each node reachable from the signature, in graph order, with the name of the
// function that holds it: empty for the signature's own. Calls of functions are not visited.
void visit_nodes(
    const SignatureFunction& function,
    const std::function<void(const tensorflow::NodeDef&, const std::string& function)>& visit);

// All nodes reachable from the signature for which `wanted` is true, in graph
// order, without duplicates.
std::vector<BlamedNode> find_nodes(const SignatureFunction& function,
                                   const std::function<bool(const tensorflow::NodeDef&)>& wanted);

// REQUIRES: `nodes` is not empty. `label`: ModelGraph::label().
Error no_kernel_for(const std::vector<BlamedNode>& nodes, const std::string& label);

// Adds the attributes that a SavedModel omits because they have their default.
tensorflow::NodeDef with_defaults(tensorflow::NodeDef node);

// True if XLA has no kernel for the types of this node.
bool has_no_xla_kernel(const tensorflow::NodeDef& node);
bool has_data_dependent_shape(std::string_view operation);
bool writes_variable(std::string_view operation);

}  // namespace tfaot::toolkit::engine
