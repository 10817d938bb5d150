// SPDX-License-Identifier: Apache-2.0
#include "tool_values.h"

#include <sstream>

#include "tfaot/base/text.h"

namespace tfaot::toolkit {
namespace {

constexpr int kMostReplacements = 100;  // more are no chain but a circle

bool is_word(char c) { return is_letter_or_digit(c) || c == '_'; }

// A $NAME or ${NAME} in a text; no size: none.
struct Reference {
  std::size_t start = 0;
  std::size_t size = 0;
  std::string name{};
};

Reference reference_at(const std::string& text, std::size_t start, bool braced) {
  const std::size_t first = start + (braced ? 2 : 1);
  if (braced && (first > text.size() || text[start + 1] != '{')) return {};
  std::size_t end = first;
  while (end < text.size() && is_word(text[end])) ++end;
  if (end == first) return {};
  if (!braced) return {start, end - start, text.substr(first, end - first)};
  if (end == text.size() || text[end] != '}') return {};
  return {start, end + 1 - start, text.substr(first, end - first)};
}

// The one that scram replaces next: the last ${NAME}, else the last $NAME.
Reference next_reference(const std::string& text) {
  for (const bool braced : {true, false}) {
    for (std::size_t start = text.rfind('$'); start != std::string::npos;
         start = start == 0 ? std::string::npos : text.rfind('$', start - 1)) {
      Reference reference = reference_at(text, start, braced);
      if (reference.size > 0) return reference;
    }
  }
  return {};
}

}  // namespace

ResolvedValue ToolValues::resolve(const std::string& value) const {
  ResolvedValue resolved{.text = value};
  for (int replaced = 0; replaced < kMostReplacements; ++replaced) {
    const Reference reference = next_reference(resolved.text);
    if (reference.size == 0) return resolved;
    const auto own = own_.find(reference.name);
    const auto outer = environment_.find(reference.name);
    if (own == own_.end() && outer == environment_.end()) return {.undefined = reference.name};
    const std::string& text = own != own_.end() ? own->second : outer->second;
    if (text.find(' ') != std::string::npos) resolved.blank = reference.name;
    resolved.text.replace(reference.start, reference.size, text);
  }
  return {.is_endless = true};
}

std::vector<std::string> words_of(const std::string& value, char separator) {
  std::vector<std::string> words;
  std::istringstream stream(value);
  for (std::string word; std::getline(stream, word, separator);) {
    if (!word.empty()) words.push_back(word);
  }
  return words;
}

}  // namespace tfaot::toolkit
