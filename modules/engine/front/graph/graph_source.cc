// SPDX-License-Identifier: Apache-2.0
#include "front/graph/graph_source.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "compiler/hlo/conversions.h"
#include "front/graph/diagnosis.h"
#include "front/graph/graph_lowering.h"
#include "front/graph/graph_nodes.h"
#include "front/graph/safe_graph.h"
#include "front/graph/variables.h"
#include "tensorflow/compiler/tf2xla/xla_op_registry.h"
#include "tensorflow/core/framework/kernel_def.pb.h"
#include "tensorflow/core/lib/core/errors.h"

namespace tfaot::toolkit::engine {
namespace {

class GraphSource final : public SourceModel {
 public:
  explicit GraphSource(std::unique_ptr<ModelGraph> graph) : graph_(std::move(graph)) {}

  const std::vector<ModelTensor>& inputs() const override { return graph_->inputs(); }
  const std::vector<ModelTensor>& outputs() const override { return graph_->outputs(); }
  std::vector<CheckedOperation> operations() const override { return operation_table(*graph_); }

  Status prepare() override {
    TFAOT_ASSIGN(function_, make_signature_function(*graph_));
    return {};
  }
  Result<std::unique_ptr<Lowering>> lowering(const LoweringOptions& options) const override {
    return GraphLowering::create(*graph_, function_, options);
  }
  std::vector<std::string> output_origins() const override {
    return engine::output_origins(function_);
  }
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

namespace tf = tensorflow;

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
  const bool is_call = node->op() == "PartitionedCall" || node->op() == "StatefulPartitionedCall";
  const tf::FunctionDef* const called =
      library.Find(is_call && call != node->attr().end() ? call->second.func().name() : node->op());
  if (called == nullptr) return false;
  const auto& results = called->signature().output_arg();
  if (is_call && output.index >= results.size()) return false;
  const auto result = called->ret().find(is_call ? results[output.index].name() : output.output);
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

}  // namespace

Result<std::unique_ptr<SourceModel>> load_graph_source(const EngineJob& job) {
  TFAOT_ASSIGN(auto graph, ModelGraph::load(job));
  return std::make_unique<GraphSource>(std::move(graph));
}

std::vector<std::string> output_origins(const SignatureFunction& function) {
  const tf::FunctionDef* const whole = function.library->Find(function.name);
  std::vector<std::string> origins;
  for (const auto& output : whole->signature().output_arg()) {
    const auto result = whole->ret().find(output.name());
    origins.push_back(
        result == whole->ret().end() ? "" : origin_of(*function.library, whole, result->second));
  }
  return origins;
}

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

std::vector<CheckedOperation> known_operations() {
  std::vector<CheckedOperation> rows;
  for (const std::string& name : operations_with_kernel()) rows.push_back(described(name));
  return rows;
}

}  // namespace tfaot::toolkit::engine
