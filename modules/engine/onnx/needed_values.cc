// SPDX-License-Identifier: Apache-2.0
#include "onnx/needed_values.h"

#include <algorithm>

#include "lowering/conversions.h"
#include "lowering/weight_rule.h"
#include "onnx/onnx_tensor.h"
#include "onnx/operators.h"

namespace tfaot::toolkit::engine {
namespace {

using onnx::NodeProto;
using Names = std::set<std::string>;

bool needs_only_shapes(const NodeProto& node) {
  return plain_domain(node.domain()).empty() &&
         (node.op_type() == "Shape" || node.op_type() == "Size");
}

// A Loop's inputs are those of its graph, and each output of one step is an input of the next: the
// condition comes first, and before it the inputs have the number of the step.
int inputs_before_outputs(const NodeProto& node) { return node.op_type() == "Loop" ? 1 : 0; }

// Adds the names of values that depend on data of the names in it, from the first node to the last.
template <typename Nodes>
void follow_data(const Nodes& nodes, Names& varying) {
  for (const NodeProto& node : nodes) {
    if (needs_only_shapes(node)) continue;
    const Names read = names_read_by(node);
    if (std::ranges::none_of(read, [&](const auto& name) { return varying.contains(name); })) {
      continue;
    }
    for (const auto& attribute : node.attribute()) {
      if (!attribute.has_g()) continue;
      const auto& inputs = attribute.g().input();
      for (int i = inputs_before_outputs(node); i < inputs.size(); ++i) {
        varying.insert(inputs[i].name());
      }
      follow_data(attribute.g().node(), varying);
    }
    varying.insert(node.output().begin(), node.output().end());
  }
  varying.erase("");
}

// The values of a graph or a function, and of the graphs inside of its nodes, by name.
struct Values {
  Names varying;  // depend on data of inputs
  Names known;    // must be known while compiling
  Names better;   // make better code if they are known, but depend on data of inputs

  std::size_t marked() const { return known.size() + better.size(); }
};

class Marking {
 public:
  // What makes a setting is not marked: it may have weights.
  Marking(const OnnxModel& model, Names& settings) : model_(model), settings_(settings) {}

  // From the last node to the first: what makes a marked value is marked too.
  template <typename Nodes>
  void visit(const Nodes& nodes, Values& values) const {
    for (auto node = nodes.rbegin(); node != nodes.rend(); ++node) visit_node(*node, values);
  }

 private:
  template <typename Given, typename Marked>
  static bool any_in(const Given& given, const Marked& marked) {
    return std::ranges::any_of(given, [&](const auto& name) { return marked.contains(name); });
  }

  void visit_node(const NodeProto& node, Values& values) const {
    const bool is_known = any_in(node.output(), values.known);
    const bool is_better = any_in(node.output(), values.better);
    for (const auto& attribute : node.attribute()) {
      if (!attribute.has_g()) continue;
      for (const auto& output : attribute.g().output()) {
        if (is_known) values.known.insert(output.name());
        if (is_better) values.better.insert(output.name());
      }
      visit_steps(node, attribute.g(), values);
    }
    if (const auto* const function = function_of(model_, node)) {
      return visit_call(node, *function, values);
    }
    if (needs_only_shapes(node)) return;
    if (is_known) values.known.insert(node.input().begin(), node.input().end());
    if (is_better) values.better.insert(node.input().begin(), node.input().end());
    mark_epsilon(node);
    const OnnxOperator* const row = find_operator(plain_domain(node.domain()), node.op_type());
    if (row == nullptr) return;
    const auto add = [&node](const std::vector<int>& operands, const auto& to) {
      for (const int operand : operands) {
        if (operand < node.input_size()) to(node.input(operand));
      }
    };
    add(row->known, [&](const std::string& name) { values.known.insert(name); });
    add(row->settings, [&](const std::string& name) { settings_.insert(name); });
    add(row->better_known, [&](const std::string& name) {
      (values.varying.contains(name) ? values.better : values.known).insert(name);
    });
  }

  // A number that is added under a root keeps it from 0: exporters write normalisations so.
  void mark_epsilon(const NodeProto& node) const {
    const bool is_own = plain_domain(node.domain()).empty();
    if (!is_own || node.input_size() == 0 || node.output_size() == 0) return;
    if (node.op_type() == "Sqrt") under_roots_.insert(node.input(0));
    if (node.op_type() == "Add" && under_roots_.contains(node.output(0))) {
      settings_.insert(node.input().begin(), node.input().end());
    }
  }

  // Again until nothing new is marked: what one step makes, the next one reads.
  void visit_steps(const NodeProto& node, const onnx::GraphProto& graph, Values& values) const {
    std::size_t before = 0;
    do {
      before = values.marked();
      visit(graph.node(), values);
      mark_steps(node, graph, values.known);
      mark_steps(node, graph, values.better);
    } while (values.marked() > before);
  }

  static void mark_steps(const NodeProto& node, const onnx::GraphProto& graph, Names& marked) {
    const int before = inputs_before_outputs(node);
    for (int i = 0; i < graph.input_size() && i < node.input_size(); ++i) {
      if (!marked.contains(graph.input(i).name())) continue;
      marked.insert(node.input(i));
      if (i >= before && i - before < graph.output_size()) {
        marked.insert(graph.output(i - before).name());
      }
    }
  }

  void visit_call(const NodeProto& call, const onnx::FunctionProto& function,
                  Values& values) const {
    Values inside;
    const auto share = [](const auto& own, const auto& given, const Names& from, Names& to) {
      for (int i = 0; i < own.size() && i < given.size(); ++i) {
        if (from.contains(own[i])) to.insert(given[i]);
      }
    };
    share(call.input(), function.input(), values.varying, inside.varying);
    follow_data(function.node(), inside.varying);
    share(call.output(), function.output(), values.known, inside.known);
    share(call.output(), function.output(), values.better, inside.better);
    visit(function.node(), inside);
    share(function.input(), call.input(), inside.known, values.known);
    share(function.input(), call.input(), inside.better, values.better);
  }

  const OnnxModel& model_;
  Names& settings_;
  mutable Names under_roots_;
};

}  // namespace

Names needed_values(const OnnxModel& model, const onnx::GraphProto& graph) {
  Values values;
  for (const auto& input : graph.input()) values.varying.insert(input.name());
  for (const auto& initializer : graph.initializer()) values.varying.erase(initializer.name());
  follow_data(graph.node(), values.varying);
  Names settings;
  Marking(model, settings).visit(graph.node(), values);
  for (const auto& initializer : graph.initializer()) {
    const auto& sizes = initializer.dims();
    const bool is_number = std::ranges::all_of(sizes, [](auto size) { return size == 1; });
    const auto type = element_type(initializer.data_type());
    const bool is_place =
        type &&
        is_place_constant(dtype_of(*type), {sizes.data(), static_cast<std::size_t>(sizes.size())});
    if ((is_number && settings.contains(initializer.name())) ||
        (is_place && values.better.contains(initializer.name()))) {
      values.known.insert(initializer.name());
    }
  }
  values.known.erase("");
  return values.known;
}

}  // namespace tfaot::toolkit::engine
