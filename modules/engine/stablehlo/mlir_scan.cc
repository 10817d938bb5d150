// SPDX-License-Identifier: Apache-2.0
#include "stablehlo/mlir_scan.h"

#include <algorithm>
#include <cctype>
#include <charconv>

namespace tfaot::toolkit::engine {
namespace {

// Of "!vhlo.f32_v1": "f32".
std::string element_name(std::string_view text) {
  constexpr std::string_view kVersioned = "!vhlo.";
  if (!text.starts_with(kVersioned)) return std::string(text);
  text.remove_prefix(kVersioned.size());
  text = text.substr(0, text.rfind("_v"));
  return text == "bool" ? "i1" : std::string(text);
}

}  // namespace

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == '$';
}

std::size_t after_quotes(std::string_view text, std::size_t at) {
  for (++at; at < text.size(); ++at) {
    if (text[at] == '\\') {
      ++at;
    } else if (text[at] == '"') {
      return at + 1;
    }
  }
  return text.size();
}

std::size_t after_brackets(std::string_view text, std::size_t at) {
  std::size_t depth = 0;
  while (at < text.size()) {
    const char c = text[at];
    if (c == '"') {
      at = after_quotes(text, at);
      continue;
    }
    const bool is_arrow = c == '>' && at > 0 && text[at - 1] == '-';
    if (c == '(' || c == '[' || c == '{' || c == '<') ++depth;
    if ((c == ')' || c == ']' || c == '}' || c == '>') && !is_arrow && --depth == 0) return at + 1;
    ++at;
  }
  return text.size();
}

std::string_view trimmed(std::string_view text) {
  const auto is_space = [](char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; };
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

std::vector<std::string_view> split_list(std::string_view text) {
  std::vector<std::string_view> parts;
  std::size_t start = 0;
  std::size_t at = 0;
  const auto add = [&](std::size_t end) {
    const std::string_view part = trimmed(text.substr(start, end - start));
    if (!part.empty()) parts.push_back(part);
    start = end + 1;
  };
  while (at < text.size()) {
    const char c = text[at];
    if (c == '"') {
      at = after_quotes(text, at);
    } else if (c == '(' || c == '[' || c == '{' || c == '<') {
      at = after_brackets(text, at);
    } else {
      if (c == ',') add(at);
      ++at;
    }
  }
  add(text.size());
  return parts;
}

std::string_view inside(std::string_view text, std::size_t at) {
  const std::size_t end = after_brackets(text, at);
  return end < at + 2 ? std::string_view() : text.substr(at + 1, end - at - 2);
}

std::optional<TensorText> tensor_in(std::string_view type) {
  const std::size_t open = type.find('<');
  const std::string_view head = type.substr(0, open);
  if (open == kNowhere || (head != "tensor" && head != "!vhlo.tensor_v1")) return std::nullopt;
  std::string_view rest = inside(type, open);
  TensorText tensor;
  while (!rest.empty() &&
         (rest.front() == '?' || std::isdigit(static_cast<unsigned char>(rest.front())) != 0)) {
    const std::size_t end = rest.find('x');
    if (end == kNowhere) return std::nullopt;
    std::int64_t size = -1;
    const std::string_view digits = rest.substr(0, end);
    if (digits != "?") {
      const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), size);
      if (read.ec != std::errc() || read.ptr != digits.data() + digits.size()) return std::nullopt;
    }
    tensor.sizes.push_back(size);
    rest.remove_prefix(end + 1);
  }
  tensor.element = element_name(rest);
  if (!std::ranges::all_of(tensor.element, is_word)) return std::nullopt;
  return tensor;
}

}  // namespace tfaot::toolkit::engine
