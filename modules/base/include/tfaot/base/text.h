// SPDX-License-Identifier: Apache-2.0
// Small helpers for texts and lists, shared by all rooms. Pure functions.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <functional>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace tfaot::toolkit {

// ASCII only, whatever the locale: not <cctype>.
constexpr bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_letter_or_digit(char c) { return is_letter(c) || is_digit(c); }
// The characters of names of tools, versions and their folders.
constexpr bool is_name_character(char c) {
  return is_letter_or_digit(c) || c == '.' || c == '_' || c == '+' || c == '-';
}

constexpr std::string_view kBlanks = " \t\r\n\f\v";

// The number that is all of the text; nothing if there is none, or it is too large for the type.
template <class Number>
std::optional<Number> parse_number(std::string_view text) {
  Number number{};
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, number);
  return error == std::errc() && end == last ? std::optional(number) : std::nullopt;
}

std::string join(const std::vector<std::string>& parts, std::string_view separator);
std::vector<std::string> split_lines(std::string_view text);
// The parts of the text between characters of `separators`, without empty parts.
std::vector<std::string> split_words(std::string_view text, std::string_view separators = kBlanks);
// True for one of the words, which single spaces separate.
bool is_one_of(std::string_view words, std::string_view word);
std::string replace_all(std::string text, std::string_view from, std::string_view to);
std::string trim(std::string_view text);

// A word as a POSIX shell takes it: quoted if it holds more than letters, digits and "_./+-:=@%,".
// A '$' keeps its meaning, so that "$CMSSW_BASE/..." is still expanded.
std::string shell_quoted(const std::string& word);

// The candidate that a user most likely meant (edit distance at most a third of the length), if
// there is one.
std::optional<std::string> closest_match(std::string_view word,
                                         const std::vector<std::string>& candidates);

// [A-Za-z_][A-Za-z0-9_]* and neither a C++20 keyword nor reserved (leading "__" or "_X").
bool is_cpp_identifier(std::string_view word);
bool is_cpp_keyword(std::string_view word);

// The line, counted from 1, that holds the byte at `offset`. An offset before the text gives the
// first line, one after it the last.
int line_at(std::string_view text, std::ptrdiff_t offset);

// The last `count` lines of a text, for error notes.
std::vector<std::string> last_lines(std::string_view text, std::size_t count);

// Upper and lower case of names. ASCII letters only, whatever the locale. Pure functions.

std::string lower_case(std::string text);
std::string upper_case(std::string text);

// " (did you mean 'x'?)" for the end of a message; empty if nothing is close.
std::string guess(std::string_view word, const std::vector<std::string>& candidates);

// The results of `function`, or a member, for each element: mapped(outputs, &TensorSpec::name).
template <class Range, class Function>
auto mapped(const Range& range, Function function) {
  using Result = std::invoke_result_t<Function&, decltype(*std::begin(range))>;
  std::vector<std::decay_t<Result>> results;
  for (const auto& element : range) results.push_back(std::invoke(function, element));
  return results;
}

// True if an element, or a member of one, has this value.
template <class Range, class Value, class Member = std::identity>
bool contains(const Range& range, const Value& value, Member member = {}) {
  return std::ranges::find(range, value, member) != std::ranges::end(range);
}

// Appends the value unless the list has it.
template <class Value>
void add_new(std::vector<Value>& values, const Value& value) {
  if (!contains(values, value)) values.push_back(value);
}

}  // namespace tfaot::toolkit
