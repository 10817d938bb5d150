// SPDX-License-Identifier: Apache-2.0
#include "overrides.h"

namespace tfaot::toolkit::config {
namespace {

YAML::Node text_node(const std::string& text) {
  YAML::Node node(text);
  node.SetTag("!");  // a text even if it looks like a number
  return node;
}

}  // namespace

Values values_of(const ConfigOverrides& overrides) {
  Values values;
  const auto add = [&](const std::string& path, const std::string& option, const YAML::Node& node) {
    values.emplace(path, Value{node, YAML::Mark::null_mark(), option});
  };
  if (!overrides.batch_sizes.empty()) {
    YAML::Node list(YAML::NodeType::Sequence);
    for (const std::string& size : overrides.batch_sizes) list.push_back(YAML::Node(size));
    add("compilation.batch_sizes", "--batch-sizes", list);
  }
  if (!overrides.dimensions.empty()) {
    YAML::Node sizes(YAML::NodeType::Map);
    for (const std::string& one : overrides.dimensions) {
      const std::size_t mark = one.rfind('=');
      sizes.force_insert(text_node(one.substr(0, mark)), mark == std::string::npos
                                                             ? YAML::Node()
                                                             : YAML::Node(one.substr(mark + 1)));
    }
    add("model.dimensions", "--dimension", sizes);
  }
  if (overrides.opset) {
    add("model.opset", "--opset", text_node(word_of(*overrides.opset)));
  }
  if (overrides.batch) {
    add("compilation.batch", "--batch", text_node(word_of(*overrides.batch)));
  }
  if (!overrides.namespace_name.empty()) {
    add("compilation.namespace", "--namespace", text_node(overrides.namespace_name));
  }
  if (!overrides.cpu_levels.empty()) {
    YAML::Node list(YAML::NodeType::Sequence);
    for (const std::string& level : overrides.cpu_levels) list.push_back(text_node(level));
    add("compilation.cpu_levels", "--cpu-levels", list);
  }
  if (!overrides.target_triple.empty()) {
    add("compilation.target_triple", "--target-triple", text_node(overrides.target_triple));
  }
  if (overrides.weights) {
    add("compilation.weights", "--weights", text_node(word_of(*overrides.weights)));
  }
  if (overrides.weights_type) {
    add("compilation.weights_type", "--weights-type", text_node(word_of(*overrides.weights_type)));
  }
  if (overrides.optimize) {
    add("compilation.optimize", "--optimize", text_node(word_of(*overrides.optimize)));
  }
  if (overrides.headers) {
    add("compilation.headers", "--headers", text_node(word_of(*overrides.headers)));
  }
  if (overrides.rows) {
    add("compilation.rows", "--rows", text_node(word_of(*overrides.rows)));
  }
  return values;
}

}  // namespace tfaot::toolkit::config
