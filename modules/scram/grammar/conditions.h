// SPDX-License-Identifier: Apache-2.0
// The form of scram's conditions: <ifarchitecture>, <ifrelease> and the like, with <elif/> and
// <else/>. Their contents count if the condition is true. Pure functions.
#pragma once

#include <optional>
#include <pugixml.hpp>
#include <string>
#include <vector>

#include "grammar/elements.h"

namespace tfaot::toolkit {

struct ConditionRule {
  ElementRule element;    // its attributes
  bool is_listed = true;  // else scram prints "Invalid tag", but applies it
};

// None for other elements. <iftool> is a condition of BuildFiles, <ifversion> of tool files.
std::optional<ConditionRule> condition_rule(ScramFile file, const std::string& element);
std::vector<std::string> known_conditions(ScramFile file);

// Whether it is <elif/> or <else/>: the condition's next case begins after it. It is always empty.
bool begins_case(const pugi::xml_node& node);
// Whether a case follows an <else/>. scram ignores what comes after it.
bool is_case_behind_else(const pugi::xml_node& node);

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
