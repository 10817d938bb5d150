// SPDX-License-Identifier: Apache-2.0
#include "front/lowering/call_compiled.h"

#include <fmt/format.h>

#include "compiler/hlo/conversions.h"
#include "compiler/hlo/hlo.h"
#include "tensorflow/compiler/tf2xla/literal_util.h"

namespace tfaot::toolkit::engine {

Result<std::vector<tensorflow::XlaCompiler::Argument>> SignatureLowering::input_arguments(
    std::int64_t batch_size) const {
  std::vector<tensorflow::XlaCompiler::Argument> arguments;
  for (const ModelTensor& input : inputs_) {
    if (!fixed_shapes_) TFAOT_TRY(check_batch(input, batch_size));
    tensorflow::XlaCompiler::Argument& argument = arguments.emplace_back();
    argument.kind = tensorflow::XlaCompiler::Argument::kParameter;
    argument.name = input.name;
    argument.type = input.type;
    tensorflow::TensorShape shape;
    for (std::size_t i = 0; i < input.shape.size(); ++i) {
      shape.AddDim(i == 0 && !fixed_shapes_ ? batch_size : input.shape[i]);
    }
    argument.shape = shape;
  }
  return arguments;
}

xla::XlaOp SignatureLowering::input_parameter(xla::XlaBuilder& builder, std::int64_t number,
                                              const xla::Shape& shape) const {
  const std::string name = fmt::format("p{}", number);
  if (!fixed_shapes_) return xla::Parameter(&builder, number, shape, name);
  return xla::Reshape(xla::Parameter(&builder, number, one_row(shape), name), shape.dimensions());
}

Result<LoweredModel> SignatureLowering::built(xla::XlaBuilder& builder,
                                              std::vector<xla::XlaOp> results) const {
  for (xla::XlaOp& result : results) {
    if (!fixed_shapes_) break;
    TFAOT_ASSIGN(const xla::Shape shape, or_internal(builder.GetShape(result)));
    if (shape.is_static()) result = xla::Reshape(result, one_row(shape).dimensions());
  }
  xla::Tuple(&builder, results);
  TFAOT_ASSIGN(auto computation, or_internal(builder.Build()));
  return model_of(std::move(computation));
}

Result<tensorflow::XlaCompilationResult> compile_function(
    const LibraryFunction& function,
    const std::vector<tensorflow::XlaCompiler::Argument>& arguments,
    const std::function<Error(const absl::Status&)>& error) {
  tensorflow::XlaCompiler::Options options;
  TFAOT_ASSIGN(options.client, compiler_client());
  options.device_type = tensorflow::DeviceType(tensorflow::DEVICE_CPU_XLA_JIT);
  options.flib_def = &function.library;
  options.graph_def_version = function.graph_version;
  options.allow_cpu_custom_calls = true;
  tensorflow::NameAttrList name;
  name.set_name(function.name);
  tensorflow::XlaCompilationResult compiled;
  const auto status =
      tensorflow::XlaCompiler(options).CompileFunction({}, name, arguments, &compiled);
  if (!status.ok()) return fail(error(status));
  return compiled;
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
    TFAOT_TRY(checked(tensorflow::HostTensorToBorrowingLiteral(output.constant_value, &literal)));
    results.push_back(xla::ConstantLiteral(&builder, literal));
  }
  return results;
}

}  // namespace tfaot::toolkit::engine
