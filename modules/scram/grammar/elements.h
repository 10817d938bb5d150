// SPDX-License-Identifier: Apache-2.0
// The elements and attributes that scram (SCRAMV3) knows, in tool files and in BuildFiles. One
// table. Conditions have their own table (conditions.h). Pure functions.
#pragma once

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

}  // namespace tfaot::toolkit
