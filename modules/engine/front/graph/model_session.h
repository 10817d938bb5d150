// SPDX-License-Identifier: Apache-2.0
// The original model in TensorFlow's session: its own nodes, run by TensorFlow's own kernels, with
// variables that TensorFlow's own loader fills. For predictions that ours are compared with, and
// for variables that the init operation or an unusual restore fills. A model may come from
// anywhere, so its graph is cut and checked as for compiling, and here every operation runs: none
// may do more than compute. Used by one thread.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "front/graph/model_graph.h"
#include "front/graph/variables.h"
#include "front/lowering/source_model.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/protobuf/meta_graph.pb.h"
#include "tensorflow/core/public/session.h"
#include "tfaot/records/engine_job.h"

namespace tfaot::toolkit::engine {

class ModelSession {
 public:
  // REQUIRES: Lowering::lower() has accepted the model: it refuses code that calls functions by
  // name. Error: operations that do more than compute; TensorFlow cannot load the model.
  static Result<ModelSession> open(ModelGraph& model);

  // Inputs and outputs are in the model's order. Error: what TensorFlow says, or that it does not
  // end within the limit; 0: none.
  Result<std::vector<tensorflow::Tensor>> run(const std::vector<tensorflow::Tensor>& inputs,
                                              std::chrono::seconds limit);

 private:
  ModelSession(std::unique_ptr<tensorflow::Session> session, std::vector<std::string> inputs,
               std::vector<std::string> outputs)
      : session_(std::move(session)), inputs_(std::move(inputs)), outputs_(std::move(outputs)) {}

  std::unique_ptr<tensorflow::Session> session_;
  std::vector<std::string> inputs_;   // tensors of its graph
  std::vector<std::string> outputs_;  // tensors of its graph
};

// The graph of a SavedModel that is for use, not for training.
inline constexpr const char* kServeTag = "serve";

struct SavedModelSource {
  std::string saved_model;  // its folder
  const tensorflow::MetaGraphDef& model;
  const tensorflow::GraphDef& graph;  // the model's
};
// A session with all variables, and with `part` of the graph: nodes that both have are those of the
// part. REQUIRES: make_safe() has seen the part.
Result<std::unique_ptr<tensorflow::Session>> load_session(
    const SavedModelSource& source, const tensorflow::GraphDef& part,
    const tensorflow::SessionOptions& options);

// Gives a variable that has no value yet one. REQUIRES: the node is a VarHandleOp.
Status set_variable(tensorflow::Session& session, const tensorflow::NodeDef& node,
                    const tensorflow::Tensor& value);

class LoadedSession {
 public:
  // `saved_model` is the folder. The first request for a variable loads it; `model` and its `graph`
  // are read then and must outlive the object.
  LoadedSession(std::string saved_model, const tensorflow::MetaGraphDef& model,
                const tensorflow::GraphDef& graph)
      : source_{std::move(saved_model), model, graph} {}

  // The value of a VarHandleOp or VariableV2 node; shares memory with the session.
  Result<tensorflow::Tensor> variable(const tensorflow::NodeDef& node);

 private:
  Status load();
  Result<tensorflow::Tensor> resource_variable(const tensorflow::NodeDef& node);
  Result<tensorflow::Tensor> reference_variable(const tensorflow::NodeDef& node);

  SavedModelSource source_;
  std::unique_ptr<tensorflow::Session> session_;  // null: not loaded
};

// Refuses what compiling refuses.
Result<std::unique_ptr<OriginalProgram>> load_session_program(const EngineJob& job);

}  // namespace tfaot::toolkit::engine
