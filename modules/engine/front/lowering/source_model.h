// SPDX-License-Identifier: Apache-2.0
// A model as read from disk, in any format, and the program that runs it unchanged. Used by one
// thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "compiler/hlo/lowering.h"
#include "tensorflow/core/framework/tensor.h"
#include "tfaot/base/result.h"
#include "tfaot/records/compiled_model.h"
#include "tfaot/records/engine_job.h"
#include "tfaot/records/model_check.h"
#include "tfaot/records/model_description.h"

namespace tfaot::toolkit::engine {

class OriginalProgram {
 public:
  virtual ~OriginalProgram() = default;

  // With its version: "tensorflow 2.18.1".
  virtual std::string name() const = 0;
  virtual const Signature& signature() const = 0;
  // The only number of rows that it runs; 0: any number.
  virtual std::int64_t fixed_rows() const = 0;
  // Inputs and outputs are in the model's order; they have no dimension for rows if shapes are
  // fixed. Error: what the program says, or that it does not end within the limit; 0: none.
  virtual Result<std::vector<tensorflow::Tensor>> run(const std::vector<tensorflow::Tensor>& inputs,
                                                      std::chrono::seconds limit) = 0;
};

// The functions of a model that can be compiled.
struct ModelFunctions {
  std::string producer;         // "tensorflow 2.18.1"; empty if the model does not say
  std::vector<EngineJob> jobs;  // arguments of load_model() for each; other members unset
};
// The one function of a file.
inline ModelFunctions one_function(std::string producer, ModelFormat format, std::string source) {
  EngineJob job;
  job.format = format;
  job.source = std::move(source);
  return {std::move(producer), {std::move(job)}};
}

class SourceModel {
 public:
  virtual ~SourceModel() = default;

  const std::vector<ModelTensor>& inputs() const { return inputs_; }
  const std::vector<ModelTensor>& outputs() const { return outputs_; }

  // The compiler's verdict on each operation. Sorted by operation.
  virtual std::vector<CheckedOperation> operations() const = 0;

  // Reads what lowering needs beyond the inputs and outputs; call it before those below.
  virtual Status prepare() = 0;
  // Must not outlive the model.
  virtual Result<std::unique_ptr<Lowering>> lowering(const LoweringOptions& options) const = 0;
  // The weights that the outputs need, in order of first use.
  virtual std::vector<Variable> variables() const = 0;
  // Counts of the operations that the outputs need.
  virtual std::map<std::string, std::int64_t> operation_counts() const = 0;
  // By output: the name of the node that computes it, "" if it has none; empty if the format has no
  // names of nodes.
  virtual std::vector<std::string> output_origins() const { return {}; }

 protected:
  std::vector<ModelTensor> inputs_;
  std::vector<ModelTensor> outputs_;
};

}  // namespace tfaot::toolkit::engine
