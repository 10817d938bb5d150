// SPDX-License-Identifier: Apache-2.0
// The part of a ModelGraph between inputs and outputs as one TensorFlow function, whose arguments
// are the inputs, then the weights. It works for any exporter, since the subgraph is cut out even
// if the outputs come from one call node. Independent of the batch size. Large constants become
// calls (hlo/constant_calls.h), from which lowering makes weights: TensorFlow stores a value that a
// tf.function captures as such a constant, unless it is a variable. Used by one thread.
//
// TensorFlow's formats as a SourceModel. For `tfaot check`: the operations of a model, and all that
// XLA has kernels for, judged by the rules that compiling applies.
//
// The original model in a TensorFlow session, for reference predictions: its own nodes, run by
// TensorFlow's kernels, with variables filled by TensorFlow's loader. Models are untrusted, so the
// graph is cut and checked as for compiling, and as every operation runs here, none may do more
// than compute. Used by one thread.
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

// A constant that was taken out of one of the functions, which calls constant_call(i) instead.
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

Result<std::unique_ptr<SourceModel>> load_graph_source(const JobModel& job);

// Every operation that XLA has a kernel for. The rows have no nodes.
std::vector<CheckedOperation> known_operations();

// Lowers a SignatureFunction for a batch size to HLO. Checks the shapes, which XLA does not. The
// references must outlive the lowering. Errors: types and shapes of the signature that cannot be
// compiled.
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
  friend Result<std::unique_ptr<OriginalProgram>> load_session_program(const JobModel& job,
                                                                       std::int64_t batch_size);

  std::unique_ptr<tensorflow::Session> session_;
  std::vector<std::string> outputs_;  // tensors of its graph
};

// Refuses the models that compiling refuses.
Result<std::unique_ptr<OriginalProgram>> load_session_program(const JobModel& job,
                                                              std::int64_t batch_size);

}  // namespace tfaot::toolkit::engine
