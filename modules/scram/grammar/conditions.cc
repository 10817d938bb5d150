// SPDX-License-Identifier: Apache-2.0
#include "grammar/conditions.h"

#include <string_view>
#include <utility>

namespace tfaot::toolkit {
namespace {

using Conditions = std::map<std::string, ConditionRule>;

const Conditions& conditions_of_both() {
  static const ConditionRule listed = {{.attributes = {"name", "match", "value"}}};
  static const ConditionRule unlisted = {{.attributes = {"name", "match", "value"}}, false};
  static const Conditions table = {
      {"architecture", listed}, {"ifarchitecture", listed},
      {"release", listed},      {"ifrelease", listed},
      {"compiler", listed},     {"ifcompiler", listed},
      {"ifos", listed},         {"ifarch", listed},
      {"ifproject", unlisted},  {"ifconfig", unlisted},
      {"ifscram", unlisted},    {"ifcxx11_abi", {{.attributes = {"value"}}}},
  };
  return table;
}

const Conditions& own_conditions_of(ScramFile file) {
  static const Conditions tool_file = {
      {"ifversion", {{.attributes = {"name", "match", "value"}}, false}},
  };
  static const Conditions build_file = {
      {"iftool", {{.attributes = {"name", "match", "version"}, .required = {"name"}}}},
  };
  return file == ScramFile::kToolFile ? tool_file : build_file;
}

bool is_called(const pugi::xml_node& node, std::string_view name) { return node.name() == name; }

}  // namespace

std::optional<ConditionRule> condition_rule(ScramFile file, const std::string& element) {
  for (const Conditions* table : {&own_conditions_of(file), &conditions_of_both()}) {
    if (const auto found = table->find(element); found != table->end()) return found->second;
  }
  return std::nullopt;
}

std::vector<std::string> known_conditions(ScramFile file) {
  std::vector<std::string> names;
  for (const Conditions* table : {&own_conditions_of(file), &conditions_of_both()}) {
    for (const auto& [name, rule] : *table) names.push_back(name);
  }
  return names;
}

bool begins_case(const pugi::xml_node& node) {
  return is_called(node, "else") || is_called(node, "elif");
}

bool is_case_behind_else(const pugi::xml_node& node) {
  for (auto before = node.previous_sibling(); before; before = before.previous_sibling()) {
    if (is_called(before, "else")) return true;
  }
  return false;
}

Comparison comparison_with(std::string wanted, bool is_exact) {
  const bool is_turned = wanted.starts_with('!');
  if (is_turned) wanted.erase(0, 1);
  return {std::move(wanted), is_exact, is_turned};
}

std::optional<Comparison> comparison_of(const pugi::xml_node& node) {
  for (const char* name : {"value", "match", "name"}) {  // the first one counts
    const pugi::xml_attribute attribute = node.attribute(name);
    if (attribute) return comparison_with(attribute.value(), name == std::string_view("value"));
  }
  return std::nullopt;
}

}  // namespace tfaot::toolkit
