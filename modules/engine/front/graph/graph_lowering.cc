// SPDX-License-Identifier: Apache-2.0
#include "front/graph/graph_lowering.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/hlo/constant_calls.h"
#include "compiler/hlo/conversions.h"
#include "front/graph/diagnosis.h"
#include "front/lowering/call_compiled.h"
#include "front/lowering/signature.h"
#include "front/lowering/signature_checks.h"
#include "tensorflow/compiler/tf2xla/literal_util.h"
#include "tensorflow/compiler/tf2xla/shape_util.h"
#include "tensorflow/compiler/tf2xla/xla_op_registry.h"
#include "tfaot/records/model_check.h"
#include "xla/client/xla_builder.h"
#include "xla/literal.h"
#include "xla/shape_util.h"

namespace tfaot::toolkit::engine {
namespace {

namespace tf = tensorflow;
using Argument = tf::XlaCompiler::Argument;

// Variables of other types stay constants in the code.
bool can_be_parameter(const WeightArgument& weight) {
  return dtype_of(weight.value.type).has_value();
}

// Keeps the tensor whose memory the literal uses.
Result<Value> read_literal(const std::function<Result<tf::Tensor>()>& read) {
  struct Owner {
    tf::Tensor tensor;
    xla::BorrowingLiteral literal;
  };
  const auto owner = std::make_shared<Owner>();
  TFAOT_ASSIGN(owner->tensor, read());
  TFAOT_TRY(checked(tf::HostTensorToBorrowingLiteral(owner->tensor, &owner->literal)));
  return Value(owner, &owner->literal);
}

Result<xla::Shape> shape_of_stored(const StoredTensor& value) {
  xla::Shape shape;
  TFAOT_TRY(checked(tf::TensorShapeToXLAShape(value.type, value.shape, &shape)));
  return shape;
}

Error compile_error(const ModelGraph& model, const SignatureFunction& function,
                    const absl::Status& status) {
  const auto unsupported = find_nodes(function, has_no_xla_kernel);
  if (!unsupported.empty()) return no_kernel_for(unsupported, model.label());
  return error_of(status, fmt::format("XLA cannot compile {}", model.label()))
      .about(word_of(ProblemKind::kCompiler), nodes_named_in(status.message()));
}

Error written_variable(const ModelGraph& model, const SignatureFunction& function,
                       const tf::XlaCompilationResult& compiled) {
  const std::size_t index =
      static_cast<std::size_t>(compiled.resource_updates.front().input_index) -
      model.inputs().size();
  Error error(fmt::format("{} writes variable '{}' when it runs: a compiled model keeps no state",
                          model.label(), function.weights.at(index).name));
  const auto writing =
      find_nodes(function, [](const tf::NodeDef& node) { return writes_variable(node.op()); });
  for (const BlamedNode& node : writing) error.note("written by " + node.text);
  return std::move(error)
      .note("export an inference-only signature (training=False, no counters)")
      .about(word_of(ProblemKind::kState), names_of(writing));
}

}  // namespace

Result<std::unique_ptr<GraphLowering>> GraphLowering::create(const ModelGraph& model,
                                                             const SignatureFunction& function,
                                                             const LoweringOptions& options) {
  TFAOT_TRY(check_signature(model.label(), model.inputs(), model.outputs(),
                            {options.fixed_shapes, model.shapes_from_config()}));
  std::unique_ptr<GraphLowering> lowering(new GraphLowering(model, function, options.fixed_shapes));
  if (!options.embed_weights) TFAOT_TRY(lowering->add_weights());
  tf::XlaOpRegistry::RegisterCompilationKernels();
  return lowering;
}

Status GraphLowering::add_weights() {
  for (std::size_t i = 0; i < function_->weights.size(); ++i) {
    const WeightArgument& weight = function_->weights[i];
    if (!can_be_parameter(weight)) continue;
    weight_parameters_.push_back(i);
    TFAOT_ASSIGN(xla::Shape shape, shape_of_stored(weight.value));
    weights_.push_back(
        {weight.name, std::move(shape), [read = weight.value.read] { return read_literal(read); }});
  }
  for (const LiftedConstant& constant : function_->constants) {
    TFAOT_ASSIGN(xla::Shape shape, shape_of_stored(constant.value));
    weights_.push_back({constant.name, std::move(shape),
                        [read = constant.value.read] { return read_literal(read); }});
  }
  return {};
}

Result<std::vector<Argument>> GraphLowering::arguments(std::int64_t batch_size) const {
  std::vector<Argument> arguments;
  for (const auto& input : model_->inputs()) {
    TFAOT_ASSIGN(Argument argument, input_argument(input, batch_size, fixed_shapes_));
    arguments.push_back(std::move(argument));
  }
  for (const auto& weight : function_->weights) {
    Argument argument;
    argument.name = weight.name;
    argument.type = weight.value.type;
    argument.shape = weight.value.shape;
    argument.kind = weight.is_resource ? Argument::kResource : Argument::kParameter;
    if (weight.is_resource) {
      argument.resource_kind = tf::XlaResource::kVariable;
      argument.initialized = true;
    }
    arguments.push_back(std::move(argument));
  }
  return arguments;
}

Result<LoweredModel> GraphLowering::lower(std::int64_t batch_size) const {
  TFAOT_ASSIGN(const auto arguments, this->arguments(batch_size));
  tf::XlaCompiler::Options options;
  TFAOT_ASSIGN(options.client, compiler_client());
  options.device_type = tf::DeviceType(tf::DEVICE_CPU_XLA_JIT);
  options.flib_def = function_->library.get();
  options.graph_def_version = function_->graph_version;
  options.allow_cpu_custom_calls = true;
  tf::XlaCompiler compiler(options);

  tf::NameAttrList function;
  function.set_name(function_->name);
  tf::XlaCompilationResult compiled;
  const auto status = compiler.CompileFunction({}, function, arguments, &compiled);
  if (!status.ok()) return fail(compile_error(*model_, *function_, status));
  if (!compiled.resource_updates.empty()) {
    return fail(written_variable(*model_, *function_, compiled));
  }
  TFAOT_ASSIGN(auto lowered, wrap(arguments, compiled, batch_size));
  const bool has_calls = !function_->constants.empty();
  if (has_calls) TFAOT_TRY(put_constants(lowered));
  TFAOT_TRY(check_calls(has_calls ? lowered.computation.proto() : compiled.computation->proto(),
                        model_->label()));
  return with_signature(std::move(lowered), model_->inputs(), model_->outputs(), batch_size,
                        [this] { return size_causes(); });
}

// Our own computation around XlaCompiler's. There, embedded weights become constants.
Result<LoweredModel> GraphLowering::wrap(const std::vector<Argument>& arguments,
                                         const tf::XlaCompilationResult& compiled,
                                         std::int64_t batch_size) const {
  xla::XlaBuilder builder(fmt::format("tfaot_bs{}", batch_size));
  const auto parameter_shapes = compiled.xla_input_shapes;
  std::vector<xla::XlaOp> operands(arguments.size());
  std::vector<bool> needed(arguments.size(), false);
  std::vector<xla::Shape> shapes(arguments.size());
  for (std::size_t i = 0; i < compiled.input_mapping.size(); ++i) {
    const auto argument = static_cast<std::size_t>(compiled.input_mapping[i]);
    needed[argument] = true;
    shapes[argument] = parameter_shapes[i];
  }
  const std::size_t input_count = model_->inputs().size();
  int parameter_count = 0;
  const auto make_parameter = [&](std::size_t argument) -> Status {
    if (!needed[argument]) {
      const auto shape = std::get<tf::TensorShape>(arguments[argument].shape);
      TFAOT_TRY(
          checked(tf::TensorShapeToXLAShape(arguments[argument].type, shape, &shapes[argument])));
    }
    const bool whole = fixed_shapes_ && argument < input_count;
    const xla::Shape& shape = shapes[argument];
    operands[argument] = xla::Parameter(&builder, parameter_count++, whole ? one_row(shape) : shape,
                                        fmt::format("p{}", argument));
    if (whole) operands[argument] = xla::Reshape(operands[argument], shape.dimensions());
    return {};
  };
  for (std::size_t i = 0; i < input_count; ++i) TFAOT_TRY(make_parameter(i));
  for (const auto i : weight_parameters_) TFAOT_TRY(make_parameter(input_count + i));
  for (std::size_t i = weight_parameters_.size(); i < weights_.size(); ++i) {
    xla::Parameter(&builder, parameter_count++, weights_[i].shape, weights_[i].name);
  }
  for (std::size_t i = 0; i < function_->weights.size(); ++i) {
    if (operands[input_count + i].valid() || !needed[input_count + i]) continue;
    TFAOT_ASSIGN(const auto value, function_->weights[i].value.read());
    xla::BorrowingLiteral literal;
    TFAOT_TRY(checked(tf::HostTensorToBorrowingLiteral(value, &literal)));
    operands[input_count + i] = xla::ConstantLiteral(&builder, literal);
  }

  TFAOT_ASSIGN(std::vector<xla::XlaOp> results, call_compiled(builder, compiled, operands));
  if (fixed_shapes_) TFAOT_TRY(add_row_dimension(builder, results));
  xla::Tuple(&builder, results);
  TFAOT_ASSIGN(auto built, or_internal(builder.Build()));
  return model_of(std::move(built));
}

Status GraphLowering::put_constants(LoweredModel& lowered) const {
  CalledConstants calls;
  for (const LiftedConstant& constant : function_->constants) {
    TFAOT_ASSIGN(xla::Shape shape, shape_of_stored(constant.value));
    calls.shapes.push_back(std::move(shape));
  }
  calls.read = [this](std::size_t i) { return read_literal(function_->constants[i].value.read); };
  if (!weights_.empty()) {
    calls.parameter = std::ssize(model_->inputs()) + std::ssize(weight_parameters_);
  }
  TFAOT_ASSIGN(const auto module, make_module(lowered.computation.proto()));
  TFAOT_TRY(engine::put_constants(*module, calls));
  lowered.computation = xla::XlaComputation(module->ToProto());
  return {};
}

SizeCauses GraphLowering::size_causes() const {
  const auto nodes = find_nodes(
      *function_, [](const tf::NodeDef& node) { return has_data_dependent_shape(node.op()); });
  SizeCauses causes;
  for (const BlamedNode& node : nodes) causes.texts.push_back(node.text);
  causes.names = names_of(nodes);
  return causes;
}

bool GraphLowering::has_fixed_batch() const {
  return fixed_shapes_ || std::ranges::any_of(model_->inputs(), fixes_batch);
}

}  // namespace tfaot::toolkit::engine
