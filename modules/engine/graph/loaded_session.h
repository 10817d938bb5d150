// SPDX-License-Identifier: Apache-2.0
// A SavedModel's variables as TensorFlow's loader fills them, for variables that the init operation
// or an unusual restore fills. Runs only the part of the model that loading_graph.h keeps. Holds
// all variables in memory. Used by one thread.
#pragma once

#include <memory>
#include <string>

#include "graph/stored_tensor.h"
#include "tensorflow/core/protobuf/meta_graph.pb.h"
#include "tensorflow/core/public/session.h"

namespace tfaot::toolkit::engine {

// The graph of a SavedModel that is for use, not for training.
inline constexpr const char* kServeTag = "serve";

class LoadedSession {
 public:
  // `saved_model` is the folder. The first request for a variable loads it; `model` and its `graph`
  // are read then and must outlive the object.
  LoadedSession(std::string saved_model, const tensorflow::MetaGraphDef& model,
                const tensorflow::GraphDef& graph)
      : saved_model_(std::move(saved_model)), model_(model), graph_(graph) {}

  // The value behind a VarHandleOp or VariableV2 node; shares memory with the session.
  Result<tensorflow::Tensor> variable(const tensorflow::NodeDef& node);

 private:
  Status load();
  Result<tensorflow::Tensor> resource_variable(const tensorflow::NodeDef& node);
  Result<tensorflow::Tensor> reference_variable(const tensorflow::NodeDef& node);

  std::string saved_model_;
  const tensorflow::MetaGraphDef& model_;
  const tensorflow::GraphDef& graph_;
  std::unique_ptr<tensorflow::Session> session_;  // null: not loaded
};

}  // namespace tfaot::toolkit::engine
