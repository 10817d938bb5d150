// SPDX-License-Identifier: Apache-2.0
#include "graph/loading_graph.h"

#include <fmt/format.h>

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
#include "tfaot/records/model_check.h"

namespace tfaot::toolkit::engine {
namespace {

namespace tf = tensorflow;

// Allowed in addition to operations that compute: variables, the checkpoint, and calls of functions
// that are checked too.
constexpr std::array<std::string_view, 21> kLoading = {"Assign",
                                                       "AssignAdd",
                                                       "AssignAddVariableOp",
                                                       "AssignSub",
                                                       "AssignSubVariableOp",
                                                       "AssignVariableOp",
                                                       "Case",
                                                       "If",
                                                       "IsVariableInitialized",
                                                       "Merge",
                                                       "Placeholder",
                                                       "PlaceholderV2",
                                                       "ReadVariableOp",
                                                       "RestoreV2",
                                                       "StatefulPartitionedCall",
                                                       "Switch",
                                                       "VarHandleOp",
                                                       "VarIsInitializedOp",
                                                       "Variable",
                                                       "VariableV2",
                                                       "While"};
static_assert(std::is_sorted(kLoading.begin(), kLoading.end()));

GraphRules rules() {
  const auto allows = [](const std::string& operation) {
    return is_pure(operation) || std::binary_search(kLoading.begin(), kLoading.end(), operation);
  };
  const auto refuse = [](const std::vector<BlamedNode>& nodes) {
    Error error(fmt::format("loading the model's variables would run {}", nodes.front().text));
    for (std::size_t i = 1; i < nodes.size(); ++i) error.note("and " + nodes[i].text);
    return std::move(error)
        .note(
            "tfaot runs only operations of TensorFlow that compute and do nothing else: others "
            "may read and write files")
        .note("save the model again, with the values of its variables in it")
        .about(word_of(ProblemKind::kNoKernel), names_of(nodes));
  };
  return {allows, refuse};
}

// Operations that pass variables on: those that write them, and calls of functions that do.
std::vector<std::string> operations_on_variables(const Nodes& nodes, const std::string& target) {
  std::vector<std::string> found;
  for (const auto* node : needed_by(nodes, target)) {
    const bool takes_one =
        std::any_of(node->input().begin(), node->input().end(), [&](const std::string& input) {
          const auto* from = find_node(nodes, input);
          return !input.starts_with('^') && from != nullptr && is_variable(*from);
        });
    if (takes_one) found.push_back(node->name());
  }
  std::sort(found.begin(), found.end());
  return found;
}

// Follows the checkpoint's path to the operations that read files.
class Files {
 public:
  Files(const tf::GraphDef& graph, std::string path_node) {
    for (const auto& function : graph.library().function()) {
      functions_[function.signature().name()] = &function;
    }
    visit(nodes_of(graph.node()), {std::move(path_node)}, "");
  }

  // Nodes that read another file.
  const std::vector<std::string>& others() const { return others_; }

 private:
  using Names = std::set<std::string>;

  static bool is_path(const Nodes& nodes, const Names& paths, std::string input) {
    for (std::size_t i = 0; i <= nodes.size(); ++i) {  // a graph may refer to itself
      if (paths.contains(node_name(input))) return true;
      const auto* node = find_node(nodes, input);
      if (node == nullptr || node->op() != "Identity" || node->input_size() == 0) return false;
      input = node->input(0);
    }
    return false;
  }

  // `paths`: nodes and arguments that hold the path.
  void visit(const Nodes& nodes, const Names& paths, const std::string& function) {
    for (const auto& [name, node] : nodes) {
      if (node->op() == "RestoreV2" &&
          (node->input_size() == 0 || !is_path(nodes, paths, node->input(0)))) {
        others_.push_back(describe_node(*node, function));
      }
      visit_calls(nodes, paths, *node);
    }
  }

  void visit_calls(const Nodes& nodes, const Names& paths, const tf::NodeDef& node) {
    visit_call(nodes, paths, node, node.op());
    const bool is_call = node.op() == "StatefulPartitionedCall" || node.op() == "PartitionedCall";
    for (const auto& [key, attribute] : node.attr()) {
      // Loops and branches number their arguments differently: none of them is the path.
      if (attribute.has_func()) {
        visit_call(nodes, is_call ? paths : Names(), node, attribute.func().name());
      }
      for (const auto& one : attribute.list().func()) visit_call(nodes, {}, node, one.name());
    }
  }

  void visit_call(const Nodes& nodes, const Names& paths, const tf::NodeDef& node,
                  const std::string& name) {
    const auto found = functions_.find(name);
    if (found == functions_.end()) return;
    const tf::FunctionDef& function = *found->second;
    Names handed_on;
    for (int i = 0; i < function.signature().input_arg_size() && i < node.input_size(); ++i) {
      if (!paths.empty() && is_path(nodes, paths, node.input(i))) {
        handed_on.insert(function.signature().input_arg(i).name());
      }
    }
    if (!seen_.emplace(name, handed_on).second) return;
    visit(nodes_of(function.node_def()), handed_on, name);
  }

  std::map<std::string, const tf::FunctionDef*> functions_;
  std::set<std::pair<std::string, Names>> seen_;
  std::vector<std::string> others_;
};

}  // namespace

Result<LoadingGraph> loading_graph(const tf::MetaGraphDef& model, const tf::GraphDef& whole) {
  const Nodes nodes = nodes_of(whole.node());
  LoadingGraph loading;
  loading.restore = operations_on_variables(nodes, model.saver_def().restore_op_name());
  for (const auto& name : init_operations(model)) {
    for (auto& operation : operations_on_variables(nodes, name)) {
      loading.initialize.push_back(std::move(operation));
    }
  }
  std::set<const tf::NodeDef*> kept;
  for (const auto* list : {&loading.restore, &loading.initialize}) {
    for (const auto& name : *list) {
      for (const auto* node : needed_by(nodes, name)) kept.insert(node);
    }
  }
  tf::GraphDef& graph = loading.graph;
  *graph.mutable_versions() = whole.versions();
  *graph.mutable_library() = whole.library();
  for (const auto& node : whole.node()) {
    if (kept.contains(&node)) *graph.add_node() = node;
  }
  TFAOT_TRY(make_safe(graph, rules()));
  const std::string path = node_name(model.saver_def().filename_tensor_name());
  const Files files(graph, path);
  if (!files.others().empty()) {
    return fail(Error(fmt::format("{} reads another file than the model's variables",
                                  files.others().front()))
                    .note("save the model again, with the values of its variables in it"));
  }
  const auto* path_node = find_node(nodes, path);
  if (kept.contains(path_node)) loading.file_tensor = model.saver_def().filename_tensor_name();
  return loading;
}

}  // namespace tfaot::toolkit::engine
