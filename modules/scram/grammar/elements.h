// SPDX-License-Identifier: Apache-2.0
// Which elements and attributes scram (SCRAMV3) knows, in tool files and in BuildFiles. One table.
// Conditions have a table of their own (conditions.h). Pure functions.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tfaot::toolkit {

enum class ScramFile { kToolFile, kBuildFile };

// Any element may have it.
constexpr const char* kCommentAttribute = "comment";

struct ElementRule {
  std::vector<std::string> attributes;         // that scram takes; "*": any
  std::map<std::string, std::string> newer{};  // that old versions call invalid -> which versions
  std::vector<std::string> required{};         // without them scram stops with a KeyError
};

// None for elements that scram calls unknown in such a file.
std::optional<ElementRule> element_rule(ScramFile file, const std::string& element);
// With the conditions of such a file.
std::vector<std::string> known_elements(ScramFile file);

}  // namespace tfaot::toolkit
