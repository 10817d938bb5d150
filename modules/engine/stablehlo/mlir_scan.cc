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

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// `rest`: what follows the sizes, to the end of the text.
std::optional<std::vector<std::int64_t>> sizes_before(std::string_view type,
                                                      std::string_view& rest) {
  const std::size_t open = type.find('<');
  const std::string_view head = type.substr(0, open);
  if (open == kNowhere || (head != "tensor" && head != "!vhlo.tensor_v1")) return std::nullopt;
  rest = type.substr(open + 1);
  std::vector<std::int64_t> sizes;
  while (!rest.empty() && (rest.front() == '?' || is_digit(rest.front()))) {
    std::int64_t size = -1;
    const char* end = rest.data() + 1;
    if (rest.front() != '?') {
      const auto read = std::from_chars(rest.data(), rest.data() + rest.size(), size);
      if (read.ec != std::errc()) return std::nullopt;
      end = read.ptr;
    }
    rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
    if (!rest.starts_with('x')) return std::nullopt;
    rest.remove_prefix(1);
    sizes.push_back(size);
  }
  return sizes;
}

}  // namespace

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == '$';
}

std::size_t after_word(std::string_view text, std::size_t at) {
  while (at < text.size() && is_word(text[at])) ++at;
  return at;
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

std::optional<std::vector<std::int64_t>> sizes_in(std::string_view type) {
  std::string_view rest;
  return sizes_before(type, rest);
}

std::optional<TensorText> tensor_in(std::string_view type) {
  std::string_view rest;
  auto sizes = sizes_before(type, rest);
  if (!sizes) return std::nullopt;
  const std::size_t open = type.find('<');
  const std::size_t taken = type.size() - open - 1 - rest.size();
  const std::string_view inner = inside(type, open);
  TensorText tensor{std::move(*sizes), element_name(inner.substr(std::min(inner.size(), taken)))};
  if (!std::ranges::all_of(tensor.element, is_word)) return std::nullopt;
  return tensor;
}

}  // namespace tfaot::toolkit::engine
