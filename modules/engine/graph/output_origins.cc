// SPDX-License-Identifier: Apache-2.0
#include "graph/output_origins.h"

#include <algorithm>
#include <charconv>

namespace tfaot::toolkit::engine {
namespace {

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

}  // namespace

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

}  // namespace tfaot::toolkit::engine
