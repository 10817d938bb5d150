// SPDX-License-Identifier: Apache-2.0
// Calls of what TensorFlow's XlaCompiler made, from our own computation. XlaCompiler leaves
// constant results out of the tuple and numbers only the arguments that it needs; the call restores
// both.
#pragma once

#include <vector>

#include "compiler/hlo/lowering.h"
#include "tensorflow/compiler/tf2xla/xla_compiler.h"
#include "tfaot/base/result.h"
#include "xla/client/xla_builder.h"

namespace tfaot::toolkit::engine {

// The argument for an input of the model. With fixed shapes no dimension is the batch. Errors: an
// input that fixes another batch size.
Result<tensorflow::XlaCompiler::Argument> input_argument(const ModelTensor& input,
                                                         std::int64_t batch_size,
                                                         bool fixed_shapes);

// `operands`: of all arguments of the function that was compiled. Returns all of its results.
Result<std::vector<xla::XlaOp>> call_compiled(xla::XlaBuilder& builder,
                                              const tensorflow::XlaCompilationResult& compiled,
                                              const std::vector<xla::XlaOp>& operands);

// The results with a first dimension of 1, for a model that has no batch. One whose size depends on
// the data stays as it is.
Status add_row_dimension(xla::XlaBuilder& builder, std::vector<xla::XlaOp>& results);

}  // namespace tfaot::toolkit::engine
