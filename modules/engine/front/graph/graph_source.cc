// SPDX-License-Identifier: Apache-2.0
#include "front/graph/graph_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "compiler/hlo/constant_calls.h"
#include "compiler/hlo/conversions.h"
#include "front/graph/diagnosis.h"
#include "front/graph/graph_nodes.h"
#include "front/graph/safe_graph.h"
#include "front/graph/variables.h"
#include "front/lowering/call_compiled.h"
#include "front/lowering/signature.h"
#include "tensorflow/compiler/tf2xla/literal_util.h"
#include "tensorflow/compiler/tf2xla/shape_util.h"
#include "tensorflow/compiler/tf2xla/xla_op_registry.h"
#include "tensorflow/core/framework/kernel_def.pb.h"
#include "tensorflow/core/lib/core/errors.h"
#include "tfaot/records/model_check.h"
#include "xla/client/xla_builder.h"
#include "xla/literal.h"

namespace tfaot::toolkit::engine {
namespace {

namespace tf = tensorflow;
using Argument = tf::XlaCompiler::Argument;

// "node", "node:output:1", as in a function's body.
struct OutputName {
  explicit OutputName(const std::string& text) : node(text.substr(0, text.find(':'))) {
    if (node.size() == text.size()) return;
    const std::size_t end = text.rfind(':');
    if (end > node.size()) output = text.substr(node.size() + 1, end - node.size() - 1);
    std::from_chars(text.data() + end + 1, text.data() + text.size(), index);
  }

  std::string node;
  std::string output;
  int index = 0;
};

// One step towards the origin of `name` in `function`. False: its node is the origin, or there is
// none.
bool go_up(const tf::FunctionLibraryDefinition& library, const tf::FunctionDef*& function,
           std::string& name) {
  const OutputName output(name);
  const auto& nodes = function->node_def();
  const auto node = std::ranges::find(nodes, output.node, &tf::NodeDef::name);
  if (node == nodes.end()) return false;
  if ((node->op() == "Identity" || node->op() == "IdentityN") &&
      output.index < node->input_size()) {
    name = node->input(output.index);
    return true;
  }
  const auto call = node->attr().find("f");
  const bool by_attribute = is_call(*node) && call != node->attr().end();
  const tf::FunctionDef* const called =
      library.Find(by_attribute ? call->second.func().name() : node->op());
  if (called == nullptr) return false;
  const auto& results = called->signature().output_arg();
  if (by_attribute && output.index >= results.size()) return false;
  const auto result =
      called->ret().find(by_attribute ? results[output.index].name() : output.output);
  if (result == called->ret().end()) return false;
  function = called;
  name = result->second;
  return true;
}

std::string origin_of(const tf::FunctionLibraryDefinition& library, const tf::FunctionDef* function,
                      std::string name) {
  constexpr int kMostSteps = 1000;
  int steps = 0;
  while (steps < kMostSteps && go_up(library, function, name)) ++steps;
  const std::string node = OutputName(name).node;
  const bool is_node = std::ranges::any_of(
      function->node_def(), [&](const tf::NodeDef& one) { return one.name() == node; });
  return is_node ? node : "";
}

struct Advice {
  std::string_view start;  // of the operations' names
  const char* text;
};

// Advice for operations that cannot be compiled; the first that fits counts.
constexpr std::array kInstead = {
    Advice{"HashTable", "look up outside of the model and pass the numbers found"},
    Advice{"LookupTable", "look up outside of the model and pass the numbers found"},
    Advice{"MutableHashTable", "look up outside of the model and pass the numbers found"},
    Advice{"PyFunc", "express the Python function with TensorFlow's operations"},
    Advice{"EagerPyFunc", "express the Python function with TensorFlow's operations"},
    Advice{"Unique", "return fixed sizes: sort and compare neighbours, or do it outside"},
    Advice{"Where", "return fixed sizes: select by a mask with tf.where(mask, a, b)"},
    Advice{"NonMaxSuppression", "do it outside of the model, or use a fixed number of boxes"},
    Advice{"CombinedNonMaxSuppression", "do it outside of the model"},
    Advice{"DynamicPartition", "return fixed sizes: multiply by a mask for each part"},
    Advice{"ListDiff", "return fixed sizes: compare and select by a mask"},
    Advice{"ParseExample", "parse outside of the model and pass the tensors"},
    Advice{"ParseSingleExample", "parse outside of the model and pass the tensors"},
    Advice{"Decode", "decode outside of the model and pass the numbers"},
    Advice{"ReadFile", "read outside of the model and pass the contents as numbers"},
    Advice{"WriteFile", "write outside of the model: make it an output"},
    Advice{"Print", "remove it before you export"},
    Advice{"Sparse", "use dense tensors: tf.sparse.to_dense() before the model"},
    Advice{"Ragged", "use dense tensors, padded to a fixed size"},
    Advice{"String", "pass numbers: strings cannot be compiled"},
    Advice{"Unicode", "pass numbers: strings cannot be compiled"},
    Advice{"AsString", "pass numbers: strings cannot be compiled"},
    Advice{"Random", "make the noise an input, or export for inference (training=False)"},
};

constexpr const char* kOutside =
    "do it outside of the model, or express it with operations that have a kernel";

const char* advice_on(const std::string& operation) {
  const auto found = std::ranges::find_if(
      kInstead, [&](const Advice& one) { return operation.starts_with(one.start); });
  return found == kInstead.end() ? kOutside : found->text;
}

std::string advice_for(const CheckedOperation& row) {
  switch (row.support) {
    case OperationSupport::kTypes:
      return "cast to an allowed type before it";
    case OperationSupport::kConstant:
      return advice_on(row.operation) + std::string("; constant inputs are fine");
    case OperationSupport::kRefused:
      return advice_on(row.operation);
    case OperationSupport::kKernel:
    case OperationSupport::kStructure:
      break;
  }
  if (row.traits.empty()) return "";
  switch (row.traits.front()) {
    case OperationTrait::kDrawsRandomNumbers:
      return "make the noise an input, or export for inference (training=False)";
    case OperationTrait::kWritesState:
      return "export an inference-only signature (training=False, no counters)";
    case OperationTrait::kCallsByName:
      return kOutside;
    case OperationTrait::kDataDependentSize:
      break;
  }
  return advice_on(row.operation);
}

std::vector<OperationTrait> traits_of(const std::string& operation) {
  std::vector<OperationTrait> traits;
  if (draws_random_numbers(operation)) traits.push_back(OperationTrait::kDrawsRandomNumbers);
  if (writes_variable(operation)) traits.push_back(OperationTrait::kWritesState);
  if (calls_by_name(operation)) traits.push_back(OperationTrait::kCallsByName);
  if (has_data_dependent_shape(operation)) traits.push_back(OperationTrait::kDataDependentSize);
  return traits;
}

// Without an XLA kernel for any type.
OperationSupport support_without_kernel(const std::string& operation) {
  if (connects(operation)) return OperationSupport::kStructure;
  return is_pure(operation) ? OperationSupport::kConstant : OperationSupport::kRefused;
}

// The part that is known without a node.
CheckedOperation described(const std::string& operation) {
  CheckedOperation row;
  row.operation = operation;
  row.traits = traits_of(operation);
  std::map<std::string, std::set<std::string>> allowed;
  for (const tf::KernelDef* kernel : kernels_of(operation)) {
    for (const auto& constraint : kernel->constraint()) {
      for (const int type : constraint.allowed_values().list().type()) {
        allowed[constraint.name()].insert(type_name(static_cast<tf::DataType>(type)));
      }
    }
  }
  for (const auto& [attribute, types] : allowed) {
    row.types.push_back({attribute, {types.begin(), types.end()}, {}});
  }
  if (const auto* names = tf::XlaOpRegistry::CompileTimeConstantInputArgNames(operation)) {
    row.constant_inputs.assign(names->begin(), names->end());
    std::ranges::sort(row.constant_inputs);
  }
  const bool has_kernel = !kernels_of(operation).empty();
  row.support = has_kernel ? OperationSupport::kKernel : support_without_kernel(operation);
  if (calls_by_name(operation)) row.support = OperationSupport::kRefused;
  row.advice = advice_for(row);
  return row;
}

// `known`: without looking at types.
OperationSupport support_of(const tf::NodeDef& node, OperationSupport known) {
  if (!has_no_xla_kernel(node)) {
    return kernels_of(node.op()).empty() ? OperationSupport::kStructure : known;
  }
  return known == OperationSupport::kKernel ? OperationSupport::kTypes : known;
}

void add_used_types(const tf::NodeDef& node, CheckedOperation& row) {
  for (CheckedType& type : row.types) {
    const auto found = node.attr().find(type.attribute);
    if (found == node.attr().end()) continue;
    std::vector<int> values(found->second.list().type().begin(), found->second.list().type().end());
    if (found->second.type() != tf::DT_INVALID) values.push_back(found->second.type());
    for (const int value : values) {
      const std::string name = type_name(static_cast<tf::DataType>(value));
      if (std::ranges::find(type.used, name) == type.used.end()) type.used.push_back(name);
    }
  }
}

class Table {
 public:
  void add(const tf::NodeDef& bare, const std::string& function) {
    const tf::NodeDef node = with_defaults(bare);
    auto [known, is_first] = known_.try_emplace(node.op());
    if (is_first) known->second = described(node.op());
    const OperationSupport support = support_of(node, known->second.support);
    auto [found, is_new] = rows_.try_emplace({node.op(), support});
    CheckedOperation& row = found->second;
    if (is_new) {
      row = known->second;
      row.support = support;
      row.advice = advice_for(row);
    }
    row.nodes.push_back({node.name(), function});
    add_used_types(node, row);
  }

  std::vector<CheckedOperation> rows() && {
    std::vector<CheckedOperation> rows;
    for (auto& [key, row] : rows_) rows.push_back(std::move(row));
    return rows;
  }

 private:
  std::map<std::string, CheckedOperation> known_;
  std::map<std::pair<std::string, OperationSupport>, CheckedOperation> rows_;
};

// The part of the graph that the outputs need, without inputs and variables.
tf::GraphDef needed_part(const ModelGraph& model) {
  Nodes nodes = nodes_of(model.graph().node());
  for (const ModelTensor& input : model.inputs()) nodes.erase(node_name(input.tensor));
  std::set<const tf::NodeDef*> needed;
  for (const ModelTensor& output : model.outputs()) {
    for (const auto* node : needed_by(nodes, output.tensor)) needed.insert(node);
  }
  tf::GraphDef part;
  *part.mutable_versions() = model.graph().versions();
  *part.mutable_library() = model.graph().library();
  for (const auto& node : model.graph().node()) {
    if (needed.contains(&node) && !is_variable(node)) *part.add_node() = node;
  }
  return part;
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

// The references must outlive the object.
class GraphLowering final : public SignatureLowering {
 public:
  GraphLowering(const ModelGraph& model, const SignatureFunction& function, bool fixed_shapes)
      : SignatureLowering(model.inputs(), model.outputs(), fixed_shapes),
        model_(&model),
        function_(&function) {}

  Status add_weights() {
    const auto add = [&](const std::string& name, const StoredTensor& value) -> Status {
      TFAOT_ASSIGN(xla::Shape shape, shape_of_stored(value));
      weights_.push_back(
          {name, std::move(shape), [read = value.read] { return read_literal(read); }});
      return {};
    };
    for (std::size_t i = 0; i < function_->weights.size(); ++i) {
      const WeightArgument& weight = function_->weights[i];
      if (!dtype_of(weight.value.type)) continue;  // others stay constants in the code
      weight_parameters_.push_back(i);
      TFAOT_TRY(add(weight.name, weight.value));
    }
    for (const LiftedConstant& one : function_->constants) TFAOT_TRY(add(one.name, one.value));
    return {};
  }

  Result<LoweredModel> lower(std::int64_t batch_size) const override {
    TFAOT_ASSIGN(const auto arguments, this->arguments(batch_size));
    TFAOT_ASSIGN(const auto compiled,
                 compile_function({*function_->library, function_->name, function_->graph_version},
                                  arguments, [this](const absl::Status& status) {
                                    return compile_error(*model_, *function_, status);
                                  }));
    if (!compiled.resource_updates.empty()) {
      return fail(written_variable(*model_, *function_, compiled));
    }
    TFAOT_ASSIGN(auto lowered, wrap(arguments, compiled, batch_size));
    const bool has_calls = !function_->constants.empty();
    if (has_calls) TFAOT_TRY(put_constants(lowered));
    TFAOT_TRY(check_calls(has_calls ? lowered.computation.proto() : compiled.computation->proto(),
                          model_->label()));
    return finished(std::move(lowered), batch_size, [this] { return size_causes(); });
  }

 private:
  Result<std::vector<Argument>> arguments(std::int64_t batch_size) const {
    TFAOT_ASSIGN(std::vector<Argument> arguments, input_arguments(batch_size));
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

  // Our own computation around XlaCompiler's. There, embedded weights become constants.
  Result<LoweredModel> wrap(const std::vector<Argument>& arguments,
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
      const std::string name = fmt::format("p{}", argument);
      operands[argument] =
          argument < input_count
              ? input_parameter(builder, parameter_count++, shapes[argument])
              : xla::Parameter(&builder, parameter_count++, shapes[argument], name);
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
    return built(builder, std::move(results));
  }

  // Puts the function's constants in place of their calls.
  Status put_constants(LoweredModel& lowered) const {
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

  SizeCauses size_causes() const {
    const auto nodes = find_nodes(
        *function_, [](const tf::NodeDef& node) { return has_data_dependent_shape(node.op()); });
    SizeCauses causes;
    for (const BlamedNode& node : nodes) causes.texts.push_back(node.text);
    causes.names = names_of(nodes);
    return causes;
  }

  const ModelGraph* model_;
  const SignatureFunction* function_;
  std::vector<std::size_t> weight_parameters_;  // indices into SignatureFunction::weights
};

// By output: the name of the node, below calls and identities; empty if an input is handed on.
std::vector<std::string> origins_of_outputs(const SignatureFunction& function) {
  const tf::FunctionDef* const whole = function.library->Find(function.name);
  std::vector<std::string> origins;
  for (const auto& output : whole->signature().output_arg()) {
    const auto result = whole->ret().find(output.name());
    origins.push_back(
        result == whole->ret().end() ? "" : origin_of(*function.library, whole, result->second));
  }
  return origins;
}

// All nodes that the outputs need, down to the inputs and the variables. Sorted by operation.
std::vector<CheckedOperation> operation_table(const ModelGraph& model) {
  tf::GraphDef part = needed_part(model);
  // Leaves out what no result needs. If it fails, compiling says why; then all nodes are listed.
  const GraphRules all = {[](const std::string&) { return true; },
                          [](const std::vector<BlamedNode>&) { return Error("refused"); }};
  static_cast<void>(make_safe(part, all));
  std::set<std::string> functions;
  for (const auto& function : part.library().function()) {
    functions.insert(function.signature().name());
  }
  Table table;
  const auto add = [&](const tf::NodeDef& node, const std::string& function) {
    if (!functions.contains(node.op())) table.add(node, function);
  };
  for (const auto& node : part.node()) add(node, "");
  for (const auto& function : part.library().function()) {
    for (const auto& node : function.node_def()) add(node, function.signature().name());
  }
  return std::move(table).rows();
}

class GraphSource final : public SourceModel {
 public:
  explicit GraphSource(std::unique_ptr<ModelGraph> graph) : graph_(std::move(graph)) {
    inputs_ = graph_->inputs();
    outputs_ = graph_->outputs();
  }

  std::vector<CheckedOperation> operations() const override { return operation_table(*graph_); }

  Status prepare() override {
    TFAOT_ASSIGN(function_, make_signature_function(*graph_));
    return {};
  }
  Result<std::unique_ptr<Lowering>> lowering(const LoweringOptions& options) const override {
    return make_graph_lowering(*graph_, function_, options);
  }
  std::vector<std::string> output_origins() const override { return origins_of_outputs(function_); }
  std::vector<Variable> variables() const override { return variables_of(function_); }

  std::map<std::string, std::int64_t> operation_counts() const override {
    std::map<std::string, std::int64_t> counts;
    visit_nodes(function_, [&](const tensorflow::NodeDef& node, const std::string& /*function*/) {
      if (node.op() == "_Arg" || node.op() == "_Retval") return;
      ++counts[is_lifted_constant(node) ? "Const" : node.op()];
    });
    return counts;
  }

 private:
  std::unique_ptr<ModelGraph> graph_;
  SignatureFunction function_;
};

}  // namespace

Result<std::unique_ptr<Lowering>> make_graph_lowering(const ModelGraph& model,
                                                      const SignatureFunction& function,
                                                      const LoweringOptions& options) {
  TFAOT_TRY(check_signature(model.label(), model.inputs(), model.outputs(),
                            {options.fixed_shapes, model.shapes_from_config()}));
  auto lowering = std::make_unique<GraphLowering>(model, function, options.fixed_shapes);
  if (!options.embed_weights) TFAOT_TRY(lowering->add_weights());
  tf::XlaOpRegistry::RegisterCompilationKernels();
  return lowering;
}

Result<std::unique_ptr<SourceModel>> load_graph_source(const EngineJob& job) {
  TFAOT_ASSIGN(auto graph, ModelGraph::load(job));
  return std::make_unique<GraphSource>(std::move(graph));
}

std::vector<CheckedOperation> known_operations() {
  std::vector<CheckedOperation> rows;
  for (const std::string& name : operations_with_kernel()) rows.push_back(described(name));
  return rows;
}

}  // namespace tfaot::toolkit::engine
