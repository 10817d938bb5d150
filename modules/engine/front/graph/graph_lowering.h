// SPDX-License-Identifier: Apache-2.0
// SignatureFunction + batch size -> XLA computation (HLO). Checks the shapes, which XLA would not.
#pragma once

#include <memory>
#include <vector>

#include "compiler/hlo/lowering.h"
#include "front/graph/signature_function.h"
#include "tensorflow/compiler/tf2xla/xla_compiler.h"

namespace tfaot::toolkit::engine {

class GraphLowering final : public Lowering {
 public:
  // The references must outlive the object. Errors: signature types and shapes that cannot be
  // compiled.
  static Result<std::unique_ptr<GraphLowering>> create(const ModelGraph& model,
                                                       const SignatureFunction& function,
                                                       const LoweringOptions& options);

  Result<LoweredModel> lower(std::int64_t batch_size) const override;
  bool has_fixed_batch() const override;

 private:
  GraphLowering(const ModelGraph& model, const SignatureFunction& function, bool fixed_shapes)
      : model_(&model), function_(&function), fixed_shapes_(fixed_shapes) {}

  Status add_weights();
  Result<std::vector<tensorflow::XlaCompiler::Argument>> arguments(std::int64_t batch_size) const;
  Result<LoweredModel> wrap(const std::vector<tensorflow::XlaCompiler::Argument>& arguments,
                            const tensorflow::XlaCompilationResult& compiled,
                            std::int64_t batch_size) const;
  // Puts the function's constants in place of their calls.
  Status put_constants(LoweredModel& lowered) const;
  SizeCauses size_causes() const;

  const ModelGraph* model_;
  const SignatureFunction* function_;
  bool fixed_shapes_;
  std::vector<std::size_t> weight_parameters_;  // indices into SignatureFunction::weights
};

}  // namespace tfaot::toolkit::engine
