// SPDX-License-Identifier: Apache-2.0
// The words for the values of enums in files, options and messages. Each enum has one table,
// kWords, next to it. Pure functions.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace tfaot::toolkit {

template <class Enum>
struct Word {
  Enum value;
  const char* word;
};

// Specialized for each enum, with a row for each of its values, in the order of messages.
template <class Enum>
inline constexpr std::array<Word<Enum>, 0> kWords = {};

template <class Enum>
concept HasWords = std::is_enum_v<Enum> && !kWords<Enum>.empty();

// REQUIRES: value is an enumerator.
template <HasWords Enum>
constexpr const char* word_of(Enum value) {
  for (const auto& row : kWords<Enum>) {
    if (row.value == value) return row.word;
  }
  return "";
}

template <HasWords Enum>
constexpr std::optional<Enum> parse_word(std::string_view text) {
  for (const auto& row : kWords<Enum>) {
    if (text == row.word) return row.value;
  }
  return std::nullopt;
}

template <HasWords Enum>
std::vector<std::string> words_of() {
  std::vector<std::string> words;
  for (const auto& row : kWords<Enum>) words.emplace_back(row.word);
  return words;
}

// "'shared' or 'embedded'", for messages.
template <HasWords Enum>
std::string quoted_words() {
  const std::vector<std::string> words = words_of<Enum>();
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += i + 1 == words.size() ? " or " : ", ";
    text += "'" + words[i] + "'";
  }
  return text;
}

}  // namespace tfaot::toolkit
