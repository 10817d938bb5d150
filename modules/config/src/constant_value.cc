// SPDX-License-Identifier: Apache-2.0
#include "constant_value.h"

#include "yaml_text.h"

namespace tfaot::toolkit::config {
namespace {

void append_values(const YAML::Node& node, std::vector<std::string>& values) {
  if (!node.IsSequence()) {
    values.push_back(constant_text(node).value());
    return;
  }
  for (const YAML::Node& item : node) append_values(item, values);
}

}  // namespace

std::optional<std::string> constant_text(const YAML::Node& node) {
  const NodeKind kind = kind_of(node);
  if (kind != NodeKind::kBool && kind != NodeKind::kInteger && kind != NodeKind::kFloat) {
    return std::nullopt;
  }
  std::string text = node.Scalar();
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  if (text.find_first_of("xo") != std::string::npos) return std::nullopt;  // 0x10, 0o20
  // ".inf" and ".nan" are YAML's.
  if (text.ends_with("inf") || text.ends_with("nan")) std::erase(text, '.');
  return text;
}

std::vector<std::int64_t> shape_of_lists(const YAML::Node& node) {
  if (!node.IsSequence()) return {};
  std::vector<std::int64_t> shape;
  if (node.size() > 0) shape = shape_of_lists(node[0]);
  shape.insert(shape.begin(), static_cast<std::int64_t>(node.size()));
  return shape;
}

ModelConstant constant_of(const std::string& name, const YAML::Node& value) {
  ModelConstant constant{name, shape_of_lists(value), {}};
  append_values(value, constant.values);
  return constant;
}

}  // namespace tfaot::toolkit::config
