// SPDX-License-Identifier: Apache-2.0
// The part of a ModelGraph between inputs and outputs as one TensorFlow function: its arguments are
// the inputs, then the weights. It works for any exporter: the subgraph is cut out and becomes the
// function, whether the outputs come from one call node or not. Independent of the batch size.
// Large constants become calls (hlo/constant_calls.h), from which lowering makes weights:
// TensorFlow writes a value that a tf.function takes from outside as such a constant if it is no
// variable. Used by one thread.
//
// TensorFlow's formats as a SourceModel, and the operations that can be compiled, for `tfaot
// check`: those of a model's nodes and all that XLA has kernels for, by the rules that refuse a
// model.
//
// The original model in TensorFlow's session: its own nodes, run by TensorFlow's own kernels, with
// variables that TensorFlow's own loader fills. For predictions that ours are compared with. A
// model may come from anywhere, so its graph is cut and checked as for compiling, and here every
// operation runs: none may do more than compute. Used by one thread.
#pragma once

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

// The function's weights are read from the model, which must outlive it.
Result<SignatureFunction> make_signature_function(ModelGraph& model);

Result<std::unique_ptr<SourceModel>> load_graph_source(const EngineJob& job);

// Every operation that XLA has a kernel for. Without nodes.
std::vector<CheckedOperation> known_operations();

// SignatureFunction + batch size -> XLA computation (HLO). Checks the shapes, which XLA would not.
// The references must outlive the lowering. Errors: types and shapes of the signature that cannot
// be compiled.
Result<std::unique_ptr<Lowering>> make_graph_lowering(const ModelGraph& model,
                                                      const SignatureFunction& function,
                                                      const LoweringOptions& options);

class ModelSession final : public OriginalProgram {
 public:
  // REQUIRES: Lowering::lower() has accepted the model: it refuses code that calls functions by
  // name. Error: operations that do more than compute; TensorFlow cannot load the model.
  static Result<std::unique_ptr<ModelSession>> open(ModelGraph& model);

  std::string name() const override;
  Result<std::vector<tensorflow::Tensor>> run(const std::vector<tensorflow::Tensor>& inputs,
                                              std::chrono::seconds limit) override;

 private:
  friend Result<std::unique_ptr<OriginalProgram>> load_session_program(const EngineJob& job);

  std::unique_ptr<tensorflow::Session> session_;
  std::vector<std::string> inputs_;   // tensors of its graph
  std::vector<std::string> outputs_;  // tensors of its graph
};

// Refuses what compiling refuses.
Result<std::unique_ptr<OriginalProgram>> load_session_program(const EngineJob& job);

}  // namespace tfaot::toolkit::engine
