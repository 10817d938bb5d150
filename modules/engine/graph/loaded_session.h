// SPDX-License-Identifier: Apache-2.0
// A SavedModel's variables as TensorFlow's loader fills them: for variables that the init operation
// or an unusual restore fills, and for the whole model in a session. Of loading, runs only the part
// that loading_graph.h keeps. Holds all variables in memory. Used by one thread.
#pragma once

#include <memory>
#include <string>

#include "graph/stored_tensor.h"
#include "tensorflow/core/protobuf/meta_graph.pb.h"
#include "tensorflow/core/public/session.h"

namespace tfaot::toolkit::engine {

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

  // The value behind a VarHandleOp or VariableV2 node; shares memory with the session.
  Result<tensorflow::Tensor> variable(const tensorflow::NodeDef& node);

 private:
  Status load();
  Result<tensorflow::Tensor> resource_variable(const tensorflow::NodeDef& node);
  Result<tensorflow::Tensor> reference_variable(const tensorflow::NodeDef& node);

  SavedModelSource source_;
  std::unique_ptr<tensorflow::Session> session_;  // null: not loaded
};

}  // namespace tfaot::toolkit::engine
