// SPDX-License-Identifier: Apache-2.0
#include "signature_function.h"

#include <fmt/format.h>

#include <deque>
#include <map>
#include <set>

#include "conversions.h"
#include "tensorflow/compiler/tf2xla/functionalize_control_flow.h"
#include "tensorflow/core/common_runtime/graph_constructor.h"
#include "tensorflow/core/framework/graph_to_functiondef.h"
#include "tensorflow/core/framework/node_def_util.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/graph/graph.h"

namespace tfaot::engine {
namespace {

namespace tf = tensorflow;

constexpr const char* kFunctionName = "tfaot_signature";
// Floating-point constants of at least this many elements count as weights. Smaller ones may be
// what an op needs to know at compile time, and cost nothing in the code.
constexpr std::int64_t kMinWeightElements = 32;

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

bool is_variable(const tf::NodeDef& node) {
  return node.op() == "VarHandleOp" || node.op() == "VariableV2" || node.op() == "Variable";
}

bool is_large_constant(const tf::NodeDef& node) {
  if (node.op() != "Const") return false;
  const auto type = node.attr().at("dtype").type();
  if (type != tf::DT_FLOAT && type != tf::DT_DOUBLE) return false;
  std::int64_t elements = 1;
  for (const auto& d : node.attr().at("value").tensor().tensor_shape().dim()) elements *= d.size();
  return elements >= kMinWeightElements;
}

// Cuts the subgraph out, replaces inputs and weights by _Arg nodes and ends it in _Retval nodes.
class Cutter {
 public:
  explicit Cutter(const ModelGraph& model) : model_(model) {
    for (const auto& node : model.graph().node()) nodes_[node.name()] = &node;
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
    while (!queue.empty()) {
      const std::string name = std::move(queue.front());
      queue.pop_front();
      if (!seen_.insert(name).second) continue;
      TFAOT_TRY(visit(name, queue));
    }
    // References are rewritten last: only now all arguments are known.
    for (auto& node : *cut_.mutable_node()) rewrite_inputs(node);
    for (const auto& output : model_.outputs()) add_result(output);
    return {};
  }

  const tf::GraphDef& graph() const { return cut_; }
  std::vector<WeightArgument>& weights() { return weights_; }

 private:
  Status visit(const std::string& name, std::deque<std::string>& queue) {
    const auto found = nodes_.find(name);
    if (found == nodes_.end()) {
      return fail(
          Error(fmt::format("the graph has no node '{}', although another names it", name)));
    }
    const tf::NodeDef& node = *found->second;
    if (is_variable(node)) return add_weight(node);
    if (is_large_constant(node)) return add_constant(node);
    if (node.op() == "Placeholder") {
      return fail(Error(fmt::format("{} depends on placeholder '{}', which is none of its inputs",
                                    model_.label(), name)));
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
    add_argument({node.name(), 0}, is_resource ? tf::DT_RESOURCE : value.dtype());
    weights_.push_back({node.name(), std::move(value), is_resource});
    return {};
  }

  Status add_constant(const tf::NodeDef& node) {
    tf::Tensor value;
    if (!value.FromProto(node.attr().at("value").tensor())) {
      return fail(Error(fmt::format("constant '{}' has a broken value", node.name())));
    }
    add_argument({node.name(), 0}, value.dtype());
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

  void add_result(const GraphTensor& output) {
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

  // Control edges out of what became an argument are dropped: an argument is always there.
  bool seen_and_kept(const std::string& node) const {
    return seen_.contains(node) && !fed_nodes_.contains(node);
  }

  const ModelGraph& model_;
  std::map<std::string, const tf::NodeDef*> nodes_;
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

}  // namespace

Result<SignatureFunction> make_signature_function(const ModelGraph& model) {
  Cutter cutter(model);
  TFAOT_TRY(cutter.cut());

  SignatureFunction function;
  function.name = kFunctionName;
  function.weights = std::move(cutter.weights());
  function.graph_version = cutter.graph().versions().producer();
  function.library = std::make_unique<tf::FunctionLibraryDefinition>(tf::OpRegistry::Global(),
                                                                     cutter.graph().library());
  const std::string what =
      fmt::format("{} is not a graph that TensorFlow 2.18 can read", model.label());
  tf::Graph graph(*function.library);
  tf::GraphConstructorOptions options;
  options.allow_internal_ops = true;
  auto status = tf::ConvertGraphDefToGraph(options, cutter.graph(), &graph);
  if (!status.ok()) return fail(error_of(status, what));
  if (has_unstructured_control_flow(graph)) {
    status = tf::FunctionalizeControlFlow(&graph, function.library.get());
    if (!status.ok()) return fail(error_of(status, what));
  }
  tf::FunctionDef definition;
  status = tf::GraphToFunctionDef(graph, function.name, &definition);
  if (status.ok()) status = function.library->AddFunctionDef(definition);
  if (!status.ok()) return fail(error_of(status, what));
  return function;
}

}  // namespace tfaot::engine
