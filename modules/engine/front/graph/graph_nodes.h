// SPDX-License-Identifier: Apache-2.0
// Nodes that refer to each other: those of a graph, or of a function's body. Pure functions.
#pragma once

#include <deque>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tensorflow/core/framework/node_def.pb.h"

namespace tfaot::toolkit::engine {

// The arguments of a function may stand for nodes of the graph that calls it.
using Nodes = std::map<std::string, const tensorflow::NodeDef*>;

template <class Range>
Nodes nodes_of(const Range& range) {
  Nodes nodes;
  for (const auto& node : range) nodes[node.name()] = &node;
  return nodes;
}

// Calls the function of its attribute "f".
inline bool is_call(const tensorflow::NodeDef& node) {
  return node.op() == "PartitionedCall" || node.op() == "StatefulPartitionedCall";
}

// The node's name in "node", "node:1", "node:output:1" or "^node".
inline std::string node_name(const std::string& input) {
  const std::size_t start = input.starts_with('^') ? 1 : 0;
  return input.substr(start, input.find(':', start) - start);
}

// Null if there is none.
inline const tensorflow::NodeDef* find_node(const Nodes& nodes, const std::string& input) {
  const auto found = nodes.find(node_name(input));
  return found == nodes.end() ? nullptr : found->second;
}

// All nodes that `name` needs, including itself.
inline std::vector<const tensorflow::NodeDef*> needed_by(const Nodes& nodes,
                                                         const std::string& name) {
  std::vector<const tensorflow::NodeDef*> needed;
  std::set<const tensorflow::NodeDef*> seen;
  std::deque<const tensorflow::NodeDef*> queue = {find_node(nodes, name)};
  while (!queue.empty()) {
    const tensorflow::NodeDef* node = queue.front();
    queue.pop_front();
    if (node == nullptr || !seen.insert(node).second) continue;
    needed.push_back(node);
    for (const auto& input : node->input()) queue.push_back(find_node(nodes, input));
  }
  return needed;
}

}  // namespace tfaot::toolkit::engine
