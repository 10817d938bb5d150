// SPDX-License-Identifier: Apache-2.0
#include "buildfile/truth.h"

#include <fmt/format.h>

#include "grammar/conditions.h"
#include "tfaot/base/expression.h"
#include "tfaot/base/letter_case.h"

namespace tfaot::toolkit {
namespace {

// The value that the condition tests. CMake does not know scram's project or its configuration, so
// those are empty.
std::string actual_value(const std::string& tag, const BuildConditions& conditions) {
  if (tag == "ifarchitecture" || tag == "architecture") return conditions.architecture;
  if (tag == "ifrelease" || tag == "release") return conditions.release;
  if (tag == "ifcompiler" || tag == "compiler") return conditions.compiler;
  if (tag == "ifos") return conditions.os;
  if (tag == "ifarch") return conditions.machine;
  if (tag == "ifcxx11_abi") return "1";
  return "";
}

Result<bool> holds(const Comparison& comparison, const std::string& actual) {
  if (comparison.is_exact) return (actual == comparison.wanted) != comparison.is_turned;
  TFAOT_ASSIGN(const bool matches, search_expression(comparison.wanted, actual));
  return matches != comparison.is_turned;
}

// Tests the tool's version; by default any version will do. A missing tool has no version. "!name"
// tests whether the tool is missing.
Result<bool> tool_is_there(const pugi::xml_node& node, const BuildConditions& conditions) {
  std::string name = lower_case(node.attribute("name").value());
  std::string wanted = node.attribute("version") ? node.attribute("version").value() : ".+";
  if (name.starts_with('!')) {
    name.erase(0, 1);
    wanted.insert(0, 1, '!');
  }
  const auto tool = conditions.tools.find(name);
  return holds(comparison_with(wanted, false), tool == conditions.tools.end() ? "" : tool->second);
}

}  // namespace

Result<bool> is_met(const std::string& tag, const pugi::xml_node& node,
                    const BuildConditions& conditions) {
  if (tag == "iftool") {
    if (!node.attribute("name")) return fail(Error("<iftool> needs the attribute 'name'"));
    return tool_is_there(node, conditions);
  }
  const auto comparison = comparison_of(node);
  if (!comparison) {
    return fail(Error(fmt::format("<{}> needs one of the attributes name, match, value", tag)));
  }
  return holds(*comparison, actual_value(tag, conditions));
}

}  // namespace tfaot::toolkit
