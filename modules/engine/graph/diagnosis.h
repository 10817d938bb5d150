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
#include "hlo/hlo.h"
#include "tfaot/base/result.h"
#include "xla/service/hlo.pb.h"
#include "xla/xla_data.pb.h"

namespace tfaot::toolkit::engine {

// True if a list of words, with a blank between them, has the word.
bool is_listed(std::string_view words, std::string_view word);

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

// "op 'Mean' (node 'model/mean', HLO reduce 'reduce.1')", as far as TensorFlow kept the names.
struct HloName {
  std::string_view opcode;
  std::string_view name;
};
std::string describe_instruction(const HloName& name, const xla::OpMetadata& metadata);

// For messages: names come from the model and may have any length.
std::string shortened(const std::string& name);

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
// XLA's numbers differ from those of TensorFlow's kernels, also for stateless operations.
bool draws_random_numbers(std::string_view operation);

// Error: names the first instruction that calls a function other than XLA's own, or that exchanges
// data with a host. `label`: ModelGraph::label().
Status check_calls(const xla::HloModuleProto& module, const std::string& label);

// Fails if a result depends on random numbers, and names the operations that draw them. Numbers
// that TensorFlow computed ahead are constants here. REQUIRES: code that never runs has been
// simplified away.
Status check_random_numbers(const xla::HloModule& module);

}  // namespace tfaot::toolkit::engine
