// SPDX-License-Identifier: Apache-2.0
#include "stablehlo/stablehlo_lowering.h"

#include <fmt/format.h>

#include <algorithm>

#include "graph/foreign_calls.h"
#include "hlo/constant_calls.h"
#include "hlo/hlo.h"
#include "hlo/signature.h"
#include "lowering/call_compiled.h"
#include "lowering/compiler_client.h"
#include "lowering/conversions.h"
#include "lowering/signature_checks.h"
#include "tensorflow/compiler/tf2xla/shape_util.h"
#include "tensorflow/compiler/tf2xla/xla_op_registry.h"
#include "tensorflow/core/public/version.h"
#include "tfaot/records/model_check.h"
#include "xla/client/xla_builder.h"

namespace tfaot::toolkit::engine {
namespace {

namespace tf = tensorflow;
using Argument = tf::XlaCompiler::Argument;

constexpr const char* kModuleLabel = "the module";
constexpr const char* kFunction = "tfaot_stablehlo";
// Of XlaCallModule's interface. Later versions settle open sizes only if JAX has marked the module;
// their other news are for effects, which are refused, and for several devices.
constexpr std::int64_t kCallingConvention = 7;

// A function that calls the module.
tf::FunctionDef calling_function(const StableHloModule& module,
                                 const std::vector<ModelTensor>& inputs,
                                 const std::vector<ModelTensor>& outputs) {
  tf::FunctionDef function;
  function.mutable_signature()->set_name(kFunction);
  tf::NodeDef& call = *function.add_node_def();
  call.set_name("call");
  call.set_op("XlaCallModule");
  auto& attributes = *call.mutable_attr();
  attributes["version"].set_i(kCallingConvention);
  attributes["module"].set_s(module.text);
  attributes["has_token_input_output"].set_b(false);
  for (const char* const list :
       {"Tin", "Tout", "Sout", "dim_args_spec", "function_list", "disabled_checks", "platforms"}) {
    attributes[list].mutable_list();
  }
  auto& platforms = *attributes["platforms"].mutable_list();
  for (const std::string& platform : module.platforms) platforms.add_s(platform);
  if (module.platforms.empty()) platforms.add_s("CPU");
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    auto& argument = *function.mutable_signature()->add_input_arg();
    argument.set_name(fmt::format("x{}", i));
    argument.set_type(inputs[i].type);
    call.add_input(argument.name());
    attributes["Tin"].mutable_list()->add_type(inputs[i].type);
  }
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    auto& result = *function.mutable_signature()->add_output_arg();
    result.set_name(fmt::format("y{}", i));
    result.set_type(outputs[i].type);
    (*function.mutable_ret())[result.name()] = fmt::format("call:output:{}", i);
    attributes["Tout"].mutable_list()->add_type(outputs[i].type);
    attributes["Sout"].mutable_list()->add_shape()->set_unknown_rank(true);
  }
  return function;
}

class StableHloLowering final : public Lowering {
 public:
  StableHloLowering(const StableHloModule& module, const std::vector<ModelTensor>& inputs,
                    const std::vector<ModelTensor>& outputs, const LoweringOptions& options)
      : values_(std::make_shared<ConstantValues>(module)),
        inputs_(inputs),
        outputs_(outputs),
        fixed_shapes_(options.fixed_shapes) {
    *library_.add_function() = calling_function(module, inputs, outputs);
    for (std::size_t i = 0; i < module.constants.size(); ++i) {
      const TensorText& type = module.constants[i].type;
      shapes_.push_back(shape_of(type_of_text(type.element), type.sizes));
      if (options.embed_weights) continue;
      weights_.push_back(
          {constant_name(i), shapes_.back(), [values = values_, i] { return values->value(i); }});
    }
  }

  Result<LoweredModel> lower(std::int64_t batch_size) const override {
    tf::XlaCompiler::Options options;
    TFAOT_ASSIGN(options.client, compiler_client());
    const tf::FunctionLibraryDefinition library(tf::OpRegistry::Global(), library_);
    options.device_type = tf::DeviceType(tf::DEVICE_CPU_XLA_JIT);
    options.flib_def = &library;
    options.graph_def_version = TF_GRAPH_DEF_VERSION;
    options.allow_cpu_custom_calls = true;
    tf::XlaCompiler compiler(options);
    TFAOT_ASSIGN(const auto arguments, this->arguments(batch_size));
    tf::NameAttrList function;
    function.set_name(kFunction);
    tf::XlaCompilationResult compiled;
    const auto status = compiler.CompileFunction({}, function, arguments, &compiled);
    if (!status.ok()) {
      return fail(error_of(status, fmt::format("XLA cannot compile {}", kModuleLabel))
                      .about(word_of(ProblemKind::kCompiler), {}));
    }
    TFAOT_ASSIGN(LoweredModel lowered, wrap(arguments, compiled, batch_size));
    TFAOT_TRY(check_calls(lowered.computation.proto(), kModuleLabel));
    return with_signature(std::move(lowered), inputs_, outputs_, batch_size,
                          [] { return SizeCauses(); });
  }

  bool has_fixed_batch() const override {
    return fixed_shapes_ || std::ranges::any_of(inputs_, fixes_batch);
  }

 private:
  Result<std::vector<Argument>> arguments(std::int64_t batch_size) const {
    std::vector<Argument> arguments;
    for (const ModelTensor& input : inputs_) {
      TFAOT_ASSIGN(Argument argument, input_argument(input, batch_size, fixed_shapes_));
      arguments.push_back(std::move(argument));
    }
    return arguments;
  }

  Result<LoweredModel> wrap(const std::vector<Argument>& arguments,
                            const tf::XlaCompilationResult& compiled,
                            std::int64_t batch_size) const {
    xla::XlaBuilder builder(fmt::format("tfaot_bs{}", batch_size));
    std::int64_t number = 0;
    const auto add_parameter = [&](const xla::Shape& shape) {
      const std::int64_t place = number++;
      return xla::Parameter(&builder, place, shape, fmt::format("p{}", place));
    };
    std::vector<xla::XlaOp> operands;
    for (const Argument& argument : arguments) {
      xla::Shape shape;
      const auto made = tf::TensorShapeToXLAShape(
          argument.type, std::get<tf::TensorShape>(argument.shape), &shape);
      TFAOT_TRY(checked(made));
      operands.push_back(add_parameter(fixed_shapes_ ? one_row(shape) : shape));
      if (fixed_shapes_) operands.back() = xla::Reshape(operands.back(), shape.dimensions());
    }
    for (const RawWeight& weight : weights_) add_parameter(weight.shape);
    TFAOT_ASSIGN(std::vector<xla::XlaOp> results, call_compiled(builder, compiled, operands));
    if (fixed_shapes_) TFAOT_TRY(add_row_dimension(builder, results));
    xla::Tuple(&builder, results);
    auto built = builder.Build();
    if (!built.ok()) return fail(internal_error(built.status()));
    TFAOT_ASSIGN(const auto module, make_module(built->proto()));
    TFAOT_TRY(put_constants(*module, called_constants()));
    LoweredModel lowered{xla::XlaComputation(module->ToProto()), {}, {}, {}};
    auto shape = lowered.computation.GetProgramShape();
    if (!shape.ok()) return fail(internal_error(shape.status()));
    lowered.shape = std::move(*shape);
    return lowered;
  }

  CalledConstants called_constants() const {
    CalledConstants constants{shapes_, [this](std::size_t i) { return values_->value(i); }, {}};
    if (!weights_.empty()) constants.parameter = std::ssize(inputs_);
    return constants;
  }

  std::shared_ptr<const ConstantValues> values_;
  const std::vector<ModelTensor>& inputs_;
  const std::vector<ModelTensor>& outputs_;
  bool fixed_shapes_;
  tf::FunctionDefLibrary library_;
  std::vector<xla::Shape> shapes_;  // of the constants
};

}  // namespace

std::string constant_name(std::size_t constant) { return fmt::format("constant_{}", constant); }

Result<std::unique_ptr<Lowering>> make_stablehlo_lowering(const StableHloModule& module,
                                                          const std::vector<ModelTensor>& inputs,
                                                          const std::vector<ModelTensor>& outputs,
                                                          const LoweringOptions& options) {
  TFAOT_TRY(check_signature(kModuleLabel, inputs, outputs, {.fixed_shapes = options.fixed_shapes}));
  return std::make_unique<StableHloLowering>(module, inputs, outputs, options);
}

}  // namespace tfaot::toolkit::engine
