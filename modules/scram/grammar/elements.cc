// SPDX-License-Identifier: Apache-2.0
#include "grammar/elements.h"

#include <string_view>
#include <utility>

namespace tfaot::toolkit {
namespace {

constexpr const char* kOld = "of older versions";

using Elements = std::map<std::string, ElementRule>;

Elements elements_of_both() {
  return {
      {"root", {}},
      {"flags", {.attributes = {"*"}}},
      {"lib", {.attributes = {"name", "type"}, .required = {"name"}}},
      {"use",
       {.attributes = {"name", "source_only"},
        .newer = {{"for", kOld}, {"force_link", kOld}},
        .required = {"name"}}},
  };
}

Elements elements_of_tool_files() {
  return {
      {"tool",
       {.attributes = {"name", "version", "type"},
        .newer = {{"revision", "older than November 2024, as CMSSW_13_0's,"}, {"path", kOld}},
        .required = {"name", "version"}}},
      {"client", {}},
      {"info", {.attributes = {"url"}}},
      {"environment",
       {.attributes = {"name", "default", "value", "handler"}, .required = {"name"}}},
      {"runtime",
       {.attributes = {"name", "value", "type", "default", "handler"},
        .newer = {{"join", kOld}},
        .required = {"name"}}},
  };
}

// The elements that say what is built, and our <aot_compile>. <productstore>, <classpath> and
// <group> are for scram's own configuration and have no effect here.
Elements elements_of_build_files() {
  return {
      {"export", {}},
      {"environment", {}},
      {"include_path", {.attributes = {"path"}, .required = {"path"}}},
      {"bin", {.attributes = {"file", "name", "for", "foreach"}, .required = {"file"}}},
      {"library", {.attributes = {"file", "name", "for", "foreach"}, .required = {"file"}}},
      {"test",
       {.attributes = {"name", "command", "for", "foreach"}, .required = {"name", "command"}}},
      {"set", {.attributes = {"name", "value"}, .required = {"name", "value"}}},
      {"aot_compile",
       {.attributes = {"model", "class", "batch_sizes", "cpu_levels", "dimensions", "headers",
                       "version"},
        .required = {"model"}}},
  };
}

// The rules of one kind of file, with those of both.
template <class Rules>
Rules joined(Rules own, const Rules& both) {
  own.insert(both.begin(), both.end());
  return own;
}

const Elements& elements_of(ScramFile file) {
  static const Elements tool_file = joined(elements_of_tool_files(), elements_of_both());
  static const Elements build_file = joined(elements_of_build_files(), elements_of_both());
  return file == ScramFile::kToolFile ? tool_file : build_file;
}

using Conditions = std::map<std::string, ConditionRule>;

Conditions conditions_of_both() {
  static const ConditionRule listed = {{.attributes = {"name", "match", "value"}}};
  static const ConditionRule unlisted = {{.attributes = {"name", "match", "value"}}, false};
  return {
      {"architecture", listed}, {"ifarchitecture", listed},
      {"release", listed},      {"ifrelease", listed},
      {"compiler", listed},     {"ifcompiler", listed},
      {"ifos", listed},         {"ifarch", listed},
      {"ifproject", unlisted},  {"ifconfig", unlisted},
      {"ifscram", unlisted},    {"ifcxx11_abi", {{.attributes = {"value"}}}},
  };
}

const Conditions& conditions_of(ScramFile file) {
  static const Conditions tool_file = joined(
      {{"ifversion", {{.attributes = {"name", "match", "value"}}, false}}}, conditions_of_both());
  static const Conditions build_file =
      joined({{"iftool", {{.attributes = {"name", "match", "version"}, .required = {"name"}}}}},
             conditions_of_both());
  return file == ScramFile::kToolFile ? tool_file : build_file;
}

template <class Rules>
std::optional<typename Rules::mapped_type> rule_in(const Rules& rules, const std::string& name) {
  const auto found = rules.find(name);
  return found == rules.end() ? std::nullopt : std::optional(found->second);
}

bool is_called(const pugi::xml_node& node, std::string_view name) { return node.name() == name; }

}  // namespace

std::optional<ElementRule> element_rule(ScramFile file, const std::string& element) {
  return rule_in(elements_of(file), element);
}

std::vector<std::string> known_elements(ScramFile file) {
  std::vector<std::string> names;
  for (const auto& [name, rule] : conditions_of(file)) names.push_back(name);
  for (const auto& [name, rule] : elements_of(file)) names.push_back(name);
  return names;
}

std::optional<ConditionRule> condition_rule(ScramFile file, const std::string& element) {
  return rule_in(conditions_of(file), element);
}

bool begins_case(const pugi::xml_node& node) {
  return is_called(node, "else") || is_called(node, "elif");
}

bool is_case_after_else(const pugi::xml_node& node) {
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
