// SPDX-License-Identifier: Apache-2.0
#include "check_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <regex>
#include <vector>

#include "tfaot/base/printable.h"
#include "tfaot/base/text.h"

namespace tfaot::toolkit::config {
namespace {

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
