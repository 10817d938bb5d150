// SPDX-License-Identifier: Apache-2.0
#include "front/lowering/call_compiled.h"

#include <string>

#include "compiler/hlo/conversions.h"
#include "front/lowering/signature_checks.h"
#include "tensorflow/compiler/tf2xla/literal_util.h"

namespace tfaot::toolkit::engine {

Result<tensorflow::XlaCompiler::Argument> input_argument(const ModelTensor& input,
                                                         std::int64_t batch_size,
                                                         bool fixed_shapes) {
  if (!fixed_shapes) TFAOT_TRY(check_batch(input, batch_size));
  tensorflow::XlaCompiler::Argument argument;
  argument.kind = tensorflow::XlaCompiler::Argument::kParameter;
  argument.name = input.name;
  argument.type = input.type;
  tensorflow::TensorShape shape;
  for (std::size_t i = 0; i < input.shape.size(); ++i) {
    shape.AddDim(i == 0 && !fixed_shapes ? batch_size : input.shape[i]);
  }
  argument.shape = shape;
  return argument;
}

Result<std::vector<xla::XlaOp>> call_compiled(xla::XlaBuilder& builder,
                                              const tensorflow::XlaCompilationResult& compiled,
                                              const std::vector<xla::XlaOp>& operands) {
  std::vector<xla::XlaOp> needed;
  for (const int argument : compiled.input_mapping) {
    needed.push_back(operands[static_cast<std::size_t>(argument)]);
  }
  const auto call = xla::Call(&builder, *compiled.computation, needed);
  std::vector<xla::XlaOp> results;
  std::int64_t element = 0;
  for (const auto& output : compiled.outputs) {
    if (!output.is_constant) {
      results.push_back(xla::GetTupleElement(call, element++));
      continue;
    }
    xla::BorrowingLiteral literal;
    const auto made = tensorflow::HostTensorToBorrowingLiteral(output.constant_value, &literal);
    if (!made.ok()) return fail(Error::internal(std::string(made.message())));
    results.push_back(xla::ConstantLiteral(&builder, literal));
  }
  return results;
}

Status add_row_dimension(xla::XlaBuilder& builder, std::vector<xla::XlaOp>& results) {
  for (xla::XlaOp& result : results) {
    TFAOT_ASSIGN(const xla::Shape shape, or_internal(builder.GetShape(result)));
    if (shape.is_static()) result = xla::Reshape(result, one_row(shape).dimensions());
  }
  return {};
}

}  // namespace tfaot::toolkit::engine
