// SPDX-License-Identifier: Apache-2.0
#include "conditions.h"

#include <fmt/format.h>

#include <array>
#include <functional>

#include "tfaot/base/expression.h"
#include "tfaot/base/letter_case.h"

namespace tfaot::toolkit {
namespace {

struct Condition {
  const char* tag;
  std::function<std::string(const BuildConditions&)> actual;
};

// What CMake does not know of scram's world (a project, its configuration) is empty.
const std::array<Condition, 12>& table() {
  const auto nothing = [](const BuildConditions&) { return std::string(); };
  static const std::array<Condition, 12> conditions = {{
      {"ifarchitecture", &BuildConditions::architecture},
      {"architecture", &BuildConditions::architecture},
      {"ifrelease", &BuildConditions::release},
      {"release", &BuildConditions::release},
      {"ifcompiler", &BuildConditions::compiler},
      {"compiler", &BuildConditions::compiler},
      {"ifos", &BuildConditions::os},
      {"ifarch", &BuildConditions::machine},
      {"ifcxx11_abi", [](const BuildConditions&) { return std::string("1"); }},
      {"ifproject", nothing},
      {"ifconfig", nothing},
      {"ifscram", nothing},
  }};
  return conditions;
}

std::string attribute(const std::map<std::string, std::string>& attributes, const char* name) {
  const auto entry = attributes.find(name);
  return entry == attributes.end() ? "" : entry->second;
}

// The tool's version is asked for, any by default; a tool that is not there has none.
Result<bool> tool_is_there(const std::map<std::string, std::string>& attributes,
                           const BuildConditions& conditions) {
  const auto tool = conditions.tools.find(lower_case(attribute(attributes, "name")));
  std::string version = attribute(attributes, "version");
  if (version.empty()) version = ".+";
  const bool turned = version.starts_with('!');
  TFAOT_ASSIGN(const bool matches,
               search_expression(turned ? version.substr(1) : version,
                                 tool == conditions.tools.end() ? "" : tool->second));
  return matches != turned;
}

}  // namespace

bool is_condition(const std::string& tag) {
  if (tag == "iftool") return true;
  for (const Condition& condition : table()) {
    if (tag == condition.tag) return true;
  }
  return false;
}

Result<bool> is_met(const std::string& tag, const std::map<std::string, std::string>& attributes,
                    const BuildConditions& conditions) {
  if (tag == "iftool") {
    if (!attributes.contains("name")) return fail(Error("<iftool> needs the attribute 'name'"));
    return tool_is_there(attributes, conditions);
  }
  const bool exact = attributes.contains("value");
  const char* key = exact ? "value" : attributes.contains("match") ? "match" : "name";
  if (!attributes.contains(key)) {
    return fail(Error(fmt::format("<{}> needs one of the attributes name, match, value", tag)));
  }
  std::string wanted = attribute(attributes, key);
  const bool turned = wanted.starts_with('!');
  if (turned) wanted.erase(0, 1);
  std::string actual;
  for (const Condition& condition : table()) {
    if (tag == condition.tag) actual = condition.actual(conditions);
  }
  if (exact) return (actual == wanted) != turned;
  TFAOT_ASSIGN(const bool matches, search_expression(wanted, actual));
  return matches != turned;
}

}  // namespace tfaot::toolkit
