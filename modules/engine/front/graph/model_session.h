// SPDX-License-Identifier: Apache-2.0
// The original model in TensorFlow's session: its own nodes, run by TensorFlow's own kernels, with
// variables that TensorFlow's own loader fills. For predictions that ours are compared with. A
// model may come from anywhere, so its graph is cut and checked as for compiling, and here every
// operation runs: none may do more than compute. Used by one thread.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "front/graph/model_graph.h"
#include "front/lowering/source_model.h"
#include "tensorflow/core/framework/tensor.h"
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

// Refuses what compiling refuses.
Result<std::unique_ptr<OriginalProgram>> load_session_program(const EngineJob& job);

}  // namespace tfaot::toolkit::engine
