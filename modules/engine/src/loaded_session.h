// SPDX-License-Identifier: Apache-2.0
// A SavedModel loaded as TensorFlow does it, for variables that its init operation or an unusual
// restore fills. Holds all variables in memory. Used by one thread.
#pragma once

#include <string>

#include "stored_tensor.h"
#include "tensorflow/cc/saved_model/loader.h"

namespace tfaot::engine {

// The graph of a SavedModel that is for use, not for training.
inline constexpr const char* kServeTag = "serve";

class LoadedSession {
 public:
  // `saved_model` is the folder. It is loaded when the first variable is asked for.
  explicit LoadedSession(std::string saved_model) : saved_model_(std::move(saved_model)) {}

  // The value behind a VarHandleOp or VariableV2 node; shares memory with the session.
  Result<tensorflow::Tensor> variable(const tensorflow::NodeDef& node);

 private:
  Status load();
  Result<tensorflow::Tensor> resource_variable(const tensorflow::NodeDef& node);
  Result<tensorflow::Tensor> reference_variable(const tensorflow::NodeDef& node);

  std::string saved_model_;
  tensorflow::SavedModelBundle bundle_;
};

}  // namespace tfaot::engine
