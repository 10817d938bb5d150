// SPDX-License-Identifier: Apache-2.0
// Finds the node to blame if a graph cannot be compiled. Looks only after a failure, because XLA
// first drops dead nodes: a bad node alone is not a failure. Pure functions.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/signature_function.h"
#include "xla/xla_data.pb.h"

namespace tfaot::toolkit::engine {

// "op 'Where' (node 'mask/Where' in function '__inference_f_12')"
std::string describe_node(const tensorflow::NodeDef& node, const std::string& function);

// "op 'Mean' (node 'model/mean', HLO reduce 'reduce.1')", as far as TensorFlow kept the names.
struct HloName {
  std::string_view opcode;
  std::string_view name;
};
std::string describe_instruction(const HloName& name, const xla::OpMetadata& metadata);

// For messages: names come from the model and may have any length.
std::string shortened(const std::string& name);

// Calls `visit` for each node reachable from the signature, in graph order, with the name of the
// function that holds it: empty for the signature's own. Calls of functions are not visited.
void visit_nodes(
    const SignatureFunction& function,
    const std::function<void(const tensorflow::NodeDef&, const std::string& function)>& visit);

// Descriptions of all nodes reachable from the signature for which `wanted` is true, in graph
// order, without duplicates.
std::vector<std::string> find_nodes(const SignatureFunction& function,
                                    const std::function<bool(const tensorflow::NodeDef&)>& wanted);

// REQUIRES: `nodes`, in the form of describe_node(), is not empty. `label`: ModelGraph::label().
Error no_kernel_for(const std::vector<std::string>& nodes, const std::string& label);

// Predicates for find_nodes().
bool has_no_xla_kernel(const tensorflow::NodeDef& node);
bool has_data_dependent_shape(const tensorflow::NodeDef& node);
bool writes_variable(const tensorflow::NodeDef& node);

}  // namespace tfaot::toolkit::engine
