// SPDX-License-Identifier: Apache-2.0
// The part of a ModelGraph between inputs and outputs as one TensorFlow function: its arguments are
// the inputs, then the weights. It works for any exporter: the subgraph is cut out and becomes the
// function, whether the outputs come from one call node or not. Independent of the batch size.
// Large constants become calls (hlo/constant_calls.h), from which lowering makes weights:
// TensorFlow writes a value that a tf.function takes from outside as such a constant if it is no
// variable. Used by one thread.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "front/graph/model_graph.h"
#include "tensorflow/core/framework/function.h"

namespace tfaot::toolkit::engine {

// A captured variable, or a constant of a frozen graph that may have been one.
struct WeightArgument {
  std::string name;
  StoredTensor value;
  bool is_resource = false;  // the argument is the variable's handle, not its value
};

// A constant in one of the functions, which holds a call instead: constant_call(i) for constant i.
struct LiftedConstant {
  std::string name;  // "predict/Const", the same each time that the same program is exported
  StoredTensor value;
};

struct SignatureFunction {
  std::unique_ptr<tensorflow::FunctionLibraryDefinition> library;  // holds the function too
  std::string name;                                                // of the function
  std::vector<WeightArgument> weights;  // in order of first use by the outputs
  std::vector<LiftedConstant> constants;
  int graph_version = 0;  // GraphDef producer version
};

// The weights, for messages and descriptions.
std::vector<Variable> variables_of(const SignatureFunction& function);

// The same part as a graph, before it becomes a function: _Arg nodes for the inputs and then the
// weights, the model's own nodes, _Retval nodes for the outputs. make_safe() has seen it.
struct CutGraph {
  tensorflow::GraphDef graph;
  std::vector<WeightArgument> weights;
};
// `kept_constants`: stay constants.
Result<CutGraph> cut_graph(ModelGraph& model, std::set<std::string> kept_constants);

// The function's weights are read from the model, which must outlive it.
Result<SignatureFunction> make_signature_function(ModelGraph& model);

// True if the node is a call that took the place of a constant.
bool is_lifted_constant(const tensorflow::NodeDef& node);

}  // namespace tfaot::toolkit::engine
