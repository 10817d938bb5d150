// SPDX-License-Identifier: Apache-2.0
#include "graph/operation_table.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "graph/diagnosis.h"
#include "graph/graph_nodes.h"
#include "graph/pure_operations.h"
#include "graph/restored_variables.h"
#include "graph/safe_graph.h"
#include "lowering/conversions.h"
#include "tensorflow/compiler/tf2xla/xla_op_registry.h"
#include "tensorflow/core/framework/kernel_def.pb.h"
#include "tensorflow/core/lib/core/errors.h"

namespace tfaot::toolkit::engine {
namespace {

namespace tf = tensorflow;

struct Advice {
  std::string_view start;  // of the operations' names
  const char* text;
};

// What to do instead of an operation that cannot be compiled; the first that fits counts.
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

// What is known without a node.
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
