// SPDX-License-Identifier: Apache-2.0
#include "graph/captured_variables.h"

#include <deque>
#include <utility>

#include "graph/graph_nodes.h"
#include "graph/restored_variables.h"

namespace tfaot::toolkit::engine {
namespace {

namespace tf = tensorflow;

constexpr const char* kValue = "VARIABLE_VALUE";

// Null if there is none.
template <class Node>
const Node* object_at(const google::protobuf::RepeatedPtrField<Node>& nodes, int number) {
  return number >= 0 && number < nodes.size() ? &nodes.Get(number) : nullptr;
}

}  // namespace

// A call's last inputs are what its function captured, in the order of `bound_inputs`.
std::map<std::string, int> captured_variables(const tf::MetaGraphDef& model) {
  std::map<std::string, int> objects;
  const Nodes nodes = nodes_of(model.graph_def().node());
  const auto& functions = model.object_graph_def().concrete_functions();
  for (const auto& [name, node] : nodes) {
    const auto callee = node->attr().find("f");
    if (callee == node->attr().end()) continue;
    const auto function = functions.find(callee->second.func().name());
    if (function == functions.end()) continue;
    const auto& captured = function->second.bound_inputs();
    int inputs = node->input_size();
    while (inputs > 0 && node->input(inputs - 1).starts_with('^')) --inputs;
    const int first = inputs - captured.size();
    for (int i = 0; first >= 0 && i < captured.size(); ++i) {
      const tf::NodeDef* variable = find_node(nodes, node->input(first + i));
      if (variable != nullptr && is_variable(*variable)) {
        objects.try_emplace(resource_name(*variable), captured.Get(i));
      }
    }
  }
  return objects;
}

std::map<int, std::string> keys_of_objects(const tf::SavedObjectGraph& model,
                                           const tf::TrackableObjectGraph& checkpoint) {
  std::map<int, std::string> keys;
  std::map<int, int> places = {{0, 0}};  // of the model's objects in the checkpoint
  std::deque<int> queue = {0};
  while (!queue.empty()) {
    const int number = queue.front();
    queue.pop_front();
    const auto* object = object_at(model.nodes(), number);
    const auto* stored = object_at(checkpoint.nodes(), places.at(number));
    if (object == nullptr || stored == nullptr) continue;
    for (const auto& attribute : stored->attributes()) {
      if (attribute.name() == kValue) keys[number] = attribute.checkpoint_key();
    }
    std::map<std::string, int> stored_children;
    for (const auto& child : stored->children()) {
      stored_children[child.local_name()] = child.node_id();
    }
    for (const auto& child : object->children()) {
      const auto place = stored_children.find(child.local_name());
      if (place == stored_children.end()) continue;
      if (places.try_emplace(child.node_id(), place->second).second) {
        queue.push_back(child.node_id());
      }
    }
  }
  return keys;
}

std::optional<std::string> key_of_name(const tf::TrackableObjectGraph& checkpoint,
                                       const std::string& name) {
  std::optional<std::string> key;
  for (const auto& object : checkpoint.nodes()) {
    for (const auto& attribute : object.attributes()) {
      if (attribute.full_name() != name) continue;
      if (key.has_value()) return {};
      key = attribute.checkpoint_key();
    }
  }
  return key;
}

}  // namespace tfaot::toolkit::engine
