// SPDX-License-Identifier: Apache-2.0
#include "toolfile/tool_checker.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "grammar/conditions.h"
#include "tfaot/base/expression.h"
#include "tfaot/base/letter_case.h"
#include "tfaot/base/text.h"
#include "tfaot/base/tool_names.h"

namespace tfaot::toolkit {

void ToolChecker::check() {
  collect_variables(xml_.document());
  check_children(xml_.document(), false);
  if (tools_ == 0) {
    findings_.error(
        0, "no <tool name=... version=...>",
        {"sets up a tool without a name, which nothing can use", "put all of it into one <tool>"});
    return;
  }
  check_base();
}

// scram wants the folder of a project. A tool of flags, libraries or other tools alone has none.
void ToolChecker::check_base() {
  const std::string base = base_variable(name_);
  const auto& variables = values_.variables();
  const bool has_folders =
      is_project_ || variables.defines("LIBDIR") || variables.defines("INCLUDE");
  if (name_.empty() || name_ == "self" || !has_folders || variables.defines(base)) return;
  findings_.warning(
      0, fmt::format("the tool's folder is in no variable {}", base),
      {"looks for a tool's folder under that name: upper case, other than letters and digits as "
       "'_'",
       fmt::format("write <environment name=\"{}\" default=\"...\"/> into <client>", base)});
}

void ToolChecker::collect_variables(const pugi::xml_node& parent) {
  for (const pugi::xml_node& node : parent.children()) {
    const std::string name = node.attribute("name").value();
    if (node.name() == std::string_view("environment") && !name.empty()) {
      const pugi::xml_attribute first =
          node.attribute("value");  // here it takes precedence over `default`
      values_.variables().define(name, first ? first.value() : node.attribute("default").value());
    }
    collect_variables(node);
  }
}

void ToolChecker::check_children(const pugi::xml_node& parent, bool conditional) {
  for (const pugi::xml_node& node : parent.children()) {
    if (node.type() == pugi::node_element) check_element(node, conditional);
  }
}

bool ToolChecker::check_attributes(const pugi::xml_node& node, const ElementRule& rule) {
  const auto has = [](const std::vector<std::string>& list, const std::string& word) {
    return std::ranges::find(list, word) != list.end();
  };
  for (const pugi::xml_attribute& attribute : node.attributes()) {
    const std::string name = attribute.name();
    if (has(rule.attributes, "*") || has(rule.attributes, name) || name == kCommentAttribute)
      continue;
    const std::string complaint =
        fmt::format("prints \"ERROR: Invalid attribute '['{}']'\" and drops it", name);
    if (const auto newer = rule.newer.find(name); newer != rule.newer.end()) {
      findings_.warning(xml_.line_of(node),
                        fmt::format("not every scram knows '{}' in <{}>", name, node.name()),
                        {fmt::format("{} {}; newer versions take it", newer->second, complaint),
                         "leave it out where the file is for older releases too"});
      continue;
    }
    findings_.error(
        xml_.line_of(node), fmt::format("<{}> has no attribute '{}'", node.name(), name),
        {complaint, rule.attributes.empty() ? "leave it out"
                                            : fmt::format("leave it out; allowed are {}",
                                                          join(rule.attributes, ", "))});
  }
  bool complete = true;
  for (const std::string& name : rule.required) {
    if (node.attribute(name.c_str())) continue;
    findings_.missing_attribute(xml_.line_of(node), node.name(), name);
    complete = false;
  }
  return complete;
}

void ToolChecker::check_comparison(const pugi::xml_node& node) {
  const auto comparison = comparison_of(node);
  if (!comparison) {
    findings_.missing_attribute(xml_.line_of(node), node.name(), "name");
    return;
  }
  if (comparison->is_exact || !expression_fault(comparison->wanted)) return;
  findings_.error(xml_.line_of(node),
                  fmt::format("'{}' is not a regular expression", comparison->wanted),
                  {"stops with a Python traceback when it compares",
                   "write '.*' for any text, as in '.*_amd64', and a backslash before other "
                   "special characters"});
}

void ToolChecker::check_condition(const pugi::xml_node& node) {
  const std::string element = node.name();
  const auto rule = condition_rule(ScramFile::kToolFile, element);
  if (rule->is_listed) {
    check_attributes(node, rule->element);
  } else {
    findings_.error(xml_.line_of(node), fmt::format("<{}> is not in scram's list of tags", element),
                    {fmt::format("prints \"Invalid tag '{}'\" but applies it", element),
                     "use <architecture>, <ifrelease>, <ifcompiler> or <ifos>"});
  }
  const auto is_element = [](const pugi::xml_node& child) {
    return child.type() == pugi::node_element;
  };
  if (node.find_child(is_element)) check_comparison(node);  // else scram compares nothing
}

void ToolChecker::check_case(const pugi::xml_node& node) {
  const std::string element = node.name();
  if (!condition_rule(ScramFile::kToolFile, node.parent().name())) {
    findings_.error(xml_.line_of(node), fmt::format("<{}/> outside a condition", element),
                    {"stops with a Python traceback",
                     "put it into <architecture>, <ifrelease> or another condition"});
    return;
  }
  if (is_case_behind_else(node)) {
    findings_.error(xml_.line_of(node), fmt::format("<{}/> after an <else/>", element),
                    {"ignores what comes after it", "write one <else/>, as the last case"});
    return;
  }
  if (element == "elif") check_comparison(node);
  if (!node.first_child()) return;
  findings_.error(xml_.line_of(node), fmt::format("<{}> with contents", element),
                  {"ignores its contents",
                   fmt::format("write <{}/>, and after it what is for that case", element)});
}

void ToolChecker::check_unknown(const pugi::xml_node& node) {
  const std::string element = node.name();
  std::string advice = "leave it out";
  if (const auto guess = closest_match(element, known_elements(ScramFile::kToolFile))) {
    advice = fmt::format("did you mean <{}>?", *guess);
  }
  findings_.error(
      xml_.line_of(node), fmt::format("<{}> is unknown in a tool file", element),
      {element_rule(ScramFile::kToolFile, lower_case(element))
           ? fmt::format("prints \"Invalid tag '{}'\"", element)
           : fmt::format(
                 "prints \"ERROR: Unknown tag {}\" and reads its contents as if they were outside",
                 element),
       advice});
}

void ToolChecker::check_element(const pugi::xml_node& node, bool conditional) {
  const std::string element = node.name();
  if (condition_rule(ScramFile::kToolFile, element)) {
    check_condition(node);
    check_children(node, true);
    return;
  }
  if (begins_case(node)) {
    check_case(node);
    return;
  }
  const auto rule = element_rule(ScramFile::kToolFile, element);
  if (!rule) {
    check_unknown(node);
    check_children(node, conditional);
    return;
  }
  if (check_attributes(node, *rule)) {
    if (element == "tool") check_tool(node);
    if (!conditional) {  // a condition that is false here may be true elsewhere
      if (element == "environment") values_.check_environment(node);
      if (element == "flags") values_.check_flags(node);
      if (element == "runtime") values_.check_runtime(node);
      if (element == "use") values_.check_use(node);
    }
  } else if (element == "tool") {
    ++tools_;
  }
  check_children(node, conditional);
}

void ToolChecker::check_tool(const pugi::xml_node& node) {
  if (++tools_ == 2) {
    findings_.error(
        xml_.line_of(node), "a second <tool>",
        {"makes one tool of both, under the name of the last one", "write one file for each tool"});
  }
  check_name(node);
  if (node.attribute("version").value() == std::string_view()) {
    findings_.error(
        xml_.line_of(node), "<tool> with an empty version",
        {"stops with a Python traceback: KeyError: 'TOOLVERSION'", "write <tool version=\"...\">"});
  }
  const std::string type = upper_case(node.attribute("type").value());
  is_project_ = type == "SCRAM";
  if (!type.empty() && type != "SCRAM" && type != "COMPILER") {
    findings_.error(xml_.line_of(node), fmt::format("no such type of tool: '{}'", type),
                    {"prints \"ERROR: Unknow tool type\" and continues without it",
                     "leave it out; 'scram' is for projects, 'compiler' for compilers"});
  }
}

void ToolChecker::check_name(const pugi::xml_node& node) {
  const std::string name = node.attribute("name").value();
  const int line = xml_.line_of(node);
  name_ = lower_case(name);
  values_.set_tool_name(name_);
  if (name.empty() || !std::ranges::all_of(name, is_name_character)) {
    findings_.error(line, fmt::format("'{}' cannot be a tool's name", name),
                    {"writes the name into makefiles, which split it",
                     "use letters, digits, '.', '_', '+' and '-'"});
    return;
  }
  if (name_ == "self") {
    findings_.error(line, "a tool cannot be called 'self'",
                    {"overwrites its own tool of that name, the area's folders and flags",
                     "choose another name"});
    return;
  }
  if (name != name_) {
    findings_.warning(line, fmt::format("the tool's name '{}' has capitals", name),
                      {fmt::format("calls it '{}'", name_), "write it in lower case"});
  }
  const std::string stem = options_.file.stem().string();
  if (lower_case(stem) == name_) return;
  findings_.warning(
      line, fmt::format("the file is not called {}.xml", name_),
      {fmt::format("copies it to tools/selected/{}.xml; 'scram setup {}' does not know it", name_,
                   stem),
       "name the file after the tool"});
}

}  // namespace tfaot::toolkit
