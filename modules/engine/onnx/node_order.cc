// SPDX-License-Identifier: Apache-2.0
#include "onnx/node_order.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <queue>
#include <set>
#include <string>
#include <vector>

#include "onnx/node.h"
#include "tfaot/records/model_check.h"

namespace tfaot::toolkit::engine {
namespace {

std::string describe(const onnx::NodeProto& node, const Opsets& opsets) {
  const auto opset = opsets.find(plain_domain(node.domain()));
  return describe_node(node, opset == opsets.end() ? 0 : opset->second);
}

// What has a name in a graph: "input", "initializer" or a node.
class NameCheck {
 public:
  explicit NameCheck(const Opsets& opsets) : opsets_(opsets) {}

  Status check(const onnx::GraphProto& graph) {
    TFAOT_TRY(add_all(graph.input(), "input", inputs_));
    // An initializer with the name of an input is that input's default.
    TFAOT_TRY(add_all(graph.initializer(), "initializer", initializers_));
    for (const onnx::NodeProto& node : graph.node()) {
      for (const std::string& made : node.output()) {
        if (!made.empty()) TFAOT_TRY(add(node, made));
      }
    }
    return {};
  }

  // The outputs of a model have names of their own; those of a loop's body need not.
  static Status check_outputs(const onnx::GraphProto& graph) {
    std::set<std::string> names;
    return add_all(graph.output(), "output", names);
  }

 private:
  static Error twice(std::string text, std::vector<std::string> nodes = {}) {
    return Error(std::move(text))
        .note(
            "each value of a graph needs a name of its own; onnx.checker.check_model() finds "
            "such faults")
        .about(word_of(ProblemKind::kModel), std::move(nodes));
  }

  template <typename Values>
  static Status add_all(const Values& values, const char* what, std::set<std::string>& names) {
    for (const auto& value : values) {
      if (names.insert(value.name()).second) continue;
      return fail(twice(fmt::format("the graph has two {}s '{}'", what, value.name())));
    }
    return {};
  }

  Status add(const onnx::NodeProto& node, const std::string& made) {
    const auto [other, is_new] = makers_.emplace(made, &node);
    if (!is_new) {
      return fail(twice(fmt::format("{} makes '{}', and so does {}", describe(node, opsets_), made,
                                    describe(*other->second, opsets_)),
                        {other->second->name(), node.name()}));
    }
    const bool is_input = inputs_.contains(made);
    if (!is_input && !initializers_.contains(made)) return {};
    return fail(twice(fmt::format("{} makes '{}', which is an {} already", describe(node, opsets_),
                                  made, is_input ? "input" : "initializer"),
                      {node.name()}));
  }

  const Opsets& opsets_;
  std::set<std::string> inputs_;
  std::set<std::string> initializers_;
  std::map<std::string, const onnx::NodeProto*> makers_;
};

// Nodes by number, and the nodes whose results they wait for.
class NodeOrder {
  template <typename Vector>
  static auto& at(Vector& vector, int i) {
    return vector[static_cast<std::size_t>(i)];
  }

 public:
  explicit NodeOrder(const onnx::GraphProto& graph)
      : makers_(static_cast<std::size_t>(graph.node_size())),
        readers_(makers_.size()),
        missing_(makers_.size()) {
    std::map<std::string, int> maker;  // of each value
    for (int i = 0; i < graph.node_size(); ++i) {
      for (const std::string& made : graph.node(i).output()) maker.emplace(made, i);
    }
    for (int i = 0; i < graph.node_size(); ++i) {
      for (const std::string& name : names_read_by(graph.node(i))) {
        const auto made = maker.find(name);
        if (made == maker.end()) continue;
        at(makers_, i).push_back(made->second);
        at(readers_, made->second).push_back(i);
        ++at(missing_, i);
      }
    }
  }

  // The first ready node is always next. Without the nodes of cycles and those behind them.
  std::vector<int> sorted() {
    std::priority_queue<int, std::vector<int>, std::greater<>> ready;
    for (int i = 0; i < std::ssize(missing_); ++i) {
      if (at(missing_, i) == 0) ready.push(i);
    }
    std::vector<int> order;
    while (!ready.empty()) {
      order.push_back(ready.top());
      ready.pop();
      for (const int reader : at(readers_, order.back())) {
        if (--at(missing_, reader) == 0) ready.push(reader);
      }
    }
    return order;
  }

  // Each needs the one after it, the last the first. Call it after sorted(), which leaves them out.
  std::vector<int> cycle() const {
    std::vector<int> path = {static_cast<int>(
        std::ranges::find_if(missing_, [](int n) { return n > 0; }) - missing_.begin())};
    for (;;) {
      const int next = *std::ranges::find_if(at(makers_, path.back()),
                                             [&](int maker) { return at(missing_, maker) > 0; });
      const auto seen = std::ranges::find(path, next);
      if (seen != path.end()) return {seen, path.end()};
      path.push_back(next);
    }
  }

 private:
  std::vector<std::vector<int>> makers_;
  std::vector<std::vector<int>> readers_;
  std::vector<int> missing_;  // results that a node waits for
};

Error cycle_error(const onnx::GraphProto& graph, const std::vector<int>& cycle,
                  const Opsets& opsets) {
  constexpr std::size_t kMostShown = 5;
  std::vector<std::string> names;
  std::vector<std::string> path;
  for (const int number : cycle) {
    const onnx::NodeProto& node = graph.node(number);
    names.push_back(node.name());
    if (path.size() < kMostShown) path.push_back(describe(node, opsets));
  }
  path.push_back(cycle.size() == 1 ? "its own"
                 : cycle.size() > kMostShown
                     ? fmt::format("a node, and so on: {} nodes in a circle", cycle.size())
                     : path.front());
  std::string text = path[0] + " needs a result of " + path[1];
  for (std::size_t i = 2; i < path.size(); ++i) text += ", which needs a result of " + path[i];
  return Error(std::move(text)).about(word_of(ProblemKind::kModel), std::move(names));
}

Status sort_graph(onnx::GraphProto& graph, const Opsets& opsets) {
  TFAOT_TRY(NameCheck(opsets).check(graph));
  NodeOrder nodes(graph);
  const std::vector<int> order = nodes.sorted();
  if (std::ssize(order) < graph.node_size()) {
    return fail(cycle_error(graph, nodes.cycle(), opsets));
  }
  google::protobuf::RepeatedPtrField<onnx::NodeProto> sorted;
  for (const int node : order) sorted.Add()->Swap(graph.mutable_node(node));
  graph.mutable_node()->Swap(&sorted);
  for (auto& node : *graph.mutable_node()) {
    for (auto& attribute : *node.mutable_attribute()) {
      if (attribute.has_g()) TFAOT_TRY(sort_graph(*attribute.mutable_g(), opsets));
    }
  }
  return {};
}

}  // namespace

Status sort_nodes(onnx::GraphProto& model, const Opsets& opsets) {
  TFAOT_TRY(NameCheck::check_outputs(model));
  return sort_graph(model, opsets);
}

}  // namespace tfaot::toolkit::engine
