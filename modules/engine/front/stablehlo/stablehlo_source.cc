// SPDX-License-Identifier: Apache-2.0
#include "front/stablehlo/stablehlo_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "compiler/hlo/constant_calls.h"
#include "compiler/hlo/conversions.h"
#include "compiler/hlo/foreign_operations.h"
#include "compiler/hlo/hlo.h"
#include "front/lowering/call_compiled.h"
#include "front/lowering/signature.h"
#include "tensorflow/compiler/tf2xla/literal_util.h"
#include "tensorflow/compiler/tf2xla/shape_util.h"
#include "tensorflow/compiler/tf2xla/type_util.h"
#include "tensorflow/compiler/tf2xla/xla_op_registry.h"
#include "tensorflow/core/framework/types.h"
#include "tensorflow/core/public/version.h"
#include "tfaot/records/model_check.h"
#include "xla/client/xla_builder.h"
#include "xla/hlo/evaluator/hlo_evaluator.h"
#include "xla/service/topk_rewriter.h"

namespace tfaot::toolkit::engine {
namespace {

namespace tf = tensorflow;
using Argument = tf::XlaCompiler::Argument;

constexpr const char* kModuleLabel = "the module";
constexpr const char* kFunction = "tfaot_stablehlo";
// Version of XlaCallModule's interface. Later versions settle open sizes only if JAX has marked the
// module; their other news are for effects, which are refused, and for several devices.
constexpr std::int64_t kCallingConvention = 7;

// "constant_3": the same for all modules that one program makes.
std::string constant_name(std::size_t constant) { return fmt::format("constant_{}", constant); }

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

class StableHloLowering final : public SignatureLowering {
 public:
  StableHloLowering(const StableHloModule& module, const std::vector<ModelTensor>& inputs,
                    const std::vector<ModelTensor>& outputs, const LoweringOptions& options)
      : SignatureLowering(inputs, outputs, options.fixed_shapes),
        values_(std::make_shared<ConstantValues>(module)) {
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
    const tf::FunctionLibraryDefinition library(tf::OpRegistry::Global(), library_);
    TFAOT_ASSIGN(const auto arguments, input_arguments(batch_size));
    TFAOT_ASSIGN(const auto compiled,
                 compile_function(
                     {library, kFunction, TF_GRAPH_DEF_VERSION}, arguments, [](const auto& status) {
                       return error_of(status, fmt::format("XLA cannot compile {}", kModuleLabel))
                           .about(word_of(ProblemKind::kCompiler), {});
                     }));
    TFAOT_ASSIGN(LoweredModel lowered, wrap(arguments, compiled, batch_size));
    TFAOT_TRY(check_calls(lowered.computation.proto(), kModuleLabel));
    return finished(std::move(lowered), batch_size);
  }

 private:
  Result<LoweredModel> wrap(const std::vector<Argument>& arguments,
                            const tf::XlaCompilationResult& compiled,
                            std::int64_t batch_size) const {
    xla::XlaBuilder builder(fmt::format("tfaot_bs{}", batch_size));
    std::vector<xla::XlaOp> operands;
    for (const Argument& argument : arguments) {
      xla::Shape shape;
      TFAOT_TRY(checked(tf::TensorShapeToXLAShape(
          argument.type, std::get<tf::TensorShape>(argument.shape), &shape)));
      operands.push_back(input_parameter(builder, std::ssize(operands), shape));
    }
    std::int64_t number = std::ssize(operands);
    for (const RawWeight& weight : weights_) {
      xla::Parameter(&builder, number, weight.shape, fmt::format("p{}", number));
      ++number;
    }
    TFAOT_ASSIGN(std::vector<xla::XlaOp> results, call_compiled(builder, compiled, operands));
    TFAOT_ASSIGN(LoweredModel lowered, built(builder, std::move(results)));
    TFAOT_ASSIGN(const auto module, make_module(lowered.computation.proto()));
    TFAOT_TRY(put_constants(*module, called_constants()));
    lowered.computation = xla::XlaComputation(module->ToProto());
    return lowered;
  }

  CalledConstants called_constants() const {
    CalledConstants constants{shapes_, [this](std::size_t i) { return values_->value(i); }, {}};
    if (!weights_.empty()) constants.parameter = std::ssize(inputs_);
    return constants;
  }

  std::shared_ptr<const ConstantValues> values_;
  tf::FunctionDefLibrary library_;
  std::vector<xla::Shape> shapes_;  // of the constants
};

// Instead of the limit of time, which the interpreter does not have.
constexpr std::int64_t kMostTurns = 1'000'000;  // of a loop

class InterpretedProgram final : public OriginalProgram {
 public:
  static Result<std::unique_ptr<OriginalProgram>> load(const EngineJob& job) {
    std::unique_ptr<InterpretedProgram> program(new InterpretedProgram);
    TFAOT_ASSIGN(program->source_, load_stablehlo_source(job));
    TFAOT_TRY(program->source_->prepare());
    LoweringOptions options;
    options.fixed_shapes = job.fixed_shapes;
    options.embed_weights = true;
    TFAOT_ASSIGN(program->lowering_, program->source_->lowering(options));
    TFAOT_ASSIGN(auto lowered, program->lowering_->lower(job.batch_sizes.front()));
    program->signature_ = {job.serving_key, std::move(lowered.inputs), std::move(lowered.outputs)};
    program->has_batch_ = !job.fixed_shapes;
    if (program->lowering_->has_fixed_batch()) program->fixed_rows_ = job.batch_sizes.front();
    return program;
  }

  std::string name() const override {
    return std::string("the interpreter of XLA, tensorflow ") + TF_VERSION_STRING;
  }
  const Signature& signature() const override { return signature_; }
  std::int64_t fixed_rows() const override { return fixed_rows_; }

  Result<std::vector<tensorflow::Tensor>> run(const std::vector<tensorflow::Tensor>& inputs,
                                              std::chrono::seconds /*limit*/) override {
    TFAOT_TRY(prepare(has_batch_ ? inputs.front().dim_size(0) : 1));
    std::vector<xla::BorrowingLiteral> literals;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      literals.emplace_back(static_cast<const char*>(inputs[i].data()),
                            module_->entry_computation()
                                ->parameter_instruction(static_cast<std::int64_t>(i))
                                ->shape());
    }
    std::vector<const xla::Literal*> arguments;
    std::vector<xla::Literal> copies;
    for (const xla::BorrowingLiteral& literal : literals) copies.push_back(literal.Clone());
    for (const xla::Literal& copy : copies) arguments.push_back(&copy);
    xla::HloEvaluator evaluator(kMostTurns);
    evaluator.set_use_fast_path(true);
    auto made = evaluator.Evaluate(*module_, arguments);
    if (!made.ok()) return fail(Error(std::string(made.status().message())));
    std::vector<tensorflow::Tensor> outputs;
    for (const xla::Literal& literal : made->DecomposeTuple()) {
      tensorflow::Tensor tensor;
      const tensorflow::DataType type = tensorflow_type(*dtype_of(literal.shape().element_type()));
      TFAOT_TRY(checked(tensorflow::LiteralToHostTensor(literal, type, &tensor)));
      outputs.push_back(std::move(tensor));
    }
    return outputs;
  }

 private:
  InterpretedProgram() = default;

  Status prepare(std::int64_t rows) {
    if (rows == rows_) return {};
    TFAOT_ASSIGN(const auto lowered, lowering_->lower(rows));
    TFAOT_ASSIGN(module_, make_module(lowered.computation.proto()));
    xla::TopkDecomposer decomposer;  // the interpreter has no top k
    TFAOT_TRY(checked(decomposer.Run(module_.get(), {}).status()));
    rows_ = rows;
    return {};
  }

  std::unique_ptr<SourceModel> source_;
  std::unique_ptr<Lowering> lowering_;
  Signature signature_;
  bool has_batch_ = true;
  std::int64_t fixed_rows_ = 0;
  std::unique_ptr<xla::HloModule> module_;
  std::int64_t rows_ = 0;  // of the module
};

tensorflow::DataType tf_type_of_text(std::string_view element) {
  return tensorflow_type(type_of_text(element));
}

ModelTensor model_tensor_of(const FunctionValue& value) {
  ModelTensor tensor;
  tensor.name = tensor.tensor = value.name;
  if (!value.tensor) return tensor;
  tensor.type = tf_type_of_text(value.tensor->element);
  tensor.rank_known = true;
  for (std::size_t i = 0; i < value.tensor->sizes.size(); ++i) {
    add_dimension(tensor, value.tensor->sizes[i], i < value.sizes.size() ? value.sizes[i] : "");
  }
  return tensor;
}

// Names that the module gives, if they tell all tensors apart; else "input_0".
void name_all(std::vector<ModelTensor>& tensors, const char* kind) {
  std::set<std::string> names;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (tensors[i].name.empty()) tensors[i].name = fmt::format("{}_{}", kind, i);
    names.insert(tensors[i].name);
  }
  const bool are_different = names.size() == tensors.size();
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (!are_different) tensors[i].name = fmt::format("{}_{}", kind, i);
    tensors[i].tensor = tensors[i].name;
  }
}

class StableHloSource final : public SourceModel {
 public:
  explicit StableHloSource(StableHloModule module) : module_(std::move(module)) {
    for (const FunctionValue& value : module_.main.arguments) {
      inputs_.push_back(model_tensor_of(value));
    }
    for (const FunctionValue& value : module_.main.results) {
      outputs_.push_back(model_tensor_of(value));
    }
    name_all(inputs_, "input");
    name_all(outputs_, "output");
  }
  Status take_sizes(const EngineJob& job) { return set_open_sizes(inputs_, job); }

  // Without names: the module's author does not know its lines.
  std::vector<CheckedOperation> operations() const override {
    std::vector<CheckedOperation> rows;
    for (const auto& [name, count] : operation_counts()) {
      CheckedOperation row;
      row.operation = name;
      row.nodes.resize(static_cast<std::size_t>(count));
      const bool is_structure = name == "stablehlo.while" || name == "stablehlo.case" ||
                                name == "stablehlo.if" || name == "stablehlo.composite";
      if (is_structure) row.support = OperationSupport::kStructure;
      rows.push_back(std::move(row));
    }
    return rows;
  }

  Status prepare() override {
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      const FunctionValue& value = module_.main.arguments[i];
      if (!value.tensor) {
        return fail(Error(fmt::format("input '{}' is of type {}", inputs_[i].name, value.type))
                        .note("an input is a tensor of a known number of dimensions, of real "
                              "numbers, whole numbers or truth values"));
      }
    }
    return {};
  }

  Result<std::unique_ptr<Lowering>> lowering(const LoweringOptions& options) const override {
    TFAOT_TRY(
        check_signature(kModuleLabel, inputs_, outputs_, {.fixed_shapes = options.fixed_shapes}));
    return std::make_unique<StableHloLowering>(module_, inputs_, outputs_, options);
  }

  std::vector<Variable> variables() const override {
    std::vector<Variable> variables;
    for (std::size_t i = 0; i < module_.constants.size(); ++i) {
      const TensorText& type = module_.constants[i].type;
      variables.push_back({constant_name(i), type_name(tf_type_of_text(type.element)), type.sizes});
    }
    return variables;
  }

  std::map<std::string, std::int64_t> operation_counts() const override {
    return count_operations(module_.whole);
  }

 private:
  StableHloModule module_;
};

}  // namespace

Result<std::unique_ptr<OriginalProgram>> load_interpreted_program(const EngineJob& job) {
  return InterpretedProgram::load(job);
}

Result<ModelFunctions> stablehlo_functions(const std::string& file) {
  TFAOT_ASSIGN(StableHloModule module, read_stablehlo(file));
  return one_function(std::move(module.producer), ModelFormat::kStableHlo, file);
}

Result<std::unique_ptr<SourceModel>> load_stablehlo_source(const EngineJob& job) {
  TFAOT_ASSIGN(StableHloModule module, read_stablehlo(job.source));
  auto source = std::make_unique<StableHloSource>(std::move(module));
  TFAOT_TRY(source->take_sizes(job));
  return source;
}

}  // namespace tfaot::toolkit::engine
