// SPDX-License-Identifier: Apache-2.0
#include "front/graph/diagnosis.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <utility>

#include "tensorflow/compiler/tf2xla/xla_op_registry.h"
#include "tensorflow/core/framework/node_def_util.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tfaot/records/model_check.h"

namespace tfaot::toolkit::engine {
namespace {

namespace tf = tensorflow;

// Ops whose result sizes depend on values: TensorFlow's shape functions leave them unknown.
constexpr std::string_view kDataDependentOps =
    "Where Unique UniqueV2 UniqueWithCounts UniqueWithCountsV2 ListDiff DynamicPartition "
    "NonMaxSuppression NonMaxSuppressionV2 NonMaxSuppressionV3 NonMaxSuppressionV4 "
    "NonMaxSuppressionV5 SparseToDense";

// In the order of the attributes' names: a map of protobuf has none.
void collect_functions(const tf::NodeDef& node, std::deque<std::string>& queue) {
  std::map<std::string_view, const tf::AttrValue*> sorted;
  for (const auto& [key, attribute] : node.attr()) sorted[key] = &attribute;
  for (const auto& [key, attribute] : sorted) {
    if (attribute->has_func()) queue.push_back(attribute->func().name());
    for (const auto& function : attribute->list().func()) queue.push_back(function.name());
  }
  queue.push_back(node.op());  // a call by the function's own name
}

}  // namespace

std::string describe_node(const tf::NodeDef& node, const std::string& function) {
  const std::string op = shortened(node.op());
  const std::string name = shortened(node.name());
  if (function.empty()) return fmt::format("op '{}' (node '{}')", op, name);
  return fmt::format("op '{}' (node '{}' in function '{}')", op, name, shortened(function));
}

std::vector<std::string> called_functions(const tf::FunctionLibraryDefinition& library,
                                          const std::string& function) {
  std::vector<std::string> called;
  std::set<std::string> seen;
  std::deque<std::string> queue{function};
  while (!queue.empty()) {
    const std::string name = std::move(queue.front());
    queue.pop_front();
    const tf::FunctionDef* definition = library.Find(name);
    if (definition == nullptr || !seen.insert(name).second) continue;
    called.push_back(name);
    for (const auto& node : definition->node_def()) collect_functions(node, queue);
  }
  return called;
}

void visit_nodes(
    const SignatureFunction& function,
    const std::function<void(const tf::NodeDef&, const std::string& function)>& visit) {
  for (const std::string& name : called_functions(*function.library, function.name)) {
    for (const auto& node : function.library->Find(name)->node_def()) {
      const bool is_call = function.library->Find(node.op()) != nullptr;
      if (!is_call) visit(node, name == function.name ? "" : name);
    }
  }
}

std::vector<BlamedNode> find_nodes(const SignatureFunction& function,
                                   const std::function<bool(const tf::NodeDef&)>& wanted) {
  std::vector<BlamedNode> found;
  visit_nodes(function, [&](const tf::NodeDef& node, const std::string& holder) {
    if (!wanted(node)) return;
    const auto text = describe_node(node, holder);
    const bool is_known =
        std::ranges::any_of(found, [&](const BlamedNode& other) { return other.text == text; });
    if (!is_known) found.push_back({node.name(), text});
  });
  return found;
}

std::vector<std::string> names_of(const std::vector<BlamedNode>& nodes) {
  std::vector<std::string> names;
  for (const BlamedNode& node : nodes) names.push_back(node.name);
  return names;
}

std::vector<std::string> nodes_named_in(std::string_view message) {
  constexpr std::string_view kStart = "{{node ";
  constexpr std::string_view kEnd = "}}";
  std::vector<std::string> names;
  for (auto start = message.find(kStart); start != std::string_view::npos;
       start = message.find(kStart)) {
    message.remove_prefix(start + kStart.size());
    std::string name(message.substr(0, message.find(kEnd)));
    if (std::ranges::find(names, name) == names.end()) names.push_back(std::move(name));
  }
  return names;
}

Error no_kernel_for(const std::vector<BlamedNode>& nodes, const std::string& label) {
  Error error(fmt::format("XLA cannot compile {}: no kernel for {}", label, nodes.front().text));
  for (std::size_t i = 1; i < nodes.size(); ++i) error.note("nor for " + nodes[i].text);
  return std::move(
             error.note("do this part outside of the model, or express it with ops that XLA knows"))
      .about(word_of(ProblemKind::kNoKernel), names_of(nodes));
}

tf::NodeDef with_defaults(tf::NodeDef node) {
  const tf::OpDef* definition = nullptr;
  if (tf::OpRegistry::Global()->LookUpOpDef(node.op(), &definition).ok()) {
    tf::AddDefaultsToNodeDef(*definition, &node);
  }
  return node;
}

bool has_no_xla_kernel(const tf::NodeDef& node) {
  static const std::set<std::string_view> kCompiledWithoutKernel = {
      "PartitionedCall", "StatefulPartitionedCall", "_Arg", "_Retval", "NoOp", "Placeholder"};
  if (kCompiledWithoutKernel.contains(node.op())) return false;
  const auto has_kernel = [](const tf::NodeDef& one) {
    return tf::FindKernelDef(tf::DeviceType(tf::DEVICE_CPU_XLA_JIT), one, nullptr, nullptr).ok();
  };
  // Most nodes need no copy, which may hold a large constant.
  return !has_kernel(node) && !has_kernel(with_defaults(node));
}

bool has_data_dependent_shape(std::string_view operation) {
  return is_listed(kDataDependentOps, operation);
}

bool writes_variable(std::string_view op) {
  return (op.starts_with("Assign") && op.ends_with("VariableOp")) ||
         op.starts_with("ResourceScatter") || op.starts_with("ResourceApply") ||
         op.starts_with("ResourceStridedSliceAssign") || op == "Assign" || op == "AssignAdd" ||
         op == "AssignSub";
}

}  // namespace tfaot::toolkit::engine
