// SPDX-License-Identifier: Apache-2.0
// Which elements and attributes scram knows in a tool file. One table, of SCRAMV3. Pure functions.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tfaot::toolkit {

struct ElementRule {
  std::vector<std::string> attributes;         // that scram takes; "*": any
  std::map<std::string, std::string> newer{};  // that old versions call invalid -> which versions
  std::vector<std::string> required{};         // without them scram stops with a KeyError
};

// Of a tool file's elements; none for those that scram calls unknown there.
std::optional<ElementRule> element_rule(const std::string& element);
// <architecture>, <ifrelease>, ...: their contents count where the condition holds.
bool is_condition(const std::string& element);
// The attributes of a condition that scram takes without a word; none of those that it heeds, but
// calls invalid tags.
std::vector<std::string> condition_attributes(const std::string& element);
std::vector<std::string> known_elements();

}  // namespace tfaot::toolkit
