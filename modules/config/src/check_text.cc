// SPDX-License-Identifier: Apache-2.0
#include "check_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <regex>
#include <string_view>
#include <vector>

#include "taken_names.h"
#include "tfaot/base/printable.h"
#include "tfaot/base/text.h"

namespace tfaot::toolkit::config {
namespace {

// Namespaces at the top that belong to others.
constexpr std::array<std::string_view, 4> kForeignNamespaces = {"std", "posix", "main", "tfaot"};

std::vector<std::string> parts_of(const std::string& name) {
  return split_lines(replace_all(name, "::", "\n"));
}

// Why a name that is spelled like a C++ identifier cannot be used.
std::optional<TextProblem> check_cpp_name(const std::string& name, bool is_namespace) {
  const std::vector<std::string> parts = parts_of(name);
  if (is_namespace && std::count(kForeignNamespaces.begin(), kForeignNamespaces.end(), parts[0])) {
    return TextProblem{fmt::format("the namespace '{}' is taken", parts[0]),
                       "'std', 'posix' and 'main' belong to C++, 'tfaot' to the runtime"};
  }
  if (is_namespace && is_taken_global(parts[0])) {
    return TextProblem{fmt::format("'{}' is a name of C++'s standard headers", parts[0]),
                       "choose another name"};
  }
  for (const std::string& part : parts) {
    if (is_cpp_keyword(part)) {
      return TextProblem{fmt::format("'{}' is a C++ keyword", part), "choose another name"};
    }
    if (!is_cpp_identifier(part)) {
      return TextProblem{fmt::format("'{}' is reserved in C++", part),
                         "names must not start with '__', nor with '_' and a capital letter"};
    }
    if (is_taken_macro(part) || part.starts_with("TFAOT_")) {
      return TextProblem{fmt::format("'{}' is a macro in C++ builds", part), "choose another name"};
    }
  }
  return std::nullopt;
}

std::string guess(const std::string& text, const std::vector<std::string>& allowed) {
  const auto match = closest_match(text, allowed);
  return match ? fmt::format(" (did you mean '{}'?)", *match) : "";
}

}  // namespace

std::optional<TextProblem> check_text(const ConfigKey& key, const std::string& text) {
  const TextRule& rule = key.text;
  if (!key.allowed.empty()) {
    if (std::count(key.allowed.begin(), key.allowed.end(), text)) return std::nullopt;
    return TextProblem{
        fmt::format("'{}' is not allowed{}", shown(text), guess(text, key.allowed)),
        "allowed: " + (rule.meaning.empty() ? join(key.allowed, ", ") : rule.meaning)};
  }
  if (text.size() > rule.max_length) {
    return TextProblem{fmt::format("it has {} bytes", text.size()),
                       fmt::format("allowed: at most {}", rule.max_length)};
  }
  if (text.size() < rule.min_length) {
    return TextProblem{"it is empty", "allowed: " + rule.meaning};
  }
  if (rule.pattern.empty()) return std::nullopt;
  if (!std::regex_match(text, std::regex(rule.pattern))) {
    return TextProblem{fmt::format("'{}' is not allowed", shown(text)), "allowed: " + rule.meaning};
  }
  return rule.cpp_name ? check_cpp_name(text, key.path == "compilation.namespace") : std::nullopt;
}

}  // namespace tfaot::toolkit::config
