// SPDX-License-Identifier: Apache-2.0
#include "tfaot/base/expression.h"

#include <fmt/format.h>

#include <regex>
#include <string_view>

#include "tfaot/base/text.h"

namespace tfaot::toolkit {
namespace {

constexpr std::size_t kLongestExpression = 200;
constexpr std::size_t kLongestText = 1000;
constexpr int kMostRepetitions = 4;
constexpr std::size_t kLongestCount = 2;  // digits in {n}

// The last character of the [class] that starts at `start`.
std::size_t end_of_class(const std::string& expression, std::size_t start) {
  std::size_t at = start + 1;
  if (at < expression.size() && expression[at] == '^') ++at;
  if (at < expression.size() && expression[at] == ']') ++at;
  while (at < expression.size() && expression[at] != ']') at += expression[at] == '\\' ? 2 : 1;
  return at;
}

bool has_long_count(const std::string& expression, std::size_t brace) {
  std::size_t digits = 0;
  for (std::size_t at = brace + 1; at < expression.size() && expression[at] != '}'; ++at) {
    digits = is_digit(expression[at]) ? digits + 1 : 0;
    if (digits > kLongestCount) return true;
  }
  return false;
}

// The part of the expression that could make a backtracking search slow; empty if there is none.
std::string costly_part(const std::string& expression) {
  if (expression.size() > kLongestExpression) {
    return fmt::format("is longer than {} characters", kLongestExpression);
  }
  int repetitions = 0;
  bool after_group = false;
  for (std::size_t at = 0; at < expression.size(); ++at) {
    const char c = expression[at];
    if (c == '*' || c == '+' || c == '{') {
      if (after_group) return "repeats a group";
      if (c == '{' && has_long_count(expression, at)) return "repeats more than 99 times";
      if (++repetitions > kMostRepetitions) {
        return fmt::format("has more than {} repetitions", kMostRepetitions);
      }
    }
    after_group = c == ')';
    if (c == '\\') ++at;
    if (c == '[') at = end_of_class(expression, at);
  }
  return "";
}

}  // namespace

Result<bool> search_expression(const std::string& expression, const std::string& text) {
  if (const std::string part = costly_part(expression); !part.empty()) {
    return fail(Error(fmt::format("the regular expression '{}' {}",
                                  expression.substr(0, kLongestExpression), part))
                    .note("write a simpler one: without *, + or {} after a ')', and with few of "
                          "them"));
  }
  if (text.size() > kLongestText) {
    return fail(Error(fmt::format("the text has more than {} characters, too many to match '{}'",
                                  kLongestText, expression)));
  }
  try {
    return std::regex_search(text, std::regex(expression));
  } catch (const std::regex_error& error) {
    return fail(
        Error(fmt::format("'{}' is not a regular expression", expression)).note(error.what()));
  }
}

std::optional<std::string> expression_fault(const std::string& expression) {
  if (!costly_part(expression).empty()) return std::nullopt;
  for (const std::string_view python : {"(?", "\\A", "\\Z", "\\a", "{"}) {
    if (expression.find(python) != std::string::npos) return std::nullopt;
  }
  try {
    const std::regex compiled(expression);
  } catch (const std::regex_error& error) {
    return error.what();
  }
  return std::nullopt;
}

}  // namespace tfaot::toolkit
