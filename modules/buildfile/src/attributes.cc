// SPDX-License-Identifier: Apache-2.0
#include "attributes.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "tfaot/base/letter_case.h"
#include "tfaot/base/text.h"

namespace tfaot::toolkit {
namespace {

struct Tag {
  std::vector<std::string> required;
  std::vector<std::string> optional;
};

// scram's, and <aot_compile>. Conditions are told apart in conditions.cc.
const std::map<std::string, Tag>& tags() {
  static const Tag condition = {{}, {"name", "match", "value"}};
  static const std::map<std::string, Tag> table = {
      {"use", {{"name"}, {"source_only", "for", "force_link"}}},
      {"lib", {{"name"}, {"type"}}},
      {"export", {}},
      {"include_path", {{"path"}, {}}},
      {"bin", {{"file"}, {"name", "for", "foreach"}}},
      {"library", {{"file"}, {"name", "for", "foreach"}}},
      {"test", {{"name", "command"}, {"for", "foreach"}}},
      {"set", {{"name", "value"}, {}}},
      {"aot_compile", {{"model", "class"}, {"batch_sizes", "cpu_levels", "version"}}},
      {"environment", {}},
      {"root", {}},
      {"else", {}},
      {"elif", {{}, {"name", "match", "value", "version"}}},
      {"iftool", {{"name"}, {"match", "version"}}},
      {"ifcxx11_abi", {{}, {"value"}}},
      {"ifarchitecture", condition},
      {"architecture", condition},
      {"ifrelease", condition},
      {"release", condition},
      {"ifcompiler", condition},
      {"compiler", condition},
      {"ifos", condition},
      {"ifarch", condition},
      {"ifproject", condition},
      {"ifconfig", condition},
      {"ifscram", condition},
  };
  return table;
}

Status check_attributes(const Element& element, const std::string& file) {
  const auto tag = tags().find(element.tag);
  if (tag == tags().end()) return {};
  std::vector<std::string> allowed = tag->second.required;
  allowed.insert(allowed.end(), tag->second.optional.begin(), tag->second.optional.end());
  for (const auto& [name, value] : element.attributes) {
    if (std::find(allowed.begin(), allowed.end(), name) != allowed.end()) continue;
    const auto guess = closest_match(name, allowed);
    Error error = Error::at(
        {file, element.line},
        fmt::format("<{}> has no attribute '{}'{}", element.tag, name,
                    guess ? fmt::format(" (did you mean '{}'?)", *guess) : std::string()));
    error.note(allowed.empty() ? "it takes none" : "allowed: " + join(allowed, ", "));
    return fail(std::move(error));
  }
  for (const std::string& name : tag->second.required) {
    if (element.has(name.c_str())) continue;
    return fail(Error::at({file, element.line},
                          fmt::format("<{}> needs the attribute '{}'", element.tag, name)));
  }
  return {};
}

}  // namespace

bool is_known_tag(const std::string& tag) { return tag == "flags" || tags().contains(tag); }

Result<Element> read_element(const pugi::xml_node& node, const std::string& file,
                             const std::string& text) {
  Element element;
  element.written_tag = node.name();
  element.tag = lower_case(element.written_tag);
  element.line = line_at(text, node.offset_debug());
  for (const pugi::xml_attribute& attribute : node.attributes()) {
    const std::string name = attribute.name();
    if (name == "comment") continue;
    if (!element.attributes.emplace(name, attribute.value()).second) {
      return fail(Error::at({file, element.line},
                            fmt::format("<{}> has the attribute '{}' twice", element.tag, name)));
    }
    if (element.first_attribute.empty()) element.first_attribute = name;
  }
  TFAOT_TRY(check_attributes(element, file));
  return element;
}

}  // namespace tfaot::toolkit
