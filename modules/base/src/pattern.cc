// SPDX-License-Identifier: Apache-2.0
#include "tfaot/base/pattern.h"

#include <regex>

namespace tfaot::toolkit {

struct Pattern::Compiled {
  std::regex regex;
};

Pattern::Pattern(const std::string& expression)
    : compiled_(std::make_shared<const Compiled>(Compiled{std::regex(expression)})) {}

bool Pattern::matches(const std::string& text) const {
  return std::regex_match(text, compiled_->regex);
}

bool Pattern::matches(const std::string& text, Parts& parts) const {
  std::smatch match;
  const bool found = std::regex_match(text, match, compiled_->regex);
  parts.assign(match.begin(), match.end());
  return found;
}

std::string Pattern::without_first_match(const std::string& text) const {
  return std::regex_replace(text, compiled_->regex, "", std::regex_constants::format_first_only);
}

std::string Pattern::without_matches(const std::string& text) const {
  return std::regex_replace(text, compiled_->regex, "");
}

}  // namespace tfaot::toolkit
