// SPDX-License-Identifier: Apache-2.0
#include "front/lowering/signature.h"

#include <fmt/format.h>

#include "compiler/hlo/conversions.h"
#include "compiler/hlo/foreign_operations.h"
#include "compiler/hlo/simplify.h"
#include "tensorflow/compiler/tf2xla/literal_util.h"
#include "tensorflow/compiler/tf2xla/shape_util.h"
#include "tfaot/arrays/csv.h"
#include "tfaot/base/limits.h"
#include "tfaot/base/printable.h"

namespace tfaot::toolkit::engine {
namespace {

struct LimitedCount {
  std::size_t count = 0;
  std::size_t most = 0;
  std::string of;  // "dimensions"
};

// "input 'x' has 200 dimensions, but at most 100 are allowed"
Status check_count(const std::string& owner, const LimitedCount& count) {
  if (count.count <= count.most) return {};
  return fail(Error(fmt::format("{} has {} {}, but at most {} are allowed", owner, count.count,
                                count.of, count.most)));
}

std::string kind_and_name(const char* kind, const std::string& name) {
  return fmt::format("{} '{}'", kind, shown(name));
}

Status check_name(const char* kind, const std::string& name) {
  return check_count("the name of " + kind_and_name(kind, name),
                     {name.size(), kLongestTensorName, "bytes"});
}

Status check_tensors(const char* kind, const std::vector<ModelTensor>& tensors) {
  TFAOT_TRY(check_count("the model", {tensors.size(), kMostTensors, fmt::format("{}s", kind)}));
  for (const ModelTensor& tensor : tensors) {
    TFAOT_TRY(check_name(kind, tensor.name));
    for (const std::string& name : tensor.dimensions) TFAOT_TRY(check_name("dimension", name));
    TFAOT_TRY(check_count(kind_and_name(kind, tensor.name),
                          {tensor.shape.size(), kMostDimensions, "dimensions"}));
  }
  return {};
}

struct OpenSize {
  std::string name;
  std::vector<std::string> inputs;
};

std::string open_name(const ModelTensor& input, std::size_t axis) {
  const bool has_name = axis < input.dimensions.size() && !input.dimensions[axis].empty();
  return has_name ? input.dimensions[axis] : fmt::format("{}:{}", input.name, axis);
}

std::vector<OpenSize> open_sizes(const std::vector<ModelTensor>& inputs, bool fixed_shapes) {
  std::vector<OpenSize> open;
  for (const ModelTensor& input : inputs) {
    for (std::size_t i = fixed_shapes ? 0 : 1; i < input.shape.size(); ++i) {
      if (input.shape[i] >= 0) continue;
      const std::string name = open_name(input, i);
      auto found = std::ranges::find(open, name, &OpenSize::name);
      if (found == open.end()) found = open.insert(found, {name, {}});
      add_new(found->inputs, input.name);
    }
  }
  return open;
}

// "'n_pf' of input 'x'"
std::string size_and_inputs(const OpenSize& size) {
  std::vector<std::string> names;
  for (const std::string& input : size.inputs) names.push_back(fmt::format("'{}'", shown(input)));
  return fmt::format("'{}' of {} {}", shown(size.name), names.size() == 1 ? "input" : "inputs",
                     join(names, ", "));
}

// The name as a key of a YAML map, quoted if necessary.
std::string config_map_key(const std::string& name) {
  const bool is_plain =
      !name.empty() && !is_digit(name.front()) &&
      std::ranges::all_of(name, [](char c) { return is_letter_or_digit(c) || c == '_'; });
  return is_plain ? name : "'" + replace_all(name, "'", "''") + "'";
}

bool fits(const ModelConstant& constant, const ConstantPlace& place) {
  if (!place.rank_known) return true;
  return std::ranges::equal(constant.shape, place.shape, [](std::int64_t given, std::int64_t size) {
    return size < 0 || given == size;
  });
}

Status check_type(const char* kind, const ModelTensor& tensor) {
  if (dtype_of(tensor.type)) return {};
  return fail(
      Error(fmt::format("{} '{}' has dtype {}, which compiled models cannot have", kind,
                        tensor.name, type_name(tensor.type)))
          .note(fmt::format("allowed: {}; cast inside the model", join(words_of<DType>(), ", ")))
          .about(word_of(ProblemKind::kDtype), {tensor.name}));
}

Status check_input(const ModelTensor& input, bool fixed_shapes) {
  TFAOT_TRY(check_type("input", input));
  if (!input.rank_known) return {};  // check_ranks_known() said it
  if (input.shape.empty() && !fixed_shapes) {
    return fail(Error(fmt::format("input '{}' is a scalar: it has no batch dimension", input.name))
                    .note("the first dimension of every input must be the batch")
                    .about(word_of(ProblemKind::kBatch), {input.name}));
  }
  std::int64_t elements = 1;
  for (std::size_t i = fixed_shapes ? 0 : 1; i < input.shape.size(); ++i) {
    if (input.shape[i] > kMostTensorElements / std::max<std::int64_t>(elements, 1)) {
      return fail(Error(fmt::format("input '{}' of shape {} is larger than any memory", input.name,
                                    shape_text(input.shape))));
    }
    elements *= input.shape[i];
  }
  return {};
}

// Reports all inputs of unknown rank in one error.
Status check_ranks_known(const std::vector<ModelTensor>& inputs, const SignatureRules& rules) {
  std::vector<std::string> names;
  std::vector<std::string> quoted;
  std::vector<std::string> items;
  for (const ModelTensor& input : inputs) {
    if (input.rank_known) continue;
    names.push_back(input.name);
    quoted.push_back(fmt::format("'{}'", input.name));
    const bool is_first = input.tensor.ends_with(":0");
    items.push_back(
        fmt::format("{{name: {}, shape: [{}3]}}",
                    is_first ? input.tensor.substr(0, input.tensor.size() - 2) : input.tensor,
                    rules.fixed_shapes ? "" : "null, "));
  }
  if (names.empty()) return {};
  const std::string subject =
      fmt::format("{} {} an unknown shape", join(quoted, ", "), names.size() == 1 ? "has" : "have");
  Error error(names.size() == 1 ? "input " + subject : "inputs " + subject);
  if (rules.shapes_from_config) {
    error.note(fmt::format("say it in the config, as in model.inputs: [{}]{}", join(items, ", "),
                           rules.fixed_shapes ? "" : "; null is the batch"));
  } else {
    error.note(
        "the number of dimensions must be known: save the model with a shape, such as "
        "tf.TensorSpec([None, 3])");
  }
  return fail(std::move(error).about(word_of(ProblemKind::kUnknownShape), std::move(names)));
}

// Limits the ranks of all tensors in the model: XLA generates a loop for each dimension.
Status check_ranks(const xla::HloModuleProto& module) {
  for (const auto& computation : module.computations()) {
    for (const auto& instruction : computation.instructions()) {
      const std::string& node = instruction.metadata().op_name();
      TFAOT_TRY(
          check_count(kind_and_name("the result of", node.empty() ? instruction.opcode() : node),
                      {static_cast<std::size_t>(instruction.shape().dimensions_size()),
                       kMostDimensions, "dimensions"}));
    }
  }
  return {};
}

// Reports all open dimensions, other than the batch, in one error.
Status check_open_sizes(const std::vector<ModelTensor>& inputs, bool fixed_shapes) {
  const std::vector<OpenSize> open = open_sizes(inputs, fixed_shapes);
  if (open.empty()) return {};
  std::vector<std::string> texts;
  std::vector<std::string> keys;
  std::vector<std::string> options;
  std::vector<std::string> ranges;
  std::set<std::string> owners;
  for (const OpenSize& size : open) {
    texts.push_back(size_and_inputs(size));
    keys.push_back(config_map_key(size.name) + ": 10");
    options.push_back("--dimension " + shell_quoted(size.name + "=10"));
    ranges.push_back("--dimension " + shell_quoted(size.name + "=1..128"));
    owners.insert(size.inputs.begin(), size.inputs.end());
  }
  return fail(Error(open.size() == 1 ? fmt::format("the dimension {} has no size", texts.front())
                                     : fmt::format("{} dimensions have no size: {}", open.size(),
                                                   join(texts, ", ")))
                  .note(fmt::format("give each a size, such as 10, in the config: "
                                    "model.dimensions: {{{}}}",
                                    join(keys, ", ")))
                  .note("or on the command line: " + join(options, " "))
                  .note("or a range, of which each call chooses a size: " + join(ranges, " "))
                  .about(word_of(ProblemKind::kUnknownShape), {owners.begin(), owners.end()}));
}

Error data_dependent(Error error, SizeCauses causes) {
  for (const std::string& text : causes.texts) error.note("it comes from " + text);
  return std::move(error)
      .note("a compiled model has fixed sizes: return a mask or padded values")
      .about(word_of(ProblemKind::kDataDependentSize), std::move(causes.names));
}

Error data_dependent(const ModelTensor& output, const xla::Shape& shape, SizeCauses causes) {
  causes.names.push_back(output.name);
  return data_dependent(Error(fmt::format("output '{}' has a size that depends on the data ({})",
                                          output.name, shape.ToString())),
                        std::move(causes));
}

Status check_batch(const ModelTensor& input, std::int64_t batch_size) {
  if (!fixes_batch(input) || input.shape[0] == batch_size) return {};
  return fail(Error(fmt::format("input '{}' of shape {} has a fixed first dimension, so batch size "
                                "{} cannot be compiled",
                                input.name, shape_text(input.shape), batch_size))
                  .note(fmt::format("only batch size {0} can: compilation.batch_sizes: [{0}], or "
                                    "'--batch-sizes {0}'",
                                    input.shape[0]))
                  .note("for others, save the model with an unknown first dimension (None)")
                  .note("if that dimension is not the batch: compilation.batch: none, or "
                        "'--batch none'")
                  .about(word_of(ProblemKind::kBatch), {input.name}));
}

Error range_of_batch(const ModelTensor& input, const std::string& name) {
  return config_fault(
             "compilation.dimensions",
             fmt::format("'{}' is the batch of input '{}', which needs no range: a package "
                         "runs any number of rows",
                         shown(name), shown(input.name)))
      .note(
          "leave it out; sizes of the batch are in compilation.batch_sizes, or "
          "'--batch-sizes'")
      .note("if that dimension is not the batch: compilation.batch: none, or '--batch none'");
}

}  // namespace

Status check_signature_limits(const JobModel& job, const SourceModel& model) {
  TFAOT_TRY(check_name("signature", job.serving_key));
  TFAOT_TRY(check_tensors("input", model.inputs()));
  return check_tensors("output", model.outputs());
}

Status check_weight_limits(const std::vector<Variable>& weights) {
  TFAOT_TRY(check_count("the model", {weights.size(), kMostWeights, "weights"}));
  for (const Variable& weight : weights) TFAOT_TRY(check_name("weight", weight.name));
  return {};
}

void add_dimension(ModelTensor& tensor, std::int64_t size, const std::string& name) {
  tensor.shape.push_back(size < 0 ? -1 : size);
  tensor.dimensions.push_back(size < 0 ? name : "");
}

Status set_open_sizes(std::vector<ModelTensor>& inputs, const JobModel& job) {
  std::set<std::string> names;
  for (ModelTensor& input : inputs) {
    for (std::size_t i = 0; i < input.shape.size(); ++i) {
      if (input.shape[i] >= 0) continue;
      const bool has_name = i < input.dimensions.size() && !input.dimensions[i].empty();
      if (i == 0 && !job.fixed_shapes && !has_name) continue;  // the batch
      const std::string name = open_name(input, i);
      input.dimensions.resize(input.shape.size());
      input.dimensions[i] = name;
      names.insert(name);
      if (i == 0 && !job.fixed_shapes &&
          contains(job.free_dimensions, name, &FreeDimension::name)) {
        return fail(range_of_batch(input, name));
      }
      const auto given = std::ranges::find(job.dimensions, name, &DimensionSize::name);
      if (given != job.dimensions.end()) input.shape[i] = given->size;
    }
  }
  for (const DimensionSize& given : job.dimensions) {
    if (names.contains(given.name)) continue;
    const std::vector<std::string> known(names.begin(), names.end());
    Error error = config_fault(
        "model.dimensions", fmt::format("no input has an open dimension '{}'", shown(given.name)));
    if (const auto close = closest_match(given.name, known)) {
      error.note(fmt::format("did you mean '{}'?", shown(*close)));
    }
    return fail(std::move(error).note(listed("open dimensions", known)));
  }
  return {};
}

std::string constant_key(std::size_t index) { return fmt::format("model.constants[{}]", index); }

Result<std::string> constant_bytes(const ModelConstant& constant, std::size_t index,
                                   const ConstantPlace& place) {
  const std::string key = constant_key(index);
  const std::string it = fmt::format("{} '{}'", place.what, constant.name);
  const auto dtype = dtype_of(place.type);
  if (!dtype) {
    return fail(config_fault(key, fmt::format("{} has dtype {}, which no constant can have", it,
                                              type_name(place.type)))
                    .note("allowed: " + join(words_of<DType>(), ", ")));
  }
  if (!fits(constant, place)) {
    return fail(
        config_fault(key, fmt::format("{} has the shape {}, but the value has {}", it,
                                      shape_text(place.shape), shape_text(constant.shape))));
  }
  std::string bytes;
  for (const std::string& value : constant.values) {
    if (append_number(bytes, *dtype, value)) continue;
    return fail(config_fault(
        key, fmt::format("{} has dtype {}, and {} is not one", it, word_of(*dtype), value)));
  }
  return bytes;
}

Error no_place_for(const ModelConstant& constant, std::size_t index, const std::string& what,
                   const std::set<std::string>& known) {
  const std::vector<std::string> names(known.begin(), known.end());
  Error error =
      config_fault(constant_key(index), fmt::format("there is no {} '{}'", what, constant.name));
  if (const auto close = closest_match(constant.name, names)) {
    error.note(fmt::format("did you mean '{}'?", *close));
  }
  return std::move(error).note(listed(fmt::format("{}s of the model", what), names));
}

std::optional<std::string> switched_off(tensorflow::DataType type) {
  const auto dtype = dtype_of(type);
  if (!dtype || is_real(*dtype)) return std::nullopt;
  return *dtype == DType::kBool ? "false" : "0";
}

std::string advice_to_fix(const std::string& name, tensorflow::DataType type) {
  return fmt::format("give it a value in the config: model.constants: {{\"{}\": {}}}", name,
                     switched_off(type).value_or("0.5"));
}

Status check_signature(const std::string& label, const std::vector<ModelTensor>& inputs,
                       const std::vector<ModelTensor>& outputs, const SignatureRules& rules) {
  if (inputs.empty() && !rules.fixed_shapes) {
    return fail(Error(fmt::format("{} has no inputs", label)));
  }
  if (outputs.empty()) {
    return fail(Error(fmt::format("{} has no outputs", label)));
  }
  std::vector<Error> errors;
  const auto take = [&errors](Status checked) {
    if (!checked) errors.push_back(std::move(checked).error());
  };
  for (const auto& input : inputs) take(check_input(input, rules.fixed_shapes));
  take(check_ranks_known(inputs, rules));
  take(check_open_sizes(inputs, rules.fixed_shapes));
  for (const auto& output : outputs) take(check_type("output", output));
  return all_or_first(std::move(errors));
}

// Outputs whose size depends on the data would compile, but return wrong sizes.
Result<LoweredModel> SignatureLowering::finished(LoweredModel lowered, std::int64_t batch_size,
                                                 const std::function<SizeCauses()>& causes) const {
  TFAOT_TRY(check_ranks(lowered.computation.proto()));
  std::vector<Error> errors;
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    const ModelTensor& output = outputs_[i];
    const auto& shape = lowered.shape.result().tuple_shapes(static_cast<int>(i));
    if (!shape.is_static()) {
      errors.push_back(data_dependent(output, shape, causes()));
      continue;
    }
    const std::vector<std::int64_t> dimensions(shape.dimensions().begin(),
                                               shape.dimensions().end());
    if (dimensions.empty() || dimensions[0] != batch_size) {
      errors.push_back(
          Error(fmt::format("output '{}' has shape {} for batch size {}: its first dimension "
                            "is not the batch",
                            output.name, shape_text(dimensions), batch_size))
              .note("every output must have one row per event; broadcast it over the batch "
                    "or leave it out of the signature")
              .about(word_of(ProblemKind::kBatch), {output.name}));
      continue;
    }
    lowered.outputs.push_back({output.name, *dtype_of(output.type), row_shape(shape)});
  }
  TFAOT_TRY(all_or_first(std::move(errors)));
  const Status fixed = make_sizes_static(lowered.computation);
  if (!fixed) return fail(data_dependent(fixed.error(), causes()));
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    lowered.inputs.push_back({inputs_[i].name, *dtype_of(inputs_[i].type),
                              row_shape(lowered.shape.parameters(static_cast<int>(i)))});
  }
  return lowered;
}

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

Result<std::vector<xla::XlaOp>> SignatureLowering::parameters(xla::XlaBuilder& builder,
                                                              std::int64_t batch_size) const {
  std::vector<xla::XlaOp> parameters;
  const auto add = [&](const xla::Shape& shape) {
    const auto number = std::ssize(parameters);
    return parameters.emplace_back(
        xla::Parameter(&builder, number, shape, fmt::format("p{}", number)));
  };
  TFAOT_ASSIGN(const auto arguments, input_arguments(batch_size));
  for (const auto& argument : arguments) {
    xla::Shape shape;
    TFAOT_TRY(checked(tensorflow::TensorShapeToXLAShape(
        argument.type, std::get<tensorflow::TensorShape>(argument.shape), &shape)));
    const xla::XlaOp input = add(fixed_shapes_ ? one_row(shape) : shape);
    if (fixed_shapes_) parameters.back() = xla::Reshape(input, shape.dimensions());
  }
  for (const RawWeight& weight : weights_) add(weight.shape);
  return parameters;
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

// XlaCompiler leaves constant results out of the tuple, and arguments that are not needed.
Result<LoweredModel> SignatureLowering::calling(xla::XlaBuilder& builder,
                                                const tensorflow::XlaCompilationResult& compiled,
                                                const std::vector<xla::XlaOp>& operands,
                                                const CalledConstants& constants,
                                                const std::string& label) const {
  const auto call = xla::Call(
      &builder, *compiled.computation,
      mapped(compiled.input_mapping, [&](int argument) { return entry(operands, argument); }));
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
  TFAOT_ASSIGN(LoweredModel lowered, built(builder, std::move(results)));
  if (!constants.shapes.empty()) {
    TFAOT_ASSIGN(const auto module, make_module(lowered.computation.proto()));
    TFAOT_TRY(put_constants(*module, constants));
    lowered.computation = xla::XlaComputation(module->ToProto());
  }
  TFAOT_TRY(check_calls(lowered.computation.proto(), label));
  return lowered;
}

}  // namespace tfaot::toolkit::engine
