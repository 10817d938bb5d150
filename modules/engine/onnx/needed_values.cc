// SPDX-License-Identifier: Apache-2.0
#include "onnx/needed_values.h"

#include <algorithm>

#include "onnx/operators.h"

namespace tfaot::toolkit::engine {
namespace {

using onnx::NodeProto;
using Names = std::set<std::string>;

class Marking {
 public:
  // What makes a setting is not marked: it may have weights.
  Marking(const OnnxModel& model, Names& settings) : model_(model), settings_(settings) {}

  // From the last node to the first: what makes a marked value is marked too.
  template <typename Nodes>
  void visit(const Nodes& nodes, Names& marked) const {
    for (auto node = nodes.rbegin(); node != nodes.rend(); ++node) visit_node(*node, marked);
  }

 private:
  void visit_node(const NodeProto& node, Names& marked) const {
    bool is_marked = false;
    for (const std::string& made : node.output()) is_marked = is_marked || marked.count(made) > 0;
    for (const auto& attribute : node.attribute()) {
      if (!attribute.has_g()) continue;
      if (is_marked) {
        for (const auto& output : attribute.g().output()) marked.insert(output.name());
      }
      visit(attribute.g().node(), marked);
      visit_steps(node, attribute.g(), marked);
    }
    if (const auto* const function = function_of(model_, node)) {
      return visit_call(node, *function, marked);
    }
    const std::string domain = plain_domain(node.domain());
    const bool needs_only_shapes =
        domain.empty() && (node.op_type() == "Shape" || node.op_type() == "Size");
    if (needs_only_shapes) return;
    if (is_marked) marked.insert(node.input().begin(), node.input().end());
    mark_epsilon(node, domain);
    const OnnxOperator* const row = find_operator(domain, node.op_type());
    if (row == nullptr) return;
    for (const int operand : row->known) {
      if (operand < node.input_size()) marked.insert(node.input(operand));
    }
    for (const int operand : row->settings) {
      if (operand < node.input_size()) settings_.insert(node.input(operand));
    }
  }

  // A number that is added under a root keeps it from 0: exporters write normalisations so.
  void mark_epsilon(const NodeProto& node, const std::string& domain) const {
    if (!domain.empty() || node.input_size() == 0 || node.output_size() == 0) return;
    if (node.op_type() == "Sqrt") under_roots_.insert(node.input(0));
    if (node.op_type() == "Add" && under_roots_.count(node.output(0)) > 0) {
      settings_.insert(node.input().begin(), node.input().end());
    }
  }

  // A Loop's inputs are those of its graph, and each output of one step is an input of the next:
  // the condition comes first, and before it the inputs have the number of the step.
  void visit_steps(const NodeProto& node, const onnx::GraphProto& graph, Names& marked) const {
    const int before = node.op_type() == "Loop" ? 1 : 0;
    for (int i = 0; i < graph.input_size() && i < node.input_size(); ++i) {
      if (marked.count(graph.input(i).name()) == 0) continue;
      marked.insert(node.input(i));
      if (i >= before && i - before < graph.output_size()) {
        marked.insert(graph.output(i - before).name());
      }
    }
    visit(graph.node(), marked);
  }

  void visit_call(const NodeProto& call, const onnx::FunctionProto& function, Names& marked) const {
    Names inside;
    for (int i = 0; i < function.output_size() && i < call.output_size(); ++i) {
      if (marked.count(call.output(i)) > 0) inside.insert(function.output(i));
    }
    visit(function.node(), inside);
    for (int i = 0; i < function.input_size() && i < call.input_size(); ++i) {
      if (inside.count(function.input(i)) > 0) marked.insert(call.input(i));
    }
  }

  const OnnxModel& model_;
  Names& settings_;
  mutable Names under_roots_;
};

}  // namespace

Names needed_values(const OnnxModel& model, const onnx::GraphProto& graph) {
  Names marked;
  Names settings;
  Marking(model, settings).visit(graph.node(), marked);
  for (const auto& initializer : graph.initializer()) {
    const auto& sizes = initializer.dims();
    const bool is_number =
        std::all_of(sizes.begin(), sizes.end(), [](auto size) { return size == 1; });
    if (is_number && settings.count(initializer.name()) > 0) marked.insert(initializer.name());
  }
  marked.erase("");
  return marked;
}

}  // namespace tfaot::toolkit::engine
