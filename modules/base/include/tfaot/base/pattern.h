// SPDX-License-Identifier: Apache-2.0
// A regular expression that tfaot wrote (C++'s grammar, ECMAScript), for short texts: the matcher's
// recursion grows with the text. <regex> takes seconds to compile, so only this room includes it.
// Immutable, so safe from many threads.
#pragma once

#include <memory>
#include <string>
#include <vector>

namespace tfaot::toolkit {

class Pattern {
 public:
  using Parts = std::vector<std::string>;

  // REQUIRES: a valid expression.
  explicit Pattern(const std::string& expression);

  // True if the expression matches the whole text.
  bool matches(const std::string& text) const;
  // The same; `parts` gets the text, then its part for each group, or nothing.
  bool matches(const std::string& text, Parts& parts) const;
  // The text without its first match, or without all of them.
  std::string without_first_match(const std::string& text) const;
  std::string without_matches(const std::string& text) const;

 private:
  struct Compiled;
  std::shared_ptr<const Compiled> compiled_;
};

}  // namespace tfaot::toolkit
