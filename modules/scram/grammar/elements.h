// SPDX-License-Identifier: Apache-2.0
// The elements and attributes that scram (SCRAMV3) knows, in tool files and in BuildFiles. One
// table. Conditions have their own table. Pure functions.
#pragma once

#include <pugixml.hpp>

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tfaot::toolkit {

enum class ScramFile { kToolFile, kBuildFile };

// Allowed in any element.
constexpr const char* kCommentAttribute = "comment";

struct ElementRule {
  std::vector<std::string> attributes;         // that scram accepts; "*": any
  std::map<std::string, std::string> newer{};  // invalid in old versions -> which versions
  std::vector<std::string> required{};         // without them scram stops with a KeyError
};

// None for elements that scram calls unknown in this kind of file.
std::optional<ElementRule> element_rule(ScramFile file, const std::string& element);
// Includes the conditions of this kind of file.
std::vector<std::string> known_elements(ScramFile file);

// The form of scram's conditions: <ifarchitecture>, <ifrelease> and the like, with <elif/> and
// <else/>. Their contents count if the condition is true. Pure functions.

struct ConditionRule {
  ElementRule element;    // its attributes
  bool is_listed = true;  // else scram prints "Invalid tag", but applies it
};

// None for other elements. <iftool> is a condition of BuildFiles, <ifversion> of tool files.
std::optional<ConditionRule> condition_rule(ScramFile file, const std::string& element);

// True if it is <elif/> or <else/>: the condition's next case begins after it. It is always empty.
bool begins_case(const pugi::xml_node& node);
// True if a case follows an <else/>. scram ignores what comes after it.
bool is_case_after_else(const pugi::xml_node& node);

// What scram compares with. A leading '!' negates the result.
struct Comparison {
  std::string wanted;
  bool is_exact = false;  // the whole text; else a regular expression that must match somewhere
  bool is_turned = false;
};

Comparison comparison_with(std::string wanted, bool is_exact);
// For a condition or an <elif>: its attribute `value`, else `match`, else `name`. None if it has
// none of them; then scram stops with a KeyError.
std::optional<Comparison> comparison_of(const pugi::xml_node& node);

}  // namespace tfaot::toolkit
