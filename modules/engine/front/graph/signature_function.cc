// SPDX-License-Identifier: Apache-2.0
#include "front/graph/signature_function.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>
#include <optional>

#include "compiler/hlo/constant_calls.h"
#include "compiler/hlo/conversions.h"
#include "compiler/hlo/lowering.h"
#include "front/graph/diagnosis.h"
#include "front/graph/safe_graph.h"
#include "front/graph/variables.h"
#include "front/lowering/signature.h"
#include "tensorflow/compiler/tf2xla/const_analysis.h"
#include "tensorflow/compiler/tf2xla/functionalize_control_flow.h"
#include "tensorflow/compiler/tf2xla/xla_op_registry.h"
#include "tensorflow/core/common_runtime/function_body.h"
#include "tensorflow/core/common_runtime/function_def_utils.h"
#include "tensorflow/core/common_runtime/graph_constructor.h"
#include "tensorflow/core/common_runtime/process_function_library_runtime.h"
#include "tensorflow/core/framework/graph_to_functiondef.h"
#include "tensorflow/core/framework/node_def_util.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/graph/algorithm.h"
#include "tensorflow/core/graph/graph.h"
#include "tfaot/records/model_check.h"

namespace tfaot::toolkit::engine {
namespace {

namespace tf = tensorflow;

constexpr const char* kFunctionName = "tfaot_signature";
constexpr std::size_t kMostErrors = 100;
constexpr std::int64_t kMostConstantElements = std::int64_t{1} << 33;

// "node", "node:1" or "^node" as written in NodeDef::input.
struct TensorId {
  std::string node;
  int index = 0;
  bool is_control = false;

  static TensorId parse(const std::string& text) {
    if (text.starts_with('^')) return {text.substr(1), 0, true};
    const auto colon = text.rfind(':');
    if (colon == std::string::npos) return {text, 0, false};
    return {text.substr(0, colon), std::atoi(text.c_str() + colon + 1), false};
  }
  bool operator<(const TensorId& other) const {
    return std::tie(node, index) < std::tie(other.node, other.index);
  }
};

// A node that freezing leaves in place of reading a variable: "dense/bias/read" (TensorFlow 1),
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
  const auto type = node.attr().find("dtype");
  const auto value = node.attr().find("value");
  if (type == node.attr().end() || value == node.attr().end())
    return false;  // TensorFlow reports it
  const tf::DataType dtype = value->second.tensor().dtype();
  if (type->second.type() != dtype) return false;
  if (dtype != tf::DT_FLOAT && dtype != tf::DT_DOUBLE) return false;
  const auto& shape = value->second.tensor().tensor_shape();
  for (const auto& dimension : shape.dim()) {
    if (dimension.size() == 0) return false;
  }
  return shape.dim_size() > 0 || is_read_as_variable;
}

// Cuts the subgraph out, replaces inputs and weights by _Arg nodes and ends it in _Retval nodes.
class Cutter {
 public:
  // `kept`: constants that stay constants.
  Cutter(ModelGraph& model, std::set<std::string> kept) : model_(model), kept_(std::move(kept)) {
    for (const auto& node : model.graph().node()) {
      nodes_[node.name()] = &node;
      if (was_variable_read(node) && node.input_size() > 0) {
        read_as_variables_.insert(TensorId::parse(node.input(0)).node);
      }
    }
    *cut_.mutable_versions() = model.graph().versions();
    *cut_.mutable_library() = model.graph().library();
  }

  Status cut() {
    for (const auto& input : model_.inputs())
      add_argument(TensorId::parse(input.tensor), input.type);
    std::deque<std::string> queue;
    for (const auto& output : model_.outputs()) {
      const auto id = TensorId::parse(output.tensor);
      if (!arguments_.contains(id)) queue.push_back(id.node);
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
    if (is_variable(node)) return add_weight(node);
    if (!kept_.contains(name) && may_be_weight(node, read_as_variables_.contains(name))) {
      return add_constant(node);
    }
    if (node.op() == "Placeholder") {
      return fail(
          Error(fmt::format("{} depends on placeholder '{}', which is not one of its inputs",
                            model_.label(), name))
              .note(advice_to_fix(name, node.attr().contains("dtype")
                                            ? node.attr().at("dtype").type()
                                            : tf::DT_INVALID))
              .about(word_of(ProblemKind::kModel), {name}));
    }
    tf::NodeDef* copy = cut_.add_node();
    *copy = node;
    copy->clear_device();
    for (const auto& input : node.input()) {
      const auto id = TensorId::parse(input);
      if (id.is_control ? !fed_nodes_.contains(id.node) : !arguments_.contains(id)) {
        queue.push_back(id.node);
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
    const std::string name = fmt::format("tfaot_argument_{}", arguments_.size());
    tf::NodeDef* argument = cut_.add_node();
    argument->set_name(name);
    argument->set_op("_Arg");
    tf::AddNodeAttr("T", type, argument);
    tf::AddNodeAttr("index", static_cast<std::int64_t>(arguments_.size()), argument);
    arguments_[id] = name;
    fed_nodes_.insert(id.node);
  }

  void add_result(const ModelTensor& output) {
    tf::NodeDef* result = cut_.add_node();
    result->set_name(fmt::format("tfaot_result_{}", result_count_));
    result->set_op("_Retval");
    tf::AddNodeAttr("T", output.type, result);
    tf::AddNodeAttr("index", result_count_++, result);
    result->add_input(output.tensor);
    rewrite_inputs(*result);
  }

  void rewrite_inputs(tf::NodeDef& node) const {
    std::vector<std::string> inputs;
    for (const auto& input : node.input()) {
      const auto id = TensorId::parse(input);
      const auto argument = arguments_.find(id);
      if (!id.is_control && argument != arguments_.end()) {
        inputs.push_back(argument->second);
      } else if (!id.is_control || seen_and_kept(id.node)) {
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
  std::set<std::string> kept_;
  std::map<std::string, const tf::NodeDef*> nodes_;
  std::set<std::string> read_as_variables_;
  tf::GraphDef cut_;
  std::map<TensorId, std::string> arguments_;
  std::set<std::string> fed_nodes_;
  std::set<std::string> seen_;
  std::vector<WeightArgument> weights_;
  std::int64_t result_count_ = 0;
};

// TensorFlow 1 loops and conditions (Enter, Switch, ...) become functional ones.
bool has_unstructured_control_flow(const tf::Graph& graph) {
  for (const tf::Node* node : graph.op_nodes()) {
    if (node->IsControlFlow()) return true;
  }
  return false;
}

// TensorFlow may compute ahead only operations that XLA compiles, and a few more, such as those on
// strings.
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

// A function being built, and which of its weights XLA must know at compile time: shapes, axes,
// ranges and the values they are computed from.
struct CutFunction {
  SignatureFunction function;
  std::set<std::string> compile_time_weights;
};

Result<std::set<std::string>> compile_time_weights(const tf::Graph& graph,
                                                   const SignatureFunction& function,
                                                   std::size_t input_count) {
  const bool all_variables =
      std::all_of(function.weights.begin(), function.weights.end(),
                  [](const WeightArgument& weight) { return weight.is_resource; });
  if (all_variables) return std::set<std::string>();
  tf::XlaOpRegistry::RegisterCompilationKernels();
  const tf::ProcessFunctionLibraryRuntime runtimes(nullptr, tf::Env::Default(), nullptr,
                                                   function.graph_version, function.library.get(),
                                                   tf::OptimizerOptions());
  std::vector<bool> needed(input_count + function.weights.size(), false);
  const auto status = tf::BackwardsConstAnalysis(
      graph, &needed, nullptr,
      runtimes.GetFLR(tf::ProcessFunctionLibraryRuntime::kDefaultFLRDevice));
  if (!status.ok()) return fail(error_of(status, "the graph cannot be checked"));
  std::set<std::string> names;
  for (std::size_t i = 0; i < function.weights.size(); ++i) {
    if (needed[input_count + i]) names.insert(function.weights[i].name);
  }
  return names;
}

Result<CutFunction> cut_function(ModelGraph& model, std::set<std::string> kept_constants) {
  TFAOT_ASSIGN(CutGraph cut, cut_graph(model, std::move(kept_constants)));

  CutFunction made;
  SignatureFunction& function = made.function;
  function.name = kFunctionName;
  function.weights = std::move(cut.weights);
  function.graph_version = cut.graph.versions().producer();
  function.library = std::make_unique<tf::FunctionLibraryDefinition>(tf::OpRegistry::Global(),
                                                                     cut.graph.library());
  const std::string what =
      fmt::format("{} is not a graph that TensorFlow 2.18 can read", model.label());
  tf::Graph graph(*function.library);
  tf::GraphConstructorOptions options;
  options.allow_internal_ops = true;
  auto status = tf::ConvertGraphDefToGraph(options, cut.graph, &graph);
  if (!status.ok()) return fail(error_of(status, what));
  if (has_unstructured_control_flow(graph)) {
    status = tf::FunctionalizeControlFlow(&graph, function.library.get());
    if (!status.ok()) return fail(error_of(status, what));
  }
  TFAOT_ASSIGN(made.compile_time_weights,
               compile_time_weights(graph, function, model.inputs().size()));
  tf::FunctionDef definition;
  status = tf::GraphToFunctionDef(graph, function.name, &definition);
  if (status.ok()) status = function.library->AddFunctionDef(definition);
  if (!status.ok()) return fail(error_of(status, what));
  return made;
}

constexpr const char* kCallOperation = "XlaCustomCall";
constexpr const char* kTargetAttribute = "target_name";

// A single number for all elements is a formula, such as tf.zeros().
bool is_written_out(const tf::TensorProto& value) {
  return !value.tensor_content().empty() ||
         value.float_val_size() + value.double_val_size() + value.int_val_size() +
                 value.int64_val_size() + value.uint32_val_size() + value.uint64_val_size() +
                 value.half_val_size() + value.bool_val_size() >
             1;
}

std::optional<tf::Tensor> large_value(const tf::NodeDef& node) {
  if (node.op() != "Const") return std::nullopt;
  const auto value = node.attr().find("value");
  if (value == node.attr().end()) return std::nullopt;
  const tf::TensorProto& proto = value->second.tensor();
  tf::TensorShape shape;
  if (!tf::TensorShape::BuildTensorShape(proto.tensor_shape(), &shape).ok()) return std::nullopt;
  const auto sizes = shape.dim_sizes();
  const bool is_weight = is_written_out(proto) &&
                         is_weight_constant(dtype_of(proto.dtype()), {sizes.data(), sizes.size()});
  tf::Tensor tensor;
  if (!is_weight || !tensor.FromProto(proto)) return std::nullopt;
  return tensor;
}

// The nodes of a function whose values must be known while compiling.
class KnownNodes {
 public:
  KnownNodes(const tf::FunctionLibraryDefinition& library, int graph_version)
      : library_(library),
        runtimes_(nullptr, tf::Env::Default(), nullptr, graph_version, &library,
                  tf::OptimizerOptions()) {}

  // Nothing if TensorFlow cannot say.
  std::optional<std::set<std::string>> of(const tf::FunctionDef& function) const {
    std::unique_ptr<tf::FunctionBody> body;
    if (!tf::FunctionDefToBodyHelper(function, tf::AttrSlice(), &library_, &body).ok()) {
      return std::nullopt;
    }
    const tf::Graph& graph = *body->graph;
    std::vector<bool> compile_time(static_cast<std::size_t>(graph.num_node_ids()), false);
    const auto status = tf::BackwardsConstAnalysis(
        graph, nullptr, &compile_time,
        runtimes_.GetFLR(tf::ProcessFunctionLibraryRuntime::kDefaultFLRDevice));
    if (!status.ok()) return std::nullopt;
    std::vector<const tf::Node*> deciding;
    for (const tf::Node* node : graph.op_nodes()) {
      const bool is_call = library_.Find(node->type_string()) != nullptr;
      if (compile_time[static_cast<std::size_t>(node->id())] ||
          has_data_dependent_shape(node->type_string()) ||
          (!is_call && has_no_xla_kernel(node->def()))) {
        deciding.push_back(node);
      }
    }
    std::set<std::string> known;
    tf::ReverseDFSFrom(
        graph, deciding, [&](const tf::Node* node) { known.insert(node->name()); }, nullptr);
    return known;
  }

 private:
  const tf::FunctionLibraryDefinition& library_;
  tf::ProcessFunctionLibraryRuntime runtimes_;
};

// "predict" of "__inference_predict_57": the number is another one in each program.
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

// Lifts constants of all functions that are called; the signature's own is already in the library.
// Constants stay that must be known while compiling: for shapes, or for operations that XLA does
// not compile.
Status lift_function_constants(SignatureFunction& function) {
  tf::XlaOpRegistry::RegisterCompilationKernels();
  std::vector<tf::FunctionDef> changed;
  std::set<std::string> names;
  for (const WeightArgument& weight : function.weights) names.insert(weight.name);
  const KnownNodes known_nodes(*function.library, function.graph_version);
  for (const std::string& name : called_functions(*function.library, function.name)) {
    tf::FunctionDef definition = *function.library->Find(name);
    std::optional<std::set<std::string>> known;
    const std::size_t before = function.constants.size();
    for (tf::NodeDef& node : *definition.mutable_node_def()) {
      auto value = large_value(node);
      if (!value) continue;
      if (!known) known = known_nodes.of(definition);
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
    const auto status =
        function.library->ReplaceFunction(definition.signature().name(), definition);
    if (!status.ok()) return fail(Error::internal(std::string(status.message())));
  }
  return {};
}

}  // namespace

Result<CutGraph> cut_graph(ModelGraph& model, std::set<std::string> kept_constants) {
  Cutter cutter(model, std::move(kept_constants));
  TFAOT_TRY(cutter.cut());
  TFAOT_TRY(make_safe(cutter.graph(), rules_for(model.label())));
  return CutGraph{std::move(cutter.graph()), std::move(cutter.weights())};
}

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

Result<SignatureFunction> make_signature_function(ModelGraph& model) {
  TFAOT_ASSIGN(CutFunction made, cut_function(model, {}));
  if (!made.compile_time_weights.empty()) {
    TFAOT_ASSIGN(made, cut_function(model, std::move(made.compile_time_weights)));
  }
  TFAOT_TRY(lift_function_constants(made.function));
  return std::move(made.function);
}

bool is_lifted_constant(const tf::NodeDef& node) {
  if (node.op() != kCallOperation) return false;
  const auto target = node.attr().find(kTargetAttribute);
  return target != node.attr().end() && constant_of_call(target->second.s()).has_value();
}

}  // namespace tfaot::toolkit::engine
