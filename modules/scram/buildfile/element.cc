// SPDX-License-Identifier: Apache-2.0
#include "buildfile/element.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "grammar/conditions.h"
#include "grammar/elements.h"
#include "tfaot/base/letter_case.h"
#include "tfaot/base/text.h"

namespace tfaot::toolkit {
namespace {

std::optional<ElementRule> rule_of(const std::string& tag) {
  // For tool files there is no such check: there scram silently ignores all other attributes.
  if (tag == "else") return ElementRule{};
  if (tag == "elif") return ElementRule{.attributes = {"name", "match", "value", "version"}};
  if (const auto condition = condition_rule(ScramFile::kBuildFile, tag)) return condition->element;
  return element_rule(ScramFile::kBuildFile, tag);
}

Status check_attributes(const Element& element, const std::string& file) {
  const auto rule = rule_of(element.tag);
  if (!rule) return {};
  std::vector<std::string> allowed = rule->attributes;
  for (const auto& [name, versions] : rule->newer) allowed.push_back(name);
  const auto is_allowed = [&allowed](const std::string& name) {
    return std::ranges::find(allowed, name) != allowed.end();
  };
  for (const auto& [name, value] : element.attributes) {
    if (is_allowed("*") || is_allowed(name)) continue;
    const auto guess = closest_match(name, allowed);
    Error error = Error::at(
        {file, element.line},
        fmt::format("<{}> has no attribute '{}'{}", element.tag, name,
                    guess ? fmt::format(" (did you mean '{}'?)", *guess) : std::string()));
    error.note(allowed.empty() ? "it takes none" : "allowed: " + join(allowed, ", "));
    return fail(std::move(error));
  }
  for (const std::string& name : rule->required) {
    if (element.has(name.c_str())) continue;
    return fail(Error::at({file, element.line},
                          fmt::format("<{}> needs the attribute '{}'", element.tag, name)));
  }
  return {};
}

}  // namespace

bool is_known_tag(const std::string& tag) {
  return element_rule(ScramFile::kBuildFile, tag).has_value();
}

Result<Element> read_element(const pugi::xml_node& node, const XmlSource& xml,
                             const std::string& file) {
  Element element;
  element.written_tag = node.name();
  element.tag = lower_case(element.written_tag);
  element.line = xml.line_of(node);
  for (const pugi::xml_attribute& attribute : node.attributes()) {
    const std::string name = attribute.name();
    if (name == kCommentAttribute) continue;
    element.attributes.emplace(name, attribute.value());
    if (element.first_attribute.empty()) element.first_attribute = name;
  }
  TFAOT_TRY(check_attributes(element, file));
  return element;
}

}  // namespace tfaot::toolkit
