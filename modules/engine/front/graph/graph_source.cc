// SPDX-License-Identifier: Apache-2.0
#include "front/graph/graph_source.h"

#include <fmt/format.h>

#include "absl/strings/str_split.h"
#include "compiler/hlo/conversions.h"
#include "front/graph/safe_graph.h"
#include "front/lowering/signature.h"
#include "tensorflow/compiler/tf2xla/const_analysis.h"
#include "tensorflow/compiler/tf2xla/functionalize_control_flow.h"
#include "tensorflow/compiler/tf2xla/literal_util.h"
#include "tensorflow/compiler/tf2xla/shape_util.h"
#include "tensorflow/compiler/tf2xla/xla_op_registry.h"
#include "tensorflow/core/common_runtime/function_body.h"
#include "tensorflow/core/common_runtime/function_def_utils.h"
#include "tensorflow/core/common_runtime/graph_constructor.h"
#include "tensorflow/core/common_runtime/process_function_library_runtime.h"
#include "tensorflow/core/framework/graph_to_functiondef.h"
#include "tensorflow/core/framework/kernel_def.pb.h"
#include "tensorflow/core/framework/node_def_util.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/graph/algorithm.h"
#include "tensorflow/core/graph/graph.h"
#include "tensorflow/core/graph/tensor_id.h"
#include "tensorflow/core/lib/core/errors.h"
#include "tensorflow/core/public/version.h"

namespace tfaot::toolkit::engine {
namespace {

namespace tf = tensorflow;
using TensorId = tf::SafeTensorId;
using Argument = tf::XlaCompiler::Argument;

constexpr const char* kFunctionName = "tfaot_signature";
constexpr std::size_t kMostErrors = 100;
constexpr std::int64_t kMostConstantElements = std::int64_t{1} << 33;

// "node", "node:1" or "^node" as written in NodeDef::input.
TensorId tensor_id(const std::string& text) { return tf::ParseTensorName(text); }
bool is_control(const TensorId& id) { return id.index() == tf::Graph::kControlSlot; }

// True for a node that freezing leaves where a variable was read: "dense/bias/read" (TensorFlow 1),
// "model/dense/BiasAdd/ReadVariableOp".
bool was_variable_read(const tf::NodeDef& node) {
  if (node.op() != "Identity") return false;
  const std::string last = node.name().substr(node.name().rfind('/') + 1);
  return last == "read" || last.starts_with("ReadVariableOp");
}

// Constants without a known origin: floating-point ones may be weights. A lone number is part of
// the formula (0.5, an epsilon), unless it is read as a variable. A constant with a control input
// is inside a loop of TensorFlow 1, which takes outside values only through its own nodes.
bool may_be_weight(const tf::NodeDef& node, bool is_read_as_variable) {
  if (node.op() != "Const" || node.input_size() > 0) return false;
  const tf::TensorProto& value = attribute_of(node, "value").tensor();
  if (value.dtype() != dtype_attribute(node)) return false;  // TensorFlow reports it
  if (value.dtype() != tf::DT_FLOAT && value.dtype() != tf::DT_DOUBLE) return false;
  const auto& sizes = value.tensor_shape().dim();
  const bool is_empty = std::ranges::any_of(sizes, [](const auto& one) { return one.size() == 0; });
  return !is_empty && (!sizes.empty() || is_read_as_variable);
}

std::string argument_name(std::size_t i) { return fmt::format("tfaot_argument_{}", i); }
std::string result_name(std::size_t i) { return fmt::format("tfaot_result_{}", i); }

// Cuts out the part of the graph between inputs and outputs. To compile it as a function, inputs
// and weights become _Arg nodes, outputs _Retval nodes. To run it in a session, inputs become
// placeholders and outputs identities; weights stay as they are.
class Cutter {
 public:
  enum Purpose { kCompiling, kRunning };

  // `kept`: constants that do not become weights.
  Cutter(ModelGraph& model, Purpose purpose, std::set<std::string> kept = {})
      : model_(model),
        compiles_(purpose == kCompiling),
        kept_(std::move(kept)),
        nodes_(nodes_of(model.graph().node())) {
    for (const auto& node : model.graph().node()) {
      if (was_variable_read(node) && node.input_size() > 0) {
        read_as_variables_.insert(tensor_id(node.input(0)).node());
      }
    }
    *cut_.mutable_versions() = model.graph().versions();
    *cut_.mutable_library() = model.graph().library();
  }

  Status cut() {
    for (const auto& input : model_.inputs()) add_argument(tensor_id(input.tensor), input.type);
    std::deque<std::string> queue;
    for (const auto& output : model_.outputs()) {
      const auto id = tensor_id(output.tensor);
      if (!arguments_.contains(id)) queue.push_back(id.node());
    }
    std::vector<Error> errors;
    while (!queue.empty() && errors.size() < kMostErrors) {
      const std::string name = std::move(queue.front());
      queue.pop_front();
      if (!seen_.insert(name).second) continue;
      if (Status visited = visit(name, queue); !visited) {
        errors.push_back(std::move(visited).error());
      }
    }
    TFAOT_TRY(all_or_first(std::move(errors)));
    // References are rewritten last, because only now all arguments are known.
    for (auto& node : *cut_.mutable_node()) rewrite_inputs(node);
    for (const auto& output : model_.outputs()) add_result(output);
    return {};
  }

  tf::GraphDef& graph() { return cut_; }
  std::vector<WeightArgument>& weights() { return weights_; }

 private:
  Status visit(const std::string& name, std::deque<std::string>& queue) {
    const auto found = nodes_.find(name);
    if (found == nodes_.end()) {
      return fail(Error(
          fmt::format("the graph has no node '{}', although another node refers to it", name)));
    }
    const tf::NodeDef& node = *found->second;
    if (compiles_ && is_variable(node)) return add_weight(node);
    if (compiles_ && !kept_.contains(name) &&
        may_be_weight(node, read_as_variables_.contains(name))) {
      return add_constant(node);
    }
    if (node.op() == "Placeholder") {
      return fail(
          Error(fmt::format("{} depends on placeholder '{}', which is not one of its inputs",
                            model_.label(), name))
              .note(advice_to_fix(name, dtype_attribute(node)))
              .about(word_of(ProblemKind::kModel), {name}));
    }
    tf::NodeDef* copy = cut_.add_node();
    *copy = node;
    copy->clear_device();
    copy->mutable_attr()->erase("_class");  // names nodes that may be cut off
    for (const auto& input : node.input()) {
      const auto id = tensor_id(input);
      if (is_control(id) ? !fed_nodes_.contains(id.node()) : !arguments_.contains(id)) {
        queue.push_back(id.node());
      }
    }
    return {};
  }

  Status add_weight(const tf::NodeDef& node) {
    TFAOT_ASSIGN(auto value, model_.variable(node));
    const bool is_resource = node.op() == "VarHandleOp";
    add_argument({node.name(), 0}, is_resource ? tf::DT_RESOURCE : value.type);
    weights_.push_back({node.name(), std::move(value), is_resource});
    return {};
  }

  Status add_constant(const tf::NodeDef& node) {
    const tf::TensorProto& proto = node.attr().at("value").tensor();
    const auto broken = [name = node.name()] {
      return fail(Error(fmt::format("constant '{}' has a broken value", name)));
    };
    StoredTensor value{proto.dtype(), {}, {}};
    if (!tf::TensorShape::BuildTensorShape(proto.tensor_shape(), &value.shape).ok()) {
      return broken();
    }
    // A constant of few bytes may claim any size: its last value is repeated.
    if (value.shape.num_elements() > kMostConstantElements) return broken();
    value.read = [broken, &proto]() -> Result<tf::Tensor> {
      tf::Tensor tensor;
      if (!tensor.FromProto(proto)) return broken();
      return tensor;
    };
    add_argument({node.name(), 0}, value.type);
    weights_.push_back({node.name(), std::move(value), false});
    return {};
  }

  void add_argument(const TensorId& id, tf::DataType type) {
    const std::string name = argument_name(arguments_.size());
    tf::NodeDef* argument = cut_.add_node();
    argument->set_name(name);
    argument->set_op(compiles_ ? "_Arg" : "Placeholder");
    tf::AddNodeAttr(compiles_ ? "T" : "dtype", type, argument);
    if (compiles_) add_index(arguments_.size(), *argument);
    arguments_[id] = name;
    fed_nodes_.insert(id.node());
  }

  void add_result(const ModelTensor& output) {
    tf::NodeDef* result = cut_.add_node();
    result->set_name(result_name(result_count_));
    result->set_op(compiles_ ? "_Retval" : "Identity");
    tf::AddNodeAttr("T", output.type, result);
    if (compiles_) add_index(result_count_, *result);
    ++result_count_;
    result->add_input(output.tensor);
    rewrite_inputs(*result);
  }

  static void add_index(std::size_t index, tf::NodeDef& node) {
    tf::AddNodeAttr("index", static_cast<std::int64_t>(index), &node);
  }

  void rewrite_inputs(tf::NodeDef& node) const {
    std::vector<std::string> inputs;
    for (const auto& input : node.input()) {
      const auto id = tensor_id(input);
      const auto argument = arguments_.find(id);
      if (!is_control(id) && argument != arguments_.end()) {
        inputs.push_back(argument->second);
      } else if (!is_control(id) || seen_and_kept(id.node())) {
        inputs.push_back(input);
      }
    }
    node.clear_input();
    for (auto& input : inputs) node.add_input(std::move(input));
  }

  // Control edges from a node that became an argument are dropped: an argument is always available.
  bool seen_and_kept(const std::string& node) const {
    return seen_.contains(node) && !fed_nodes_.contains(node);
  }

  ModelGraph& model_;
  bool compiles_;
  std::set<std::string> kept_;
  Nodes nodes_;
  std::set<std::string> read_as_variables_;
  tf::GraphDef cut_;
  std::map<TensorId, std::string> arguments_;
  std::set<std::string> fed_nodes_;
  std::set<std::string> seen_;
  std::vector<WeightArgument> weights_;
  std::size_t result_count_ = 0;
};

// Lets TensorFlow fold only operations that XLA compiles, and a few more, such as those on strings.
GraphRules rules_for(const std::string& label) {
  const auto allows = [](const std::string& operation) {
    return is_compiled(operation) || is_pure(operation);
  };
  const auto refuse = [label](const std::vector<BlamedNode>& nodes) {
    return no_kernel_for(nodes, label)
        .note(
            "tfaot runs only operations of TensorFlow that compute and do nothing else: others may "
            "read and write files");
  };
  return {allows, refuse};
}

// Marks the arguments, or the nodes by id, whose values XLA must know at compile time. Null: not
// wanted.
absl::Status mark_compile_time(const tf::Graph& graph, const tf::FunctionLibraryDefinition& library,
                               int graph_version, std::vector<bool>* arguments,
                               std::vector<bool>* nodes) {
  tf::XlaOpRegistry::RegisterCompilationKernels();
  const tf::ProcessFunctionLibraryRuntime runtimes(nullptr, tf::Env::Default(), nullptr,
                                                   graph_version, &library, tf::OptimizerOptions());
  return tf::BackwardsConstAnalysis(
      graph, arguments, nodes,
      runtimes.GetFLR(tf::ProcessFunctionLibraryRuntime::kDefaultFLRDevice));
}

Result<std::set<std::string>> compile_time_weights(const tf::Graph& graph,
                                                   const SignatureFunction& function,
                                                   std::size_t input_count) {
  if (std::ranges::all_of(function.weights, &WeightArgument::is_resource))
    return std::set<std::string>();
  std::vector<bool> needed(input_count + function.weights.size(), false);
  TFAOT_TRY(
      checked(mark_compile_time(graph, *function.library, function.graph_version, &needed, nullptr),
              "the graph cannot be checked"));
  std::set<std::string> names;
  for (std::size_t i = 0; i < function.weights.size(); ++i) {
    if (needed[input_count + i]) names.insert(function.weights[i].name);
  }
  return names;
}

// Fills in all of the function but its constants. Returns the weights whose values XLA must know at
// compile time, because shapes, axes or ranges are computed from them.
Result<std::set<std::string>> cut_function(ModelGraph& model, std::set<std::string> kept_constants,
                                           SignatureFunction& function) {
  Cutter cutter(model, Cutter::kCompiling, std::move(kept_constants));
  TFAOT_TRY(cutter.cut());
  tf::GraphDef& cut = cutter.graph();
  TFAOT_TRY(make_safe(cut, rules_for(model.label())));

  function.name = kFunctionName;
  function.weights = std::move(cutter.weights());
  function.graph_version = cut.versions().producer();
  function.library =
      std::make_unique<tf::FunctionLibraryDefinition>(tf::OpRegistry::Global(), cut.library());
  const std::string what =
      fmt::format("{} is not a graph that TensorFlow 2.18 can read", model.label());
  tf::Graph graph(*function.library);
  tf::GraphConstructorOptions options;
  options.allow_internal_ops = true;
  TFAOT_TRY(checked(tf::ConvertGraphDefToGraph(options, cut, &graph), what));
  // Loops and conditions of TensorFlow 1 (Enter, Switch, ...) become functional ones.
  bool is_functional = true;
  for (const tf::Node* node : graph.op_nodes()) is_functional &= !node->IsControlFlow();
  if (!is_functional)
    TFAOT_TRY(checked(tf::FunctionalizeControlFlow(&graph, function.library.get()), what));
  TFAOT_ASSIGN(auto known, compile_time_weights(graph, function, model.inputs().size()));
  tf::FunctionDef definition;
  TFAOT_TRY(checked(tf::GraphToFunctionDef(graph, function.name, &definition), what));
  TFAOT_TRY(checked(function.library->AddFunctionDef(definition), what));
  return known;
}

constexpr const char* kCallOperation = "XlaCustomCall";
constexpr const char* kTargetAttribute = "target_name";

// False for a single number that fills the tensor: it comes from a formula, such as tf.zeros().
bool is_written_out(const tf::TensorProto& value) {
  return !value.tensor_content().empty() ||
         value.float_val_size() + value.double_val_size() + value.int_val_size() +
                 value.int64_val_size() + value.uint32_val_size() + value.uint64_val_size() +
                 value.half_val_size() + value.bool_val_size() >
             1;
}

std::optional<tf::Tensor> large_value(const tf::NodeDef& node) {
  if (node.op() != "Const") return std::nullopt;
  const tf::TensorProto& proto = attribute_of(node, "value").tensor();
  tf::TensorShape shape;
  if (!tf::TensorShape::BuildTensorShape(proto.tensor_shape(), &shape).ok()) return std::nullopt;
  const auto sizes = shape.dim_sizes();
  const bool is_weight = is_written_out(proto) &&
                         is_weight_constant(dtype_of(proto.dtype()), {sizes.data(), sizes.size()});
  tf::Tensor tensor;
  if (!is_weight || !tensor.FromProto(proto)) return std::nullopt;
  return tensor;
}

// The nodes of a function whose values must be known at compile time; nothing if the analysis
// fails.
std::optional<std::set<std::string>> known_nodes(const tf::FunctionDef& function,
                                                 const tf::FunctionLibraryDefinition& library,
                                                 int graph_version) {
  std::unique_ptr<tf::FunctionBody> body;
  if (!tf::FunctionDefToBodyHelper(function, tf::AttrSlice(), &library, &body).ok()) return {};
  const tf::Graph& graph = *body->graph;
  std::vector<bool> compile_time(static_cast<std::size_t>(graph.num_node_ids()), false);
  if (!mark_compile_time(graph, library, graph_version, nullptr, &compile_time).ok()) return {};
  std::vector<const tf::Node*> deciding;
  for (const tf::Node* node : graph.op_nodes()) {
    const bool is_call = library.Find(node->type_string()) != nullptr;
    if (entry(compile_time, node->id()) || has_data_dependent_shape(node->type_string()) ||
        (!is_call && has_no_xla_kernel(node->def()))) {
      deciding.push_back(node);
    }
  }
  std::set<std::string> known;
  tf::ReverseDFSFrom(
      graph, deciding, [&](const tf::Node* node) { known.insert(node->name()); }, nullptr);
  return known;
}

// "predict" for "__inference_predict_57": the number differs between programs.
std::string own_name(std::string name) {
  constexpr std::string_view kStart = "__inference_";
  if (name.starts_with(kStart)) name.erase(0, kStart.size());
  const auto last = name.rfind('_');
  const bool is_numbered = last != std::string::npos && last > 0 && last + 1 < name.size() &&
                           name.find_first_not_of("0123456789", last + 1) == std::string::npos;
  return is_numbered ? name.substr(0, last) : name;
}

void make_call(tf::NodeDef& node, const tf::Tensor& value, std::size_t constant) {
  node.set_op(kCallOperation);
  node.mutable_attr()->erase("value");
  tf::AddNodeAttr(kTargetAttribute, constant_call(constant), &node);
  tf::AddNodeAttr("backend_config", "", &node);
  tf::AddNodeAttr("T", tf::DataTypeVector(), &node);
  tf::AddNodeAttr("shape", value.shape(), &node);
}

// Lifts the constants of all called functions, the signature's own among them. Constants stay where
// their values must be known at compile time: for shapes, or for operations that XLA does not
// compile.
Status lift_function_constants(SignatureFunction& function) {
  std::vector<tf::FunctionDef> changed;
  std::set<std::string> names;
  for (const WeightArgument& weight : function.weights) names.insert(weight.name);
  for (const std::string& name : called_functions(*function.library, function.name)) {
    tf::FunctionDef definition = *function.library->Find(name);
    std::optional<std::set<std::string>> known;
    const std::size_t before = function.constants.size();
    for (tf::NodeDef& node : *definition.mutable_node_def()) {
      auto value = large_value(node);
      if (!value) continue;
      if (!known) known = known_nodes(definition, *function.library, function.graph_version);
      if (!known) break;
      if (known->contains(node.name())) continue;
      make_call(node, *value, function.constants.size());
      const std::string place = name == function.name ? "" : own_name(name) + "/";
      const std::string wanted = place + node.name();
      std::string unused = wanted;
      for (int i = 2; !names.insert(unused).second; ++i) unused = fmt::format("{}_{}", wanted, i);
      function.constants.push_back({std::move(unused), stored(*std::move(value))});
    }
    if (function.constants.size() > before) changed.push_back(std::move(definition));
  }
  for (const tf::FunctionDef& definition : changed) {
    TFAOT_TRY(
        checked(function.library->ReplaceFunction(definition.signature().name(), definition)));
  }
  return {};
}

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

// Goes one step towards the origin of `name` in `function`. False: its node is the origin, or does
// not exist.
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
  const tf::AttrValue& call = attribute_of(*node, "f");
  const bool by_attribute = is_call(*node) && call.has_func();
  const tf::FunctionDef* const called =
      library.Find(by_attribute ? call.func().name() : node->op());
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
  return contains(function->node_def(), node, &tf::NodeDef::name) ? node : "";
}

struct Advice {
  std::string_view starts;  // of the operations' names
  const char* text;
};

// Advice for operations that cannot be compiled. The first match is used.
constexpr auto kInstead = std::to_array<Advice>({
    {"HashTable LookupTable MutableHashTable",
     "look up outside of the model and pass the numbers found"},
    {"PyFunc EagerPyFunc", "express the Python function with TensorFlow's operations"},
    {"Unique", "return fixed sizes: sort and compare neighbours, or do it outside"},
    {"Where", "return fixed sizes: select by a mask with tf.where(mask, a, b)"},
    {"NonMaxSuppression", "do it outside of the model, or use a fixed number of boxes"},
    {"CombinedNonMaxSuppression", "do it outside of the model"},
    {"DynamicPartition", "return fixed sizes: multiply by a mask for each part"},
    {"ListDiff", "return fixed sizes: compare and select by a mask"},
    {"ParseExample ParseSingleExample", "parse outside of the model and pass the tensors"},
    {"Decode", "decode outside of the model and pass the numbers"},
    {"ReadFile", "read outside of the model and pass the contents as numbers"},
    {"WriteFile", "write outside of the model: make it an output"},
    {"Print", "remove it before you export"},
    {"Sparse", "use dense tensors: tf.sparse.to_dense() before the model"},
    {"Ragged", "use dense tensors, padded to a fixed size"},
    {"String Unicode AsString", "pass numbers: strings cannot be compiled"},
    {"Random", "make the noise an input, or export for inference (training=False)"},
});

constexpr const char* kOutside =
    "do it outside of the model, or express it with operations that have a kernel";

const char* advice_on(const std::string& operation) {
  for (const Advice& one : kInstead) {
    for (const std::string_view start : absl::StrSplit(one.starts, ' ')) {
      if (operation.starts_with(start)) return one.text;
    }
  }
  return kOutside;
}

std::string advice_for(const CheckedOperation& row) {
  const char* const advice = advice_on(row.operation);
  switch (row.support) {
    case OperationSupport::kTypes:
      return "cast to an allowed type before it";
    case OperationSupport::kConstant:
      return advice + std::string("; constant inputs are fine");
    case OperationSupport::kRefused:
      return advice;
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
  return advice;
}

std::vector<OperationTrait> traits_of(const std::string& operation) {
  std::vector<OperationTrait> traits;
  if (draws_random_numbers(operation)) traits.push_back(OperationTrait::kDrawsRandomNumbers);
  if (writes_variable(operation)) traits.push_back(OperationTrait::kWritesState);
  if (calls_by_name(operation)) traits.push_back(OperationTrait::kCallsByName);
  if (has_data_dependent_shape(operation)) traits.push_back(OperationTrait::kDataDependentSize);
  return traits;
}

// Support for an operation that has no XLA kernel for any type.
OperationSupport support_without_kernel(const std::string& operation) {
  if (connects(operation)) return OperationSupport::kStructure;
  return is_pure(operation) ? OperationSupport::kConstant : OperationSupport::kRefused;
}

// Fills in everything that does not depend on a node.
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

// `known`: the support before types are considered.
OperationSupport support_of(const tf::NodeDef& node, OperationSupport known) {
  if (!has_no_xla_kernel(node)) {
    return kernels_of(node.op()).empty() ? OperationSupport::kStructure : known;
  }
  return known == OperationSupport::kKernel ? OperationSupport::kTypes : known;
}

void add_used_types(const tf::NodeDef& node, CheckedOperation& row) {
  for (CheckedType& type : row.types) {
    const tf::AttrValue& given = attribute_of(node, type.attribute);
    std::vector<int> values(given.list().type().begin(), given.list().type().end());
    if (given.type() != tf::DT_INVALID) values.push_back(given.type());
    for (const int value : values) add_new(type.used, type_name(static_cast<tf::DataType>(value)));
  }
}

using OperationRows = std::map<std::pair<std::string, OperationSupport>, CheckedOperation>;

// Adds the node to the row of its operation with the same support.
void add_to_row(const tf::NodeDef& bare, const std::string& function, OperationRows& rows) {
  const tf::NodeDef node = with_defaults(bare);
  CheckedOperation own = described(node.op());
  own.support = support_of(node, own.support);
  own.advice = advice_for(own);
  CheckedOperation& row = rows.try_emplace({node.op(), own.support}, own).first->second;
  row.nodes.push_back({node.name(), function});
  add_used_types(node, row);
}

// The nodes that the outputs need, except inputs and variables.
tf::GraphDef needed_part(const ModelGraph& model) {
  Nodes nodes = nodes_of(model.graph().node());
  for (const ModelTensor& input : model.inputs()) nodes.erase(node_name(input.tensor));
  auto needed = needed_by(nodes, mapped(model.outputs(), &ModelTensor::tensor));
  std::erase_if(needed, [](const tf::NodeDef* node) { return is_variable(*node); });
  return part_of(model.graph(), needed);
}

// The literal owns the tensor whose memory it uses.
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
    TFAOT_ASSIGN(LoweredModel lowered, wrap(compiled, batch_size));
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

  // Wraps XlaCompiler's computation in our own, where embedded weights become constants and the
  // function's constants replace their calls.
  Result<LoweredModel> wrap(const tf::XlaCompilationResult& compiled,
                            std::int64_t batch_size) const {
    xla::XlaBuilder builder(fmt::format("tfaot_bs{}", batch_size));
    TFAOT_ASSIGN(const auto made, parameters(builder, batch_size));
    const std::size_t inputs = inputs_.size();
    std::vector<xla::XlaOp> operands(made.begin(), made.begin() + std::ssize(inputs_));
    operands.resize(inputs + function_->weights.size());
    for (std::size_t i = 0; i < weight_parameters_.size(); ++i) {
      operands[inputs + weight_parameters_[i]] = made[inputs + i];
    }
    for (const int argument : compiled.input_mapping) {
      xla::XlaOp& operand = entry(operands, argument);
      if (operand.valid()) continue;
      const auto& weight = function_->weights[static_cast<std::size_t>(argument) - inputs];
      TFAOT_ASSIGN(const auto value, weight.value.read());
      xla::BorrowingLiteral literal;
      TFAOT_TRY(checked(tf::HostTensorToBorrowingLiteral(value, &literal)));
      operand = xla::ConstantLiteral(&builder, literal);
    }
    CalledConstants calls;
    for (const LiftedConstant& constant : function_->constants) {
      TFAOT_ASSIGN(calls.shapes.emplace_back(), shape_of_stored(constant.value));
    }
    calls.read = [this](std::size_t i) { return read_literal(function_->constants[i].value.read); };
    if (!weights_.empty()) calls.parameter = std::ssize(made) - std::ssize(calls.shapes);
    return calling(builder, compiled, operands, calls, model_->label());
  }

  SizeCauses size_causes() const {
    const auto nodes = find_nodes(
        *function_, [](const tf::NodeDef& node) { return has_data_dependent_shape(node.op()); });
    return {mapped(nodes, &BlamedNode::text), names_of(nodes)};
  }

  const ModelGraph* model_;
  const SignatureFunction* function_;
  std::vector<std::size_t> weight_parameters_;  // indices into SignatureFunction::weights
};

std::vector<Variable> variables_of(const SignatureFunction& function) {
  std::vector<Variable> variables;
  const auto add = [&](const std::string& name, const StoredTensor& value) {
    Variable variable{name, type_name(value.type), {}};
    for (const auto size : value.shape.dim_sizes()) variable.shape.push_back(size);
    variables.push_back(std::move(variable));
  };
  for (const auto& weight : function.weights) add(weight.name, weight.value);
  for (const auto& constant : function.constants) add(constant.name, constant.value);
  return variables;
}

// True if the node is a call that took the place of a constant.
bool is_lifted_constant(const tf::NodeDef& node) {
  return node.op() == kCallOperation &&
         constant_of_call(attribute_of(node, kTargetAttribute).s()).has_value();
}

// For each output, the name of the node that computes it, looking through calls and identities;
// empty if an input is passed through.
std::vector<std::string> origins_of_outputs(const SignatureFunction& function) {
  const tf::FunctionDef* const whole = function.library->Find(function.name);
  return mapped(whole->signature().output_arg(), [&](const auto& output) {
    const auto result = whole->ret().find(output.name());
    return result == whole->ret().end() ? "" : origin_of(*function.library, whole, result->second);
  });
}

// All nodes that the outputs need, down to the inputs and the variables. Sorted by operation.
std::vector<CheckedOperation> operation_table(const ModelGraph& model) {
  tf::GraphDef part = needed_part(model);
  // Drops nodes that no result needs. If this fails, all nodes are listed, and compiling reports
  // the reason.
  const GraphRules all = {[](const std::string&) { return true; },
                          [](const std::vector<BlamedNode>&) { return Error("refused"); }};
  static_cast<void>(make_safe(part, all));
  const Functions functions = functions_of(part.library());
  OperationRows by_support;
  const auto add = [&](const tf::NodeDef& node, const std::string& function) {
    if (!functions.contains(node.op())) add_to_row(node, function, by_support);
  };
  for (const auto& node : part.node()) add(node, "");
  for (const auto& function : part.library().function()) {
    for (const auto& node : function.node_def()) add(node, function.signature().name());
  }
  return mapped(by_support, &OperationRows::value_type::second);
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

// Operations with state that act on nothing but the session's own variables and arrays, or that
// call functions of the graph. Sorted. Before you add one, read its kernel.
constexpr std::string_view kActingInside =
    "Assert Case CheckNumerics DeviceIndex If ReadVariableOp ResourceGather ResourceGatherNd "
    "Stack StackClose StackCloseV2 StackPop StackPopV2 StackPush StackPushV2 StackV2 "
    "StatefulPartitionedCall StatelessRandomGetAlg TensorArrayCloseV3 TensorArrayConcatV3 "
    "TensorArrayGatherV3 TensorArrayGradV3 TensorArrayReadV3 TensorArrayScatterV3 "
    "TensorArraySizeV3 TensorArraySplitV3 TensorArrayV3 TensorArrayWriteV3 VarHandleOp "
    "VarIsInitializedOp Variable VariableShape VariableV2 While XlaCallModule";

bool runs_safely(const std::string& operation) {
  return is_pure(operation) || connects(operation) || draws_random_numbers(operation) ||
         is_listed(kActingInside, operation);
}

GraphRules rules_for_running(const std::string& label) {
  const auto refuse = [label](const std::vector<BlamedNode>& nodes) {
    Error error(fmt::format("{} cannot be run in TensorFlow's session: {} may do more than compute",
                            label, nodes.front().text));
    for (std::size_t i = 1; i < nodes.size(); ++i) error.note("and " + nodes[i].text);
    return error;
  };
  return {runs_safely, refuse};
}

}  // namespace

Result<SignatureFunction> make_signature_function(ModelGraph& model) {
  SignatureFunction function;
  TFAOT_ASSIGN(auto known, cut_function(model, {}, function));
  if (!known.empty()) TFAOT_TRY(cut_function(model, std::move(known), function));
  TFAOT_TRY(lift_function_constants(function));
  return function;
}

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

Result<std::unique_ptr<SourceModel>> load_graph_source(const JobModel& job) {
  TFAOT_ASSIGN(auto graph, ModelGraph::load(job));
  return std::make_unique<GraphSource>(std::move(graph));
}

std::vector<CheckedOperation> known_operations() {
  return mapped(operations_with_kernel(), [](const auto& name) { return described(name); });
}

Result<std::unique_ptr<ModelSession>> ModelSession::open(ModelGraph& model) {
  Cutter cutter(model, Cutter::kRunning);
  TFAOT_TRY(cutter.cut());
  TFAOT_TRY(make_safe(cutter.graph(), rules_for_running(model.label())));
  auto made = std::make_unique<ModelSession>();
  TFAOT_ASSIGN(made->session_, model.session(cutter.graph()));
  for (std::size_t i = 0; i < model.outputs().size(); ++i) made->outputs_.push_back(result_name(i));
  return made;
}

std::string ModelSession::name() const { return std::string("tensorflow ") + TF_VERSION_STRING; }

Result<std::vector<tf::Tensor>> ModelSession::run(const std::vector<tf::Tensor>& inputs,
                                                  std::chrono::seconds limit) {
  std::vector<std::pair<std::string, tf::Tensor>> fed;
  for (std::size_t i = 0; i < inputs.size(); ++i) fed.emplace_back(argument_name(i), inputs[i]);
  tf::RunOptions options;
  options.set_timeout_in_ms(std::chrono::milliseconds(limit).count());
  std::vector<tf::Tensor> outputs;
  const auto status = session_->Run(options, fed, outputs_, {}, &outputs, nullptr);
  if (status.ok()) return outputs;
  if (absl::IsDeadlineExceeded(status)) {
    return fail(Error(fmt::format("TensorFlow did not end within {} s", limit.count())));
  }
  return fail(Error(status_note(status)));
}

Result<std::unique_ptr<OriginalProgram>> load_session_program(const JobModel& job,
                                                              std::int64_t batch_size) {
  TFAOT_ASSIGN(auto model, ModelGraph::load(job));
  TFAOT_ASSIGN(const auto function, make_signature_function(*model));
  LoweringOptions options;
  options.fixed_shapes = job.fixed_shapes;
  TFAOT_ASSIGN(const auto lowering, make_graph_lowering(*model, function, options));
  TFAOT_ASSIGN(auto lowered, lowering->lower(batch_size));
  TFAOT_ASSIGN(auto session, ModelSession::open(*model));
  session->signature_ = {job.serving_key, std::move(lowered.inputs), std::move(lowered.outputs)};
  session->fixed_rows_ = job.fixed_shapes ? 1 : 0;
  for (const ModelTensor& input : model->inputs()) {
    if (!job.fixed_shapes)
      session->fixed_rows_ = std::max(session->fixed_rows_, input.shape.front());
  }
  return session;
}

}  // namespace tfaot::toolkit::engine
