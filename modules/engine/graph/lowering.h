// SPDX-License-Identifier: Apache-2.0
// SignatureFunction + batch size -> XLA computation (HLO). Parameters are the inputs, then the
// weights (none if embedded); the result is the tuple of the outputs. Checks the shapes, which XLA
// would not. Used by one thread.
#pragma once

#include <memory>
#include <vector>

#include "graph/signature_function.h"
#include "tensorflow/compiler/tf2xla/xla_compiler.h"
#include "tfaot/records/compiled_model.h"
#include "xla/client/compile_only_client.h"
#include "xla/client/xla_computation.h"

namespace tfaot::toolkit::engine {

struct LoweredModel {
  xla::XlaComputation computation;
  xla::ProgramShape shape;
  std::vector<TensorSpec> inputs;
  std::vector<TensorSpec> outputs;
};

struct LoweringOptions {
  bool embed_weights = false;
  // Keep inputs and outputs unchanged: the computation has one row, the whole tensor.
  bool fixed_shapes = false;
};

class Lowering {
 public:
  // The references must outlive the object. Errors: signature types and shapes that cannot be
  // compiled.
  static Result<Lowering> create(const ModelGraph& model, const SignatureFunction& function,
                                 const LoweringOptions& options);

  Result<LoweredModel> lower(std::int64_t batch_size) const;

  // Fails if the rows of the outputs do not match the batch size. It compares with another size,
  // because at a single size any dimension of that length looks like the batch. If rows may be
  // `coupled`, a model with only one size passes.
  Status check_rows(const LoweredModel& lowered, std::int64_t batch_size, bool coupled) const;

  // Only one batch size can be lowered: the signature fixes it, or there is no batch.
  bool has_fixed_batch() const;

  // Indices into SignatureFunction::weights of the weights that are parameters, in parameter order.
  const std::vector<std::size_t>& weight_parameters() const { return weight_parameters_; }
  xla::CompileOnlyClient& client() const { return *client_; }

 private:
  Lowering(const ModelGraph& model, const SignatureFunction& function, bool fixed_shapes)
      : model_(&model), function_(&function), fixed_shapes_(fixed_shapes) {}

  Result<std::vector<tensorflow::XlaCompiler::Argument>> arguments(std::int64_t batch_size) const;
  Result<LoweredModel> wrap(const std::vector<tensorflow::XlaCompiler::Argument>& arguments,
                            const tensorflow::XlaCompilationResult& compiled,
                            std::int64_t batch_size) const;
  Status read_outputs(LoweredModel& lowered, std::int64_t batch_size) const;

  const ModelGraph* model_;
  const SignatureFunction* function_;
  bool fixed_shapes_;
  xla::CompileOnlyClient* client_ = nullptr;
  std::vector<std::size_t> weight_parameters_;
};

}  // namespace tfaot::toolkit::engine
