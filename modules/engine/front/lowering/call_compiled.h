// SPDX-License-Identifier: Apache-2.0
// The part of lowering that all formats share, and calls of functions that TensorFlow's XlaCompiler
// compiled, from our own computation. Used by one thread.
#pragma once

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "compiler/hlo/lowering.h"
#include "front/lowering/signature.h"
#include "tensorflow/compiler/tf2xla/xla_compiler.h"
#include "tfaot/base/result.h"
#include "xla/client/xla_builder.h"

namespace tfaot::toolkit::engine {

// Lowers a model with this signature. The references must outlive the object.
class SignatureLowering : public Lowering {
 public:
  bool has_fixed_batch() const override {
    return fixed_shapes_ || std::ranges::any_of(inputs_, fixes_batch);
  }

 protected:
  SignatureLowering(const std::vector<ModelTensor>& inputs, const std::vector<ModelTensor>& outputs,
                    bool fixed_shapes)
      : inputs_(inputs), outputs_(outputs), fixed_shapes_(fixed_shapes) {}

  // The arguments for the inputs. Errors: an input that fixes another batch size.
  Result<std::vector<tensorflow::XlaCompiler::Argument>> input_arguments(
      std::int64_t batch_size) const;
  // A parameter for an input of this shape. With fixed shapes it has one row, the whole tensor.
  xla::XlaOp input_parameter(xla::XlaBuilder& builder, std::int64_t number,
                             const xla::Shape& shape) const;
  // The computation of the results. With fixed shapes each becomes one row; one whose size depends
  // on the data stays as it is.
  Result<LoweredModel> built(xla::XlaBuilder& builder, std::vector<xla::XlaOp> results) const;
  Result<LoweredModel> finished(
      LoweredModel lowered, std::int64_t batch_size,
      const std::function<SizeCauses()>& causes = [] { return SizeCauses(); }) const {
    return with_signature(std::move(lowered), inputs_, outputs_, batch_size, causes);
  }

  const std::vector<ModelTensor>& inputs_;
  const std::vector<ModelTensor>& outputs_;
  bool fixed_shapes_;
};

struct LibraryFunction {
  const tensorflow::FunctionLibraryDefinition& library;
  std::string name;
  int graph_version = 0;  // GraphDef producer version
};
// `error`: makes the error from XlaCompiler's.
Result<tensorflow::XlaCompilationResult> compile_function(
    const LibraryFunction& function,
    const std::vector<tensorflow::XlaCompiler::Argument>& arguments,
    const std::function<Error(const absl::Status&)>& error);

// `operands`: of all arguments of the function that was compiled. Returns all of its results:
// XlaCompiler leaves constant ones out of the tuple and numbers only the arguments that it needs.
Result<std::vector<xla::XlaOp>> call_compiled(xla::XlaBuilder& builder,
                                              const tensorflow::XlaCompilationResult& compiled,
                                              const std::vector<xla::XlaOp>& operands);

}  // namespace tfaot::toolkit::engine
