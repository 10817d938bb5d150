// SPDX-License-Identifier: Apache-2.0
#include "graph/safe_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "graph/graph_nodes.h"
#include "tensorflow/core/framework/op.h"

namespace tfaot::toolkit::engine {
namespace {

namespace tf = tensorflow;

// The same operation for functions with state.
const std::map<std::string, std::string> kWithState = {
    {"PartitionedCall", "StatefulPartitionedCall"},
    {"StatelessCase", "Case"},
    {"StatelessIf", "If"},
    {"StatelessWhile", "While"}};

class Library {
 public:
  explicit Library(tf::FunctionDefLibrary& library) {
    for (auto& function : *library.mutable_function()) {
      functions_[function.signature().name()] = &function;
    }
    for (const auto& gradient : library.gradient()) {
      gradients_[gradient.function_name()] = gradient.gradient_func();
    }
  }

  tf::FunctionDef* find(const std::string& name) const {
    const auto found = functions_.find(name);
    return found == functions_.end() ? nullptr : found->second;
  }

  // The functions that a node calls, through any attribute or by its own name.
  std::vector<std::string> called_by(const tf::NodeDef& node) const {
    std::vector<std::string> called;
    const auto add = [&](const std::string& name) {
      if (find(name) == nullptr) return;
      called.push_back(name);
      const auto gradient = gradients_.find(name);
      if (gradient != gradients_.end()) called.push_back(gradient->second);
    };
    add(node.op());
    for (const auto& [key, attribute] : node.attr()) {
      if (attribute.has_func()) add(attribute.func().name());
      for (const auto& function : attribute.list().func()) add(function.name());
    }
    return called;
  }

  bool has_state(const tf::NodeDef& node) const {
    if (const tf::FunctionDef* function = find(node.op())) {
      return function->signature().is_stateful();
    }
    const tf::OpDef* definition = nullptr;
    return tf::OpRegistry::Global()->LookUpOpDef(node.op(), &definition).ok() &&
           definition->is_stateful();
  }

 private:
  std::map<std::string, tf::FunctionDef*> functions_;
  std::map<std::string, std::string> gradients_;
};

// As in TensorFlow: operations with state stay.
void remove_dead_nodes(tf::FunctionDef& function, const Library& library) {
  std::map<std::string, const tf::NodeDef*> nodes;
  std::deque<std::string> queue;
  for (const auto& node : function.node_def()) {
    nodes[node.name()] = &node;
    if (library.has_state(node)) queue.push_back(node.name());
  }
  for (const auto& [name, output] : function.ret()) queue.push_back(node_name(output));
  for (const auto& [name, node] : function.control_ret()) queue.push_back(node);
  std::set<std::string> live;
  while (!queue.empty()) {
    const std::string name = std::move(queue.front());
    queue.pop_front();
    const auto found = nodes.find(name);  // else an argument
    if (found == nodes.end() || !live.insert(name).second) continue;
    for (const auto& input : found->second->input()) queue.push_back(node_name(input));
  }
  auto& all = *function.mutable_node_def();
  all.erase(std::remove_if(all.begin(), all.end(),
                           [&](const auto& node) { return !live.contains(node.name()); }),
            all.end());
}

class Guard {
 public:
  Guard(tf::GraphDef& graph, const GraphRules& rules)
      : graph_(graph), rules_(rules), library_(*graph.mutable_library()) {}

  Status run() {
    TFAOT_TRY(check_names());
    for (const auto& node : graph_.node()) visit(node, "");
    while (!queue_.empty()) {
      const std::string name = std::move(queue_.front());
      queue_.pop_front();
      tf::FunctionDef* function = library_.find(name);
      if (function == nullptr || !kept_.insert(name).second) continue;
      remove_dead_nodes(*function, library_);
      for (const auto& node : function->node_def()) visit(node, name);
    }
    if (!refused_.empty()) return fail(rules_.refuse(refused_));
    TFAOT_TRY(check_recursion());
    remove_unused_functions();
    spread_state();
    return {};
  }

 private:
  // Otherwise TensorFlow may use another function or operation than the one that was checked.
  Status check_names() const {
    std::set<std::string> names;
    for (const auto& function : graph_.library().function()) {
      const std::string& name = function.signature().name();
      const tf::OpDef* definition = nullptr;
      if (!names.insert(name).second) {
        return fail(Error(fmt::format("the model has two functions of the name '{}'", name)));
      }
      if (tf::OpRegistry::Global()->LookUpOpDef(name, &definition).ok()) {
        return fail(Error(
            fmt::format("the model has a function '{}', which is an operation's name", name)));
      }
    }
    return {};
  }

  void visit(const tf::NodeDef& node, const std::string& function) {
    for (auto& name : library_.called_by(node)) queue_.push_back(std::move(name));
    if (library_.find(node.op()) != nullptr) return;
    const auto [known, is_new] = allowed_.try_emplace(node.op(), false);
    if (is_new) known->second = rules_.allows(node.op());
    if (!known->second) refused_.push_back({node.name(), describe_node(node, function)});
  }

  // TensorFlow would follow the calls until its stack is full.
  Status check_recursion() const {
    std::set<std::string> done;
    for (const auto& name : kept_) {
      const auto circle = circle_from(name, done);
      if (!circle) continue;
      return fail(Error(fmt::format("the model's function '{}' calls itself", *circle))
                      .note("compiled code has no recursion: express it with a loop"));
    }
    return {};
  }

  // A function that occurs again on the way down from `start`; `done` has none below it.
  std::optional<std::string> circle_from(const std::string& start,
                                         std::set<std::string>& done) const {
    struct Call {
      std::string function;
      std::vector<std::string> rest;  // not checked yet
    };
    std::vector<Call> stack;
    std::set<std::string> entered;
    const auto enter = [&](const std::string& name) {
      std::vector<std::string> called;
      for (const auto& node : library_.find(name)->node_def()) {
        for (auto& one : library_.called_by(node)) called.push_back(std::move(one));
      }
      entered.insert(name);
      stack.push_back({name, std::move(called)});
    };
    if (!done.contains(start)) enter(start);
    while (!stack.empty()) {
      Call& top = stack.back();
      if (top.rest.empty()) {
        done.insert(top.function);
        entered.erase(top.function);
        stack.pop_back();
        continue;
      }
      const std::string next = std::move(top.rest.back());
      top.rest.pop_back();
      if (entered.contains(next)) return next;
      if (library_.find(next) != nullptr && !done.contains(next)) enter(next);
    }
    return std::nullopt;
  }

  void remove_unused_functions() {
    auto& functions = *graph_.mutable_library()->mutable_function();
    functions.erase(std::remove_if(functions.begin(), functions.end(),
                                   [&](const auto& function) {
                                     return !kept_.contains(function.signature().name());
                                   }),
                    functions.end());
    auto& gradients = *graph_.mutable_library()->mutable_gradient();
    gradients.erase(std::remove_if(gradients.begin(), gradients.end(),
                                   [&](const auto& gradient) {
                                     return !kept_.contains(gradient.function_name());
                                   }),
                    gradients.end());
    library_ = Library(*graph_.mutable_library());
  }

  // Repeats until nothing changes: functions may call each other in any order.
  void spread_state() {
    for (bool changed = true; changed;) {
      changed = false;
      for (auto& function : *graph_.mutable_library()->mutable_function()) {
        bool stateful = function.signature().is_stateful();
        for (auto& node : *function.mutable_node_def()) stateful = spread_to(node) || stateful;
        if (stateful == function.signature().is_stateful()) continue;
        function.mutable_signature()->set_is_stateful(true);
        changed = true;
      }
    }
    for (auto& node : *graph_.mutable_node()) spread_to(node);
  }

  // Whether the node has state.
  bool spread_to(tf::NodeDef& node) const {
    if (library_.has_state(node)) return true;
    const auto called = library_.called_by(node);
    const bool stateful = std::any_of(called.begin(), called.end(), [&](const auto& name) {
      return library_.find(name)->signature().is_stateful();
    });
    const auto other = kWithState.find(node.op());
    if (stateful && other != kWithState.end()) node.set_op(other->second);
    return stateful;
  }

  tf::GraphDef& graph_;
  const GraphRules& rules_;
  Library library_;
  std::deque<std::string> queue_;
  std::set<std::string> kept_;
  std::map<std::string, bool> allowed_;
  std::vector<BlamedNode> refused_;
};

}  // namespace

Status make_safe(tf::GraphDef& graph, const GraphRules& rules) { return Guard(graph, rules).run(); }

}  // namespace tfaot::toolkit::engine
