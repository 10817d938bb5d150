// SPDX-License-Identifier: Apache-2.0
// Finds the node to blame if a graph cannot be compiled. Looks only after a failure, because XLA
// first drops dead nodes: a bad node alone is not a failure. Pure functions.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/hlo/foreign_operations.h"
#include "front/graph/signature_function.h"
#include "tfaot/base/result.h"

namespace tfaot::toolkit::engine {

// "op 'Where' (node 'mask/Where' in function '__inference_f_12')"
std::string describe_node(const tensorflow::NodeDef& node, const std::string& function);

// A node to blame: its name, and its description in the form of describe_node().
struct BlamedNode {
  std::string name;
  std::string text;
};
std::vector<std::string> names_of(const std::vector<BlamedNode>& nodes);

// The names in TensorFlow's "{{node NAME}}", without duplicates.
std::vector<std::string> nodes_named_in(std::string_view message);

// The function and all that it calls, in an order that depends on their calls alone.
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

// With the attributes that a SavedModel leaves out, because they have their default.
tensorflow::NodeDef with_defaults(tensorflow::NodeDef node);

// For the types of this node.
bool has_no_xla_kernel(const tensorflow::NodeDef& node);
bool has_data_dependent_shape(std::string_view operation);
bool writes_variable(std::string_view operation);

}  // namespace tfaot::toolkit::engine
